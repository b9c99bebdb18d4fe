"""The fenced blocks of the documentation, and the commands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks() -> Iterator[Block]:
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield Block(path.relative_to(ROOT).as_posix(), line, match[1], match[2])


def commands(block: Block) -> Iterator[list[str]]:
    """The words of every `trellis` command of a block, without comments.

    >>> list(commands(Block("x.md", 1, "", "$ trellis load a.jsonl \\\\\\n    --to b  # why\\nLoaded\\n")))
    [['load', 'a.jsonl', '--to', 'b']]
    """
    lines = iter(block.text.splitlines())
    for line in lines:
        command = line.removeprefix("$ ")
        if not command.startswith("trellis "):
            continue
        while command.endswith("\\"):
            command = command[:-1] + next(lines)
        words = shlex.split(re.split(r"\s#\s|\s(?:&&|\||>|<)\s", command)[0], comments=True)
        yield words[1:]

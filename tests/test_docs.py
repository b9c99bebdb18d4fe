"""The documentation is true: its commands parse, its Python runs, its sessions print what they show."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest
import typer
import typer.main

from trellis.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLACEHOLDERS = ("...", "…")
"""What stands for arguments that are left out."""


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
        words = shlex.split(re.split(r"\s#\s|\s(?:&&|\||>)\s", command)[0], comments=True)
        yield words[1:]


def parse(words: list[str]) -> None:
    """Raises what the command line prints as bad usage, where it would refuse the words."""
    command: Any = typer.main.get_command(app)
    context = typer.Context(command, info_name="trellis")
    while hasattr(command, "resolve_command"):
        name, command, words = command.resolve_command(context, words)
        context = typer.Context(command, info_name=name, parent=context)
    command.make_context(context.info_name, words, parent=context.parent)


COMMANDS = [
    pytest.param(words, id=f"{block}-{' '.join(words)[:60]}")
    for block in blocks()
    if not block.language
    for words in commands(block)
    if not any(placeholder in word for word in words for placeholder in PLACEHOLDERS)
]
PYTHON = [pytest.param(block, id=str(block)) for block in blocks() if block.language == "python"]


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_of_the_documentation_parses(words: list[str]) -> None:
    parse(words)


def test_there_are_commands_to_parse() -> None:
    assert len(COMMANDS) > 60
    with pytest.raises(Exception, match="No such option"):
        parse(["load", "x.jsonl", "--no-such-option"])


@pytest.mark.parametrize("block", PYTHON)
def test_python_of_the_documentation_compiles_and_its_imports_are_there(block: Block) -> None:
    tree = ast.parse(block.text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "trellis":
            assert node.module is not None
            module = import_module(node.module)
            assert not [alias.name for alias in node.names if not hasattr(module, alias.name)]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "trellis":
                    import_module(alias.name)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "trellis":
            known = hasattr(import_module("trellis"), node.attr)
            assert known or (ROOT / "src/trellis" / node.attr).exists()


# --- Sessions: a command and what it prints ---------------------------------------------------------------

DEMO = ["load events-1.jsonl --to duckdb:shop.duckdb --table events"]
BOTH = [*DEMO, "load events-2.jsonl --to duckdb:shop.duckdb --table events"]
SESSIONS = {
    ("README.md", "load events-2.jsonl"): [],
    ("docs/cli.md", "load events-2.jsonl"): DEMO,
    ("docs/cli.md", "schema history"): BOTH,
    ("docs/cli.md", "names"): [],
}
"""Commands whose output is compared, and what is run before their block in the folder of the examples."""
CHANGING = [
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "TIME"),
    (re.compile(r"\bhash \S+"), "hash HASH"),
    (re.compile(r"(?<=  )[\w+/]{10}(?=  TIME)"), "HASH"),
    (re.compile(r"\bload \d+\.\d+ in \d+\.\d+ s"), "load ID in SECONDS"),
]


def shown(page: str, command: str) -> list[str]:
    """The lines that a page shows below a command; `...` stands for any number of lines."""
    for block in blocks():
        if block.page == page and f"$ trellis {command}" in block.text:
            after = block.text[block.text.index(f"$ trellis {command}") :]
            return after.partition("\n")[2].splitlines()
    raise AssertionError(f"{page} has no block with {command}")


def steady(lines: list[str]) -> list[str]:
    """The lines without what differs from run to run, and without empty ones."""
    for pattern, replacement in CHANGING:
        lines = [pattern.sub(replacement, line) for line in lines]
    return [line.rstrip() for line in lines if line.strip()]


def matches(printed: list[str], expected: list[str]) -> bool:
    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n" for line in expected)
    return re.search(pattern, "".join(f"{line}\n" for line in printed)) is not None


@pytest.mark.parametrize("session", SESSIONS, ids="-".join)
def test_a_session_of_the_documentation_prints_what_it_shows(
    session: tuple[str, str], tmp_path: Path
) -> None:
    for example in (ROOT / "examples").glob("events-*.jsonl"):
        shutil.copy(example, tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "100", "NO_COLOR": "1"}

    def run(words: list[str]) -> list[str]:
        completed = subprocess.run(
            [sys.executable, "-m", "trellis.cli", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert completed.returncode == 0, completed.stderr
        return completed.stdout.splitlines()

    for before in SESSIONS[session]:
        run(shlex.split(before))
    page, command = session
    (block,) = (block for block in blocks() if block.page == page and f"$ trellis {command}" in block.text)
    for words in commands(block):
        if words[: len(command.split())] == command.split():
            break
        run(words)
    printed, expected = steady(run(words)), steady(shown(page, command))
    assert matches(printed, expected), "\n".join(["printed:", *printed, "shown:", *expected])


def test_the_cursor_of_the_readme_loads_every_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orders = [
        {"id": number, "updated_at": f"2026-02-{number % 28 + 1:02}T00:00:00Z"} for number in range(500)
    ]

    def fetch_orders(since: str, page: int) -> list[dict[str, Any]]:
        rows = [order for order in orders if str(order["updated_at"]) >= since]
        return rows[page * 100 : (page + 1) * 100]

    monkeypatch.chdir(tmp_path)
    (block,) = (block for block in blocks() if block.page == "README.md" and "incremental(" in block.text)
    exec(block.text, {"fetch_orders": fetch_orders})
    with duckdb.connect("shop.duckdb") as db:
        assert db.execute("SELECT count(DISTINCT id) FROM shop_data.orders").fetchall() == [(500,)]

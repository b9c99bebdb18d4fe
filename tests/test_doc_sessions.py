"""The terminal sessions of the documentation are run, and print what they show."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from doc_blocks import ROOT, Block, blocks
from doc_stories import NOT_RUN, STORIES, Story
from s3_server import S3Server
from trellis.cli.app import run

EXAMPLES = (*ROOT.glob("examples/*.json*"), *ROOT.glob("examples/pinot/*"))
CHANGING = [
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "TIME"),
    (re.compile(r"\bhash \S+"), "hash HASH"),
    (re.compile(r"(?<=TIME  )\d+\.\d{6}"), "LOAD"),
    (re.compile(r"; \d+\.\d s(?=;|$)"), "; SECONDS"),
    (re.compile(r"\bload \d+\.\d+ in \d+\.\d+ s"), "load ID in SECONDS"),
]


class Command(NamedTuple):
    """A command of a session, and the lines below it: `...` stands for any lines, or for the end of one."""

    page: str
    text: str
    output: list[str]

    @property
    def is_run(self) -> bool:
        return not any(
            page == self.page and self.text.startswith(beginning)
            for beginnings in NOT_RUN.values()
            for page, beginning in beginnings
        )

    def starts(self, story: Story) -> bool:
        return (story.page, True) == (self.page, self.text.startswith(story.command))


def commands_of(block: Block) -> Iterator[Command]:
    r"""
    >>> [*commands_of(Block("x.md", 1, "", "$ trellis load a.jsonl \\\n    --to b\nLoaded\n"))]
    [Command(page='x.md', text='trellis load a.jsonl --to b', output=['Loaded'])]
    """
    for session in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        text, _, output = re.sub(r" *\\\n *", " ", session).partition("\n")
        yield Command(block.page, text, output.splitlines())


SESSIONS = [[*commands_of(block)] for block in blocks() if not block.language]


def chapters() -> dict[Story, list[Command]]:
    """The commands of each story: from where it begins to where the next one of its page does."""
    commands: dict[Story, list[Command]] = {story: [] for story in STORIES}
    story: Story | None = None
    for session in SESSIONS:
        for command in session:
            begun = next((other for other in STORIES if command.starts(other)), story)
            story = begun if begun is not None and begun.page == command.page else None
            if command.is_run:
                assert story is not None, f"{command.page}: no story runs {command.text}"
                commands[story].append(command)
    return commands


CHAPTERS = chapters()


def steady(lines: list[str]) -> list[str]:
    """The lines without what differs from run to run, without empty ones; an error is one line.

    >>> steady(["load 1.5 in 0.2 s", "", "error: a", "b"])
    ['load ID in SECONDS', 'error: a b']
    """
    kept: list[str] = []
    for line in filter(None, map(str.rstrip, lines)):
        for pattern, replacement in CHANGING:
            line = pattern.sub(replacement, line)
        if kept and kept[-1].startswith("error: "):
            kept[-1] += f" {line}"
        else:
            kept.append(line)
    return kept


def matches(printed: list[str], expected: list[str]) -> bool:
    """
    >>> matches(["a", "b", "c d", "e"], ["a", "...", "c ..."]), matches(["a", "b"], ["b"])
    (True, False)
    """
    pattern = "".join(
        "(?:.*\n)*?" if line.strip() == "..." else re.sub(r"(\\\.){3}$", ".*", re.escape(line)) + "\n"
        for line in expected
    )
    return re.match(pattern, "".join(f"{line}\n" for line in printed)) is not None


def write_json_lines(path: Path, text: str) -> None:
    """Write what `cat` shows: values that stand in several lines are one line of the file."""
    decoder, lines, rest = json.JSONDecoder(), list[str](), text.strip()
    while rest:
        try:
            value, end = decoder.raw_decode(rest)
            line = json.dumps(value, ensure_ascii=False)
        except ValueError:
            line, end = rest, len(rest)
        lines.append(line)
        rest = rest[end:].lstrip()
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def execute(text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that a command prints, those of errors last."""
    text, _, source = text.partition(" < ")
    program, *words = shlex.split(text)
    if program == "python":
        done = subprocess.run([sys.executable, *words], check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.splitlines()
    assert program == "trellis"
    capsys.readouterr()
    with monkeypatch.context() as patch, open(source or os.devnull, encoding="utf-8") as stdin:
        patch.setattr("sys.stdin", stdin)
        run(words)
    printed = capsys.readouterr()
    return [*printed.out.splitlines(), *printed.err.splitlines()]


def marks_of(story: Story) -> list[pytest.MarkDecorator]:
    """Spark's own mark, and that of lakes where it needs their jars."""
    if story.engine != "spark":
        return []
    return [pytest.mark.spark, pytest.mark.lake] if story.bucket else [pytest.mark.spark]


@pytest.mark.parametrize(
    "story",
    [pytest.param(story, marks=marks_of(story)) for story in STORIES],
    ids=[f"{story.page}-{story.command[:40]}" for story in STORIES],
)
def test_a_session_prints_what_it_shows(
    story: Story,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    if story.engine == "spark":
        request.getfixturevalue("spark")
    for example in EXAMPLES:
        shutil.copy(example, tmp_path)
    shutil.copytree(ROOT / "examples/schemas", tmp_path / "schemas")
    for name, content in story.files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    if story.width is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(story.width))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TRELLIS_ENGINE", story.engine)
    if story.bucket:
        server: S3Server = request.getfixturevalue("s3")
        server.files.create_dir(story.bucket)
    for step in story.before:
        execute(step, capsys, monkeypatch)
    assert CHAPTERS[story]
    for command in CHAPTERS[story]:
        if command.text.startswith("cat "):
            write_json_lines(tmp_path / command.text.removeprefix("cat "), "\n".join(command.output))
            continue
        if upload := re.fullmatch(r"aws s3 cp s3://(\S+) -", command.text):
            server.put(upload[1], "".join(f"{line}\n" for line in command.output).encode())
            continue
        printed, expected = steady(execute(command.text, capsys, monkeypatch)), steady(command.output)
        assert matches(printed, expected), "\n".join([command.text, *printed, "", "shown:", *expected])


def test_what_is_not_run_is_there() -> None:
    commands = [command for session in SESSIONS for command in session]
    for reason, beginnings in NOT_RUN.items():
        for page, beginning in beginnings:
            assert any(c.page == page and c.text.startswith(beginning) for c in commands), (reason, beginning)
    assert sum(command.is_run and bool(command.output) for command in commands) > 25

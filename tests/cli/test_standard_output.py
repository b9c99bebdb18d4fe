"""Standard output that is full, closed, or read by nobody."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import SRC, folder

__all__ = ["folder"]

COMMANDS = {
    "text": "generate --rows 2000",
    "one object": "inspect rows.jsonl --json",
    "tables": "inspect rows.jsonl",
    "help": "load --help",
}


def run_in_shell(words: str, redirect: str) -> subprocess.CompletedProcess[str]:
    command = f"{shlex.quote(sys.executable)} -m trellis.cli {words} {redirect}"
    return subprocess.run(
        ["/bin/bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(SRC)},
    )


@pytest.fixture
def rows(folder: Path) -> None:
    (folder / "rows.jsonl").write_text('{"k": 1}\n' * 5)


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_standard_output(name: str) -> None:
    ran = run_in_shell(COMMANDS[name], "> /dev/full")
    assert (ran.returncode, ran.stderr) == (
        3,
        "error: standard output: no space left on device; send the output to where it can be written\n",
    )


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("name", ["text", "one object"])
def test_a_closed_standard_output(name: str) -> None:
    ran = run_in_shell(COMMANDS[name], ">&-")
    assert (ran.returncode, ran.stderr) == (
        3,
        "error: standard output: it is closed; send the output to where it can be written\n",
    )


@pytest.mark.usefixtures("rows")
def test_a_reader_that_has_seen_enough() -> None:
    ran = run_in_shell("generate --rows 50000", "| head -n 1 | cut -c 1-9; echo ${PIPESTATUS[0]}")
    assert (ran.stdout, ran.stderr) == ('{"event_i\n0\n', "")

"""What a shell completes, and `python -m trellis`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"


def trellis(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "trellis", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SRC), **environment},
    )


@pytest.mark.parametrize(
    ("line", "completions"),
    [
        ("trellis lo", ["load", "loads"]),
        ("trellis load --mode ", ["append", "replace", "merge"]),
        ("trellis load --dialect r", ["rudderstack"]),
        ("trellis load --new", ["--new-only"]),
        ("trellis schema h", ["history"]),
    ],
)
def test_completion(line: str, completions: list[str]) -> None:
    words = line.split(" ")
    ran = trellis(_TRELLIS_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
    assert ran.stdout.split() == completions


def test_the_script_of_a_shell() -> None:
    ran = trellis("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert (ran.returncode, "_TRELLIS_COMPLETE=complete_bash" in ran.stdout) == (0, True)


def test_python_m_trellis() -> None:
    ran = trellis("--version")
    assert (ran.returncode, ran.stdout.split()[0]) == (0, "trellis")

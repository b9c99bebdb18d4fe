"""The command line as a user has it: an empty folder, a command, what it prints and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trellis.cli.app import run

SRC = Path(__file__).parents[2] / "src"


@dataclass(frozen=True)
class Ran:
    """Output without the blanks that fill up a line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Trellis = Callable[..., Ran]


def stripped(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def trellis(folder: Path, capsys: pytest.CaptureFixture[str]) -> Trellis:
    """Run `trellis ...` in this process."""

    def ran(*argv: str) -> Ran:
        capsys.readouterr()
        code = run(argv)
        captured = capsys.readouterr()
        return Ran(code, stripped(captured.out), stripped(captured.err))

    return ran


@pytest.fixture
def process(folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `trellis ...` as a process of its own."""

    def ran(*argv: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "trellis.cli", *argv],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(SRC)},
            **options,
        )

    return ran


@pytest.fixture
def lines(folder: Path) -> Callable[..., str]:
    """Write a file of lines."""

    def write(name: str, *texts: str) -> str:
        (folder / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return name

    return write

"""A DuckDB file that another process holds: who waits is told for whom, and goes on by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cli.conftest import SRC
from trellis.pipelines.pipeline import Pipeline


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the file until its input ends."""
    code = f"import duckdb,sys;c=duckdb.connect({str(path)!r});print('open',flush=True);sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "open\n"
        yield holder
    finally:
        holder.kill()
        holder.wait()


def release(holder: subprocess.Popen[str]) -> None:
    assert holder.stdin is not None
    holder.stdin.close()


def test_the_pipeline_tells_once_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    notices: list[Any] = []
    with held(path) as holder:

        def tell(stage: str, done: int, total: int | None) -> None:
            notices.append((stage, done, total))
            if "waiting" in stage:
                release(holder)

        Pipeline("shop", f"duckdb:{path}", tell=tell).load([{"a": 1}], table="t")
    (first, *numbers), going_on, *rest = notices
    assert first.startswith(f"{path}: another process holds the file (") and f"PID {holder.pid})" in first
    assert first.endswith("; waiting for up to 60 seconds")
    assert (numbers, going_on) == ([0, None], ("going on", 0, None))
    assert {stage for stage, *_ in rest} == {"discover", "load"}


def test_the_command_says_it_on_stderr_and_json_stays_clean(folder: Path, lines: Any) -> None:
    lines("a.jsonl", '{"a":1}')
    for command in (
        ("load", "a.jsonl", "--to", "duckdb:s.duckdb", "--table", "t"),
        ("schema", "show", "--at", "duckdb:s.duckdb"),
    ):
        with held(folder / "s.duckdb") as holder:
            done = subprocess.Popen(
                [sys.executable, "-m", "trellis.cli", *command, "--json"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": str(SRC)},
            )
            assert done.stderr is not None
            notice = done.stderr.readline()
            release(holder)
            out, more = done.communicate()
        assert notice.startswith("s.duckdb: another process holds the file (") and f"{holder.pid}" in notice
        assert notice.endswith("; waiting for up to 60 seconds\n")
        assert (done.returncode, more, type(json.loads(out))) == (0, "", dict)

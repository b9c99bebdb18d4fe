"""Processes of `trellis stream`, and what is true of their tables after kills."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from streams.kafka import environment
from trellis.pipelines.pipeline import Pipeline

WAIT = 180
RECORDS = 20
LOCAL = ("--master", "local[1]")


class Process:
    """A stream that runs in a folder, with all processes that it starts."""

    def __init__(self, folder: Path, *arguments: str, spark: Sequence[str] = LOCAL) -> None:
        self.folder = folder
        self.output = folder / "output"
        variables = environment(folder, TRELLIS_HISTORY=str(folder / "history"))
        with open(self.output, "w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trellis.cli", "stream", *arguments, "--table", "t", *spark],
                cwd=folder,
                env=dict(variables),
                stdout=output,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )

    def wait_until(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + WAIT
        while not condition():
            assert self.process.poll() is None, self.end()
            assert time.monotonic() < end
            time.sleep(0.005)

    @property
    def lines(self) -> list[str]:
        return self.output.read_text().splitlines()

    def end(self) -> tuple[int, str]:
        """The exit code and what is on stderr."""
        _, errors = self.process.communicate(timeout=WAIT)
        return self.process.returncode, errors

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


def kill_again_and_again(folder: Path, url: str, source: str, *arguments: str) -> None:
    """Kill the stream while it stages a batch, then right after a commit; let the rest load."""
    pipeline = Pipeline("shop", url)
    staging = Path(pipeline.destination.staging(""))
    history = folder / "history"

    def staged(batch: int) -> bool:
        return any(staging.glob(f"*-{batch}/*/*.parquet"))

    def committed(batch: int) -> bool:
        return any(f'-{batch}"' in path.read_text() for path in history.glob("*/*.json"))

    for reached, batch in ((staged, 1), (committed, 3)):
        stream = Process(folder, source, "--to", url, "--name", "shop", "--trigger", "100ms", *arguments)
        stream.wait_until(lambda: reached(batch))  # noqa: B023
        stream.kill()
    stream = Process(folder, source, "--to", url, "--name", "shop", "--trigger", "available-now", *arguments)
    assert stream.end() == (0, "")


def assert_exactly_once(url: str, count: int) -> None:
    """Every record once, and those of the second half with the key that came late."""
    pipeline = Pipeline("shop", url)
    rows = pipeline.destination.query(pipeline.dataset, "t")
    assert sorted(row["id"] for row in rows) == list(range(count))
    assert [row["id"] for row in rows if row["late"] is None and row["id"] >= count // 2] == []
    assert len({row["_dlt_id"] for row in rows}) == count


def record_of(number: int, count: int) -> dict[str, Any]:
    return {"id": number, **({"late": "x"} if number >= count // 2 else {})}

"""Tasks as a Spark job: Spark says where and when, each task reads, conforms and stages its splits."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from trellis.engine.plan import Plan
from trellis.engine.spark.session import get_session
from trellis.engine.task import Outcome, Progress, Task, run_task
from trellis.errors import SparkError, TrellisError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_POLL = 0.25
_RESULT = "result binary"

T = TypeVar("T")
R = TypeVar("R")


class SparkRun:
    """A `Run` on a session that starts when it is first needed."""

    def __init__(self, master: str | None = None, remote: str | None = None) -> None:
        self.master = master
        self.remote = remote

    @property
    def session(self) -> SparkSession:
        return get_session(self.master, self.remote)

    def __call__(self, plan: Plan, tasks: list[Task], progress: Progress) -> Iterator[Outcome]:
        with _Ticks(Path(plan.staging) / "_progress", progress):
            yield from self.parallel(partial(_run, plan), tasks)

    def parallel(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """`Parallel` on the executors."""
        frame = self.session.range(0, len(items), 1, len(items))
        try:
            found = frame.mapInArrow(_Work(work, list(items)), _RESULT).collect()
        except Exception as bad:
            raise SparkError(f"the Spark job failed: {_reason(bad)}; --debug shows all of it") from bad
        for row in found:
            result = pickle.loads(bytes(row.result))
            if isinstance(result, TrellisError):
                raise result
            yield result


def _run(plan: Plan, task: Task) -> Outcome:
    return run_task(plan, task, _Ticker(plan.staging, task.name))


class _Work:
    """What runs on an executor: the item of each number. Never holds the session.

    Spark ships it as it ships any function. Results come back as one binary cell each, because a row of a
    DataFrame has no other place for them; they live as long as the job.
    """

    def __init__(self, work: Callable[[Any], Any], items: list[Any]) -> None:
        self.work = work
        self.items = items

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                try:
                    result = self.work(self.items[number])
                except TrellisError as bad:
                    result = bad
                yield pa.RecordBatch.from_pydict({"result": pa.array([pickle.dumps(result)], pa.binary())})


class _Ticker:
    """Leaves the number of bytes done where the driver can see it."""

    def __init__(self, staging: str, task: str) -> None:
        self.path = os.path.join(staging, "_progress", task)
        self.done = 0

    def __call__(self, size: int) -> None:
        self.done += size
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with open(self.path, "w") as note:
                note.write(str(self.done))
        except OSError:
            return


class _Ticks:
    """Reads the notes of the tasks while the job runs."""

    def __init__(self, folder: Path, progress: Progress) -> None:
        self.folder = folder
        self.progress = progress
        self.seen = 0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._poll, daemon=True)

    def _poll(self) -> None:
        while not self.stop.wait(_POLL):
            self._read()

    def _read(self) -> None:
        total = 0
        for note in self.folder.glob("*"):
            text = note.read_text() if note.exists() else ""
            total += int(text) if text.isdigit() else 0
        if total > self.seen:
            self.progress(total - self.seen)
            self.seen = total

    def __enter__(self) -> _Ticks:
        self.thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop.set()
        self.thread.join()
        self._read()
        for note in self.folder.glob("*"):
            note.unlink(missing_ok=True)


def _reason(bad: Exception) -> str:
    lines = [line.strip() for line in str(bad).splitlines() if line.strip()]
    told = next((line for line in reversed(lines) if "Error" in line or "Exception" in line), None)
    return (told or (lines[0] if lines else type(bad).__name__))[:300]

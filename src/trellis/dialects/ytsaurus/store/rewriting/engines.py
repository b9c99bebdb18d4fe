"""Where rows are rewritten: in this process, or on Spark."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from trellis.dialects.ytsaurus.store.chunks import Slice
from trellis.dialects.ytsaurus.store.rewriting.execution import (
    OutputFiles,
    sort_batches,
    write_batches,
)
from trellis.dialects.ytsaurus.store.rewriting.planning import Piece
from trellis.engine.parallel import in_threads
from trellis.pipelines.engine import VARIABLE, engine_of

if TYPE_CHECKING:
    from trellis.engine.spark.job import SparkRunner

Task = TypeVar("Task")
Result = TypeVar("Result")

INLINE_WEIGHT: Final = 96 * 2**20
"""Up to this weight of rows nothing starts a JVM unless the user says so."""


class Engine(Protocol):
    """Runs the tasks of an operation."""

    def run_tasks(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        """The result of each task, in their order. Raises YtError."""
        ...

    def sort(self, output: OutputFiles, pieces: Sequence[Piece]) -> list[Slice]:
        """The chunks of all rows in the order of the output's keys. Raises YtError."""
        ...


class InlineEngine:
    """Tasks in this process. A sort holds all rows in memory."""

    def run_tasks(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        return [*in_threads(work, tasks)]

    def sort(self, output: OutputFiles, pieces: Sequence[Piece]) -> list[Slice]:
        batches = (batch for _, batch in output.read_pieces(pieces))
        return write_batches(output, sort_batches(output.schema, batches))


@dataclass(frozen=True)
class SparkEngine:
    """Tasks on the executors, which must see the folder of the store."""

    runner: SparkRunner

    def run_tasks(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        results = self.runner.parallel(partial(_run_numbered, work), [*enumerate(tasks)])
        return [result for _, result in sorted(results, key=lambda numbered: numbered[0])]

    def sort(self, output: OutputFiles, pieces: Sequence[Piece]) -> list[Slice]:
        from trellis.dialects.ytsaurus.store.rewriting.sorting import sort_on_spark

        return sort_on_spark(self.runner, output, pieces)


@dataclass(frozen=True)
class EngineChoice:
    """What the user says of the engine: its name, or where a Spark is; else the size of the data decides."""

    name: str | None = None
    master: str | None = None
    remote: str | None = None

    def engine_for(self, weight: int) -> Engine:
        """Raises UsageError, SparkError."""
        is_open = not (self.name or self.master or self.remote or os.environ.get(VARIABLE))
        name = "inline" if is_open and weight <= INLINE_WEIGHT else self.name
        if engine_of(name, self.master, self.remote) == "inline":
            return InlineEngine()
        from trellis.engine.spark.job import SparkRunner

        return SparkEngine(SparkRunner(self.master, self.remote))


AUTOMATIC: Final = EngineChoice()


def _run_numbered(work: Callable[[Task], Result], numbered: tuple[int, Task]) -> tuple[int, Result]:
    number, task = numbered
    return number, work(task)

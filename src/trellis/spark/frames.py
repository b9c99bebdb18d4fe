"""A Spark DataFrame as records: spooled once to Parquet, so that every pass sees the same rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trellis.errors import SparkError
from trellis.evolution.observe import Observations
from trellis.flow.plan import BlockRef, Plan
from trellis.flow.records import FileRecords
from trellis.flow.source import input_files
from trellis.flow.task import Outcome, Progress
from trellis.spark.run import SparkRun

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class FrameRecords:
    """The rows of a DataFrame, in the order of its partitions."""

    name = ""
    weight: int | None = None
    file_count = 1_000_000

    def __init__(self, frame: DataFrame, run: SparkRun) -> None:
        self.frame = frame
        self.run_tasks = run
        self.parallel = run.parallel
        self.spooled: tuple[str, FileRecords] | None = None

    def fingerprint(self, *_: str) -> str | None:
        return None

    def peek(self, plan: Plan) -> Observations:
        return self._files(plan).peek(plan)

    def run(self, plan: Plan, pending: Sequence[BlockRef] | None, progress: Progress) -> Iterator[Outcome]:
        return self._files(plan).run(plan, pending, progress)

    def _files(self, plan: Plan) -> FileRecords:
        folder = os.path.join(plan.staging, "_input")
        if self.spooled is None or self.spooled[0] != folder or not Path(folder).exists():
            try:
                self.frame.write.mode("overwrite").parquet(str(Path(folder).resolve()))
            except Exception as bad:
                first = str(bad).strip().splitlines()[0]
                raise SparkError(
                    f"the DataFrame could not be read: {first}; --debug shows all of it"
                ) from bad
            self.spooled = (folder, FileRecords(input_files([folder]), self.run_tasks, self.parallel))
        return self.spooled[1]

"""A Spark DataFrame as records: spooled once to Parquet, so that every pass sees the same rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trellis.engine.input.files import input_files
from trellis.engine.input.records import FileRecords
from trellis.engine.plan import BlockRef, Plan
from trellis.engine.spark.job import SparkRun
from trellis.engine.task import Outcome, Progress
from trellis.errors import ContractError, SparkError
from trellis.evolution.observe import Observations

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType


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
        if self.spooled is None or self.spooled[0] != folder or not plan.storage.status(folder):
            _refuse_unsupported(self.frame, plan.table)
            try:
                with _plain_timestamps(self.frame.sparkSession):
                    self.frame.write.mode("overwrite").parquet(folder)
            except Exception as bad:
                first = str(bad).strip().splitlines()[0]
                raise SparkError(
                    f"the DataFrame could not be read: {first}; --debug shows all of it"
                ) from bad
            files = input_files([folder], plan.storage)
            records = FileRecords(files, self.run_tasks, self.parallel, plan.storage)
            self.spooled = (folder, records)
        return self.spooled[1]


@contextmanager
def _plain_timestamps(session: SparkSession) -> Iterator[None]:
    """Timestamps are written with their zone and unit, not as the 96 bits that Spark takes by default."""
    before = session.conf.get(_TIMESTAMPS, None)
    session.conf.set(_TIMESTAMPS, "TIMESTAMP_MICROS")
    try:
        yield
    finally:
        if before is None:
            session.conf.unset(_TIMESTAMPS)
        else:
            session.conf.set(_TIMESTAMPS, before)


_TIMESTAMPS = "spark.sql.parquet.outputTimestampType"
_UNSUPPORTED = ("interval", "daytimeinterval", "yearmonthinterval", "variant")
"""Types that Parquet files of Spark do not tell from integers and structs."""


def _refuse_unsupported(frame: DataFrame, table: str) -> None:
    for field in frame.schema:
        found = next((each for each in _types(field.dataType) if each.typeName() in _UNSUPPORTED), None)
        if found is not None:
            raise ContractError(
                f"the DataFrame: {field.name} holds a {found.simpleString()}, which no data type takes; "
                f"convert it before it is loaded into table {table}"
            )


def _types(outer: DataType) -> Iterator[DataType]:
    """A type and all that are inside it."""
    yield outer
    inner = (getattr(outer, name, None) for name in ("elementType", "keyType", "valueType"))
    for each in (*inner, *(field.dataType for field in getattr(outer, "fields", ()))):
        if each is not None:
            yield from _types(each)

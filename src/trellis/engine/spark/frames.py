"""DataFrames as records: Spark computes them, its tasks conform and stage what they hold.

A frame is computed once. Its rows meet the conformers inside `mapInArrow`: as rows with types, or as the JSON
of one column, byte for byte as it came, so that no key is lost on the way. What has to wait for the schema is
written beside the staged files, so a frame that is expensive, or that would give other rows, is not computed
again for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.conform.choose import AnyConformer, conformer_of
from trellis.engine.input.blocks import BLOCK, BOM, Block, Split
from trellis.engine.input.parquet import BATCH, RowBatch
from trellis.engine.input.spool import Spooled
from trellis.engine.parallel import Parallel
from trellis.engine.plan import Peek, Plan
from trellis.engine.spark.failures import job_failure
from trellis.engine.spark.job import SparkRunner
from trellis.engine.task import (
    Outcome,
    Part,
    Progress,
    Waiting,
    conform_spooled,
    run_parts,
    spooling_lines,
    spooling_rows,
)
from trellis.errors import ContractError, UsageError
from trellis.evolution.observe import Observations

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

PEEK_ROWS: Final = 1_000
PARTITION, VALUE = "__trellis_partition", "value"
NAME: Final = "the DataFrame"

Batches = Iterable[pa.RecordBatch]
Parts = Callable[[Plan, Split, Batches, AnyConformer], Iterator[Part]]


class FrameRecords:
    """The rows of a DataFrame in the order of its partitions; with `payload` the JSON objects in that
    column."""

    name = ""
    weight: int | None = None
    file_count = 1

    def __init__(self, frame: DataFrame, payload: str | None = None) -> None:
        self.runner = SparkRunner(session=frame.sparkSession)
        self.parallel: Parallel = self.runner.parallel
        self.parts: Parts = _row_parts if payload is None else _line_parts
        self.frame = _with_partition(frame, payload)

    def fingerprint(self, *_: str) -> str | None:
        return None

    def peek(self, plan: Plan) -> Peek:
        """A look at the first rows; none where the schema knows tables already, as it costs a job."""
        self.runner.check_staging(plan.staging)
        conformer = conformer_of(plan, fast=False)
        known = any(table.seen_data for table in plan.schema.tables.values())
        if known or not conformer.learns:
            return Peek(Observations())
        try:
            rows = self.frame.limit(PEEK_ROWS).toArrow()
        except Exception as bad:
            raise job_failure(bad) from bad
        for partition, run in _by_partition(rows.combine_chunks().to_batches()):
            return self._peek(conformer, _split(partition), run)
        return Peek(Observations())

    def _peek(self, conformer: AnyConformer, split: Split, batches: Batches) -> Peek:
        if self.parts is _line_parts:
            for block in blocks_of(batches, BLOCK):
                return Peek(conformer.block(split, block).observed or Observations(), block.sample())
        for rows in _numbered(batches):
            return Peek(conformer.batch(split, rows).observed or Observations())
        return Peek(Observations())

    def run(self, plan: Plan, pending: Sequence[Waiting] | None, progress: Progress) -> Iterator[Outcome]:
        if pending is None:
            yield from self.runner.map_partitions(self.frame, _ConformPartition(plan, self.parts))
            return
        waiting: dict[Split, list[Spooled]] = {}
        for each in pending:
            assert isinstance(each, Spooled)
            waiting.setdefault(each.split, []).append(each)
        yield from self.parallel(partial(conform_spooled, plan), list(waiting.values()))


def _with_partition(frame: DataFrame, payload: str | None) -> DataFrame:
    """The frame with the number of the partition; with a payload nothing but that beside it.

    Raises UsageError, ContractError.
    """
    from pyspark.sql import functions

    partition = functions.spark_partition_id().alias(PARTITION)
    if payload is None:
        _refuse_unsupported(frame)
        return frame.select("*", partition)
    return frame.select(_json_of(frame, payload).alias(VALUE), partition)


def _json_of(frame: DataFrame, payload: str) -> Column:
    """The bytes of the JSON in a column of text, bytes or VARIANT."""
    from pyspark.sql import functions

    if payload not in frame.columns:
        raise UsageError(
            f"{NAME} has no column {payload!r} for payload=; it has {', '.join(map(repr, frame.columns))}"
        )
    column = frame[payload]
    type_ = frame.schema[payload].dataType.typeName()
    if type_ == "variant":
        return functions.to_json(column).cast("binary")
    if type_ in ("string", "binary"):
        return column.cast("binary")
    raise UsageError(
        f"{NAME}: column {payload} is {type_}, payload= takes JSON in a text, binary or variant column"
    )


# ---- in the tasks


@dataclass(frozen=True)
class _ConformPartition:
    """What runs on an executor: the rows of one partition become staged files and an outcome."""

    plan: Plan
    parts: Parts

    def __call__(self, batches: Batches) -> Iterator[Outcome]:
        for partition, run in _by_partition(batches):
            split = _split(partition)
            parts = partial(self.parts, self.plan, split, run)
            yield run_parts(self.plan, f"{partition:06d}-0", split, parts, None, lambda size: None)


def _split(partition: int) -> Split:
    return Split(0, partition, NAME)


def _by_partition(batches: Batches) -> Iterator[tuple[int, Batches]]:
    """The rows of each partition, without its number."""

    def runs() -> Iterator[tuple[int, pa.RecordBatch]]:
        for batch in batches:
            at = batch.schema.get_field_index(PARTITION)
            numbers, rows = batch.column(at), batch.remove_column(at)
            ends = pc.run_end_encode(numbers)
            start = 0
            for number, end in zip(ends.values.to_pylist(), ends.run_ends.to_pylist(), strict=True):
                yield number, rows.slice(start, end - start)
                start = end

    for number, run in groupby(runs(), key=lambda each: each[0]):
        yield number, (rows for _, rows in run)


def _row_parts(plan: Plan, split: Split, batches: Batches, conformer: AnyConformer) -> Iterator[Part]:
    return spooling_rows(plan, split, _numbered(batches), conformer)


def _numbered(batches: Batches) -> Iterator[RowBatch]:
    first = number = 0
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH):
            rows = batch.slice(start, BATCH)
            yield RowBatch(number, first, rows)
            first, number = first + rows.num_rows, number + 1


def _line_parts(plan: Plan, split: Split, batches: Batches, conformer: AnyConformer) -> Iterator[Part]:
    return spooling_lines(plan, split, blocks_of(batches, BLOCK * conformer.times), conformer)


@dataclass
class _OpenBlock:
    """Values that become a block together."""

    values: list[pa.Array] = field(default_factory=list)
    rows: int = 0
    bytes: int = 0


def blocks_of(batches: Batches, size: int) -> Iterator[Block]:
    """The JSON of the first column as blocks of lines of about so many bytes, one line for each row."""
    line = offset = 0
    held = _OpenBlock()
    for batch in batches:
        values = _one_line_each(batch.column(0), first=line == held.rows == 0)
        held.values.append(values)
        held.rows += len(values)
        held.bytes += values.nbytes
        if held.bytes >= size:
            data = _joined(held.values)
            yield Block(data, line, offset)
            line, offset, held = line + held.rows, offset + len(data), _OpenBlock()
    if held.rows:
        yield Block(_joined(held.values), line, offset)


def _one_line_each(values: pa.Array, first: bool) -> pa.Array:
    """The values without line breaks, which JSON allows between its tokens alone; a missing one is `null`."""
    values = values.cast(pa.binary())
    for newline in (b"\n", b"\r"):
        if pc.any(pc.match_substring(values, newline), min_count=0).as_py():
            values = pc.replace_substring(values, newline, b" ")
    if first and len(values) and (values[0].as_py() or b"").startswith(BOM):
        values = pa.concat_arrays([pa.array([values[0].as_py()[len(BOM) :]], pa.binary()), values.slice(1)])
    return pc.fill_null(values, b"null") if values.null_count else values


def _joined(values: Sequence[pa.Array]) -> bytes:
    """The values, each with a newline."""
    lines = pc.binary_join_element_wise(pa.concat_arrays(values), pa.scalar(b""), pa.scalar(b"\n"))
    content = lines.buffers()[2]
    return content.to_pybytes() if content is not None else b""


# ---- what a frame may hold

_UNSUPPORTED: Final = ("interval", "daytimeinterval", "yearmonthinterval", "variant")
"""Types that no data type takes."""


def _refuse_unsupported(frame: DataFrame) -> None:
    for column in frame.schema:
        type_ = next((each for each in _types(column.dataType) if each.typeName() in _UNSUPPORTED), None)
        if type_ is not None:
            raise ContractError(
                f"{NAME}: {column.name} holds a {type_.simpleString()}, which no data type takes; convert "
                "it, or name a column of JSON with payload="
            )


def _types(outer: DataType) -> Iterator[DataType]:
    """A type and all that are inside it."""
    yield outer
    inner = (getattr(outer, name, None) for name in ("elementType", "keyType", "valueType"))
    for each in (*inner, *(column.dataType for column in getattr(outer, "fields", ()))):
        if each is not None:
            yield from _types(each)

"""DataFrames as records: Spark computes them, its tasks conform and stage what they hold.

A frame is computed once. Its rows meet the conformers inside `mapInArrow`: as rows with types, or as the JSON
of one column, byte for byte as it came, so that no key is lost on the way. What has to wait for the schema is
written beside the staged files, so a frame that is expensive, or that would give other rows, is not computed
again for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.conform.choose import AnyConformer, conformer_of
from trellis.engine.conform.learned import Conformed
from trellis.engine.input.blocks import BLOCK, BOM, Block, Split
from trellis.engine.input.files import HEAD, layout_of
from trellis.engine.input.parquet import BATCH, RowBatch
from trellis.engine.input.places import FILE, POSITION, Places
from trellis.engine.input.records import fingerprint_of, table_of_file
from trellis.engine.input.source_format import MALFORMED
from trellis.engine.input.spark_source import SparkSource
from trellis.engine.input.spool import Spooled
from trellis.engine.parallel import Parallel
from trellis.engine.plan import Counts, Peek, Plan, Reject
from trellis.engine.spark.failures import job_failure
from trellis.engine.spark.job import SparkRunner
from trellis.engine.spark.reader import BLOCK_START, FILE_PATH, file_key
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
from trellis.errors import ContractError, TrellisError, UsageError
from trellis.evolution.observe import Observations

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

PEEK_ROWS: Final = 1_000
PARTITION, VALUE = "__trellis_partition", "value"
NAME: Final = "the DataFrame"

Batches = Iterable[pa.RecordBatch]
R = TypeVar("R")


@dataclass(frozen=True)
class MalformedRows:
    """Texts that Spark's reader could not read as rows.

    `first` counts the rows of the split before the batch, `end` those up to its end.
    """

    number: int
    first: int
    end: int
    indexes: list[int]
    texts: list[str]
    reason: str


Content = Block | RowBatch | MalformedRows


@dataclass(frozen=True)
class FrameLayout:
    """How tasks divide the rows of a frame into splits, and how they read these. It travels to the tasks.

    `keys` are the columns whose values name the split of a row. `read` takes the bytes of a block.
    """

    keys: tuple[str, ...]
    split_of: Callable[..., Split]
    read: Callable[[Split, Batches, int], Iterator[Content]]


class FrameRecords:
    """The rows of a DataFrame; with `payload` the JSON objects in that column.

    They stand in the order of the partitions or, where `source` names the files that the frame was read from,
    in that of these files.
    """

    weight: int | None = None

    def __init__(
        self,
        frame: DataFrame,
        payload: str | None = None,
        source: SparkSource | None = None,
        runner: SparkRunner | None = None,
    ) -> None:
        self.runner = runner or SparkRunner(session=frame.sparkSession)
        self.parallel: Parallel = self.runner.parallel
        self.source = source
        self.files = source.files if source is not None else ()
        self.name = _default_table(source) if source is not None else ""
        self.file_count = max(len(self.files), 1)
        self.frame, self.layout = _with_layout(frame, payload, source)

    def fingerprint(self, *parts: str) -> str | None:
        """What identifies the files and how they are read; None for rows that come from no file."""
        if self.source is None or not self.files:
            return None
        files = ((file.location, file.size, str(file.modified_ns)) for file in self.files)
        return fingerprint_of(files, *parts, self.source.format.name, *self.source.read_options.public)

    def peek(self, plan: Plan) -> Peek:
        """A look at the first rows; none where the schema knows tables already, as it costs a job."""
        self.runner.check_staging(plan.staging)
        conformer = conformer_of(plan, fast=False)
        known = any(table.seen_data for table in plan.schema.tables.values())
        if known or not conformer.learns:
            return Peek(Observations())
        with self._redacted():
            try:
                rows = self._first_rows().limit(PEEK_ROWS).toArrow()
            except Exception as failure:
                raise job_failure(failure) from failure
            for split, run in frame_splits(rows.combine_chunks().to_batches(), self.layout):
                for content in self.layout.read(split, run, BLOCK):
                    if isinstance(content, Block):
                        observed = conformer.block(split, content).observed
                        return Peek(observed or Observations(), content.sample())
                    if isinstance(content, RowBatch):
                        return Peek(conformer.batch(split, content).observed or Observations())
        return Peek(Observations())

    def _first_rows(self) -> DataFrame:
        """The frame from which the first record comes: that of the first file, not of any."""
        from pyspark.sql import functions
        from pyspark.sql.functions import lit

        if not self.files:
            return self.frame
        first = next((file.location for file in self.files if file.size), "")
        path = functions.url_decode(functions.replace(self.frame[FILE_PATH], lit("+"), lit("%2B")))
        names = [first] if ":/" in first else [f"file:{first}", f"file://{first}"]
        return self.frame.where(path.isin(names) & (self.frame[BLOCK_START] == 0))

    def map_partitions(self, work: Callable[[Batches], Iterator[R]]) -> Iterator[R]:
        """What some work makes of the rows of each partition. Raises UsageError, SparkError."""
        with self._redacted():
            yield from self.runner.map_partitions(self.frame, work)

    def run(self, plan: Plan, pending: Sequence[Waiting] | None, progress: Progress) -> Iterator[Outcome]:
        if pending is None:
            yield from self.map_partitions(_ConformPartition(plan, self.layout))
            return
        waiting: dict[Split, list[Spooled]] = {}
        for spooled in pending:
            assert isinstance(spooled, Spooled)
            waiting.setdefault(spooled.split, []).append(spooled)
        yield from self.parallel(partial(conform_spooled, plan), list(waiting.values()))

    @contextmanager
    def _redacted(self) -> Iterator[None]:
        """Raise errors without the secrets among the options of the reader."""
        try:
            yield
        except TrellisError as failure:
            if self.source is None:
                raise
            raise type(failure)(self.source.read_options.redact(str(failure))) from None


def _default_table(source: SparkSource) -> str:
    """The name of the root table where the user names none."""
    if source.files:
        return table_of_file(source.files[0].name)
    (name, *_) = source.sources
    return re.split(r"[./:]", name.rstrip("/"))[-1] if re.fullmatch(r"[\w./:-]+", name) else ""


def _with_layout(
    frame: DataFrame, payload: str | None, source: SparkSource | None
) -> tuple[DataFrame, FrameLayout]:
    """The frame with the columns that name the splits of its rows; with a payload little beside these.

    Raises UsageError, ContractError.
    """
    from pyspark.sql import functions

    split_of: Callable[..., Split]
    if source is not None and source.files:
        keys: tuple[str, ...] = (FILE_PATH, BLOCK_START)
        numbers = {file_key(file.location): (at, file.name) for at, file in enumerate(source.files)}
        split_of = partial(_split_of_file, numbers)
    else:
        keys = (PARTITION,)
        title = NAME if source is None else source.title
        split_of = partial(_split_of_partition, title)
        frame = frame.withColumn(PARTITION, functions.spark_partition_id())
    payload = payload or (source.format.payload if source is not None else None)
    if payload is None:
        _refuse_unsupported(frame)
        reason = source.format.malformed_reason if source is not None else ""
        return frame, FrameLayout(keys, split_of, partial(_row_batches, reason))
    read = _file_blocks if source is not None and source.format.lines else _value_blocks
    columns = [_json_of(frame, payload).alias(VALUE), *_topic_places(frame, payload)]
    return frame.select(*columns, *keys), FrameLayout(keys, split_of, read)


def _topic_places(frame: DataFrame, payload: str) -> list[Column]:
    """Where the records of a Kafka topic stand, if the columns of its reader are there."""
    from pyspark.sql import functions

    types = {column.name: column.dataType.typeName() for column in frame.schema}
    kafka = {"topic": ("string",), "partition": ("integer", "long"), "offset": ("long", "integer")}
    if payload in kafka or any(types.get(name) not in names for name, names in kafka.items()):
        return []
    file = functions.concat_ws("-", "topic", "partition").alias(FILE)
    return [(frame["offset"].cast("long") - 1).alias(POSITION), file]  # positions of a load count from 1


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
    """What runs on an executor: the rows of each split become staged files and an outcome."""

    plan: Plan
    layout: FrameLayout

    def __call__(self, batches: Batches) -> Iterator[Outcome]:
        for split, run in frame_splits(batches, self.layout):
            name = f"{split.file:06d}-{split.number:015d}-0"
            yield run_parts(self.plan, name, split, partial(self._parts, split, run), None, lambda size: None)

    def _parts(self, split: Split, batches: Batches, conformer: AnyConformer) -> Iterator[Part]:
        for content in self.layout.read(split, batches, BLOCK * conformer.times):
            if isinstance(content, Block):
                yield from spooling_lines(self.plan, split, [content], conformer)
            elif isinstance(content, RowBatch):
                yield from spooling_rows(self.plan, split, [content], conformer)
            else:
                yield _rejected(content)


def _split_of_partition(title: str, partition: int) -> Split:
    return Split(0, partition, title)


def _split_of_file(files: Mapping[str, tuple[int, str]], path: str, start: int) -> Split:
    """The split of rows of a file. Raises UsageError for a file that was not there when files were listed."""
    key = file_key(path)
    if key not in files:
        raise UsageError(f"{key}: the file appeared while its folder was being read; run the load again")
    number, name = files[key]
    return Split(number, start, name)


def frame_splits(batches: Batches, layout: FrameLayout) -> Iterator[tuple[Split, Batches]]:
    """The rows of each split, without the columns that name it."""

    def runs() -> Iterator[tuple[tuple[object, ...], pa.RecordBatch]]:
        for batch in batches:
            at = [batch.schema.get_field_index(key) for key in layout.keys]
            rows = batch.select([column for column in range(batch.num_columns) if column not in at])
            keys = [batch.column(column) for column in at]
            start = 0
            for end in sorted({end for key in keys for end in pc.run_end_encode(key).run_ends.to_pylist()}):
                yield tuple(key[start].as_py() for key in keys), rows.slice(start, end - start)
                start = end

    for values, run in groupby(runs(), key=lambda item: item[0]):
        yield layout.split_of(*values), (rows for _, rows in run)


def _row_batches(
    malformed_reason: str, split: Split, batches: Batches, size: int
) -> Iterator[RowBatch | MalformedRows]:
    """The rows in batches of the usual size, and beside them those that Spark's reader could not read."""
    first = number = 0
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH):
            rows = batch.slice(start, BATCH)
            if not malformed_reason:
                yield RowBatch(number, first, rows)
            else:
                yield from _without_malformed(malformed_reason, number, first, rows)
            first, number = first + rows.num_rows, number + 1


def _without_malformed(
    reason: str, number: int, first: int, batch: pa.RecordBatch
) -> Iterator[RowBatch | MalformedRows]:
    at = batch.schema.get_field_index(MALFORMED)
    rows, texts = batch.remove_column(at), batch.column(at)
    bad = pc.indices_nonzero(texts.is_valid())
    if not len(bad):
        yield RowBatch(number, first, rows)
        return
    indexes = bad.to_pylist()
    yield MalformedRows(number, first, first + len(texts), indexes, texts.take(bad).to_pylist(), reason)
    positions = pc.add(pc.indices_nonzero(texts.is_null()).cast(pa.int64()), first)
    if len(positions):
        places = Places.of(first, positions)
        yield RowBatch(number, first, rows.filter(texts.is_null()), places=places)


def _rejected(rows: MalformedRows) -> Part:
    """Rows that Spark's reader could not read, as rejects."""

    def conform(only: object = None) -> Conformed:
        lines = zip(rows.indexes, rows.texts, strict=True)
        rejects = [Reject(rows.first + at, text.encode(), rows.reason) for at, text in lines]
        return Conformed(Counts(read=len(rejects), rejected=len(rejects)), rejects=rejects)

    return Part(rows.number, 0, rows.end, conform, _never_waits)


def _never_waits(lines: tuple[int, ...] | None) -> Waiting:
    raise AssertionError("rejected rows do not wait")


def _file_blocks(split: Split, batches: Batches, size: int) -> Iterator[Block]:
    """Lines of a file, byte for byte, as blocks of about so many bytes. Raises UsageError for an array."""
    for block in _blocks(batches, size, _lines_of_file):
        if not split.number and not block.line and layout_of(block.data[:HEAD].lstrip()) == "array":
            raise UsageError(
                f"{split.path}: is a JSON array, and only JSON lines are read from a file system that only "
                "Spark has; write one record on each line"
            )
        yield block


def _value_blocks(split: Split, batches: Batches, size: int) -> Iterator[Block]:
    """The JSON of the first column as blocks of lines of about so many bytes, one line for each row."""
    return _blocks(batches, size, _one_line_each)


def _blocks(batches: Batches, size: int, lines_of: Callable[[pa.Array, bool], pa.Array]) -> Iterator[Block]:
    line = offset = rows = held_bytes = 0
    held: list[pa.RecordBatch] = []
    for batch in batches:
        values = lines_of(batch.column(0), line == rows == 0)
        held.append(batch.set_column(0, VALUE, values))
        rows, held_bytes = rows + len(values), held_bytes + values.nbytes
        if held_bytes >= size:
            block = _block(held, line, offset)
            yield block
            line, offset, rows, held_bytes, held = line + rows, offset + len(block.data), 0, 0, []
    if rows:
        yield _block(held, line, offset)


def _block(batches: Sequence[pa.RecordBatch], line: int, offset: int) -> Block:
    table = pa.Table.from_batches(batches)
    places = None
    if POSITION in table.schema.names:
        places = Places.of(line, table.column(POSITION), table.column(FILE))
    return Block(_joined(table.column(0).chunks), line, offset, places=places)


def _lines_of_file(values: pa.Array, first: bool) -> pa.Array:
    return values.cast(pa.binary())


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
        type_ = next((type_ for type_ in _types(column.dataType) if type_.typeName() in _UNSUPPORTED), None)
        if type_ is not None:
            raise ContractError(
                f"{NAME}: {column.name} holds a {type_.simpleString()}, which no data type takes; convert "
                "it, or name a column of JSON with payload="
            )


def _types(outer: DataType) -> Iterator[DataType]:
    """A type and all that are inside it."""
    yield outer
    inner = (getattr(outer, name, None) for name in ("elementType", "keyType", "valueType"))
    for type_ in (*inner, *(column.dataType for column in getattr(outer, "fields", ()))):
        if type_ is not None:
            yield from _types(type_)

"""DataFrames as records: Spark computes them, its tasks conform and stage what they hold.

A frame is computed once. Its rows meet the conformers inside `mapInArrow`: as rows with types, or as the JSON
of one column, byte for byte as it came, so that no key is lost on the way. What has to wait for the schema is
written beside the staged files, so a frame that is expensive, or that would give other rows, is not computed
again for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar, cast

from trellis.engine.conform.choose import conformer_of
from trellis.engine.input.blocks import BLOCK, Block, Split
from trellis.engine.input.parquet import RowBatch
from trellis.engine.input.places import FILE, POSITION
from trellis.engine.input.source_format import MALFORMED
from trellis.engine.input.spark_source import SparkSource
from trellis.engine.input.spool import Spooled
from trellis.engine.parallel import Parallel
from trellis.engine.plan import Peek, Plan
from trellis.engine.records.files import fingerprint_of, table_of_file
from trellis.engine.spark.failures import job_failure
from trellis.engine.spark.frame_tasks import (
    ELEMENT,
    VALUE,
    Batches,
    ConformPartition,
    FrameLayout,
    JsonPath,
    file_blocks,
    frame_splits,
    row_batches,
    split_of_file,
    split_of_partition,
    value_blocks,
)
from trellis.engine.spark.job import SparkRunner
from trellis.engine.spark.kafka_columns import with_kafka_columns
from trellis.engine.spark.reader import BLOCK_START, FILE_PATH, file_key
from trellis.engine.task import Outcome, Progress, SpooledTask, Waiting, run_spooled_task
from trellis.errors import ContractError, TrellisError, UsageError
from trellis.evolution.observe import Observations

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, MapType, StructType

PEEK_ROWS: Final = 1_000
PARTITION: Final = "__trellis_partition"
NAME: Final = "the DataFrame"

R = TypeVar("R")


class FrameRecords:
    """The rows of a DataFrame; with `payload` the JSON objects in that column, and in these `kafka_columns`.

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
        kafka_columns: Sequence[str] = (),
    ) -> None:
        self.runner = runner or SparkRunner(session=frame.sparkSession)
        self.parallel: Parallel = self.runner.parallel
        self.source = source
        self.files = source.files if source is not None else ()
        self.name = _default_table(source) if source is not None else ""
        self.file_count = max(len(self.files), 1)
        payload = payload or (source.format.payload if source is not None else None)
        if kafka_columns:
            frame = with_kafka_columns(frame, _checked_payload(payload), kafka_columns)
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
        conformer = conformer_of(plan, columnar=False)
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
                        return conformer.peek(split, content)
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
            yield from self.map_partitions(ConformPartition(plan, self.layout))
            return
        waiting: dict[Split, list[Spooled]] = {}
        for spooled in pending:
            assert isinstance(spooled, Spooled)
            waiting.setdefault(spooled.split, []).append(spooled)
        tasks = [SpooledTask(f"{s.file:06d}-{s.number:015d}-1", spooled) for s, spooled in waiting.items()]
        yield from self.parallel(partial(run_spooled_task, plan), tasks)

    @contextmanager
    def _redacted(self) -> Iterator[None]:
        """Raise errors without the secrets among the options of the reader."""
        try:
            yield
        except TrellisError as failure:
            if self.source is None:
                raise
            raise type(failure)(self.source.read_options.redact(str(failure))) from None


def _checked_payload(payload: str | None) -> str:
    if payload is None:
        raise UsageError(
            "kafka columns go into records of JSON; name the column that holds these with payload="
        )
    return payload


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
        split_of = partial(split_of_file, numbers)
    else:
        keys = (PARTITION,)
        title = NAME if source is None else source.title
        split_of = partial(split_of_partition, title)
        frame = frame.withColumn(PARTITION, functions.spark_partition_id())
    if payload is None:
        frame, json_paths = _with_json(frame)
        _refuse_unsupported(frame)
        reason = source.format.malformed_reason if source is not None and MALFORMED in frame.columns else ""
        frame, names = _with_plain_names(frame)
        return frame, FrameLayout(keys, split_of, partial(row_batches, reason, json_paths), names)
    read = file_blocks if source is not None and source.format.lines else value_blocks
    columns = [_json_of(frame, payload).alias(VALUE), *_topic_places(frame, payload)]
    return frame.select(*columns, *keys), FrameLayout(keys, split_of, read)


def _with_plain_names(frame: DataFrame) -> tuple[DataFrame, dict[str, str]]:
    """The frame without dots and backticks in names, and the names that were replaced.

    `mapInArrow` asks for each column as `frame[name]`, where they have a meaning of their own.
    """
    names = {
        f"__trellis_column_{at}": name for at, name in enumerate(frame.columns) if re.search("[.`]", name)
    }
    if not names:
        return frame, names
    plain = {name: replacement for replacement, name in names.items()}
    return frame.toDF(*(plain.get(name, name) for name in frame.columns)), names


def _topic_places(frame: DataFrame, payload: str) -> list[Column]:
    """Where the records of a Kafka topic stand, if the columns of its reader are there."""
    from pyspark.sql import functions

    types = {column.name: column.dataType.typeName() for column in frame.schema}
    kafka = {"topic": ("string",), "partition": ("integer", "long"), "offset": ("long", "integer")}
    if payload in kafka or any(types.get(name) not in names for name, names in kafka.items()):
        return []
    file = functions.concat_ws("-", "topic", "partition").alias(FILE)
    return [(frame["offset"].cast("long") - 1).alias(POSITION), file]  # positions of a load count from 1


def _with_json(frame: DataFrame) -> tuple[DataFrame, Mapping[str, Sequence[JsonPath]]]:
    """The frame with its values of VARIANT as texts of JSON, and their paths by column."""
    from pyspark.sql import functions

    paths = {field.name: [*_variant_paths(field.dataType)] for field in frame.schema}
    texts = {
        field.name: _with_texts(functions.col("`" + field.name.replace("`", "``") + "`"), field.dataType)
        for field in frame.schema
        if paths[field.name]
    }
    for name, text in texts.items():
        frame = frame.withColumn(name, text)
    return frame, {name: paths[name] for name in texts}


def _variant_paths(type_: DataType) -> Iterator[JsonPath]:
    """The paths of values of VARIANT in those of a type."""
    if type_.typeName() == "variant":
        yield ()
    for name, inner in _inner_types(type_):
        yield from ((name, *path) for path in _variant_paths(inner))


def _inner_types(type_: DataType) -> Iterator[tuple[str, DataType]]:
    """The types inside of one, each behind a step of a path. Keys of maps hold no VARIANT."""
    if type_.typeName() == "struct":
        yield from ((field.name, field.dataType) for field in cast("StructType", type_))
    elif type_.typeName() in ("array", "map"):
        yield ELEMENT, getattr(type_, "elementType", None) or cast("MapType", type_).valueType


def _with_texts(column: Column, type_: DataType) -> Column:
    """The values of a column with texts of JSON in place of VARIANT, whose null is no value."""
    from pyspark.sql import functions

    inner = dict(_inner_types(type_)) if [*_variant_paths(type_)] else {}
    match type_.typeName():
        case "variant":
            return functions.nullif(functions.to_json(column), functions.lit("null"))
        case "struct" if inner:
            fields = (_with_texts(column.getField(name), of).alias(name) for name, of in inner.items())
            return functions.when(column.isNotNull(), functions.struct(*fields))
        case "array" if inner:
            return functions.transform(column, lambda element: _with_texts(element, inner[ELEMENT]))
        case "map" if inner:
            return functions.transform_values(column, lambda _, value: _with_texts(value, inner[ELEMENT]))
        case _:
            return column


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


# ---- what a frame may hold

_UNSUPPORTED: Final = ("interval", "daytimeinterval", "yearmonthinterval")
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

"""Whatever the user hands over, as records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pyarrow as pa

from trellis.engine.input.files import describe_files, list_files
from trellis.engine.input.kafka import is_kafka_url, read_kafka_url
from trellis.engine.input.read_options import ReadOptions
from trellis.engine.input.source_format import SourceFormat, foreign_format_of, format_of_files, named_format
from trellis.engine.input.spark_source import SparkSource
from trellis.engine.records.files import FileRecords, ItemRecords, Records
from trellis.engine.records.items import Chunks
from trellis.engine.records.tables import TableRecords, batches_of
from trellis.engine.runner import Runner
from trellis.engine.spark.packages import request_storage
from trellis.engine.storage.location import foreign_scheme, redacted_url
from trellis.errors import UsageError
from trellis.pipelines.storage import listing_storage, storage_for

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from trellis.engine.spark.job import SparkRunner


class ArrowStream(Protocol):
    """What hands over its rows as Arrow: a table of pyarrow, pandas or polars, a relation of DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


RecordSource: TypeAlias = "str | Path | Sequence[str | Path] | DataFrame | ArrowStream | Iterable[object]"
"""What records are loaded from: paths and URLs, a DataFrame, Arrow, pandas, dicts."""

DEFAULT_READ_OPTIONS = ReadOptions()


def records_of(
    source: Any, runner: Runner, payload: str | None = None, read_options: ReadOptions = DEFAULT_READ_OPTIONS
) -> Records:
    """The records of paths, a DataFrame, an Arrow table, pandas, or an iterable of dicts.

    The runner is for files. A DataFrame is conformed by its own Spark, what is in memory in this process.
    `payload` names the column of a DataFrame that holds the records as JSON, `read_options` say how paths are
    read.
    """
    if _is_module(source, "pyspark"):
        _refuse_read_options(read_options, "a DataFrame")
        return _of_frame(source, payload, read_options.kafka_columns)
    paths = [source] if isinstance(source, (str, Path)) else source
    if isinstance(paths, Sequence) and paths and all(isinstance(path, (str, Path)) for path in paths):
        return _of_paths([str(path) for path in paths], runner, payload, read_options)
    _refuse_read_options(read_options, f"a {type(source).__name__}")
    if payload is not None:
        raise UsageError(
            f"payload= names a column of a Spark DataFrame, and the source is a {type(source).__name__}"
        )
    for suits, make in _KINDS:
        if suits(source):
            return make(source)
    if isinstance(source, Iterable) and not isinstance(source, (bytes, dict)):
        return ItemRecords(Chunks.of(source))
    raise UsageError(
        f"records cannot be read from a {type(source).__name__}; give paths, a Spark DataFrame, an Arrow "
        "table, pandas, or an iterable of dicts"
    )


def _of_paths(
    paths: Sequence[str], runner: Runner, payload: str | None, read_options: ReadOptions
) -> Records:
    """The records of files, or of whatever else Spark's readers take."""
    paths, read_options = source_of_url(paths, read_options)
    named = named_format(paths, read_options.format)
    if named is not None and named.address != "files":
        return _of_spark(SparkSource(named, tuple(paths), read_options), runner, payload)
    if any(map(foreign_scheme, paths)):
        return _of_spark_files(paths, runner, payload, read_options, named)
    files = list_files(paths, listing_storage(paths, runner))
    if named is None and read_options.format is None:
        named = format_of_files([file.name for file in files], paths, read_options.line_extensions)
    if named is not None:
        for path in paths:
            request_storage(path)
        source = SparkSource(named, tuple(paths), read_options, tuple(files), storage_for(paths, runner))
        return _of_spark(source, runner, payload)
    _refuse_read_options(read_options, "JSON and Parquet, which Trellis reads itself")
    if payload is not None:
        raise UsageError("payload= names a column of a DataFrame, and the source is a file of records")
    storage = storage_for(paths, runner)
    inputs = describe_files(files, paths, storage, read_options.line_extensions)
    runner.start()
    return FileRecords(inputs, runner, storage)


def source_names(source: Any) -> tuple[str, ...]:
    """The paths, URLs and tables of a source, for lineage; none of records in memory.

    >>> source_names(["raw/a.jsonl", Path("b.jsonl")]), source_names([{"id": 1}])
    (('raw/a.jsonl', 'b.jsonl'), ())
    """
    paths = [source] if isinstance(source, (str, Path)) else source
    if isinstance(paths, Sequence) and all(isinstance(path, (str, Path)) for path in paths):
        return tuple(redacted_url(str(path)) for path in paths)
    return ()


def source_of_url(sources: Sequence[str], read_options: ReadOptions) -> tuple[Sequence[str], ReadOptions]:
    """What Spark's reader takes for the URL of a topic; other sources as they are. Raises UsageError."""
    topics = [source for source in sources if is_kafka_url(source)]
    if not topics:
        return sources, read_options
    if len(sources) > 1:
        raise UsageError(
            f"{', '.join(sources)}: topics are read from one URL; write kafka://BROKER/TOPIC,TOPIC"
        )
    topic, options = read_kafka_url(topics[0], read_options)
    return [topic], options


def _of_spark(source: SparkSource, runner: Runner, payload: str | None) -> Records:
    """What Spark's reader makes of a source. Raises UsageError where the load runs without Spark."""
    from trellis.engine.spark.frames import FrameRecords
    from trellis.engine.spark.reader import read_frame

    spark = _spark_runner(runner, source.title, f"the format {source.format.name}")
    frame = read_frame(spark.session_for(source), source)
    return FrameRecords(frame, payload, source, spark, source.read_options.kafka_columns)


def _of_spark_files(
    paths: Sequence[str],
    runner: Runner,
    payload: str | None,
    read_options: ReadOptions,
    named: SourceFormat | None,
) -> Records:
    """The records of files on a file system that only Spark has."""
    from trellis.engine.spark.reader import list_spark_files

    spark = _spark_runner(runner, ", ".join(paths), "this file system")
    files = list_spark_files(spark.session, paths)
    chosen = named or foreign_format_of(
        [file.name for file in files], paths, read_options.format, read_options.line_extensions
    )
    return _of_spark(SparkSource(chosen, tuple(paths), read_options, tuple(files)), spark, payload)


def _spark_runner(runner: Runner, title: str, what: str) -> SparkRunner:
    from trellis.engine.spark.job import SparkRunner

    if not isinstance(runner, SparkRunner):
        raise UsageError(
            f"{title}: only Spark reads {what}; load it without --engine inline (TRELLIS_ENGINE)"
        )
    return runner


def _refuse_read_options(read_options: ReadOptions, source: str) -> None:
    for name in read_options.options:
        raise UsageError(
            f"--read-option {name}: read options are for formats that Spark reads, not for {source}; "
            "leave it out"
        )


def _is_module(value: Any, *names: str) -> bool:
    return type(value).__module__.partition(".")[0] in names


def table_of(source: Any) -> Any:
    """A pandas frame as an Arrow table; anything else as it is. Raises UsageError."""
    if not _is_module(source, "pandas"):
        return source
    try:
        return pa.Table.from_pandas(source, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as bad:
        raise UsageError(
            f"a column of the pandas frame holds values of several types ({'; '.join(map(str, bad.args))}); "
            "give it one type, or load frame.to_dict('records')"
        ) from None


def of_tables(tables: Iterable[Any]) -> Records:
    """The rows of Arrow tables and frames in their order. `tables` can be read again and again."""
    streams: dict[int, Callable[[], Iterable[pa.RecordBatch]]] = {}

    def batches() -> Iterable[pa.RecordBatch]:
        for number, frame in enumerate(tables):
            table = table_of(frame)
            if isinstance(table, (pa.Table, pa.RecordBatch)):
                yield from batches_of(table)()
            else:
                if number not in streams:
                    streams[number] = batches_of(table)
                yield from streams[number]()

    return TableRecords(batches)


def _of_table(source: Any) -> Records:
    return TableRecords(batches_of(table_of(source)))


def _of_frame(source: Any, payload: str | None, kafka_columns: Sequence[str]) -> Records:
    from trellis.engine.spark.frames import FrameRecords

    return FrameRecords(source, payload, kafka_columns=kafka_columns)


_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Records]], ...] = (
    (lambda value: _is_module(value, "pandas") or hasattr(value, "__arrow_c_stream__"), _of_table),
    (lambda value: isinstance(value, pa.RecordBatch), _of_table),
)

"""What a stream reads: a streaming frame, and how each of its batches becomes the records of a load."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from trellis.engine.input.files import LEAST
from trellis.engine.input.read_options import ReadOptions
from trellis.engine.input.source_format import format_of_files, named_format
from trellis.engine.input.spark_source import SparkSource
from trellis.engine.records.files import Records, table_of_file
from trellis.engine.runner import InlineRunner
from trellis.engine.storage.location import foreign_scheme, spark_location
from trellis.errors import UsageError
from trellis.pipelines.loading.options import LoadSettings
from trellis.pipelines.records import records_of, source_of_url

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from trellis.engine.spark.job import SparkRunner

_DISCOVERY = frozenset(
    name.lower()
    for name in (
        *("cleanSource", "fileNameOnly", "latestFirst", "maxBytesPerTrigger", "maxCachedFiles"),
        *("maxFileAge", "maxFilesPerTrigger", "pathGlobFilter", "sourceArchiveDir"),
    )
)
"""Options of Spark's stream of files; all others are of the reader of their format."""
_GLOB = re.compile(r"[*?\[\]{}]")


class Batch(NamedTuple):
    """The records of a batch, and the files that hold them, if files do."""

    records: Records
    files: Sequence[str] = ()


class Batches(Protocol):
    """How the frame of a batch becomes records."""

    def open(self, frame: DataFrame) -> Batch: ...


@dataclass(frozen=True)
class FileBatches:
    """The rows of a batch name files, which are read as those of any load.

    What would be one split is read where the names are: a task would take longer to begin than to end.
    """

    read_options: ReadOptions
    payload: str | None

    def open(self, frame: DataFrame) -> Batch:
        from trellis.engine.spark.job import SparkRunner
        from trellis.engine.spark.streams import new_files_of

        files = new_files_of(frame)
        paths = [file.path for file in files]
        few = sum(file.size for file in files) <= LEAST and self._is_own_format(paths)
        runner = InlineRunner() if few else SparkRunner(session=frame.sparkSession)
        return Batch(records_of(paths, runner, self.payload, self.read_options), paths)

    def _is_own_format(self, paths: Sequence[str]) -> bool:
        """Whether the files can be read without Spark."""
        options = self.read_options
        named = named_format(paths, options.format) or format_of_files(paths, paths, options.line_extensions)
        return named is None and not any(map(foreign_scheme, paths))


@dataclass(frozen=True)
class FrameBatches:
    """The rows of a batch are the records, or hold them in the column `payload`."""

    payload: str | None
    kafka_columns: Sequence[str] = ()
    source: SparkSource | None = None

    def open(self, frame: DataFrame) -> Batch:
        from trellis.engine.spark.frames import FrameRecords

        return Batch(FrameRecords(frame, self.payload, self.source, kafka_columns=self.kafka_columns))


@dataclass(frozen=True)
class StreamSource:
    """A streaming frame. `name` is the root table by default, `title` what messages call the source."""

    frame: DataFrame
    batches: Batches
    title: str
    name: str


def open_stream(
    source: Any, settings: LoadSettings, runner: SparkRunner, line_extensions: tuple[str, ...] = ()
) -> StreamSource:
    """The stream of paths, a topic, a table, or of a streaming DataFrame. Raises UsageError, SparkError.

    `line_extensions` are endings of files whose lines are records to the dialect.
    """
    if type(source).__module__.partition(".")[0] == "pyspark":
        if not source.isStreaming:
            raise UsageError("the DataFrame is no stream; load it with load(), or make it with readStream")
        return StreamSource(
            source, FrameBatches(settings.payload, settings.kafka_columns), "the DataFrame", ""
        )
    paths = [source] if isinstance(source, (str, Path)) else source
    if not isinstance(paths, Sequence) or not paths or not all(isinstance(p, (str, Path)) for p in paths):
        raise UsageError(
            f"a stream cannot be read from a {type(source).__name__}; give paths, a topic such as "
            "kafka://broker/topic, or a streaming DataFrame"
        )
    reading = replace(settings.reading, line_extensions=line_extensions)
    sources, read_options = source_of_url([str(path) for path in paths], reading)
    named = named_format(sources, read_options.format)
    if named is None or named.address == "files":
        return _file_stream(sources, read_options, settings.payload, runner)
    spark_source = SparkSource(named, tuple(sources), read_options)
    from trellis.engine.spark.reader import read_frame

    frame = read_frame(runner.session_for(spark_source), spark_source, streaming=True)
    batches = FrameBatches(settings.payload, read_options.kafka_columns, spark_source)
    name = re.split(r"[./:]", sources[0].rstrip("/"))[-1] if re.fullmatch(r"[\w./:-]+", sources[0]) else ""
    return StreamSource(frame, batches, spark_source.title, name)


def _file_stream(
    paths: Sequence[str], read_options: ReadOptions, payload: str | None, runner: SparkRunner
) -> StreamSource:
    from trellis.engine.spark.streams import read_file_names

    discovery: dict[str, str] = {}
    reading: dict[str, str] = {}
    for name, value in read_options.options.items():
        (discovery if name.lower() in _DISCOVERY else reading)[name] = value
    locations = {path: spark_location(path) for path in paths}
    frame = read_file_names(runner.session_at(locations.values()), locations, discovery)
    batches = FileBatches(replace(read_options, options=reading), payload)
    return StreamSource(frame, batches, ", ".join(paths), _name_of(paths[0]))


def _name_of(path: str) -> str:
    """The table of files below a path: the name of its last part that is no pattern.

    >>> _name_of("raw/orders/*.jsonl"), _name_of("raw/orders/"), _name_of("orders.jsonl.gz")
    ('orders', 'orders', 'orders')
    """
    parts = [part for part in path.split("/") if part and not _GLOB.search(part)]
    return table_of_file(parts[-1]) if parts else ""

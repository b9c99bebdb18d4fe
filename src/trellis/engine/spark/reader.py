"""Sources that Spark reads: its reader for the format makes a frame, and each row keeps its file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from trellis.engine.input.files import first_lines
from trellis.engine.input.source_format import MALFORMED, Address, SourceFormat, table_name_of
from trellis.engine.input.spark_source import SparkSource
from trellis.engine.spark.failures import is_missing_source, reader_failure
from trellis.engine.spark.packages import package_of
from trellis.engine.spark.session import started_here
from trellis.engine.storage.location import STORES, escape_glob, is_remote, local_path, spark_location
from trellis.engine.storage.storage import FileStatus
from trellis.errors import TrellisError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RECURSIVE: Final = "recursiveFileLookup"
FILE_PATH: Final = "__trellis_path"
BLOCK_START: Final = "__trellis_block"
"""Columns beside the rows of files."""
_QUERY: Final = re.compile(r"\s*(select|with)\b", re.IGNORECASE)
NewReader = Callable[[], Any]
"""A new reader with the options of the source: Spark's `DataFrameReader`, or its `DataStreamReader`."""


def read_frame(session: SparkSession, source: SparkSource, streaming: bool = False) -> DataFrame:
    """The frame that Spark's reader makes, or its reader of streams. Raises UsageError, SparkError."""
    with _explained(session, source):
        try:
            return _analyzed_frame(session, source, streaming)
        except Exception as failure:
            if not is_missing_source(failure) or not _add_package(session, source.format):
                raise
            return _analyzed_frame(session, source, streaming)


def _analyzed_frame(session: SparkSession, source: SparkSource, streaming: bool) -> DataFrame:
    def reader() -> Any:
        return (session.readStream if streaming else session.read).options(**source.options)

    frame: DataFrame = _FRAMES[source.format.address](reader, source)
    _ = frame.schema  # Spark Connect reads nothing before, so what is wrong with the source shows here
    return frame


def list_spark_files(session: SparkSession, sources: Sequence[str]) -> list[FileStatus]:
    """The files behind paths of file systems that only Spark has, in order. Raises UsageError, SparkError."""
    files: list[FileStatus] = []
    for source in sources:
        try:
            reader = session.read.format("binaryFile").option(RECURSIVE, "true")
            rows = (
                reader.load(source)
                .selectExpr("path", "length", "unix_micros(modificationTime) AS at")
                .collect()
            )
        except Exception as failure:
            raise reader_failure(failure, source, "files", "") from failure
        if not rows:
            raise UsageError(f"{source}: no files there; check the path")
        files += (
            FileStatus(row.path, row.path, row.length, row.at * 1000)
            for row in sorted(rows, key=lambda row: str(row.path))
        )
    return files


def file_key(location: str) -> str:
    """A location in one form, whether the user, the storage layer or `_metadata.file_path` wrote it.

    >>> file_key("file:/raw/a%20b.csv"), file_key("/raw//x/../a b.csv")
    ('/raw/a b.csv', '/raw/a b.csv')
    """
    path = local_path(location)
    if path != location:
        return os.path.normpath(path)
    is_local = not is_remote(location) and ":/" not in location
    return os.path.normpath(location) if is_local else unquote(spark_location(location))


@contextmanager
def _explained(session: SparkSession, source: SparkSource) -> Iterator[None]:
    try:
        yield
    except TrellisError:
        raise
    except Exception as failure:
        package = package_of(session.version, source.format)
        reason = reader_failure(failure, source.title, source.format.name, package)
        raise type(reason)(source.read_options.redact(str(reason))) from None


def _add_package(session: SparkSession, source_format: SourceFormat) -> bool:
    """Fetch what Spark lacks for a format, if the session is one of our own; whether that helped."""
    if not source_format.joins_late or not started_here(session):
        return False
    package = package_of(session.version, source_format)
    try:
        session.sql(f"ADD JAR 'ivy://{package}?transitive=false'")
    except Exception:  # the message about the missing source names the package
        return False
    return True


# ---- one function for each kind of address


def _frame_of_files(new_reader: NewReader, source: SparkSource) -> DataFrame:
    """The rows of files, each with its file and where its block starts."""
    frames = [_load_files(new_reader, source, paths) for paths in _path_groups(source)]
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)


def _load_files(new_reader: NewReader, source: SparkSource, paths: list[str]) -> DataFrame:
    from pyspark.sql.functions import col

    reader = new_reader().format(source.format.name)
    if not source.option(RECURSIVE) and not source.option("basePath"):
        reader = reader.option(RECURSIVE, "true")
    frame: DataFrame = reader.load(paths)
    if source.format.malformed_reason and frame.columns and source.option("mode") != "failfast":
        schema = frame.schema.add(MALFORMED, "string")
        frame = reader.option("columnNameOfCorruptRecord", MALFORMED).schema(schema).load(paths)
    place = (
        col("_metadata.file_path").alias(FILE_PATH),
        col("_metadata.file_block_start").alias(BLOCK_START),
    )
    return frame.select("*", *place)


def _path_groups(source: SparkSource) -> list[list[str]]:
    """The paths for Spark's reader, files with different headers apart: it takes one header for all files."""
    if source.storage is None:
        return [list(source.sources)]
    groups: dict[bytes, list[FileStatus]] = {}
    has_header = source.format.malformed_reason and source.option("header") == "true"
    headers = first_lines(source.files, source.storage) if has_header else [b""] * len(source.files)
    for file, header in zip(source.files, headers, strict=True):
        if header or not has_header:
            groups.setdefault(header, []).append(file)
    if len(groups) < 2 and all(escape_glob(text) == text for text in source.sources):
        return [[spark_location(text) for text in source.sources]]
    return [[escape_glob(spark_location(file.location)) for file in files] for files in groups.values()]


def _frame_of_path(new_reader: NewReader, source: SparkSource) -> Any:
    path = _only(source)
    is_place = os.path.exists(path) or path.partition("://")[0].lower() in STORES
    place = spark_location(path) if is_place else path
    return new_reader().format(source.format.name).load(place)


def _frame_of_catalog(new_reader: NewReader, source: SparkSource) -> Any:
    return new_reader().table(table_name_of(_only(source)))


def _frame_of_option(new_reader: NewReader, source: SparkSource) -> Any:
    name = source.format.option
    text = _only(source)
    reader = new_reader().format(source.format.name)
    if not any(source.option(option) for option in (name, *source.format.instead)):
        is_query = "query" in source.format.instead and _QUERY.match(text)
        reader = reader.option("query" if is_query else name, text)
    return reader.load()


def _only(source: SparkSource) -> str:
    if len(source.sources) > 1:
        raise UsageError(f"{source.title}: the format {source.format.name} is read one source at a time")
    return source.sources[0]


_FRAMES: Final[Mapping[Address, Callable[[NewReader, SparkSource], DataFrame]]] = {
    "files": _frame_of_files,
    "path": _frame_of_path,
    "catalog": _frame_of_catalog,
    "option": _frame_of_option,
}

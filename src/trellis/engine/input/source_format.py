"""Formats that Spark's readers turn into rows: what they are called, and which of them a source is in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, Literal

from trellis.errors import UsageError

Address = Literal["files", "path", "catalog", "option"]
"""What a source is to Spark's reader: files or folders, the path of a table, a name in the catalog, the value
of an option."""

TABLE: Final = "table"
EXTENSIONS: Final = "spark.sql.extensions"
"""The setting of a session that lists classes."""
DELTA_EXTENSION: Final = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG: Final = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
MALFORMED: Final = "__trellis_malformed"
"""The column in which Spark keeps the text of a row that it cannot read."""


@dataclass(frozen=True)
class SourceFormat:
    """A format by the name that `spark.read.format` takes.

    `options` are those that Trellis sets unless the user does. With `malformed_reason` Spark keeps rows that
    it cannot read, and they are rejected for it. `option` is the one that takes the source, for an address of
    that kind, unless one of `instead` is set; `payload` the column that holds the records as JSON, if one
    does; `lines`: its values are the lines of files. `package` is what Spark lacks without it, and `settings`
    what it asks of a session; `joins_late`: it may be added to a session that runs.
    """

    name: str
    address: Address = "files"
    extensions: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    malformed_reason: str = ""
    option: str = ""
    instead: tuple[str, ...] = ()
    payload: str | None = None
    lines: bool = False
    package: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    joins_late: bool = False


_CSV: Final = {"header": "true", "multiLine": "true", "escape": '"'}  # as RFC 4180 says
_CSV_REASON: Final = (
    "malformed CSV: more or fewer cells than the header, or a cell that its type does not take"
)

LINES: Final = SourceFormat("text", options={"lineSep": "\n"}, payload="value", lines=True)
"""JSON lines on a file system that only Spark has."""
PARQUET: Final = SourceFormat("parquet", extensions=(".parquet",))
"""Parquet on a file system that only Spark has."""

FORMATS: Final[Mapping[str, SourceFormat]] = {
    "csv": SourceFormat("csv", extensions=(".csv",), options=_CSV, malformed_reason=_CSV_REASON),
    "tsv": SourceFormat(
        "csv", extensions=(".tsv",), options={**_CSV, "sep": "\t"}, malformed_reason=_CSV_REASON
    ),
    "xml": SourceFormat("xml", extensions=(".xml",), options={"mode": "FAILFAST"}),
    "avro": SourceFormat(
        "avro",
        extensions=(".avro",),
        package="org.apache.spark:spark-avro_2.13:{spark}",
        joins_late=True,
    ),
    "orc": SourceFormat("orc", extensions=(".orc",)),
    "text": SourceFormat("text"),
    "delta": SourceFormat(
        "delta",
        "path",
        package="io.delta:delta-spark_{spark_minor}_2.13:4.4.0",
        settings={
            EXTENSIONS: DELTA_EXTENSION,
            "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
        },
    ),
    "iceberg": SourceFormat(
        "iceberg", "path", package="org.apache.iceberg:iceberg-spark-runtime-{spark_minor}_2.13:1.11.0"
    ),
    "jdbc": SourceFormat("jdbc", "option", option="dbtable", instead=("query",)),
    "kafka": SourceFormat(
        "kafka",
        "option",
        option="subscribe",
        instead=("subscribePattern", "assign"),
        payload="value",
        package="org.apache.spark:spark-sql-kafka-0-10_2.13:{spark}",
    ),
    TABLE: SourceFormat(TABLE, "catalog"),
}
OWN: Final = ("json", "jsonl", "ndjson", "parquet")
"""The formats that Trellis reads itself, with or without Spark."""

_COMPRESSED: Final = (".gz", ".bz2", ".zst", ".deflate", ".lz4", ".snappy", ".xz")
_BY_EXTENSION: Final = {
    extension: name for name, format_ in FORMATS.items() for extension in format_.extensions
}
_SCHEME: Final = re.compile(rf"{TABLE}:(?!//)", re.IGNORECASE)


def named_format(sources: Sequence[str], name: str | None) -> SourceFormat | None:
    """The format that the user names; None where the files decide. Raises UsageError.

    >>> named_format(["table:raw.events"], None).name, named_format(["raw"], "com.acme.store").address
    ('table', 'path')
    """
    tables = [source for source in sources if _SCHEME.match(source)]
    if tables and (len(tables) < len(sources) or name not in (None, TABLE)):
        raise UsageError(
            f"{tables[0]}: a table of the catalog is loaded alone, without files and other formats"
        )
    if tables:
        return FORMATS[TABLE]
    if name is None or name.lower() in OWN:
        return None
    return FORMATS.get(name.lower()) or SourceFormat(name, "path")


def table_name_of(source: str) -> str:
    """The name of a catalog table without its prefix.

    >>> table_name_of("table:raw.events"), table_name_of("raw.events")
    ('raw.events', 'raw.events')
    """
    return _SCHEME.sub("", source, count=1)


def format_of_files(
    names: Iterable[str], sources: Sequence[str], line_extensions: Sequence[str] = ()
) -> SourceFormat | None:
    """The format that the names of files have in common; None for those that Trellis reads itself.

    `line_extensions` are endings of files that it reads line by line, whatever else these may be. Raises
    UsageError where there are several formats.

    >>> format_of_files(["raw/a.csv", "raw/b.CSV.gz"], ["raw"]).name, format_of_files(["a.jsonl"], ["raw"])
    ('csv', None)
    >>> format_of_files(["run/a.tsv.gz", "run/part-00000"], ["run"], [".tsv"])
    """
    formats = {
        None if extension in line_extensions else _BY_EXTENSION.get(extension)
        for extension in map(_extension, names)
    }
    if len(formats) > 1:
        kinds = sorted(name or "others" for name in formats)
        raise UsageError(
            f"{', '.join(sources)}: holds files of several formats ({', '.join(kinds)}); name those of one "
            "format, for example with a pattern like '*.csv'"
        )
    name = next(iter(formats), None)
    return FORMATS[name] if name else None


def foreign_format_of(
    names: Iterable[str], sources: Sequence[str], name: str | None, line_extensions: Sequence[str] = ()
) -> SourceFormat:
    """The format of files on a file system that only Spark has. Raises UsageError."""
    listed = list(names)
    chosen = format_of_files(listed, sources, line_extensions)
    if chosen is not None:
        return chosen
    parquet = [file for file in listed if _extension(file) == ".parquet"]
    if name == "parquet" or (name is None and len(parquet) == len(listed)):
        return PARQUET
    if parquet:
        raise UsageError(f"{parquet[0]}: holds Parquet, and other files hold JSON; name one kind")
    return LINES


def _extension(name: str) -> str:
    path = PurePosixPath(name.lower())
    return PurePosixPath(path.stem).suffix if path.suffix in _COMPRESSED else path.suffix

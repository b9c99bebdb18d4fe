"""Data files that Pinot reads without loss: Parquet, Avro, or newline-delimited JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Protocol

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from trellis.dialects.pinot.cluster.file_rows import FileColumn, FileRows
from trellis.dialects.pinot.document.types import PinotType
from trellis.errors import UsageError

ROWS: Final = 1_000_000
"""Rows per file; Pinot turns each file into a segment."""
_BLOCK: Final = 8192
_AVRO_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class DataFile:
    """A written file."""

    path: Path
    rows: int


class Writer(Protocol):
    """A file that takes batches of rows."""

    def write(self, batch: pa.RecordBatch) -> None: ...

    def __enter__(self) -> Writer: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def write_files(
    rows: FileRows,
    batches: Iterable[pa.RecordBatch],
    folder: Path,
    format: str,
    most: int = ROWS,
    tell: Callable[[int], None] = lambda _: None,
    look: Callable[[pa.RecordBatch], None] = lambda _: None,
) -> list[DataFile]:
    """Write all rows into `part-00000.FORMAT` and so on, of at most so many rows each; `tell` gets the
    number of rows so far, `look` every batch that is written.

    Raises UsageError for an invalid column name; DestinationError from the batches.
    """
    make = WRITERS[format](rows)
    files: list[DataFile] = []
    waiting = _groups(rows.batches(batches), most)
    for number, parts in enumerate(waiting):
        path = folder / f"part-{number:05}.{format}"
        count = 0
        with make(path) as file:
            for batch in parts:
                file.write(batch)
                look(batch)
                count += batch.num_rows
                tell(sum(data_file.rows for data_file in files) + count)
        files.append(DataFile(path, count))
    return files


def _groups(batches: Iterator[pa.RecordBatch], most: int) -> Iterator[Iterator[pa.RecordBatch]]:
    """The batches in groups of so many rows; each group must be read to its end before the next."""
    left: list[pa.RecordBatch] = []

    def group() -> Iterator[pa.RecordBatch]:
        room = most
        while room and (batch := left.pop() if left else next(batches, None)) is not None:
            yield batch.slice(0, room)
            if batch.num_rows > room:
                left.append(batch.slice(room))
            room -= min(room, batch.num_rows)

    while left or (first := next(batches, None)) is not None:
        if not left:
            left.append(first)
        yield group()


class ParquetFile:
    """Batches as row groups, by Arrow."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._file = pq.ParquetWriter(path, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._file.write_batch(batch)

    def __enter__(self) -> ParquetFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class JsonFile:
    """Newline-delimited JSON. Numbers that JSON does not have are text that Pinot reads as the same."""

    def __init__(self, path: Path, readers: Mapping[str, Callable[[Any], Any]]) -> None:
        self._file: IO[bytes] = path.open("wb")
        self._readers = readers

    def write(self, batch: pa.RecordBatch) -> None:
        for row in _records(batch, self._readers):
            self._file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY))

    def __enter__(self) -> JsonFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class AvroFile:
    """An object container file; every column may be null."""

    def __init__(self, path: Path, schema: Any, readers: Mapping[str, Callable[[Any], Any]]) -> None:
        from fastavro.write import Writer

        self._stream: IO[bytes] = path.open("wb")
        self._file = Writer(self._stream, schema, codec="deflate")
        self._readers = readers

    def write(self, batch: pa.RecordBatch) -> None:
        for row in _records(batch, self._readers):
            self._file.write(row)

    def __enter__(self) -> AvroFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.flush()
        self._stream.close()


def _parquet(rows: FileRows) -> Callable[[Path], Writer]:
    """Pinot reads maps correctly only with the Avro schema in the file."""
    schema = rows.schema
    if any(column.is_map for column in rows.columns):
        schema = schema.with_metadata({"parquet.avro.schema": orjson.dumps(avro_schema(rows, "json"))})
    return lambda path: ParquetFile(path, schema)


def json_file(rows: FileRows) -> Callable[[Path], Writer]:
    readers = {column.name: _reader(column, _JSON.get(column.value)) for column in rows.columns}
    return lambda path: JsonFile(path, readers)


def _avro(rows: FileRows) -> Callable[[Path], Writer]:
    try:
        from fastavro import parse_schema
    except ImportError as error:
        raise UsageError("Avro needs the package fastavro: pip install 'trellis-spark[avro]'") from error
    schema = parse_schema(avro_schema(rows, "parquet or json"))
    readers = {column.name: _reader(column, None) for column in rows.columns}
    return lambda path: AvroFile(path, schema, readers)


def avro_schema(rows: FileRows, instead: str) -> dict[str, Any]:
    """The Avro schema of a row. Raises UsageError for a name that Avro does not allow."""
    for column in rows.columns:
        if not _AVRO_NAME.fullmatch(column.name):
            raise UsageError(
                f"column {column.name}: Pinot reads this table as Avro, where a name has only letters, "
                f"digits and _; use --format {instead}"
            )
    fields = [
        {"name": column.name, "type": ["null", _avro_type(column)], "default": None}
        for column in rows.columns
    ]
    return {"type": "record", "name": "Row", "namespace": "trellis", "fields": fields}


WRITERS: Final[Mapping[str, Callable[[FileRows], Callable[[Path], Writer]]]] = {
    "parquet": _parquet,
    "json": json_file,
    "avro": _avro,
}


def _records(batch: pa.RecordBatch, readers: Mapping[str, Callable[[Any], Any]]) -> Iterator[dict[str, Any]]:
    for start in range(0, batch.num_rows, _BLOCK):
        block = batch.slice(start, _BLOCK)
        columns = [[*map(readers[name], block.column(name).to_pylist())] for name in block.schema.names]
        for values in zip(*columns, strict=True):
            yield dict(zip(block.schema.names, values, strict=True))


def _reader(column: FileColumn, one: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """The conversion of Arrow values to those of a record."""

    def each(value: Any) -> Any:
        return value if value is None or one is None else one(value)

    if column.is_map:
        return lambda value: None if value is None else {key: each(item) for key, item in value}
    if not column.spec.single_value:
        return lambda value: None if value is None else [each(item) for item in value if item is not None]
    return each


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _short_number(value: float) -> Any:
    """A number of 32 bits with no more digits than it has."""
    return np.float32(value) if math.isfinite(value) else _number(value)


_JSON: Final[Mapping[PinotType, Callable[[Any], Any]]] = {
    PinotType.FLOAT: _short_number,
    PinotType.DOUBLE: _number,
    PinotType.TIMESTAMP: str,
    PinotType.BYTES: bytes.hex,
}


def _avro_type(column: FileColumn) -> Any:
    one = _AVRO.get(column.value, "string")
    if column.is_map:
        return {"type": "map", "values": ["null", one]}
    return one if column.spec.single_value else {"type": "array", "items": one}


_AVRO: Final[Mapping[PinotType, str]] = {
    PinotType.INT: "int",
    PinotType.LONG: "long",
    PinotType.FLOAT: "float",
    PinotType.DOUBLE: "double",
    PinotType.BOOLEAN: "boolean",
    PinotType.TIMESTAMP: "long",
    PinotType.BYTES: "bytes",
}

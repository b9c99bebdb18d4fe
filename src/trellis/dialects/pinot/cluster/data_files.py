"""Data files that Pinot reads without loss: Parquet, or newline-delimited JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

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
    schema = None if format == "json" else parquet_schema(rows)
    files: list[DataFile] = []
    for number, group in enumerate(_groups(rows.batches(batches), most)):
        path = folder / f"part-{number:05}.{format}"
        count = 0
        with closing(JsonFile(path, rows) if schema is None else pq.ParquetWriter(path, schema)) as file:
            for batch in group:
                file.write_batch(batch)
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


def parquet_schema(rows: FileRows) -> pa.Schema:
    """The schema of a Parquet file. Pinot reads maps correctly only with the Avro schema in the file, which
    has no dots in names: raises UsageError for one.
    """
    if not any(column.is_map for column in rows.columns):
        return rows.schema
    for column in rows.columns:
        if not _AVRO_NAME.fullmatch(column.name):
            raise UsageError(
                f"column {column.name}: Pinot reads this table as Avro, where a name has only letters, "
                "digits and _; use --format json"
            )
    fields = [
        {"name": column.name, "type": ["null", _avro_type(column)], "default": None}
        for column in rows.columns
    ]
    avro = {"type": "record", "name": "Row", "namespace": "trellis", "fields": fields}
    return rows.schema.with_metadata({"parquet.avro.schema": orjson.dumps(avro)})


def _avro_type(column: FileColumn) -> Any:
    value_type = _AVRO.get(column.value, "string")
    if column.is_map:
        return {"type": "map", "values": ["null", value_type]}
    return value_type if column.spec.single_value else {"type": "array", "items": value_type}


class JsonFile:
    """Newline-delimited JSON. Numbers that JSON does not have are text that Pinot reads as the same."""

    def __init__(self, path: Path, rows: FileRows) -> None:
        self._file = path.open("wb")
        self._readers = {column.name: _reader(column) for column in rows.columns}
        self.close = self._file.close

    def write_batch(self, batch: pa.RecordBatch) -> None:
        names = batch.schema.names
        for start in range(0, batch.num_rows, _BLOCK):
            block = batch.slice(start, _BLOCK)
            columns = [[*map(self._readers[name], block.column(name).to_pylist())] for name in names]
            for values in zip(*columns, strict=True):
                row = dict(zip(names, values, strict=True))
                line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY)
                self._file.write(line)


def _reader(column: FileColumn) -> Callable[[Any], Any]:
    """The conversion of Arrow values to those of JSON."""
    convert = _JSON.get(column.value, lambda value: value)

    def convert_scalar(value: Any) -> Any:
        return None if value is None else convert(value)

    if column.is_map:
        return lambda value: None if value is None else {key: convert_scalar(entry) for key, entry in value}
    if not column.spec.single_value:
        return lambda value: value and [convert(element) for element in value if element is not None]
    return convert_scalar


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
_AVRO: Final[Mapping[PinotType, str]] = {
    PinotType.INT: "int",
    PinotType.LONG: "long",
    PinotType.FLOAT: "float",
    PinotType.DOUBLE: "double",
    PinotType.BOOLEAN: "boolean",
    PinotType.TIMESTAMP: "long",
    PinotType.BYTES: "bytes",
}

"""Data files that Pinot reads without loss: Parquet, or newline-delimited JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.stored_schema import arrow_name
from trellis.dialects.pinot.value.source_kinds import LONG_MAX
from trellis.errors import DestinationError, UsageError

_MILLIS: Final = pa.timestamp("ms", "UTC")


@dataclass(frozen=True)
class FileRows:
    """The columns of a table in its files. `sources`: columns of the dataset that have other names there."""

    columns: Sequence[FieldSpec]
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(spec.name, _type(spec)) for spec in self.columns])

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows, with nulls for columns that a batch lacks. Raises DestinationError."""
        for batch in batches:
            arrays = [self._column(spec, batch) for spec in self.columns]
            if batch.num_rows:
                yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _column(self, spec: FieldSpec, batch: pa.RecordBatch) -> pa.Array:
        at = batch.schema.get_field_index(spec.name)
        if at < 0:
            at = batch.schema.get_field_index(self.sources.get(spec.name, spec.name))
        return pa.nulls(batch.num_rows, _type(spec)) if at < 0 else _array(spec, batch.column(at))


def _value(spec: FieldSpec) -> PinotType:
    """The type of single values: of a list its elements, of a map its values."""
    child = spec.children.get("value") if spec.data_type is PinotType.MAP else None
    return child.data_type if child is not None else spec.data_type


def _type(spec: FieldSpec) -> pa.DataType:
    is_time = _value(spec) is PinotType.TIMESTAMP
    scalar = pa.int64() if is_time else pa.type_for_alias(arrow_name(_value(spec)) or "string")
    if spec.data_type is PinotType.MAP:
        return pa.map_(pa.string(), scalar)
    return scalar if spec.single_value else pa.list_(scalar)


def _array(spec: FieldSpec, array: pa.Array) -> pa.Array:
    """The values in the type of the file. Raises DestinationError for an invalid value."""
    arrow_type = _type(spec)
    try:
        if array.type == arrow_type:
            return array
        if pa.types.is_nested(arrow_type) and not pa.types.is_nested(array.type):
            convert = _FROM_JSON.get(_value(spec), lambda value: value)
            return pa.array([_nested(text, convert) for text in array.to_pylist()], arrow_type)
        if pa.types.is_timestamp(array.type):
            return _millis(array)
        if _times(array.type):
            between = pa.list_(_MILLIS) if pa.types.is_nested(arrow_type) else _MILLIS
            return array.cast(between).cast(arrow_type)
        return array.cast(arrow_type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError, TypeError) as error:
        raise DestinationError(
            f"column {spec.name}: its values of type {array.type} are no {spec.data_type.value} "
            f"({error}); the table was changed outside Trellis"
        ) from error


def _nested(text: str | None, convert: Callable[[Any], Any]) -> Any:
    """A list or map from its JSON text in a destination without nested types."""
    value = None if text is None else json.loads(text)
    if isinstance(value, list):
        return [None if element is None else convert(element) for element in value]
    return value and {key: None if entry is None else convert(entry) for key, entry in value.items()}


def _millis(times: pa.Array) -> pa.Array:
    """Milliseconds. The greatest LONG is infinity in DuckDB: the greatest count of microseconds."""
    infinite = pc.equal(times.cast(pa.int64()), LONG_MAX)
    finite = pc.if_else(infinite, pa.scalar(None, times.type), times)
    return pc.if_else(infinite, LONG_MAX, finite.cast(_MILLIS).cast(pa.int64()))


def _times(arrow_type: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(arrow_type.value_type if pa.types.is_list(arrow_type) else arrow_type))


_FROM_JSON: Final[Mapping[PinotType, Callable[[Any], Any]]] = {
    PinotType.BYTES: bytes.fromhex,
    PinotType.FLOAT: float,
    PinotType.DOUBLE: float,
}
"""Bytes are hexadecimal in JSON, and infinities are text."""


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
) -> list[DataFile]:
    """Write all rows into `part-00000.FORMAT` and so on, of at most so many rows each; `tell` gets the
    number of rows so far.

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
    if not any(spec.data_type is PinotType.MAP for spec in rows.columns):
        return rows.schema
    for spec in rows.columns:
        if not _AVRO_NAME.fullmatch(spec.name):
            raise UsageError(
                f"column {spec.name}: Pinot reads this table as Avro, where a name has only letters, "
                "digits and _; use --format json"
            )
    fields = [
        {"name": spec.name, "type": ["null", _avro_type(_type(spec))], "default": None}
        for spec in rows.columns
    ]
    avro = {"type": "record", "name": "Row", "namespace": "trellis", "fields": fields}
    return rows.schema.with_metadata({"parquet.avro.schema": orjson.dumps(avro)})


def _avro_type(arrow_type: pa.DataType) -> Any:
    if pa.types.is_map(arrow_type):
        return {"type": "map", "values": ["null", _avro_type(arrow_type.item_type)]}
    if pa.types.is_list(arrow_type):
        return {"type": "array", "items": _avro_type(arrow_type.value_type)}
    return _AVRO[str(arrow_type)]


class JsonFile:
    """Newline-delimited JSON. Numbers that JSON does not have are text that Pinot reads as the same."""

    def __init__(self, path: Path, rows: FileRows) -> None:
        self._file = path.open("wb")
        self._readers = {spec.name: _reader(spec) for spec in rows.columns}
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


def _reader(spec: FieldSpec) -> Callable[[Any], Any]:
    """The conversion of Arrow values to those of JSON."""
    convert = _JSON.get(_value(spec), lambda value: value)

    def convert_scalar(value: Any) -> Any:
        return None if value is None else convert(value)

    if spec.data_type is PinotType.MAP:
        return lambda value: None if value is None else {key: convert_scalar(entry) for key, entry in value}
    if not spec.single_value:
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
_AVRO: Final = {
    "int32": "int",
    "int64": "long",
    "float": "float",
    "double": "double",
    "bool": "boolean",
    "binary": "bytes",
    "string": "string",
}
"""The types of Avro by those of Arrow."""

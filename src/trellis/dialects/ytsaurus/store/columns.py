"""Columns of chunks: types in Arrow, rows to columns and back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.types.model import Type
from trellis.dialects.ytsaurus.types.simple import plain_name
from trellis.dialects.ytsaurus.values.primitives import RANGES, wire_kind
from trellis.dialects.ytsaurus.values.validation import complete_value
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Uint64, to_bytes, to_key
from trellis.dialects.ytsaurus.yson.writer import dumps

UNDECLARED: Final = "$undeclared"
"""The column of a chunk that holds what the schema does not declare: names with values in YSON."""
_UNDECLARED_TYPE: Final = pa.map_(pa.binary(), pa.binary())
_WIDTHS: Final = {
    **{name: pa.type_for_alias(name) for name in ("int8", "int16", "int32", "int64")},
    **{name: pa.type_for_alias(name) for name in ("uint8", "uint16", "uint32", "uint64")},
    "date": pa.uint16(),
    "datetime": pa.uint32(),
    "timestamp": pa.uint64(),
    "date32": pa.int32(),
    "float": pa.float64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "utf8": pa.string(),
    "json": pa.string(),
    "null": pa.null(),
    "void": pa.null(),
}


def arrow_schema(schema: TableSchema) -> pa.Schema:
    """The columns of a chunk. Columns of a group are side by side."""
    groups: dict[str, list[Column]] = {}
    for column in schema.columns:
        groups.setdefault(column.group or f"\0{column.name}", []).append(column)
    fields = [
        pa.field(stored_name(column), arrow_type(column.type), not column.required)
        for columns in groups.values()
        for column in columns
    ]
    if not schema.strict or not fields:
        fields.append(pa.field(UNDECLARED, _UNDECLARED_TYPE))
    return pa.schema(fields)


def stored_name(column: Column) -> str:
    """The name in the chunk: it stays when the column is renamed. Parquet takes UTF-8 alone."""
    return to_bytes(column.identity).decode("utf-8", "backslashreplace")


def encode_rows(schema: TableSchema, rows: Sequence[Row]) -> pa.RecordBatch:
    """Validated rows as the columns of a chunk."""
    fields = arrow_schema(schema)
    by_field = {stored_name(column): column for column in schema.columns}
    arrays = []
    for field in fields:
        if field.name == UNDECLARED:
            arrays.append(pa.array([_undeclared(schema, row) for row in rows], _UNDECLARED_TYPE))
            continue
        column = by_field[field.name]
        values = [row.get(column.name) for row in rows]
        if plain_name(column.type) is None:
            values = [None if value is None else dumps(value, yson_format="binary") for value in values]
        elif pa.types.is_string(field.type):
            values = [None if value is None else value.decode() for value in values]
        arrays.append(pa.array(values, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=fields)


def decode_rows(
    chunk: TableSchema, table: TableSchema, batch: pa.RecordBatch, chosen: Collection[str] | None = None
) -> Iterator[Row]:
    """Rows of a chunk as the table has them now, with the chosen columns; None is all.

    Declared columns are all there, absent ones null.
    """
    selected = None if chosen is None else frozenset(chosen)
    stored = {column.identity: column for column in chunk.columns}
    names, columns = [], []
    for column in table.columns:
        origin = stored.pop(column.identity, None)
        if selected is not None and column.name not in selected:
            continue
        names.append(column.name)
        if origin is None or stored_name(origin) not in batch.schema.names:
            columns.append([None] * batch.num_rows)
        else:
            columns.append(_decode(origin.type, column.type, batch.column(stored_name(origin))))
    extra: list[tuple[str, list[Any]]] = []
    if not table.strict:
        extra = [
            (origin.name, _decode(origin.type, origin.type, batch.column(stored_name(origin))))
            for origin in stored.values()
            if stored_name(origin) in batch.schema.names
        ]
    undeclared = batch.column(UNDECLARED).to_pylist() if UNDECLARED in batch.schema.names else None
    rows: Iterable[tuple[Any, ...]] = zip(*columns, strict=True) if columns else repeat((), batch.num_rows)
    for index, values in enumerate(rows):
        row = dict(zip(names, values, strict=True))
        for name, others in extra:
            if others[index] is not None:
                row[name] = others[index]
        for key, value in (undeclared[index] or ()) if undeclared else ():
            name = to_key(key)
            if selected is None or name in selected:
                row[name] = loads(value, raw=True)
        yield row


def needed_columns(chunk: TableSchema, table: TableSchema, names: Iterable[str] | None) -> list[str] | None:
    """The columns of a chunk to read for some columns of its table; None for all."""
    if names is None:
        return None
    chosen = frozenset(names)
    identities = {column.identity for column in table.columns if column.name in chosen}
    needed = [
        stored_name(column)
        for column in chunk.columns
        if column.identity in identities or (not table.strict and column.name in chosen)
    ]
    if not table.strict and not chosen <= {column.name for column in table.columns}:
        needed.append(UNDECLARED)
    return needed


def is_stored_as_yson(type: Type) -> bool:
    return plain_name(type) is None


def batch_weight(batch: pa.RecordBatch) -> int:
    """What the rows of a chunk count for in `@data_weight`; YSON counts its bytes."""
    return int(batch.num_rows) + sum(map(_array_weight, batch.columns))


def arrow_type(type: Type) -> pa.DataType:
    name = plain_name(type)
    if name is not None and name in RANGES:
        return _WIDTHS.get(name, pa.int64())
    return _WIDTHS.get(name or "yson", pa.binary())


def _undeclared(schema: TableSchema, row: Row) -> list[tuple[bytes, bytes]]:
    return [
        (to_bytes(name), dumps(value, yson_format="binary"))
        for name, value in row.items()
        if name not in schema.by_name and value is not None
    ]


def _decode(stored: Type, declared: Type, array: pa.Array) -> list[Any]:
    name = plain_name(stored)
    if name is None:
        return _each(array, lambda data: complete_value(declared, loads(data, raw=True)))
    if pa.types.is_string(array.type):
        array = array.cast(pa.binary())
    if name in RANGES and wire_kind(name) == "uint64":
        return _each(array, Uint64)
    values: list[Any] = array.to_pylist()
    return values


def _each(array: pa.Array, decode: Callable[[Any], Any]) -> list[Any]:
    return [None if value is None else decode(value) for value in array.to_pylist()]


def _array_weight(array: pa.Array) -> int:
    type = array.type
    if pa.types.is_null(type):
        return 0
    if pa.types.is_map(type):
        offsets = array.offsets
        start, end = offsets[0].as_py(), offsets[-1].as_py()
        return _array_weight(array.items.slice(start, end - start))
    if pa.types.is_binary(type) or pa.types.is_string(type):
        return int(pc.sum(pc.binary_length(array), min_count=0).as_py())
    valid: int = len(array) - array.null_count
    return valid * (1 if pa.types.is_boolean(type) else 8)

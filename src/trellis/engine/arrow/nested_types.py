"""Nested types of Arrow in a schema: what a column says of one, and what a Parquet file keeps of it.

See D-103 to D-105 in docs/conformance.md. A column of lists, maps or structs that is stored as such
has the data type `json` and a hint that holds its Arrow type as text.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq

from trellis.errors import SchemaError
from trellis.schema.model import NESTED_TYPE, Column, Schema

_SCHEME = "arrow-ipc:"
_NAMED = "arrow:"
"""Before the name of a type, which a dialect can write that has no Arrow: `arrow:list<int32>`."""
_DIGITS_OF_128_BITS = 38
_DECIMAL = re.compile(r"decimal128\((\d+), ?(\d+)\)")


def hint_of(type_: pa.DataType) -> str:
    """The hint for an Arrow type: its schema as the only field `c`, in Arrow's IPC form, gzipped, in base64.

    >>> type_of(hint_of(pa.list_(pa.int8())))
    ListType(list<item: int8>)
    """
    schema = pa.schema([pa.field("c", type_)]).serialize().to_pybytes()
    return _SCHEME + base64.b64encode(gzip.compress(schema, mtime=0)).decode("ascii")


def type_of(hint: str) -> pa.DataType:
    """The Arrow type that a hint holds. Raises ValueError."""
    scheme, separator, text = hint.partition(":")
    if scheme + separator == _NAMED:
        return arrow_type_named(text)
    if scheme + separator != _SCHEME:
        raise ValueError(f"it begins with {hint[:20]!r}, not with {_SCHEME!r} or {_NAMED!r}")
    try:
        raw = gzip.decompress(base64.b64decode(text, validate=True))
        schema = pa.ipc.read_schema(pa.BufferReader(raw))
    except (binascii.Error, OSError, EOFError, zlib.error, pa.ArrowException) as bad:
        raise ValueError(f"it is damaged ({bad})") from None
    if len(schema) != 1:
        raise ValueError(f"it holds {len(schema)} fields, not one")
    return schema.field(0).type


def parse_type(name: str, parse_scalar: Callable[[str], pa.DataType]) -> pa.DataType:
    """The type of a name such as `list<T>`, `ARRAY<T>`, `map<string, T>` or `struct<a: T, b: T>`.

    >>> parse_type("struct<a: list<int8>>", pa.type_for_alias)
    StructType(struct<a: list<element: int8>>)

    Raises ValueError.
    """
    outer, opened, rest = name.strip().partition("<")
    parts = _parts(rest[:-1]) if opened and rest.endswith(">") else []
    kind = outer.lower()
    if kind in ("list", "array") and len(parts) == 1:
        element = parse_type(parts[0].removeprefix("element: "), parse_scalar)
        return pa.list_(pa.field("element", element))
    if kind == "map" and len(parts) == 2:
        key, item = (parse_type(part, parse_scalar) for part in parts)
        return pa.map_(key, item)
    if kind == "struct" and parts:
        fields = (part.partition(":") for part in parts)
        return pa.struct([(field.strip(), parse_type(type_, parse_scalar)) for field, _, type_ in fields])
    return parse_scalar(name.strip())


def arrow_type_named(name: str) -> pa.DataType:
    """The type that Arrow calls so, `str` of it, as far as nested types here have it. Raises ValueError."""
    return parse_type(name, _named)


def _named(name: str) -> pa.DataType:
    if decimal := _DECIMAL.fullmatch(name):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    if name == "timestamp[ms, UTC]":
        return pa.timestamp("ms", "UTC")
    return pa.type_for_alias(name)


def _parts(text: str) -> list[str]:
    """What is between the commas that are in no brackets.

    >>> _parts("a: map<string, int64>, b: decimal128(9, 2)")
    ['a: map<string, int64>', 'b: decimal128(9, 2)']
    """
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "<([") - (sign in ">)]")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def grows_into(old: pa.DataType, new: pa.DataType) -> bool:
    """Whether a nested type is another one with more fields, so that values of the old one are of the new.

    >>> x, xy = pa.struct({"x": pa.int8()}), pa.struct({"x": pa.int8(), "y": pa.int8()})
    >>> grows_into(pa.list_(x), pa.list_(xy)), grows_into(xy, x), grows_into(pa.int8(), pa.int16())
    (True, False, False)
    """
    if pa.types.is_struct(old) and pa.types.is_struct(new):
        fields = {field.name: field.type for field in new}
        return all(field.name in fields and grows_into(field.type, fields[field.name]) for field in old)
    if is_list(old) and is_list(new):
        return grows_into(old.value_type, new.value_type)
    return bool(old == new)


def nested_type(column: Column) -> pa.DataType | None:
    """The type under which a column keeps nested values; None where it keeps them as JSON text.

    Raises SchemaError for a hint that holds no type of nested values.
    """
    hint = column.hint(NESTED_TYPE)
    if hint is None or column.data_type != "json":
        return None
    try:
        return _stored(str(hint))
    except ValueError as bad:
        raise SchemaError(
            f"column {column.name}: its {NESTED_TYPE} holds no type of nested values: {bad}; take the hint "
            "out to keep JSON text"
        ) from None


def described(column: Column) -> str | None:
    """The nested type of a column for a reader; None where it has none.

    >>> described(Column("s", "json").with_hints(**{NESTED_TYPE: hint_of(pa.struct({"x": pa.int8()}))}))
    'struct<x: int8>'
    """
    nested = nested_type(column)
    return None if nested is None else str(nested)


def without_nested_types(schema: Schema) -> Schema:
    """The schema for a destination that keeps nested values as JSON text."""
    changed = []
    for table in schema.tables.values():
        nested_columns = [column for column in table.columns.values() if NESTED_TYPE in column.hints]
        if nested_columns:
            changed.append(table.with_columns(*map(_without_hint, nested_columns)))
    return schema.with_tables(*changed) if changed else schema


def _without_hint(column: Column) -> Column:
    hints = {name: value for name, value in column.hints.items() if name != NESTED_TYPE}
    return replace(column, hints=MappingProxyType(hints))


@lru_cache(maxsize=1024)
def _stored(hint: str) -> pa.DataType:
    type_ = type_of(hint)
    if not pa.types.is_nested(type_):
        raise ValueError(f"{type_} is not nested")
    kept = kept_type(type_)
    if kept is None:
        raise ValueError(f"{type_} cannot be kept in a Parquet file")
    return kept


@lru_cache(maxsize=1024)
def kept_type(type_: pa.DataType) -> pa.DataType | None:
    """A nested type as a Parquet file keeps it, whatever way of storing its values had; None if it cannot.

    It cannot where a part has no type (an empty list, a field that is NULL everywhere), no name of its own,
    or a type that is no data type.

    >>> kept_type(pa.large_list(pa.dictionary(pa.int8(), pa.large_string())))
    ListType(list<element: string>)
    >>> kept_type(pa.list_(pa.null()))
    """
    try:
        kept = _kept(type_)
        pq.write_table(pa.schema([("c", kept)]).empty_table(), pa.BufferOutputStream())
    except (_NotKept, pa.ArrowException, OSError):
        return None
    return kept


class _NotKept(Exception):
    """A type that a Parquet file cannot keep."""


def _kept(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_):
        return _kept(type_.value_type)
    if isinstance(type_, pa.UuidType):
        return pa.string()
    if isinstance(type_, pa.BaseExtensionType):
        return _kept(type_.storage_type)
    if pa.types.is_struct(type_):
        fields = {field.name: _kept(field.type) for field in type_}
        if len(fields) != type_.num_fields:
            raise _NotKept
        return pa.struct([pa.field(name, field_type) for name, field_type in fields.items()])
    if pa.types.is_map(type_):
        return pa.map_(_kept(type_.key_type), _kept(type_.item_type))
    if is_list(type_):
        return pa.list_(pa.field("element", _kept(type_.value_type)))
    simple = next((make(type_) for suits, make in _SIMPLE if suits(type_)), None)
    if simple is None:
        raise _NotKept
    return simple


def is_list(type_: pa.DataType) -> bool:
    """Whether its values are lists, in whatever form."""
    return any(
        suits(type_)
        for suits in (
            pa.types.is_list,
            pa.types.is_large_list,
            pa.types.is_fixed_size_list,
            pa.types.is_list_view,
            pa.types.is_large_list_view,
        )
    )


def _itself(type_: pa.DataType) -> pa.DataType:
    return type_


def _always(type_: pa.DataType) -> Callable[[pa.DataType], pa.DataType]:
    return lambda _: type_


def _timestamp(type_: pa.DataType) -> pa.DataType:
    return pa.timestamp(_FINER.get(type_.unit, type_.unit), type_.tz)


def _decimal(type_: pa.DataType) -> pa.DataType:
    """A negative scale means zeros before the point: they are digits like others."""
    digits, scale = type_.precision - min(type_.scale, 0), max(type_.scale, 0)
    return (pa.decimal128 if digits <= _DIGITS_OF_128_BITS else pa.decimal256)(digits, scale)


_FINER: Mapping[str, str] = {"s": "ms"}
_is = pa.types
_SIMPLE: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], pa.DataType]], ...] = (
    (lambda t: _is.is_string(t) or _is.is_large_string(t) or _is.is_string_view(t), _always(pa.string())),
    (_is.is_float16, _always(pa.float32())),
    (lambda t: _is.is_integer(t) or _is.is_floating(t) or _is.is_boolean(t), _itself),
    (_is.is_timestamp, _timestamp),
    (_is.is_date, _always(pa.date32())),
    (_is.is_time32, _always(pa.time32("ms"))),
    (_is.is_time64, _itself),
    (_is.is_decimal, _decimal),
    (_is.is_fixed_size_binary, _itself),
    (lambda t: _is.is_binary(t) or _is.is_large_binary(t) or _is.is_binary_view(t), _always(pa.binary())),
)

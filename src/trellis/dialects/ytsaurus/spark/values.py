"""Columns of chunks as columns of Spark, and back: arrays as a whole, nested ones value by value."""

from __future__ import annotations

from decimal import Decimal as Number
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.spark.types import MAX_DECIMAL, NESTED_OPTIONAL, variant_fields
from trellis.dialects.ytsaurus.store.columns import arrow_type
from trellis.dialects.ytsaurus.types.model import (
    ANY,
    YSON,
    ZONED_TIMES,
    Decimal,
    Dict,
    List,
    Optional,
    Primitive,
    Struct,
    Tagged,
    Tuple,
    Type,
    Variant,
    is_nullable,
    without_tags,
)
from trellis.dialects.ytsaurus.types.simple import plain_name
from trellis.dialects.ytsaurus.values.decimals import decode_decimal, encode_decimal
from trellis.dialects.ytsaurus.values.primitives import MAX_FLOAT, RANGES, wire_kind
from trellis.dialects.ytsaurus.values.validation import complete_value, value_validator
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Uint64, to_bytes
from trellis.dialects.ytsaurus.yson.writer import dumps

_MICROS: Final = 1_000_000
_SECONDS: Final = ("datetime", "datetime64")
_MICROSECONDS: Final = ("timestamp", "timestamp64")
_CHECKED: Final = frozenset(("json", "uuid", "null", "void", *ZONED_TIMES, *_SECONDS))
"""Types whose values are looked at one by one."""


def to_spark(array: pa.Array, type: Type, target: pa.DataType) -> pa.Array:
    """Stored values in the type that Spark has for them."""
    name, item = plain_name(type), _item(type)
    if isinstance(item, Decimal):
        return pa.array([_to_spark(item, value) for value in array.to_pylist()], target)
    if item == YSON:
        return array.cast(target)
    if name is None:
        texts = array.to_pylist()
        values = [None if text is None else complete_value(type, loads(text, raw=True)) for text in texts]
        return pa.array([_to_spark(type, value) for value in values], target)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), target)
    if name in _SECONDS:
        return pc.multiply(array.cast(pa.int64()), _MICROS).cast(target)
    if name in _MICROSECONDS:
        return array.cast(pa.int64()).cast(target)
    return (array.cast(pa.int32()) if name == "date" else array).cast(target)


def to_stored(array: pa.Array, column: str, type: Type) -> pa.Array:
    """Values of Spark as chunks store them. Raises YtError (307) for those that do not fit."""
    try:
        if array.null_count and not is_nullable(type):
            raise YtError(f"null in a required column of the type {type}", ErrorCode.SCHEMA_VIOLATION)
        return _to_stored(array.cast(_without_times(array.type)), type)
    except YtError as error:
        raise error.in_column(column) from None


def _to_stored(array: pa.Array, type: Type) -> pa.Array:
    name, target = plain_name(type), arrow_type(type)
    validate = value_validator(type)
    if type == ANY:
        values = [None if text is None else validate(loads(text, raw=True)) for text in array.to_pylist()]
    elif name is not None and not isinstance(_item(type), Decimal) and name not in _CHECKED:
        try:
            stored = array.cast(target)
            _check_range(stored, name)
            return stored
        except pa.ArrowInvalid:
            values = [validate(_to_value(type, value)) for value in array.to_pylist()]
    else:
        values = [validate(_to_value(type, value)) for value in array.to_pylist()]
    if name is None:
        values = [None if value is None else dumps(value, yson_format="binary") for value in values]
    elif pa.types.is_string(target):
        values = [None if value is None else value.decode() for value in values]
    return pa.array(values, target)


def _check_range(array: pa.Array, name: str) -> None:
    """Raises ArrowInvalid for numbers and times that may be beyond the range of their type."""
    low, high = (-MAX_FLOAT, MAX_FLOAT) if name == "float" else RANGES.get(name, (0, 0))
    if high and len(array) > array.null_count:
        limits = pc.min_max(array)
        if limits["min"].as_py() < low or limits["max"].as_py() > high:
            raise pa.ArrowInvalid(name)


def _item(type: Type) -> Type:
    """The type of the values of a column that are not null."""
    plain = without_tags(type)
    return without_tags(plain.item) if isinstance(plain, Optional) else plain


def _without_times(type: pa.DataType) -> pa.DataType:
    """Dates and times as numbers, and decimals without places as they are."""
    if pa.types.is_timestamp(type):
        return pa.int64()
    if pa.types.is_date32(type):
        return pa.int32()
    if pa.types.is_map(type):
        return pa.map_(_without_times(type.key_type), _without_times(type.item_type))
    if pa.types.is_list(type) or pa.types.is_large_list(type):
        return pa.list_(type.value_field.with_type(_without_times(type.value_type)))
    if pa.types.is_struct(type):
        return pa.struct([field.with_type(_without_times(field.type)) for field in type])
    return type


def _to_spark(type: Type, value: Any) -> Any:
    """A stored value as Arrow takes it."""
    if value is None:
        return None
    match type:
        case Tagged(_, item):
            return _to_spark(item, value)
        case Optional(item) if item != YSON and is_nullable(item):
            return {NESTED_OPTIONAL: _to_spark(item, value[0])}
        case Optional(item) if item != YSON:
            return _to_spark(item, value)
        case Decimal() if type.precision <= MAX_DECIMAL:
            return _to_number(type, value)
        case Decimal():
            return value
        case List(item):
            return [_to_spark(item, part) for part in value]
        case Struct(members):
            return {member.name: _to_spark(member.type, value.get(member.name)) for member in members}
        case Tuple(elements):
            return {f"_{index}": _to_spark(part, value[index - 1]) for index, part in enumerate(elements, 1)}
        case Variant():
            index = _alternative_index(type, value[0])
            return {variant_fields(type)[index]: _to_spark(type.types[index], value[1])}
        case Dict(key, item):
            return [(_to_spark(key, pair[0]), _to_spark(item, pair[1])) for pair in value]
        case Primitive(name) if name in _SECONDS:
            return int(value) * _MICROS
        case Primitive("yson"):
            return dumps(value, yson_format="binary")
        case Primitive("utf8" | "json"):
            return to_bytes(value).decode()
        case Primitive(name) if name in RANGES:
            return Number(int(value)) if name == "uint64" else int(value)
    return None if type in (Primitive("null"), Primitive("void")) else value


def _to_value(type: Type, value: Any) -> Any:
    """A value of Spark as it is written to a table. Raises YtError with the code 307."""
    if value is None:
        return None
    match type:
        case Tagged(_, item):
            return _to_value(item, value)
        case Optional(item) if item != YSON and is_nullable(item):
            return [_to_value(item, value[NESTED_OPTIONAL])]
        case Optional(item):
            return _to_value(item, value)
        case Decimal() if type.precision <= MAX_DECIMAL:
            return encode_decimal(type, str(value))
        case List(item):
            return [_to_value(item, part) for part in value]
        case Struct(members):
            return {member.name: _to_value(member.type, value[member.name]) for member in members}
        case Tuple(elements):
            return [_to_value(part, value[f"_{index}"]) for index, part in enumerate(elements, 1)]
        case Variant():
            return _to_variant(type, value)
        case Dict(key, item):
            return [[_to_value(key, pair[0]), _to_value(item, pair[1])] for pair in value]
        case Primitive(name) if name in _SECONDS:
            return _to_seconds(name, value)
        case Primitive("yson"):
            return loads(value, raw=True)
        case Primitive(name) if name in RANGES:
            return _to_integer(name, int(value))
    return value


def _to_integer(name: str, value: int) -> int:
    return Uint64(value) if wire_kind(name) == "uint64" and value >= 0 else value


def _to_variant(type: Variant, value: Any) -> Any:
    """The one field that has a value; where all are null, the first alternative that may be."""
    fields = variant_fields(type)
    chosen = [index for index, name in enumerate(fields) if value[name] is not None]
    if len(chosen) > 1:
        names = ", ".join(fields[index] for index in chosen)
        raise YtError(f"{names} have values, and a {type} has one", ErrorCode.SCHEMA_VIOLATION)
    nullable = (index for index, part in enumerate(type.types) if is_nullable(part))
    index = chosen[0] if chosen else next(nullable, 0)
    alternative = type.alternatives[index]
    choice = alternative.name.encode() if type.named else index  # type: ignore[union-attr]
    return [choice, _to_value(type.types[index], value[fields[index]])]


def _alternative_index(type: Variant, choice: Any) -> int:
    if not type.named:
        return int(choice)
    names = [to_bytes(item.name) for item in type.alternatives]  # type: ignore[union-attr]
    return names.index(to_bytes(choice))


def _to_number(type: Decimal, value: bytes) -> Number:
    text = decode_decimal(type, value)
    if not text.lstrip("-")[0].isdigit():
        raise YtError(f"Spark has no decimal {text}; read the column as text", ErrorCode.SCHEMA_VIOLATION)
    return Number(text)


def _to_seconds(name: str, micros: int) -> int:
    seconds, rest = divmod(micros, _MICROS)
    if rest:
        raise YtError(f"{rest} microseconds are lost in a {name}", ErrorCode.SCHEMA_VIOLATION)
    return _to_integer(name, seconds)

"""What is stored for null (`FieldSpec.getDefaultNullValue`): the defaults of types, and literals."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, Final

from trellis.dialects.pinot.date_time.timestamp_text import timestamp_millis, timestamp_text
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import FieldType, PinotType, Value
from trellis.dialects.pinot.value.json_text import compact
from trellis.dialects.pinot.value.numbers import (
    bytes_of_hex,
    double_text,
    parse_decimal,
    parse_double,
    parse_float,
    parse_whole,
)
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN, LONG_MIN, CannotConvert, Float32


def parse_default(data_type: PinotType, literal: Any) -> Value:
    """The value of a `defaultNullValue` literal, a JSON value that is not null.

    A number with a fraction is a double here, as in Pinot: a BIG_DECIMAL keeps all digits and its scale only
    if it is written as text. Raises CannotConvert with Pinot's sentence.

    >>> parse_default(PinotType.BOOLEAN, "yes"), parse_default(PinotType.STRING, {"a": 1})
    (0, '{"a":1}')
    >>> parse_default(PinotType.INT, 1.5)
    Traceback (most recent call last):
    CannotConvert: Cannot convert value: '1.5' to type: INT
    """
    text = literal_text(literal)
    try:
        return _PARSERS[data_type](text)
    except (ValueError, KeyError) as error:
        raise CannotConvert(f"Cannot convert value: '{text}' to type: {data_type.value}") from error


def literal_text(literal: Any) -> str:
    """A JSON value as the text that Pinot parses: scalars as text, anything else as compact JSON."""
    if isinstance(literal, str):
        return literal
    return compact(literal).strip('"') if isinstance(literal, float) else compact(literal)


def _json(expected: type) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        value = json.loads(text)
        if not isinstance(value, expected):
            raise ValueError(text)
        return value

    return parse


_PARSERS: Final[Mapping[PinotType, Callable[[str], Value]]] = {
    PinotType.INT: partial(parse_whole, low=INT_MIN, high=INT_MAX),
    PinotType.LONG: parse_whole,
    PinotType.FLOAT: parse_float,
    PinotType.DOUBLE: parse_double,
    PinotType.BIG_DECIMAL: parse_decimal,
    PinotType.BOOLEAN: lambda text: int(text == "1" or text.lower() == "true"),
    PinotType.TIMESTAMP: timestamp_millis,
    PinotType.STRING: str,
    PinotType.JSON: str,
    PinotType.BYTES: bytes_of_hex,
    PinotType.MAP: _json(dict),
    PinotType.LIST: _json(list),
    PinotType.STRUCT: _json(dict),
}


DIMENSION_DEFAULTS: Final[Mapping[PinotType, Value]] = {
    PinotType.INT: INT_MIN,
    PinotType.LONG: LONG_MIN,
    PinotType.FLOAT: float("-inf"),
    PinotType.DOUBLE: float("-inf"),
    PinotType.BIG_DECIMAL: Decimal(0),
    PinotType.BOOLEAN: 0,
    PinotType.TIMESTAMP: 0,
    PinotType.STRING: "null",
    PinotType.JSON: "null",
    PinotType.BYTES: b"",
}
"""The defaults of dimensions, date-times and the legacy time."""

METRIC_DEFAULTS: Final[Mapping[PinotType, Value]] = {
    PinotType.INT: 0,
    PinotType.LONG: 0,
    PinotType.FLOAT: 0.0,
    PinotType.DOUBLE: 0.0,
    PinotType.BIG_DECIMAL: Decimal(0),
    PinotType.STRING: "null",
    PinotType.BYTES: b"",
}
"""The defaults of metrics. A STRING metric has one because Pinot loads it, although it is invalid."""

COMPLEX_DEFAULTS: Final[Mapping[PinotType, Value]] = {PinotType.MAP: {}, PinotType.LIST: []}


def type_default(field_type: FieldType, data_type: PinotType) -> Value:
    """What is stored for null in a column of this role and type. Raises CannotConvert for an invalid pair.

    >>> type_default(FieldType.DIMENSION, PinotType.INT), type_default(FieldType.METRIC, PinotType.INT)
    (-2147483648, 0)
    """
    known, role = _TABLES.get(field_type, (DIMENSION_DEFAULTS, "dimension/time"))
    if data_type not in known:
        raise CannotConvert(f"Unsupported {role} data type: {data_type.value}")
    default = known[data_type]
    return default.copy() if isinstance(default, dict | list) else default


def default_of(spec: FieldSpec) -> Value:
    """What is stored for null in the column: a value of its type, or a list of one for several values.

    >>> default_of(FieldSpec("tags", PinotType.STRING, single_value=False))
    ['null']
    """
    value = type_default(spec.field_type, spec.data_type) if spec.default is None else spec.default
    return value if spec.single_value else [value]


def default_json(data_type: PinotType, value: Value) -> Any:
    """A default as the JSON value that Pinot writes: numbers, booleans and maps as such, the rest as text."""
    if data_type is PinotType.FLOAT:
        return Float32(value)
    if data_type is PinotType.BOOLEAN:
        return bool(value)
    if data_type is PinotType.TIMESTAMP:
        return timestamp_text(value)
    if data_type is PinotType.BYTES:
        return value.hex()
    return value


def same_value(data_type: PinotType, one: Value, other: Value) -> bool:
    """Whether Pinot treats two defaults as equal: decimals with their scale, -0.0 is not 0.0, NaN is NaN."""
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return one.as_tuple() == other.as_tuple()
    if data_type in (PinotType.FLOAT, PinotType.DOUBLE):
        return double_text(one) == double_text(other)
    return bool(one == other)


_TABLES: Final = {
    FieldType.METRIC: (METRIC_DEFAULTS, "metric"),
    FieldType.COMPLEX: (COMPLEX_DEFAULTS, "complex"),
}

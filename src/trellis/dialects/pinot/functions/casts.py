"""The function that changes the type of a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from trellis.dialects.pinot.functions.registry import (
    Function,
    FunctionError,
    as_bytes,
    as_decimal,
    as_double,
    as_int,
    as_long,
    as_object,
    as_text,
    as_timestamp,
    long_result,
)
from trellis.dialects.pinot.value.json_text import json_from_text, json_of
from trellis.dialects.pinot.value.numbers import BLANKS, NotANumber, parse_whole
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, Float32
from trellis.errors import nearest


def _to_boolean(value: Any) -> bool:
    return value.strip().lower() in ("true", "1") if isinstance(value, str) else as_double(value) != 0


def _to_int(value: Any) -> int:
    return as_int(_whole_or_double(value, INT_MIN, INT_MAX) if isinstance(value, str) else value)


def _to_long(value: Any) -> int:
    number = _whole_or_double(value, LONG_MIN, LONG_MAX) if isinstance(value, str) else value
    return long_result(as_long(number))


def _whole_or_double(text: str, low: int, high: int) -> int | float:
    """The whole number of a text, else its double: cast takes 12.7 and 1e3, a column of LONG does not."""
    try:
        return parse_whole(text.strip(BLANKS), low, high)
    except NotANumber:
        return as_double(text)


_TARGETS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "INT": _to_int,
    "INTEGER": _to_int,
    "LONG": _to_long,
    "BIGINT": _to_long,
    "FLOAT": lambda value: Float32(as_double(value)),
    "DOUBLE": as_double,
    "DECIMAL": as_decimal,
    "BIG_DECIMAL": as_decimal,
    "BOOLEAN": _to_boolean,
    "TIMESTAMP": as_timestamp,
    "STRING": as_text,
    "VARCHAR": as_text,
    "JSON": lambda value: json_from_text(value) if isinstance(value, str) else json_of(value, sort=False),
    "BYTES": as_bytes,
    "VARBINARY": as_bytes,
}


def _cast(value: Any, target: str) -> Any:
    """One value as another type; written as cast(x AS LONG)."""
    convert = _TARGETS.get(target.upper())
    if convert is None:
        raise FunctionError(f"unknown type {target[:60]!r}{nearest(target.upper(), _TARGETS)}")
    if isinstance(value, list | tuple):
        raise FunctionError("cast takes one value, not a list")
    return convert(value)


FUNCTIONS: Final = (Function("cast", _cast, as_object, as_text),)

"""The function cast (spec pinot.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import (
    FunctionError,
    as_bytes,
    as_decimal,
    as_double,
    as_int,
    as_long,
    as_moment,
    as_object,
    as_text,
    give_long,
)
from trellis.dialects.pinot.value.json_text import json_from_text
from trellis.dialects.pinot.value.json_write import json_of
from trellis.dialects.pinot.value.kinds import Float32
from trellis.errors import nearest

CAST: Final = Theme()


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in ("true", "1")
    return as_double(value) != 0


def _json(value: Any) -> str:
    return json_from_text(value) if isinstance(value, str) else json_of(value, sort=False)


def _long(value: Any) -> int:
    return give_long(as_long(value))


def _float(value: Any) -> Float32:
    return Float32(as_double(value))


_TARGETS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "INT": as_int,
    "INTEGER": as_int,
    "LONG": _long,
    "BIGINT": _long,
    "FLOAT": _float,
    "DOUBLE": as_double,
    "DECIMAL": as_decimal,
    "BIG_DECIMAL": as_decimal,
    "BIGDECIMAL": as_decimal,
    "BOOLEAN": _boolean,
    "TIMESTAMP": as_moment,
    "STRING": as_text,
    "VARCHAR": as_text,
    "JSON": _json,
    "BYTES": as_bytes,
    "VARBINARY": as_bytes,
}


@CAST.function("cast", as_object, as_text)
def _cast(value: Any, target: str) -> Any:
    """One value as another type; written as cast(x AS LONG)."""
    make = _TARGETS.get(target.upper())
    if make is None:
        raise FunctionError(f"there is no type {target[:60]!r}{nearest(target.upper(), _TARGETS)}")
    if isinstance(value, list | tuple):
        raise FunctionError("cast takes one value, not a list")
    return make(value)

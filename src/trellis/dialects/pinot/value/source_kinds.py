"""The kind of a source value.

A JSON integer has the kind of its size. Typed sources declare the kind: a Java long or a 32-bit float, for
which Python has no class, comes as `Int64` or `Float32`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

from trellis.dialects.pinot.date_time.time_zones import clock_of

INT_MIN: Final = -(2**31)
INT_MAX: Final = 2**31 - 1
LONG_MIN: Final = -(2**63)
LONG_MAX: Final = 2**63 - 1


class CannotConvert(ValueError):
    """A value that its column does not take; the text is one sentence without the column's name."""


class Int64(int):
    """An integer that its source calls a long, however small it is."""


class Float32(float):
    """A float of 32 bits. Its value is rounded to them."""

    def __new__(cls, value: float | str) -> Float32:
        return super().__new__(cls, round32(float(value)))


def round32(value: float) -> float:
    """The nearest float of 32 bits, as a float; infinite beyond the largest.

    >>> round32(7.9), round32(1e39)
    (7.900000095367432, inf)
    """
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


class SourceKind(Enum):
    """The type of a value in its source."""

    NULL = "null"
    BOOLEAN = "BOOLEAN"
    INT = "INT"
    LONG = "LONG"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    BIG_DECIMAL = "BIG_DECIMAL"
    TIMESTAMP = "TIMESTAMP"
    DATE = "DATE"
    STRING = "STRING"
    BYTES = "BYTES"
    UUID = "UUID"
    MAP = "MAP"
    LIST = "LIST"


def kind_of(value: Any) -> SourceKind:
    """The kind of a value. Raises CannotConvert for a class that no source has.

    >>> [kind_of(item).value for item in (7, 3000000000, 10**30, Int64(7), 1.5, True, None)]
    ['INT', 'LONG', 'BIG_DECIMAL', 'LONG', 'DOUBLE', 'BOOLEAN', 'null']
    """
    kind = _BY_CLASS.get(value.__class__)
    if kind is not None:
        return kind
    if value.__class__ is int:
        if INT_MIN <= value <= INT_MAX:
            return SourceKind.INT
        return SourceKind.LONG if LONG_MIN <= value <= LONG_MAX else SourceKind.BIG_DECIMAL
    if isinstance(value, Mapping):
        return SourceKind.MAP
    if isinstance(value, bytes | bytearray | memoryview):
        return SourceKind.BYTES
    for known, kind in _BY_CLASS.items():
        if isinstance(value, known):
            return kind
    if isinstance(value, int):
        return kind_of(int(value))
    raise CannotConvert(f"a value of class {value.__class__.__name__} is of no type that Pinot supports")


SCALARS: Final[Mapping[type, SourceKind]] = {
    bool: SourceKind.BOOLEAN,
    Int64: SourceKind.LONG,
    Float32: SourceKind.FLOAT,
    float: SourceKind.DOUBLE,
    Decimal: SourceKind.BIG_DECIMAL,
    str: SourceKind.STRING,
    bytes: SourceKind.BYTES,
    datetime: SourceKind.TIMESTAMP,
    date: SourceKind.DATE,
    UUID: SourceKind.UUID,
}
"""The kinds of single values by class; that of an int depends on its size."""

_BY_CLASS: Final[Mapping[type, SourceKind]] = {
    type(None): SourceKind.NULL,
    **SCALARS,
    dict: SourceKind.MAP,
    list: SourceKind.LIST,
    tuple: SourceKind.LIST,
}


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND: Final = timedelta(microseconds=1)


def micros_of(value: datetime, zone: str = "UTC") -> int:
    """Microseconds since the epoch; `zone` is that of a datetime that names none.

    >>> micros_of(datetime(1970, 1, 1, 0, 0, 1), "Asia/Kolkata")
    -19799000000
    """
    if value.tzinfo is not None:
        return (value - _EPOCH) // _MICROSECOND
    millis, micros = divmod((value.replace(tzinfo=timezone.utc) - _EPOCH) // _MICROSECOND, 1000)
    return clock_of(zone).later_instant(millis) * 1000 + micros


def millis_of(value: date, zone: str = "UTC") -> int:
    """Milliseconds since the epoch, rounded down as Pinot has nothing finer; of a date its midnight.

    >>> millis_of(datetime(2023, 11, 14, 22, 13, 20, 123999))
    1700000000123
    """
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return micros_of(value, zone) // 1000

"""Arrays of a typed source -> the type of their column in a table whose schema the user wrote.

Kernels as in `casts.py`. The source says what JSON does not: which numbers are longs and which are floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.authored.casts import (
    EXACT,
    Kernel,
    check_bounds,
    is_long,
    json_kernel,
    localised,
    text,
)
from trellis.engine.columnar.authored.json import object_text
from trellis.engine.columnar.strict import FastPathMiss
from trellis.evolution.columnar_transform import Cell, Target

_GREGORIAN: Final = -12_212_553_600_000
"""The milliseconds of 1583: the texts of earlier times follow the calendar that was in use then."""
_LAST: Final = 253_402_300_799_999
_NO_ZEROS: Final = r"(?:\.0+|(\.\d*[1-9])0+)$"
_ONE_ZERO: Final = r"(\.\d+?)0+$"


def typed_kernel(type_: pa.DataType, target: Target) -> Kernel | None:
    """The kernels for what sources with types have."""
    kind = _kind(type_)
    return _KERNELS.get((kind, target)) or (json_kernel(type_, target) if kind in _LIKE_JSON else None)


_LIKE_JSON: Final = frozenset({"bool", "short", "long", "text"})


def _kind(type_: pa.DataType) -> str:
    return next((kind for suits, kind in _KINDS if suits(type_)), "other")


_is = pa.types
_KINDS: Final = (
    (_is.is_boolean, "bool"),
    (lambda t: _is.is_int64(t) or _is.is_uint32(t), "long"),
    (lambda t: _is.is_integer(t) and not _is.is_uint64(t), "short"),
    (lambda t: _is.is_float32(t) or _is.is_float64(t), "float"),
    (_is.is_string, "text"),
    (_is.is_decimal, "decimal"),
    (_is.is_timestamp, "timestamp"),
    (_is.is_date32, "date"),
    (_is.is_binary, "binary"),
    (_is.is_struct, "object"),
)


def _long_to_millis(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return array.cast(pa.int64())


def _float(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """A negative zero becomes zero, and what is no number null."""
    if cell.target == "float32":
        floats = pc.add(array.cast(pa.float32(), safe=False), pa.scalar(0.0, pa.float32()))
        if pc.any(pc.not_equal(pc.is_inf(floats), pc.is_inf(array))).as_py():
            raise FastPathMiss
    else:
        floats = pc.add(array.cast(pa.float64()), 0.0)
    unknown = pc.is_nan(floats)
    if not pc.any(unknown).as_py():
        return floats
    if cell.check is not None:
        raise FastPathMiss  # a main time that is no number is refused
    return pc.if_else(unknown, pa.scalar(None, floats.type), floats)


def _same_float(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return array.cast(pa.float64())


def _float_to_integer(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """Floats without a fraction; Arrow refuses others."""
    return array.cast(pa.int64())


def _float_to_flag(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return pc.not_equal(array, pa.scalar(0.0, array.type))


def _plain(array: pa.Array) -> pa.Array | None:
    """Decimals as texts, with all digits of their scale; None where one would have an exponent."""
    texts = array.cast(pa.string())
    return None if pc.any(pc.match_substring(texts, "E")).as_py() else texts


def _decimal_to_digits(array: pa.Array, cell: Cell, zone: str) -> pa.Array | None:
    texts = _plain(array)
    return None if texts is None else pc.replace_substring_regex(texts, _NO_ZEROS, r"\1")


def _decimal_to_text(array: pa.Array, cell: Cell, zone: str) -> pa.Array | None:
    texts = _plain(array)
    return None if texts is None else text(texts, cell, zone)


def _decimal_to_float(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """The nearest floats, of decimals whose whole part a float holds."""
    floats = array.cast(pa.string()).cast(pa.float64())
    check_bounds(pc.trunc(floats), (1 - EXACT, EXACT - 1))
    return floats


def _decimal_to_integer(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """Decimals without a fraction; Arrow refuses others."""
    return array.cast(pa.int64())


def _utc(array: pa.Array) -> pa.Array:
    """Timestamps as their source counts them, without a zone."""
    return array.cast(pa.int64()).cast(pa.timestamp(array.type.unit))


def _floored(array: pa.Array, unit: str, name: str) -> pa.Array:
    finer = array.type.unit in _UNITS[_UNITS.index(unit) + 1 :]
    return (pc.floor_temporal(array, unit=name) if finer else array).cast(pa.timestamp(unit))


_UNITS: Final = ("s", "ms", "us", "ns")


def _timestamp_to_millis(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """Rounded down; those without a zone are times of the session's zone."""
    millis = _floored(_utc(array), "ms", "millisecond")
    return millis.cast(pa.int64()) if array.type.tz else localised(millis, zone)


def _timestamp_to_text(array: pa.Array, cell: Cell, zone: str) -> pa.Array | None:
    """Down to microseconds, with the zeros at the end left out but for the first digit."""
    if zone != "UTC":
        return None
    micros = _floored(_utc(array), "us", "microsecond")
    check_bounds(micros.cast(pa.int64()), (_GREGORIAN * 1000, _LAST * 1000))
    return text(pc.replace_substring_regex(micros.cast(pa.string()), _ONE_ZERO, r"\1"), cell, zone)


def _date_to_text(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return text(array.cast(pa.string()), cell, zone)


def _bytes(array: pa.Array, cell: Cell, zone: str) -> pa.Array | None:
    longest = pc.max(pc.binary_length(array)).as_py()
    return None if cell.longest is not None and longest is not None and longest > cell.longest else array


def _object(array: pa.Array, cell: Cell, zone: str) -> pa.Array | None:
    texts = object_text(array, complete=True)
    return None if texts is None or is_long(texts, cell.longest) else texts


_KERNELS: Final[Mapping[tuple[str, Target], Kernel]] = {
    ("long", "millis"): _long_to_millis,
    ("float", "float32"): _float,
    ("float", "float64"): _float,
    ("float", "int32"): _float_to_integer,
    ("float", "int64"): _float_to_integer,
    ("float", "bool"): _float_to_flag,
    ("decimal", "digits"): _decimal_to_digits,
    ("decimal", "text"): _decimal_to_text,
    ("decimal", "float64"): _decimal_to_float,
    ("decimal", "int32"): _decimal_to_integer,
    ("decimal", "int64"): _decimal_to_integer,
    ("timestamp", "millis"): _timestamp_to_millis,
    ("timestamp", "int64"): _timestamp_to_millis,
    ("timestamp", "text"): _timestamp_to_text,
    ("date", "text"): _date_to_text,
    ("binary", "binary"): _bytes,
    ("object", "json"): _object,
    ("float", "same_float"): _same_float,
    ("binary", "same_text"): _bytes,
}

"""Arrays of JSON values -> the type of their column in a table whose schema the user wrote.

A kernel gives for every value what the program's `each` gives. It raises FastPathMiss (or an Arrow error)
where a value is special, and returns None where it has no shortcut, so that `each` converts the column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.authored.json import object_text
from trellis.engine.columnar.strict import FastPathMiss
from trellis.evolution.columnar_transform import Cell, Target

INT: Final = (-(2**31), 2**31 - 1)
EXACT: Final = 2**53
EXACT32: Final = 2**24
_LONGEST_DIGITS: Final = r"^[+-]?\d{1,18}$"
_NUMBER: Final = r"^[+-]?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,2})?$"
_STAMP: Final = r"^[1-9]\d{3}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?$"
_PLAIN: Final = r"^(?:-?[1-9]\d{0,99}(?:\.\d{1,99})?|-?0\.\d{0,98}[1-9]\d{0,98}|0)$"
_ZEROS: Final = r"(?:\.0+|(\.\d*[1-9])0*)$"
_NIBBLES: Final = np.full(256, 255, np.uint8)
_NIBBLES[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)
_NIBBLES[np.frombuffer(b"ABCDEF", np.uint8)] = np.arange(10, 16)
_MAX_NIBBLE: Final = 15
_TO_MILLIS: Final = len("2023-11-14 22:13:20.123")
_ZONED: Final = (-30_610_224_000_000, 2_114_380_800_000)
"""The years 1000 to 2036: of later ones Arrow takes no daylight saving time into account."""
_SURROGATE_PAIR_START: Final = 0xF0
"""The first byte of a character that takes two UTF-16 units begins with these bits."""


Kernel = Callable[[pa.Array, Cell, str], pa.Array | None]
KernelFinder = Callable[[pa.DataType, Target], Kernel | None]
"""What makes the values of an Arrow type those of a column; None where there is no shortcut."""


def json_kernel(type_: pa.DataType, target: Target) -> Kernel | None:
    """The kernels for what Arrow reads from JSON."""
    return _KERNELS.get((_kind(type_), target))


def _refuse_integers(array: pa.Array, limit: int) -> None:
    """Raises FastPathMiss for a number that may have been an integer which no float is."""
    long = pc.and_(pc.equal(array, pc.trunc(array)), pc.greater_equal(pc.abs(array), limit))
    if pc.any(long).as_py():
        raise FastPathMiss


def _kind(type_: pa.DataType) -> str:
    if pa.types.is_boolean(type_):
        return "bool"
    if pa.types.is_integer(type_):
        return "int"
    if pa.types.is_floating(type_):
        return "float"
    if pa.types.is_struct(type_):
        return "object"
    return "text" if pa.types.is_string(type_) else "other"


def check_bounds(array: pa.Array, bounds: tuple[int, int]) -> None:
    extremes = pc.min_max(array).as_py()
    if extremes["min"] is not None and (extremes["min"] < bounds[0] or extremes["max"] > bounds[1]):
        raise FastPathMiss


def _require_match(array: pa.Array, pattern: str) -> None:
    if pc.all(pc.match_substring_regex(array, pattern)).as_py() is False:
        raise FastPathMiss


def _flag(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return array


def _flag_to_number(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return array.cast(pa.int8())


def _flag_to_text(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return text(array.cast(pa.string()), cell, zone)


def _integer(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """Integers; those that do not fit are damaged, which is to be counted."""
    return array


def _integer_to_float(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    limit = EXACT32 if cell.target == "float32" else EXACT
    check_bounds(array, (-limit, limit))
    return array.cast(pa.float64())


def _integer_to_flag(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return pc.not_equal(array, 0)


def _integer_to_millis(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """Longs are milliseconds, shorter integers no time."""
    short = pc.and_(pc.greater_equal(array, INT[0]), pc.less_equal(array, INT[1]))
    if pc.any(short).as_py():
        raise FastPathMiss
    return array


def _integer_to_text(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return text(array.cast(pa.string()), cell, zone)


def _float(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """A negative zero becomes zero; JSON has no number that is not finite, but digits that overflow."""
    if pc.all(pc.is_finite(array)).as_py() is False:
        raise FastPathMiss
    _refuse_integers(array, EXACT32 if cell.target == "float32" else EXACT)
    floats = pc.add(array, 0.0)
    if cell.target != "float32":
        return floats
    floats = pc.add(floats.cast(pa.float32(), safe=False), pa.scalar(0.0, pa.float32()))
    if pc.all(pc.is_finite(floats)).as_py() is False:
        raise FastPathMiss
    return floats


def _same(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return array


def _same_text(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    if is_long(array, cell.longest):
        raise FastPathMiss
    return array


def text(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """Text without null characters that is not too long."""
    if _has_nul(array) or is_long(array, cell.longest):
        raise FastPathMiss
    return array


def is_long(array: pa.Array, most: int | None) -> bool:
    """Whether a text has more than so many UTF-16 units, or may have."""
    _, offsets, content = array.buffers()
    if most is None or content is None or not len(array):
        return False
    bounds = _bounds(array, offsets)
    if np.diff(bounds).max() <= most:
        return False
    return bool(
        _bytes_of(content, bounds).max() >= _SURROGATE_PAIR_START
        or pc.max(pc.utf8_length(array)).as_py() > most
    )


def _has_nul(array: pa.Array) -> bool:
    _, offsets, content = array.buffers()
    return content is not None and not _bytes_of(content, _bounds(array, offsets)).all()


def _bounds(array: pa.Array, offsets: pa.Buffer) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Where each value begins, and the last one ends."""
    return np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]


def _bytes_of(content: pa.Buffer, bounds: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(content, np.uint8)[bounds[0] : bounds[-1]]


def _text_to_integer(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    trimmed = pc.ascii_trim(array, " ")
    _require_match(trimmed, _LONGEST_DIGITS)
    return pc.ascii_ltrim(trimmed, "+").cast(pa.int64())


def _text_to_float(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    trimmed = pc.ascii_trim(array, " ")
    _require_match(trimmed, _NUMBER)
    if cell.target == "float32":
        raise FastPathMiss
    return _float(pc.ascii_ltrim(trimmed, "+").cast(pa.float64()), cell, zone)


def _text_to_flag(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    lowered = pc.ascii_lower(pc.ascii_trim(array, " "))
    known = pc.is_in(lowered, pa.array(["true", "1", "false", "0"]))
    if pc.all(pc.or_(known, pc.is_null(array))).as_py() is False:
        raise FastPathMiss
    flags = pc.is_in(lowered, pa.array(["true", "1"]))
    return pc.if_else(pc.is_null(array), pa.scalar(None, pa.bool_()), flags) if array.null_count else flags


def _text_to_millis(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """Date and time of day without a zone; digits below a millisecond are cut."""
    _require_match(array, _STAMP)
    return localised(pc.utf8_slice_codeunits(array, 0, _TO_MILLIS).cast(pa.timestamp("ms")), zone)


def localised(array: pa.Array, zone: str) -> pa.Array:
    """The milliseconds at which clocks of a zone show these times, where that is one instant each."""
    if zone == "UTC":
        return array.cast(pa.int64())
    check_bounds(array.cast(pa.int64()), _ZONED)
    return pc.assume_timezone(array, zone).cast(pa.int64())


def _digits(array: pa.Array, cell: Cell, zone: str) -> pa.Array | None:
    """Plain decimals; zeros at the end of a fraction are left out."""
    trimmed = pc.ascii_trim(array, " ")
    if pc.all(pc.match_substring_regex(trimmed, _PLAIN)).as_py() is False:
        return None
    return pc.replace_substring_regex(trimmed, _ZEROS, r"\1")


def _integer_to_digits(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return array.cast(pa.string())


def _bytes(array: pa.Array, cell: Cell, zone: str) -> pa.Array | None:
    """Hexadecimal texts, all of them at once."""
    _, offsets, content = array.buffers()
    if content is None:
        return None
    bounds = _bounds(array, offsets)
    nibbles = _NIBBLES[_bytes_of(content, bounds)]
    if (nibbles > _MAX_NIBBLE).any() or (np.diff(bounds) & 1).any():
        return None
    ends = (bounds - bounds[0]) // 2
    if cell.longest is not None and len(ends) > 1 and np.diff(ends).max() > cell.longest:
        return None
    content_bytes = (nibbles[::2] << 4) | nibbles[1::2]
    valid = pa.py_buffer(np.packbits(array.is_valid().to_numpy(zero_copy_only=False), bitorder="little"))
    buffers = [valid, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(content_bytes.tobytes())]
    return pa.Array.from_buffers(pa.binary(), len(array), buffers)


def _object(array: pa.Array, cell: Cell, zone: str) -> pa.Array | None:
    texts = object_text(array)
    return None if texts is None or is_long(texts, cell.longest) else texts


_KERNELS: Final[Mapping[tuple[str, Target], Kernel]] = {
    ("bool", "bool"): _flag,
    ("bool", "int32"): _flag_to_number,
    ("bool", "int64"): _flag_to_number,
    ("bool", "text"): _flag_to_text,
    ("int", "int32"): _integer,
    ("int", "int64"): _integer,
    ("int", "float32"): _integer_to_float,
    ("int", "float64"): _integer_to_float,
    ("int", "bool"): _integer_to_flag,
    ("int", "millis"): _integer_to_millis,
    ("int", "text"): _integer_to_text,
    ("float", "float32"): _float,
    ("float", "float64"): _float,
    ("text", "text"): text,
    ("text", "int32"): _text_to_integer,
    ("text", "int64"): _text_to_integer,
    ("text", "float64"): _text_to_float,
    ("text", "bool"): _text_to_flag,
    ("text", "millis"): _text_to_millis,
    ("text", "digits"): _digits,
    ("int", "digits"): _integer_to_digits,
    ("text", "binary"): _bytes,
    ("object", "json"): _object,
    ("int", "json"): _integer_to_text,
    ("bool", "json"): _flag_to_text,
    ("bool", "same_bool"): _flag,
    ("int", "same_int"): _integer,
    ("float", "same_float"): _same,
    ("text", "same_text"): _same_text,
}

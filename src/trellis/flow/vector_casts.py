"""Arrays of JSON values -> the type of their column in an authored table, where every value is ordinary.

Each function gives what the program's `each` gives for every one of the values, or raises NotClean (or an
Arrow error), or None where it has no shortcut and `each` is to be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.evolution.vector import Cell, Target
from trellis.flow.columnar import NotClean
from trellis.flow.vector_chain import times_of
from trellis.flow.vector_json import object_text

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
_F: Final = 15
_TO_MILLIS: Final = len("2023-11-14 22:13:20.123")
_WIDE: Final = 0xF0
"""The first byte of a character that takes two UTF-16 units begins with these bits."""


def fitted(array: pa.Array, cell: Cell, wanted: pa.DataType, zone: str) -> pa.Array | None:
    """The values of a column that holds one value each."""
    if array.null_count == len(array):
        return pa.nulls(len(array), wanted)
    way = _WAYS.get((_kind(array.type), cell.target))
    if way is None:
        return None
    made = way(array, cell, zone)
    if made is None:
        return None
    _check(made, cell)
    return made if made.type == wanted else made.cast(wanted)


def listed(array: pa.Array, cell: Cell, wanted: pa.DataType, zone: str) -> pa.Array | None:
    """The values of a column that holds lists: nulls in them are left out, and empty ones are NULL."""
    if array.null_count == len(array):
        return pa.nulls(len(array), wanted)
    if not pa.types.is_list(array.type):
        values = fitted(array, cell, wanted.value_type, zone)
        if values is None:
            return None
        offsets = pa.array(np.arange(len(array) + 1, dtype=np.int32))
        made = pa.ListArray.from_arrays(offsets, values, type=wanted)
        return pc.if_else(pc.is_null(array), pa.scalar(None, wanted), made) if array.null_count else made
    if pa.types.is_null(array.type.value_type):
        return pa.nulls(len(array), wanted)
    values = fitted(pc.list_flatten(array), cell, wanted.value_type, zone)
    if values is None:
        return None
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    if values.null_count:
        valid = values.is_valid().to_numpy(zero_copy_only=False)
        ends = np.concatenate(([0], np.cumsum(valid)))
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        lengths = ends[bounds[1:]] - ends[bounds[:-1]]
        values = values.drop_null()
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    empty = pa.array(lengths == 0)
    made = pa.ListArray.from_arrays(pa.array(offsets), values, type=wanted)
    return pc.if_else(empty, pa.scalar(None, wanted), made) if pc.any(empty).as_py() else made


def _refuse_integers(array: pa.Array, limit: int) -> None:
    """Raises NotClean for a number that may have been an integer which no float is."""
    long = pc.and_(pc.equal(array, pc.trunc(array)), pc.greater_equal(pc.abs(array), limit))
    if pc.any(long).as_py():
        raise NotClean


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


def _check(made: pa.Array, cell: Cell) -> None:
    if cell.within is not None and cell.pattern is not None:
        times = times_of(made, cell.pattern)
        if times is None:
            raise NotClean
        _inside(times, cell.within)
    elif cell.within is not None:
        _inside(made.cast(pa.int64()), cell.within)
    elif cell.check is not None and not all(map(cell.check, pc.unique(made).drop_null().to_pylist())):
        raise NotClean


def _inside(array: pa.Array, bounds: tuple[int, int]) -> None:
    found = pc.min_max(array).as_py()
    if found["min"] is not None and (found["min"] < bounds[0] or found["max"] > bounds[1]):
        raise NotClean


def _only(array: pa.Array, pattern: str) -> None:
    if pc.all(pc.match_substring_regex(array, pattern)).as_py() is False:
        raise NotClean


def _flag(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return array


def _flag_to_number(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return array.cast(pa.int8())


def _flag_to_text(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return array.cast(pa.string())


def _whole(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """Integers; those that do not fit are damaged, which is to be counted."""
    return array


def _whole_to_float(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    limit = EXACT32 if cell.target == "float32" else EXACT
    _inside(array, (-limit, limit))
    return array.cast(pa.float64())


def _whole_to_flag(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return pc.not_equal(array, 0)


def _whole_to_millis(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """Longs are milliseconds, shorter integers no time."""
    short = pc.and_(pc.greater_equal(array, INT[0]), pc.less_equal(array, INT[1]))
    if pc.any(short).as_py():
        raise NotClean
    return array


def _whole_to_text(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return _text(array.cast(pa.string()), cell, zone)


def _float(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """A negative zero becomes zero; JSON has no number that is not finite, but digits that overflow."""
    if pc.all(pc.is_finite(array)).as_py() is False:
        raise NotClean
    _refuse_integers(array, EXACT32 if cell.target == "float32" else EXACT)
    made = pc.add(array, 0.0)
    if cell.target != "float32":
        return made
    made = pc.add(made.cast(pa.float32(), safe=False), pa.scalar(0.0, pa.float32()))
    if pc.all(pc.is_finite(made)).as_py() is False:
        raise NotClean
    return made


def _text(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """Text without null characters that is not too long."""
    _, offsets, content = array.buffers()
    if content is None:
        return array
    bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    raw = np.frombuffer(content, np.uint8)[bounds[0] : bounds[-1]]
    if not len(raw):
        return array
    if raw.min() == 0:
        raise NotClean
    long = cell.longest is not None and np.diff(bounds).max() > cell.longest
    if long and (raw.max() >= _WIDE or pc.max(pc.utf8_length(array)).as_py() > cell.longest):
        raise NotClean
    return array


def _text_to_whole(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    trimmed = pc.ascii_trim(array, " ")
    _only(trimmed, _LONGEST_DIGITS)
    return pc.ascii_ltrim(trimmed, "+").cast(pa.int64())


def _text_to_float(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    trimmed = pc.ascii_trim(array, " ")
    _only(trimmed, _NUMBER)
    if cell.target == "float32":
        raise NotClean
    return _float(pc.ascii_ltrim(trimmed, "+").cast(pa.float64()), cell, zone)


def _text_to_flag(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    lowered = pc.ascii_lower(pc.ascii_trim(array, " "))
    known = pc.is_in(lowered, pa.array(["true", "1", "false", "0"]))
    if pc.all(pc.or_(known, pc.is_null(array))).as_py() is False:
        raise NotClean
    made = pc.is_in(lowered, pa.array(["true", "1"]))
    return pc.if_else(pc.is_null(array), pa.scalar(None, pa.bool_()), made) if array.null_count else made


def _text_to_millis(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    """Date and time of day without a zone; digits below a millisecond are cut."""
    _only(array, _STAMP)
    cut = pc.utf8_slice_codeunits(array, 0, _TO_MILLIS)
    made = cut.cast(pa.timestamp("ms"))
    local = made if zone == "UTC" else pc.assume_timezone(made, zone)
    return local.cast(pa.int64())


def _digits(array: pa.Array, cell: Cell, zone: str) -> pa.Array | None:
    """Plain decimals; zeros at the end of a fraction are left out."""
    trimmed = pc.ascii_trim(array, " ")
    if pc.all(pc.match_substring_regex(trimmed, _PLAIN)).as_py() is False:
        return None
    return pc.replace_substring_regex(trimmed, _ZEROS, r"\1")


def _whole_to_digits(array: pa.Array, cell: Cell, zone: str) -> pa.Array:
    return array.cast(pa.string())


def _bytes(array: pa.Array, cell: Cell, zone: str) -> pa.Array | None:
    """Hexadecimal texts, all of them at once."""
    _, offsets, content = array.buffers()
    if content is None:
        return None
    bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    nibbles = _NIBBLES[np.frombuffer(content, np.uint8)[bounds[0] : bounds[-1]]]
    if (nibbles > _F).any() or (np.diff(bounds) & 1).any():
        return None
    ends = (bounds - bounds[0]) // 2
    if cell.longest is not None and len(ends) > 1 and np.diff(ends).max() > cell.longest:
        return None
    made = (nibbles[::2] << 4) | nibbles[1::2]
    valid = pa.py_buffer(np.packbits(array.is_valid().to_numpy(zero_copy_only=False), bitorder="little"))
    buffers = [valid, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(made.tobytes())]
    return pa.Array.from_buffers(pa.binary(), len(array), buffers)


_Way = Callable[[pa.Array, Cell, str], pa.Array | None]
_WAYS: Final[Mapping[tuple[str, Target], _Way]] = {
    ("bool", "bool"): _flag,
    ("bool", "int32"): _flag_to_number,
    ("bool", "int64"): _flag_to_number,
    ("bool", "text"): _flag_to_text,
    ("int", "int32"): _whole,
    ("int", "int64"): _whole,
    ("int", "float32"): _whole_to_float,
    ("int", "float64"): _whole_to_float,
    ("int", "bool"): _whole_to_flag,
    ("int", "millis"): _whole_to_millis,
    ("int", "text"): _whole_to_text,
    ("float", "float32"): _float,
    ("float", "float64"): _float,
    ("text", "text"): _text,
    ("text", "int32"): _text_to_whole,
    ("text", "int64"): _text_to_whole,
    ("text", "float64"): _text_to_float,
    ("text", "bool"): _text_to_flag,
    ("text", "millis"): _text_to_millis,
    ("text", "digits"): _digits,
    ("int", "digits"): _whole_to_digits,
    ("text", "binary"): _bytes,
    ("object", "json"): object_text,
    ("int", "json"): _whole_to_text,
    ("bool", "json"): _flag_to_text,
}

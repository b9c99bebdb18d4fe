"""Which typed batches may be converted by columns: those whose every value Python can hold as well."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.authored.typed import FLAT
from trellis.evolution.columnar_transform import ColumnarTransform

_DAY: Final = 86_400
_FIRST: Final = -62_135_596_800 + 2 * _DAY
_LAST: Final = 253_402_300_799 - 2 * _DAY
"""Seconds: the calendar of Python, less two days that a time zone may take."""
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_LONGEST: Final = 2**63 - 1


def is_regular(batch: pa.RecordBatch, program: ColumnarTransform) -> bool:
    """Whether Python has every value of a batch, and every row every column under a name of its own.

    Where objects are flattened lists become JSON, also those that nothing is made of: what JSON has no form
    for is not regular in them.
    """
    names = batch.schema.names
    if not batch.num_rows or len(set(names)) < len(names):
        return False
    if program.joint is not None and any(map(_lists_odd, batch.schema.types)):
        return False
    try:
        batch.validate(full=True)
        return all(map(_is_in_python, batch.columns))
    except (pa.ArrowException, OverflowError, ValueError, KeyError):
        return False


def _lists_odd(type_: pa.DataType, inside: bool = False) -> bool:
    """Whether lists of a type hold values that are odd in JSON."""
    odd = isinstance(type_, pa.BaseExtensionType) or any(is_one(type_) for is_one in _ODD)
    if inside and odd:
        return True
    if _is.is_dictionary(type_):
        return _lists_odd(type_.value_type, inside)
    inside |= any(is_one(type_) for is_one in _LISTS)
    return any(_lists_odd(type_.field(at).type, inside) for at in range(type_.num_fields))


def _is_in_python(array: pa.Array) -> bool:
    """Whether `to_pylist` has the values. May raise what that raises."""
    type_ = array.type
    if any(is_one(type_) for is_one in _ALWAYS):
        return True
    if _is.is_timestamp(type_):
        pa.scalar(0, type_).as_py()  # its zone may be unknown
        return _is_within(array, _PER_SECOND[type_.unit])
    if _is.is_date32(type_):
        return _is_within(array, 1 / _DAY)
    if _is.is_dictionary(type_):
        return not _is.is_nested(type_.value_type) and _is_in_python(array.dictionary)
    if any(is_one(type_) for is_one in FLAT):
        return _is_in_python(pc.list_flatten(array))
    if _is.is_struct(type_):
        names = [field.name for field in type_]
        return len(set(names)) == len(names) and all(map(_is_in_python, array.flatten()))
    array.to_pylist(maps_as_pydicts="lossy")
    return not _is.is_interval(type_)


def _is_within(array: pa.Array, per_second: float) -> bool:
    bounds = pc.min_max(array.cast(pa.int32() if _is.is_date32(array.type) else pa.int64())).as_py()
    if bounds["min"] is None:
        return True
    first = max(_FIRST * per_second, 2 * _DAY * per_second - _LONGEST)
    last = min(_LAST * per_second, _LONGEST - 2 * _DAY * per_second)
    return bool(first <= bounds["min"] and bounds["max"] <= last)


_is = pa.types
_LISTS: Final = (*FLAT, _is.is_list_view, _is.is_large_list_view)
_ODD: Final = (_is.is_time, _is.is_duration, _is.is_interval, _is.is_union)
_ALWAYS: Final = (
    _is.is_null,
    _is.is_boolean,
    _is.is_integer,
    _is.is_floating,
    _is.is_decimal,
    _is.is_string,
    _is.is_large_string,
    _is.is_string_view,
    _is.is_binary,
    _is.is_large_binary,
    _is.is_binary_view,
    _is.is_fixed_size_binary,
)

"""Nested values -> the nested type of their column, if nothing is lost on the way.

What a struct lacks becomes NULL. A part for which the type has no place, or that would come back as something
else, is a misfit: nested types do not evolve (D-104).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.arrow.cast import plain
from trellis.engine.arrow.nested_types import is_list
from trellis.engine.arrow.types import ColumnType, Unsupported, column_type
from trellis.evolution.scalars.coerce import coerce
from trellis.evolution.scalars.values import MISFIT
from trellis.schema.model import DataType

_CONVERTED: frozenset[tuple[DataType, DataType]] = frozenset(
    {
        ("bigint", "text"),
        ("bigint", "double"),
        ("bigint", "decimal"),
        ("double", "bigint"),
        ("date", "timestamp"),
    }
)
"""As between columns: the types whose values may become values of another one."""


class Misfit(ValueError):
    """A value for which a nested type has no place."""


# ---- values of Arrow


def nested_cast(array: pa.Array, arrow: pa.DataType) -> pa.Array:
    """The values as a nested type that `kept_type` made. Raises Misfit.

    >>> nested_cast(pa.array([{"x": 1}, None]), pa.struct({"x": pa.int8(), "y": pa.string()})).to_pylist()
    [{'x': 1, 'y': None}, None]
    """
    array = plain(array)
    if array.null_count == len(array):
        return pa.nulls(len(array), arrow)
    if pa.types.is_struct(arrow):
        return _struct(array, arrow)
    if pa.types.is_map(arrow):
        return _map(array, arrow)
    if is_list(arrow):
        return _list(array, arrow)
    if pa.types.is_nested(array.type):
        raise Misfit
    return _simple(array, arrow)


def _struct(array: pa.Array, arrow: pa.DataType) -> pa.Array:
    if not pa.types.is_struct(array.type):
        raise Misfit
    arrays: dict[str, pa.Array] = {}
    for field, values in zip(array.type, array.flatten(), strict=True):
        no_place = arrow.get_field_index(field.name) < 0 or field.name in arrays
        if no_place and values.null_count < len(values):
            raise Misfit
        arrays.setdefault(field.name, values)
    members = [
        nested_cast(arrays[field.name], field.type)
        if field.name in arrays
        else pa.nulls(len(array), field.type)
        for field in arrow
    ]
    return pa.StructArray.from_arrays(members, fields=list(arrow), mask=array.is_null())


def _list(array: pa.Array, arrow: pa.DataType) -> pa.Array:
    if not is_list(array.type):
        raise Misfit
    values = nested_cast(array.flatten(), arrow.value_type)
    return pa.ListArray.from_arrays(_offsets(array), values, type=arrow, mask=array.is_null())


def _map(array: pa.Array, arrow: pa.DataType) -> pa.Array:
    if not pa.types.is_map(array.type):
        raise Misfit
    fields = [("key", array.type.key_type), ("value", array.type.item_type)]
    pairs = array.cast(pa.list_(pa.struct(fields)))
    keys, items = pairs.flatten().flatten()
    return pa.MapArray.from_arrays(
        _offsets(pairs),
        nested_cast(keys, arrow.key_type),
        nested_cast(items, arrow.item_type),
        type=arrow,
        mask=array.is_null(),
    )


def _offsets(array: pa.Array) -> pa.Array:
    lengths = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64())
    ends = pc.cumulative_sum(lengths).cast(pa.int32())
    return pa.concat_arrays([pa.array([0], pa.int32()), ends])


def _simple(array: pa.Array, arrow: pa.DataType) -> pa.Array:
    if array.type == arrow:
        return array
    try:
        pair = (_type(array.type).data_type, _type(arrow).data_type)
        if pair[0] != pair[1] and pair not in _CONVERTED:
            raise Misfit
        start = array.cast(pa.decimal256(20, 0)) if pair == ("bigint", "decimal") else array
        converted = start.cast(arrow)
        if not _equal(converted.cast(start.type, safe=False), start):
            raise Misfit
    except (Unsupported, pa.ArrowException):
        raise Misfit from None
    return converted


def _type(type_: pa.DataType) -> ColumnType:
    column = column_type(type_)
    if column is None:
        raise Misfit
    return column


def _equal(one: pa.Array, other: pa.Array) -> bool:
    if not pa.types.is_floating(one.type):
        return bool(one.equals(other))
    one, other = one.cast(pa.float64()), other.cast(pa.float64())
    nans = pc.and_(pc.is_nan(one), pc.is_nan(other))
    same = pc.all(pc.or_(nans, pc.equal(one, other))).as_py()
    return same is not False and bool(one.is_null().equals(other.is_null()))


# ---- values as JSON texts


def nested_of_texts(texts: Sequence[str | None], arrow: pa.DataType) -> pa.Array:
    """JSON texts as values of a nested type; an object is a struct or a map.

    Raises Misfit with the first text that does not fit.

    >>> nested_of_texts(['{"x":[1,null]}'], pa.struct({"x": pa.list_(pa.int8())})).to_pylist()
    [{'x': [1, None]}]
    """
    try:
        return _parsed(texts, arrow)
    except (ValueError, TypeError, OverflowError, pa.ArrowException):
        if len(texts) == 1:
            raise Misfit(texts[0]) from None
    return pa.concat_arrays([nested_of_texts([text], arrow) for text in texts])


def _parsed(texts: Sequence[str | None], arrow: pa.DataType) -> pa.Array:
    values = [
        None if text is None else _shaped(json.loads(text, parse_float=Decimal), arrow) for text in texts
    ]
    return nested_cast(pa.array(values, _wide(arrow)), arrow)


def _shaped(value: Any, arrow: pa.DataType) -> Any:
    """A value of JSON as Arrow takes it for a type."""
    if value is None:
        return None
    if pa.types.is_struct(arrow):
        types = {field.name: field.type for field in arrow}
        if not isinstance(value, dict) or any(
            value[name] is not None for name in value.keys() - types.keys()
        ):
            raise Misfit
        return {name: _shaped(value.get(name), member_type) for name, member_type in types.items()}
    if pa.types.is_map(arrow):
        if not isinstance(value, dict):
            raise Misfit
        return [(_shaped(k, arrow.key_type), _shaped(v, arrow.item_type)) for k, v in value.items()]
    if is_list(arrow):
        if not isinstance(value, list):
            raise Misfit
        return [_shaped(element, arrow.value_type) for element in value]
    if isinstance(value, (dict, list)):
        raise Misfit
    return _coerced(value, arrow)


def _coerced(value: Any, arrow: pa.DataType) -> Any:
    if pa.types.is_uint64(arrow) and value.__class__ is int and 0 <= value < 1 << 64:
        return value
    data_type = _type(arrow).data_type
    naive = data_type == "timestamp" and arrow.tz is None
    coerced = coerce(value, data_type, timezone=False if naive else None)
    if coerced is MISFIT:
        raise Misfit
    return coerced


_WIDEST: Mapping[DataType, pa.DataType] = {
    "text": pa.string(),
    "double": pa.float64(),
    "time": pa.time64("us"),
}


def _wide(arrow: pa.DataType) -> pa.DataType:
    """The type with room for all that Python values of it say, so that what is cut is noticed."""
    if pa.types.is_struct(arrow):
        return pa.struct([pa.field(field.name, _wide(field.type)) for field in arrow])
    if pa.types.is_map(arrow):
        return pa.map_(_wide(arrow.key_type), _wide(arrow.item_type))
    if is_list(arrow):
        return pa.list_(_wide(arrow.value_type))
    if pa.types.is_timestamp(arrow):
        return pa.timestamp("us", arrow.tz)
    return _WIDEST.get(_type(arrow).data_type, arrow)

"""Arrays of a source with types -> the stored type of their column, where every value fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.arrow.number_text import is_number_text, texts_of_numbers
from trellis.engine.arrow.types import arrow_type, column_type
from trellis.engine.text import to_json
from trellis.schema.model import Column, DataType


class Fitted(NamedTuple):
    """The values as they are stored. `cut` says how many lost digits of their second."""

    array: pa.Array
    cut: int = 0


def plain(array: pa.Array) -> pa.Array:
    """The values without the way they are stored: no dictionary, no runs, no extension."""
    while True:
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        elif pa.types.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        elif isinstance(array.type, pa.UuidType):
            return pa.array(
                [None if value is None else str(value) for value in array.to_pylist()], pa.string()
            )
        elif isinstance(array.type, pa.BaseExtensionType):
            array = array.storage
        else:
            return array


def json_of(array: pa.Array) -> pa.Array:
    """Nested values as JSON texts."""
    values = array.to_pylist(maps_as_pydicts="lossy")
    return pa.array([None if value is None else to_json(value) for value in values], pa.string())


def fitted(array: pa.Array, column: Column) -> Fitted | None:
    """The values as the column stores them; None where one does not fit.

    Whatever fits is what the coercion of single values makes of it too.
    """
    source_type = column_type(array.type)
    if source_type is None:
        return Fitted(pa.nulls(len(array), arrow_type(column)))
    assert column.data_type is not None
    if is_number_text(column):
        texts = texts_of_numbers(array, column)
        return None if texts is None else Fitted(texts)
    convert = _CONVERSIONS.get((source_type.data_type, column.data_type))
    if convert is None:
        return Fitted(pa.nulls(len(array), arrow_type(column))) if array.null_count == len(array) else None
    try:
        return convert(array, arrow_type(column))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def shortened(array: pa.Array) -> Fitted:
    """Times with the six digits of a second that a Python value can have."""
    if pa.types.is_timestamp(array.type) and array.type.unit == "ns":
        floored = _floor(array, "us")
        return Fitted(floored.cast(pa.timestamp("us", array.type.tz)), _differing(array, floored))
    if pa.types.is_time64(array.type) and array.type.unit == "ns":
        return _clock(array, pa.time64("us"))
    return Fitted(array)


def _cast(array: pa.Array, arrow: pa.DataType) -> Fitted:
    return Fitted(array if array.type == arrow else array.cast(arrow))


def _integers(array: pa.Array, arrow: pa.DataType) -> Fitted:
    return _cast(array, arrow) if pa.types.is_integer(arrow) else _into_decimal(array, arrow)


def _into_decimal(array: pa.Array, arrow: pa.DataType) -> Fitted:
    return Fitted(array.cast(pa.decimal256(20, 0)).cast(arrow))


def _from_double(array: pa.Array, arrow: pa.DataType) -> Fitted:
    return Fitted(array.cast(pa.float64()).cast(arrow))


def _instants(array: pa.Array, arrow: pa.DataType) -> Fitted:
    """Without a zone it is UTC."""
    zoned = array.cast(pa.timestamp(array.type.unit, "UTC"))
    cut_count = 0
    if _UNITS.index(arrow.unit) < _UNITS.index(array.type.unit):
        floored = _floor(zoned, arrow.unit)
        cut_count = _differing(zoned, floored)
        zoned = floored
    times = zoned.cast(pa.timestamp(arrow.unit, "UTC"))
    return Fitted(times.cast(arrow), cut_count)


def _clock(array: pa.Array, arrow: pa.DataType) -> Fitted:
    times = array.cast(arrow, safe=False)
    if array.type.unit != "ns" or arrow == array.type:
        return Fitted(times)
    return Fitted(times, _differing(times.cast(array.type), array))


def _midnight(array: pa.Array, arrow: pa.DataType) -> Fitted:
    return Fitted(array.cast(pa.date32()).cast(pa.timestamp(arrow.unit)).cast(arrow))


def _differing(left: pa.Array, right: pa.Array) -> int:
    return pc.sum(pc.not_equal(left, right)).as_py() or 0


def _floor(array: pa.Array, unit: str) -> pa.Array:
    return pc.floor_temporal(array, unit=_NAMES[unit])


_UNITS = ("s", "ms", "us", "ns")
_NAMES = {"s": "second", "ms": "millisecond", "us": "microsecond"}

_CONVERSIONS: Mapping[tuple[DataType, DataType], Callable[[pa.Array, pa.DataType], Fitted]] = {
    ("text", "text"): _cast,
    ("bigint", "bigint"): _integers,
    ("double", "double"): _cast,
    ("bool", "bool"): _cast,
    ("date", "date"): _cast,
    ("binary", "binary"): _cast,
    ("decimal", "decimal"): _cast,
    ("timestamp", "timestamp"): _instants,
    ("time", "time"): _clock,
    ("bigint", "text"): _cast,
    ("bigint", "double"): _cast,
    ("bigint", "decimal"): _into_decimal,
    ("bigint", "wei"): _into_decimal,
    ("double", "bigint"): _from_double,
    ("date", "timestamp"): _midnight,
}

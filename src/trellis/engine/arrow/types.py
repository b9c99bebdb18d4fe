"""Column -> the Arrow type of its values in a staged file, and Arrow type -> the type of a column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from trellis.engine.arrow.nested_types import nested_type
from trellis.evolution.scalars.values import WEI_SIZE
from trellis.schema.model import Column, DataType, Table, is_single, number_size

MAX_PRECISION = 76
"""The most digits that Arrow has a type for."""
INT128 = pa.decimal128(38, 0)


def _integer(column: Column) -> pa.DataType:
    precision = column.precision or 64
    for width, type_ in ((8, pa.int8()), (16, pa.int16()), (32, pa.int32()), (64, pa.int64())):
        if precision <= width:
            return type_
    return INT128


def _timestamp(column: Column) -> pa.DataType:
    digits = 6 if column.precision is None else column.precision
    unit = "s" if digits == 0 else "ms" if digits <= 3 else "us" if digits <= 6 else "ns"
    return pa.timestamp(unit, tz=None if column.timezone is False else "UTC")


def _time(column: Column) -> pa.DataType:
    return pa.time64("us" if column.precision is None or column.precision <= 6 else "ns")


def _exact_number(precision: int, scale: int) -> pa.DataType:
    if precision > MAX_PRECISION:
        return pa.string()
    return (pa.decimal128 if precision <= 38 else pa.decimal256)(precision, scale)


_TYPES: Mapping[DataType, Callable[[Column], pa.DataType]] = {
    "text": lambda _: pa.string(),
    "double": lambda column: pa.float32() if is_single(column) else pa.float64(),
    "bool": lambda _: pa.bool_(),
    "bigint": _integer,
    "timestamp": _timestamp,
    "date": lambda _: pa.date32(),
    "time": _time,
    "binary": lambda _: pa.binary(),
    "json": lambda column: nested_type(column) or pa.string(),
    "decimal": lambda column: _exact_number(*number_size(column)),
    "wei": lambda column: _exact_number(*number_size(column, WEI_SIZE)),
}


def arrow_type(column: Column) -> pa.DataType:
    """The Arrow type of a complete column; exact numbers of more than 76 digits are text."""
    if column.data_type is None:
        raise ValueError(f"column {column.name} has no type yet")
    return _TYPES[column.data_type](column)


def arrow_schema(table: Table) -> pa.Schema:
    return pa.schema([pa.field(c.name, arrow_type(c)) for c in table.complete_columns])


# ---- Arrow type -> type of a column


class Unsupported(ValueError):
    """An Arrow type that is no data type."""


@dataclass(frozen=True)
class Digits:
    """How many digits a destination keeps.

    Of a second in times and in timestamps with a zone, in timestamps without one, and of a decimal. Of `wei`
    the precision and scale that a column has if it says neither.
    """

    zoned: int = 6
    plain: int = 9
    decimal: int = 38
    wei: tuple[int, int] = WEI_SIZE


class ColumnType(NamedTuple):
    """What an Arrow type says of a column."""

    data_type: DataType
    precision: int | None = None
    scale: int | None = None

    def within(self, digits: Digits, timezone: bool | None) -> ColumnType:
        """The same as far as a destination holds it. Of a second six digits are the default, so not said."""
        if self.data_type in ("timestamp", "time"):
            most = digits.plain if self.data_type == "timestamp" and timezone is False else digits.zoned
            digits_kept = min(_SECOND if self.precision is None else self.precision, most)
            return self._replace(precision=None if digits_kept == _SECOND else digits_kept)
        if self.data_type == "decimal" and self.precision is not None and self.precision > digits.decimal:
            return self._replace(precision=digits.decimal, scale=min(self.scale or 0, digits.decimal))
        return self


_SECOND = 6
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def column_type(type_: pa.DataType) -> ColumnType | None:
    """The type of a column of values of an Arrow type; None where these are all NULL. Raises Unsupported.

    >>> column_type(pa.uint16()), column_type(pa.dictionary(pa.int8(), pa.string()))
    (ColumnType(data_type='bigint', precision=16, scale=None), ColumnType(data_type='text', ...))
    """
    if is_json_text(type_):
        return ColumnType("json")
    type_ = value_type(type_)
    if pa.types.is_null(type_):
        return None
    for matches, data_type in _COLUMN_TYPES:
        if matches(type_):
            return _SIZED.get(data_type, _without_size)(data_type, type_)
    raise Unsupported(str(type_))


def value_type(type_: pa.DataType) -> pa.DataType:
    """The type of the values behind a way of storing them."""
    while True:
        if pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_):
            type_ = type_.value_type
        elif isinstance(type_, pa.UuidType):
            return pa.string()
        elif isinstance(type_, pa.BaseExtensionType):
            type_ = type_.storage_type
        else:
            return type_


def is_json_text(type_: pa.DataType) -> bool:
    """Whether its values are texts of JSON: the extension type `arrow.json`."""
    return isinstance(type_, pa.BaseExtensionType) and type_.extension_name == "arrow.json"


def is_nested(type_: pa.DataType) -> bool:
    """Whether its values are lists, maps or objects."""
    return bool(pa.types.is_nested(value_type(type_)))


def _without_size(data_type: DataType, type_: pa.DataType) -> ColumnType:
    return ColumnType(data_type)


def _bits(data_type: DataType, type_: pa.DataType) -> ColumnType:
    return ColumnType(data_type, int(type_.bit_width) if type_.bit_width < 64 else None)


def _fraction(data_type: DataType, type_: pa.DataType) -> ColumnType:
    return ColumnType(data_type, _DIGITS[type_.unit])


def _number(data_type: DataType, type_: pa.DataType) -> ColumnType:
    """A negative scale means zeros before the point: they are digits like others."""
    return ColumnType(data_type, int(type_.precision) - min(int(type_.scale), 0), max(int(type_.scale), 0))


def _width(data_type: DataType, type_: pa.DataType) -> ColumnType:
    fixed = pa.types.is_fixed_size_binary(type_)
    return ColumnType(data_type, int(type_.byte_width) if fixed else None)


_is = pa.types
_COLUMN_TYPES: tuple[tuple[Callable[[pa.DataType], bool], DataType], ...] = (
    (lambda t: _is.is_string(t) or _is.is_large_string(t) or _is.is_string_view(t), "text"),
    (_is.is_integer, "bigint"),
    (_is.is_floating, "double"),
    (_is.is_boolean, "bool"),
    (_is.is_timestamp, "timestamp"),
    (_is.is_date, "date"),
    (_is.is_time, "time"),
    (_is.is_decimal, "decimal"),
    (lambda t: _is.is_binary(t) or _is.is_large_binary(t) or _is.is_binary_view(t), "binary"),
    (_is.is_fixed_size_binary, "binary"),
    (_is.is_nested, "json"),
)
_SIZED: Mapping[DataType, Callable[[DataType, pa.DataType], ColumnType]] = {
    "bigint": _bits,
    "timestamp": _fraction,
    "time": _fraction,
    "decimal": _number,
    "binary": _width,
}

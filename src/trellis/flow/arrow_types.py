"""Column -> Arrow type, the type a value has in a staged file (spec dlt.md, sections 15 and 16)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa

from trellis.schema.model import Column, DataType, Table

DECIMAL = (38, 9)
WEI = pa.decimal128(38, 0)


def _integer(column: Column) -> pa.DataType:
    bits = column.precision or 64
    for width, made in ((8, pa.int8()), (16, pa.int16()), (32, pa.int32()), (64, pa.int64())):
        if bits <= width:
            return made
    return WEI


def _timestamp(column: Column) -> pa.DataType:
    digits = 6 if column.precision is None else column.precision
    unit = "s" if digits == 0 else "ms" if digits <= 3 else "us" if digits <= 6 else "ns"
    return pa.timestamp(unit, tz=None if column.timezone is False else "UTC")


def _decimal(column: Column) -> pa.DataType:
    if column.precision is None:
        return pa.decimal128(*DECIMAL)
    made = pa.decimal128 if column.precision <= DECIMAL[0] else pa.decimal256
    return made(column.precision, column.scale or 0)


_TYPES: Mapping[DataType, Callable[[Column], pa.DataType]] = {
    "text": lambda _: pa.string(),
    "double": lambda _: pa.float64(),
    "bool": lambda _: pa.bool_(),
    "bigint": _integer,
    "timestamp": _timestamp,
    "date": lambda _: pa.date32(),
    "time": lambda _: pa.time64("us"),
    "binary": lambda _: pa.binary(),
    "json": lambda _: pa.string(),
    "decimal": _decimal,
    "wei": lambda _: WEI,
}


def arrow_type(column: Column) -> pa.DataType:
    """The Arrow type of a complete column."""
    if column.data_type is None:
        raise ValueError(f"column {column.name} has no type yet")
    return _TYPES[column.data_type](column)


def arrow_schema(table: Table) -> pa.Schema:
    return pa.schema([pa.field(c.name, arrow_type(c)) for c in table.complete_columns])

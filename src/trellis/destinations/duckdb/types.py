"""Column -> DuckDB type and back (spec dlt.md, section 16)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from trellis.destinations.base import NO_NATIVE
from trellis.errors import SchemaError
from trellis.evolution.wei import wei_size
from trellis.schema.model import Column, DataType, is_single, number_size

MAX_DIGITS = 9
MAX_PRECISION = 38


def _integer(column: Column) -> str:
    bits = column.precision or 64
    for width, name in ((8, "TINYINT"), (16, "SMALLINT"), (32, "INTEGER"), (64, "BIGINT"), (128, "HUGEINT")):
        if bits <= width:
            return name
    raise SchemaError(f"column {column.name}: an integer of {bits} bits is wider than any type of DuckDB")


def _timestamp(column: Column) -> str:
    digits = 6 if column.precision is None else column.precision
    if digits > MAX_DIGITS:
        raise SchemaError(
            f"column {column.name}: DuckDB keeps {MAX_DIGITS} digits of a second, not {digits}; "
            f"give it precision {MAX_DIGITS}"
        )
    if column.timezone is not False:
        return "TIMESTAMP WITH TIME ZONE"
    return "TIMESTAMP" + ("_S" if digits == 0 else "_MS" if digits <= 3 else "" if digits <= 6 else "_NS")


def _size(column: Column) -> tuple[int, int]:
    return wei_size(column) if column.data_type == "wei" else number_size(column)


def _decimal(column: Column) -> str:
    precision, scale = _size(column)
    return f"DECIMAL({precision},{scale})"


_TYPES: Mapping[DataType, Callable[[Column], str]] = {
    "text": lambda _: "VARCHAR",
    "double": lambda column: "FLOAT" if is_single(column) else "DOUBLE",
    "bool": lambda _: "BOOLEAN",
    "bigint": _integer,
    "timestamp": _timestamp,
    "date": lambda _: "DATE",
    "time": lambda _: "TIME",
    "binary": lambda _: "BLOB",
    "json": lambda _: "JSON",
    "decimal": _decimal,
    "wei": _decimal,
}


_READ: Mapping[str, DataType] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), "bigint"),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), "bigint"),
    **dict.fromkeys(("DOUBLE", "FLOAT"), "double"),
    **dict.fromkeys(("TIMESTAMP WITH TIME ZONE", "TIMESTAMP"), "timestamp"),
    **dict.fromkeys(("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "timestamp"),
    "VARCHAR": "text",
    "DECIMAL": "decimal",
    "BOOLEAN": "bool",
    "DATE": "date",
    "TIME": "time",
    "BLOB": "binary",
    "JSON": "json",
}


def duckdb_type(column: Column, native: Mapping[DataType, str] = NO_NATIVE) -> str:
    """The DuckDB type of a complete column; `native` types come first."""
    if column.data_type is None:
        raise SchemaError(f"column {column.name} has no type yet")
    return native.get(column.data_type) or _TYPES[column.data_type](column)


def stored_type(column: Column, native: Mapping[DataType, str] = NO_NATIVE) -> str:
    """The same for a column of a table of DuckDB. Raises SchemaError where there is no type so wide."""
    precision, scale = _size(column)
    if column.data_type in ("decimal", "wei") and (precision > MAX_PRECISION or scale > precision):
        raise SchemaError(
            f"column {column.name}: DuckDB has no {column.data_type} of precision {precision} and scale "
            f"{scale}; {MAX_PRECISION} digits are the most, and the scale is at most the precision"
        )
    return duckdb_type(column, native)


def data_type(name: str) -> DataType | None:
    """What a schema calls a type of DuckDB.

    >>> data_type("INTEGER"), data_type("DECIMAL(18,3)"), data_type("DECIMAL(18,3)[]"), data_type("UUID")
    ('bigint', 'decimal', None, None)
    """
    return _READ.get(re.sub(r"^DECIMAL\(\d+,\d+\)$", "DECIMAL", name))

"""Column -> PostgreSQL type and back (spec dlt.md, section 16)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from trellis.destinations.base import NO_NATIVE
from trellis.errors import SchemaError
from trellis.evolution.wei import wei_size
from trellis.schema.model import Column, DataType, is_single, number_size

MAX_DIGITS = 6
MAX_PRECISION = 1000
WEI_SIZE = (156, 78)
"""256 bits, before the point and behind it."""


def _integer(column: Column) -> str:
    bits = column.precision or 64
    for width, name in ((16, "smallint"), (32, "integer"), (64, "bigint")):
        if bits <= width:
            return name
    raise SchemaError(f"column {column.name}: an integer of {bits} bits is wider than any type of PostgreSQL")


def _digits(column: Column) -> str:
    if column.precision is not None and column.precision > MAX_DIGITS:
        raise SchemaError(
            f"column {column.name}: PostgreSQL keeps {MAX_DIGITS} digits of a second, not "
            f"{column.precision}; give it precision {MAX_DIGITS}"
        )
    return "" if column.precision is None else f"({column.precision})"


def _timestamp(column: Column) -> str:
    return f"timestamp{_digits(column)} {'without' if column.timezone is False else 'with'} time zone"


def _decimal(column: Column) -> str:
    precision, scale = wei_size(column, WEI_SIZE) if column.data_type == "wei" else number_size(column)
    if precision > MAX_PRECISION:
        raise SchemaError(
            f"column {column.name}: PostgreSQL keeps {MAX_PRECISION} digits of a {column.data_type}, not "
            f"{precision}; give it precision {MAX_PRECISION}"
        )
    return f"numeric({precision},{scale})"


_TYPES: Mapping[DataType, Callable[[Column], str]] = {
    "text": lambda column: f"varchar({column.precision})" if column.precision else "varchar",
    "double": lambda column: "real" if is_single(column) else "double precision",
    "bool": lambda _: "boolean",
    "bigint": _integer,
    "timestamp": _timestamp,
    "date": lambda _: "date",
    "time": lambda column: f"time{_digits(column)}",
    "binary": lambda _: "bytea",
    "json": lambda _: "jsonb",
    "decimal": _decimal,
    "wei": _decimal,
}
_READ: Mapping[str, DataType] = {
    "int2": "bigint",
    "int4": "bigint",
    "int8": "bigint",
    "numeric": "decimal",
    "float4": "double",
    "float8": "double",
    "timestamptz": "timestamp",
    "timestamp": "timestamp",
    "date": "date",
    "time": "time",
    "text": "text",
    "varchar": "text",
    "bpchar": "text",
    "json": "json",
    "jsonb": "json",
    "bytea": "binary",
    "bool": "bool",
}


def postgres_type(column: Column, native: Mapping[DataType, str] = NO_NATIVE) -> str:
    """The PostgreSQL type of a complete column; `native` types come first."""
    if column.data_type is None:
        raise SchemaError(f"column {column.name} has no type yet")
    return native.get(column.data_type) or _TYPES[column.data_type](column)


_SPELLED: Mapping[str, str] = {
    "varchar": "character varying{}",
    "time": "time{} without time zone",
    "timestamp": "timestamp{} without time zone",
    "timestamptz": "timestamp{} with time zone",
    "decimal": "numeric{}",
    "int": "integer",
    "float8": "double precision",
    "bool": "boolean",
}


def spelled_out(name: str) -> str:
    """A type as the catalog of PostgreSQL shows it.

    >>> spelled_out("varchar(40)"), spelled_out("time"), spelled_out("numeric(12,2)")
    ('character varying(40)', 'time without time zone', 'numeric(12,2)')
    """
    found = re.fullmatch(r"(\w+)(\(.*\))?", name)
    if found is None or found[1] not in _SPELLED:
        return name
    return _SPELLED[found[1]].format(found[2] or "")


def data_type(name: str, bounded: bool = True) -> DataType | None:
    """What a schema calls a type of `pg_type`; a number without bounds is a double.

    >>> data_type("int4"), data_type("numeric"), data_type("numeric", bounded=False), data_type("uuid")
    ('bigint', 'decimal', 'double', None)
    """
    return "double" if name == "numeric" and not bounded else _READ.get(name)

"""Types of columns in the words of DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from trellis.destinations.base import NO_NATIVE
from trellis.engine.arrow.nested_types import is_list, nested_type
from trellis.schema.model import Column, DataType
from trellis.warehouses.catalog.databases import DUCKDB

_SCALARS: Final[Mapping[pa.DataType, str]] = {
    pa.bool_(): "BOOLEAN",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.string(): "VARCHAR",
    pa.date32(): "DATE",
    pa.timestamp("us"): "TIMESTAMP",
}


def type_name(column: Column, native: Mapping[DataType, str] = NO_NATIVE) -> str:
    """The type of a complete column; `native` as in `Commit`.

    Raises SchemaError where none is wide enough.
    """
    nested = nested_type(column)
    return DUCKDB.type_of(column, names=native) if nested is None else nested_name(nested)


def nested_name(type_: pa.DataType) -> str:
    """
    >>> nested_name(pa.list_(pa.struct({"port": pa.string(), "depth": pa.decimal128(9, 2)})))
    'STRUCT("port" VARCHAR, "depth" DECIMAL(9,2))[]'
    """
    if is_list(type_):
        return f"{nested_name(type_.value_type)}[]"
    if pa.types.is_struct(type_):
        fields = (f"{DUCKDB.quote(field.name)} {nested_name(field.type)}" for field in type_)
        return f"STRUCT({', '.join(fields)})"
    if pa.types.is_decimal(type_):
        return f"DECIMAL({type_.precision},{type_.scale})"
    return _SCALARS[type_]


def is_same_type(name: str, other: str) -> bool:
    """Whether two names are of one type: DuckDB leaves out the quotes that a field does not need."""
    return name.replace('"', "") == other.replace('"', "")

"""Column -> the type it has in a Parquet file, in the words of Arrow."""

from __future__ import annotations

import pyarrow as pa

from trellis.engine.arrow.nested_types import kept_type
from trellis.engine.arrow.types import arrow_type
from trellis.schema.model import Column
from trellis.warehouses.catalog.lakes import PARQUET


def file_type(column: Column) -> pa.DataType:
    """The type of a complete column: Parquet has no seconds, the next unit are milliseconds.

    Raises SchemaError where there is none so wide.
    """
    PARQUET.type_of(column)
    type_ = arrow_type(column)
    if pa.types.is_timestamp(type_) and type_.unit == "s":
        return pa.timestamp("ms", type_.tz)
    return type_


def type_name(column: Column) -> str:
    return name_of(file_type(column))


def name_of(type_: pa.DataType) -> str:
    """What a type is called; that of a map in a file would say the name of the column, too."""
    return str(kept_type(type_) or type_) if pa.types.is_nested(type_) else str(type_)

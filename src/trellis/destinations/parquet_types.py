"""Column -> the type it has in a Parquet file, in the words of Arrow, and back."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from trellis.flow.arrow_types import arrow_type
from trellis.schema.model import Column, DataType

_READ: Mapping[str, DataType] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), "bigint"),
    "string": "text",
    "double": "double",
    "bool": "bool",
    "timestamp": "timestamp",
    "date32": "date",
    "time64": "time",
    "binary": "binary",
    "decimal128": "decimal",
    "decimal256": "decimal",
}


def file_type(column: Column) -> pa.DataType:
    """The type of a complete column: Parquet has no seconds, the next unit are milliseconds."""
    made = arrow_type(column)
    if pa.types.is_timestamp(made) and made.unit == "s":
        return pa.timestamp("ms", made.tz)
    return made


def type_name(column: Column) -> str:
    return str(file_type(column))


def data_type(name: str) -> DataType | None:
    """What a schema calls a type of Arrow; JSON is kept as text.

    >>> data_type("timestamp[us, tz=UTC]"), data_type("decimal128(38, 9)"), data_type("list<item: int64>")
    ('timestamp', 'decimal', None)
    """
    return _READ.get(name.partition("[")[0].partition("(")[0])

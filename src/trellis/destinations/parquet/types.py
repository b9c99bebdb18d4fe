"""Column -> the type it has in a Parquet file, in the words of Arrow, and back."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from trellis.engine.arrow.nested_types import kept_type
from trellis.engine.arrow.types import arrow_type
from trellis.errors import SchemaError
from trellis.schema.model import Column, DataType, number_size

_READ: Mapping[str, DataType] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), "bigint"),
    "string": "text",
    "float": "double",
    "double": "double",
    "bool": "bool",
    "timestamp": "timestamp",
    "date32": "date",
    "time64": "time",
    "binary": "binary",
    "decimal128": "decimal",
    "decimal256": "decimal",
}
_WIDEST: Mapping[str, tuple[int, str]] = {
    "bigint": (64, "bits of an integer"),
    "timestamp": (9, "digits of a second"),
    "time": (9, "digits of a second"),
    "decimal": (76, "digits of a decimal"),
    "wei": (76, "digits of a wei"),
}


def file_type(column: Column) -> pa.DataType:
    """The type of a complete column: Parquet has no seconds, the next unit are milliseconds.

    Raises SchemaError where there is none so wide.
    """
    _refuse_wider(column)
    made = arrow_type(column)
    if pa.types.is_timestamp(made) and made.unit == "s":
        return pa.timestamp("ms", made.tz)
    return made


def _refuse_wider(column: Column) -> None:
    most, what = _WIDEST.get(str(column.data_type), (0, ""))
    found = number_size(column)[0] if column.data_type == "decimal" else column.precision or 0
    if what and found > most:
        raise SchemaError(
            f"column {column.name}: a Parquet file keeps {most} {what}, not {found}; give it precision {most}"
        )


def type_name(column: Column) -> str:
    return name_of(file_type(column))


def name_of(type_: pa.DataType) -> str:
    """What a type is called; that of a map in a file would say the name of the column, too."""
    return str(kept_type(type_) or type_) if pa.types.is_nested(type_) else str(type_)


def data_type(name: str) -> DataType | None:
    """What a schema calls a type of Arrow; JSON is kept as text.

    >>> data_type("timestamp[us, tz=UTC]"), data_type("decimal128(38, 9)"), data_type("list<item: int64>")
    ('timestamp', 'decimal', None)
    """
    return _READ.get(name.partition("[")[0].partition("(")[0])

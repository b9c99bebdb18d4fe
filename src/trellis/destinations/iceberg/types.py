"""Types of Iceberg by their names in Spark's SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Final

import pyarrow as pa
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
)

from trellis.destinations.lake.types import arrow_type_of, name_of
from trellis.engine.arrow.nested_types import is_list

_TYPES: Final[Mapping[str, Callable[[], IcebergType]]] = {
    "STRING": StringType,
    "DOUBLE": DoubleType,
    "FLOAT": FloatType,
    "BOOLEAN": BooleanType,
    "INT": IntegerType,
    "BIGINT": LongType,
    "TIMESTAMP": TimestamptzType,
    "TIMESTAMP_NTZ": TimestampType,
    "DATE": DateType,
    "BINARY": BinaryType,
}

_FIRST_ID: Final = 100_000
"""Beyond the ids of the columns of any table."""


def iceberg_type_of(name: str) -> IcebergType:
    """The type of a new column.

    >>> str(iceberg_type_of("TIMESTAMP")), str(iceberg_type_of("ARRAY<DECIMAL(10,2)>"))
    ('timestamptz', 'list<decimal(10, 2)>')
    """
    arrow = arrow_type_of(name)
    assert arrow is not None, name
    return _of_arrow(arrow, count(_FIRST_ID))


def _of_arrow(type_: pa.DataType, ids: Iterator[int]) -> IcebergType:
    """The ids of what is nested are those of a table once the column is in it."""
    if is_list(type_):
        element = _of_arrow(type_.value_type, ids)
        return ListType(element_id=next(ids), element_type=element, element_required=False)
    if pa.types.is_struct(type_):
        types = [(field.name, _of_arrow(field.type, ids)) for field in type_]
        return StructType(*(NestedField(next(ids), name, type_, required=False) for name, type_ in types))
    if pa.types.is_decimal(type_):
        return DecimalType(type_.precision, type_.scale)
    return _TYPES[name_of(type_)]()

"""Types of Iceberg by their names in Spark's SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    LongType,
    StringType,
    TimestampType,
    TimestamptzType,
)

from trellis.destinations.lake.types import decimal_size

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


def iceberg_type_of(name: str) -> IcebergType:
    """The type of a new column.

    >>> str(iceberg_type_of("TIMESTAMP")), str(iceberg_type_of("DECIMAL(10,2)"))
    ('timestamptz', 'decimal(10, 2)')
    """
    if name in _TYPES:
        return _TYPES[name]()
    size = decimal_size(name)
    assert size is not None, name
    return DecimalType(*size)

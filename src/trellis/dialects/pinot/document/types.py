"""The data types of Pinot and how each is stored (`FieldSpec.DataType`)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final


class FieldType(Enum):
    """The role of a column; its value is the name that documents use."""

    DIMENSION = "DIMENSION"
    METRIC = "METRIC"
    DATE_TIME = "DATE_TIME"
    COMPLEX = "COMPLEX"


class PinotType(Enum):
    """A data type; its value is the name that documents use."""

    INT = "INT"
    LONG = "LONG"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    BIG_DECIMAL = "BIG_DECIMAL"
    BOOLEAN = "BOOLEAN"
    TIMESTAMP = "TIMESTAMP"
    STRING = "STRING"
    JSON = "JSON"
    BYTES = "BYTES"
    MAP = "MAP"
    LIST = "LIST"
    STRUCT = "STRUCT"

    @property
    def stored(self) -> PinotType:
        """The type in which its values are stored."""
        return _STORED.get(self, self)

    @property
    def numeric(self) -> bool:
        return self in _NUMERIC


_STORED: Final[Mapping[PinotType, PinotType]] = {
    PinotType.BOOLEAN: PinotType.INT,
    PinotType.TIMESTAMP: PinotType.LONG,
    PinotType.JSON: PinotType.STRING,
}
_NUMERIC: Final = frozenset(
    {PinotType.INT, PinotType.LONG, PinotType.FLOAT, PinotType.DOUBLE, PinotType.BIG_DECIMAL}
)

COMPLEX: Final = frozenset({PinotType.MAP, PinotType.LIST, PinotType.STRUCT})


class ExceedStrategy(Enum):
    """The handling of a value that is longer than its column allows."""

    TRIM_LENGTH = "TRIM_LENGTH"
    SUBSTITUTE_DEFAULT_VALUE = "SUBSTITUTE_DEFAULT_VALUE"
    NO_ACTION = "NO_ACTION"
    ERROR = "ERROR"


MAX_LENGTH: Final = 512
"""The length of a column without maxLength, in UTF-16 units (STRING, JSON) or bytes (BYTES)."""

Value = Any
"""A value as it is stored.

int (INT, LONG, BOOLEAN 0/1, TIMESTAMP millis), float (FLOAT: of 32 bits, DOUBLE), Decimal, str (STRING,
JSON), bytes (BYTES), dict (MAP), list (LIST); a list of these for several values.
"""

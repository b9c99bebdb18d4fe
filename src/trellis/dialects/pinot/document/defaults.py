"""What is stored for null: the default of each type, and its JSON (`FieldSpec.getDefaultNullValue`)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from trellis.dialects.pinot.date_time.timestamp_text import timestamp_text
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.literals import literal_text
from trellis.dialects.pinot.document.types import FieldType, PinotType, Value
from trellis.dialects.pinot.value.numbers import double_text
from trellis.dialects.pinot.value.source_kinds import INT_MIN, LONG_MIN, CannotConvert, Float32

DIMENSION_DEFAULTS: Final[Mapping[PinotType, Value]] = MappingProxyType(
    {
        PinotType.INT: INT_MIN,
        PinotType.LONG: LONG_MIN,
        PinotType.FLOAT: float("-inf"),
        PinotType.DOUBLE: float("-inf"),
        PinotType.BIG_DECIMAL: Decimal(0),
        PinotType.BOOLEAN: 0,
        PinotType.TIMESTAMP: 0,
        PinotType.STRING: "null",
        PinotType.JSON: "null",
        PinotType.BYTES: b"",
        PinotType.UUID: bytes(16),
    }
)
"""The defaults of dimensions, date-times and the legacy time."""

METRIC_DEFAULTS: Final[Mapping[PinotType, Value]] = MappingProxyType(
    {
        PinotType.INT: 0,
        PinotType.LONG: 0,
        PinotType.FLOAT: 0.0,
        PinotType.DOUBLE: 0.0,
        PinotType.BIG_DECIMAL: Decimal(0),
        PinotType.STRING: "null",
        PinotType.BYTES: b"",
    }
)
"""The defaults of metrics. A STRING metric has one because Pinot loads it, although it is invalid."""

COMPLEX_DEFAULTS: Final[Mapping[PinotType, Value]] = MappingProxyType(
    {PinotType.MAP: {}, PinotType.LIST: [], PinotType.OPEN_STRUCT: {}}
)


def type_default(field_type: FieldType, data_type: PinotType) -> Value:
    """What is stored for null in a column of this role and type. Raises CannotConvert for an invalid pair.

    >>> type_default(FieldType.DIMENSION, PinotType.INT), type_default(FieldType.METRIC, PinotType.INT)
    (-2147483648, 0)
    """
    known, role = _TABLES.get(field_type, (DIMENSION_DEFAULTS, "dimension/time"))
    if data_type not in known:
        raise CannotConvert(f"Unsupported {role} data type: {data_type.value}")
    default = known[data_type]
    return default.copy() if isinstance(default, dict | list) else default


def default_of(spec: FieldSpec) -> Value:
    """What is stored for null in the column: a value of its type, or a list of one for several values.

    >>> default_of(FieldSpec("tags", PinotType.STRING, single_value=False))
    ['null']
    """
    value = type_default(spec.field_type, spec.data_type) if spec.default is None else spec.default
    return value if spec.single_value else [value]


def default_text(data_type: PinotType, value: Value) -> str:
    """A default as text that `parse_default` reads back.

    >>> default_text(PinotType.BYTES, b"\\xca"), default_text(PinotType.BOOLEAN, 1)
    ('ca', 'true')
    """
    return literal_text(default_json(data_type, value))


def default_json(data_type: PinotType, value: Value) -> Any:
    """A default as the JSON value that Pinot writes: numbers, booleans and maps as such, the rest as text."""
    if data_type is PinotType.FLOAT:
        return Float32(value)
    if data_type is PinotType.BOOLEAN:
        return bool(value)
    if data_type is PinotType.TIMESTAMP:
        return timestamp_text(value)
    if data_type is PinotType.BYTES:
        return value.hex()
    if data_type is PinotType.UUID:
        digits = value.hex()
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    return value


def same_value(data_type: PinotType, one: Value, other: Value) -> bool:
    """Whether Pinot treats two defaults as equal: decimals with their scale, -0.0 is not 0.0, NaN is NaN."""
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return one.as_tuple() == other.as_tuple()
    if data_type in (PinotType.FLOAT, PinotType.DOUBLE):
        return double_text(one) == double_text(other)
    return bool(one == other)


_TABLES: Final = {
    FieldType.METRIC: (METRIC_DEFAULTS, "metric"),
    FieldType.COMPLEX: (COMPLEX_DEFAULTS, "complex"),
}

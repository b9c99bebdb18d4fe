"""The order of stored values (`FieldSpec.DataType.compare`)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from trellis.dialects.pinot.conversion.messages import abbreviated
from trellis.dialects.pinot.document.types import COMPLEX, PinotType, Value
from trellis.dialects.pinot.value.source_kinds import CannotConvert


def compare(data_type: PinotType, one: Value, other: Value) -> int:
    """-1, 0 or 1. Raises CannotConvert for maps and lists, which have no order.

    Both are values as they are stored, which are of one type and never null. Decimals that differ only in
    their scale (`allowTrailingZeros`) are ordered by it.

    >>> compare(PinotType.BYTES, b"\\xff", b"\\x01"), compare(PinotType.DOUBLE, -0.0, 0.0)
    (1, 0)
    """
    first, second = order_key(data_type, one), order_key(data_type, other)
    return int(first > second) - int(first < second)


def order_key(data_type: PinotType, value: Value) -> Any:
    """What values of a type sort by. Raises CannotConvert.

    Text is ordered by its UTF-16 units, bytes without sign. -0.0 is 0.0; NaN comes after every number.
    """
    if data_type in COMPLEX:
        raise CannotConvert(
            f"{data_type.value} {abbreviated(value)} cannot be compared: maps and lists have no order; "
            "compare a value in them"
        )
    if isinstance(value, str):
        return value.encode("utf-16-be", "surrogatepass")
    if isinstance(value, Decimal):
        return value, -int(value.as_tuple().exponent)
    if isinstance(value, float):
        return value != value, 0.0 if value != value else value
    return value

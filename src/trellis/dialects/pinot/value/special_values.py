"""-0.0, NaN and trailing zeros, which have no order of their own (`SpecialValueTransformer`)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import PinotType, Value
from trellis.dialects.pinot.value.numbers.rounding import without_trailing_zeros

Special = Callable[[Value], Value | None]


def special(spec: FieldSpec) -> Special | None:
    """What sets the special values of a column right; None where its type has none.

    -0.0 becomes 0.0, NaN null; of several values NaN is removed, and none left is null. Decimals lose their
    trailing zeros, unless the column allows them.

    >>> at = special(FieldSpec("x", PinotType.DOUBLE))
    >>> at(-0.0), at(float("nan"))
    (0.0, None)
    >>> special(FieldSpec("x", PinotType.DOUBLE, single_value=False))([float("nan"), 1.0, -0.0])
    [1.0, 0.0]
    """
    if spec.data_type in (PinotType.FLOAT, PinotType.DOUBLE):
        scalar: Special = _float
    elif spec.data_type is PinotType.BIG_DECIMAL and not spec.trailing_zeros:
        scalar = _decimal
    else:
        return None
    return scalar if spec.single_value else _each(scalar)


def _float(value: float | None) -> float | None:
    if not value:
        return value if value is None else 0.0
    return value if value == value else None


def _decimal(value: Decimal | None) -> Decimal | None:
    return value if value is None else without_trailing_zeros(value)


def _each(scalar: Special) -> Special:
    def several(values: Value) -> Value | None:
        if values is None:
            return None
        return [found for each in values if (found := scalar(each)) is not None] or None

    return several

"""-0.0, NaN and trailing zeros, which have no order of their own (`SpecialValueTransformer`)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import PinotType, Value
from trellis.dialects.pinot.value.numbers.rounding import without_trailing_zeros

SpecialValueFixer = Callable[[Value], Value | None]


def special_value_fixer(spec: FieldSpec) -> SpecialValueFixer | None:
    """The function that replaces special values of a column; None where its type has none.

    -0.0 becomes 0.0, NaN null; of several values NaN is removed, and none left is null. Decimals lose their
    trailing zeros, unless the column allows them.

    >>> at = special_value_fixer(FieldSpec("x", PinotType.DOUBLE))
    >>> at(-0.0), at(float("nan"))
    (0.0, None)
    >>> special_value_fixer(FieldSpec("x", PinotType.DOUBLE, single_value=False))([float("nan"), 1.0, -0.0])
    [1.0, 0.0]
    """
    if spec.data_type in (PinotType.FLOAT, PinotType.DOUBLE):
        scalar: SpecialValueFixer = _float
    elif spec.data_type is PinotType.BIG_DECIMAL and not spec.trailing_zeros:
        scalar = _decimal
    else:
        return None
    return scalar if spec.single_value else _for_lists(scalar)


def _float(value: float | None) -> float | None:
    if not value:
        return value if value is None else 0.0
    return value if value == value else None


def _decimal(value: Decimal | None) -> Decimal | None:
    return value if value is None else without_trailing_zeros(value)


def _for_lists(scalar: SpecialValueFixer) -> SpecialValueFixer:
    def several(values: Value) -> Value | None:
        if values is None:
            return None
        return [fixed for value in values if (fixed := scalar(value)) is not None] or None

    return several

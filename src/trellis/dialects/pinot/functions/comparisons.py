"""Comparisons, logic and choice. Comparisons are between doubles, as in Pinot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.pinot.functions.registry import FunctionError, Theme, as_double, as_object
from trellis.dialects.pinot.value.source_kinds import CannotConvert, kind_of

COMPARISONS: Final = Theme()
TOLERANCE: Final = 1e-7
"""Pinot takes two numbers for equal that differ by less."""


def as_compared(value: Any) -> float:
    """A number. Raises FunctionError for other text, with what to use instead."""
    try:
        return as_double(value)
    except FunctionError as error:
        hint = "Pinot compares numbers only; for texts use isNotDistinctFrom(a, b), strcmp(a, b) or LIKE"
        raise FunctionError(f"{error}: {hint}") from None


COMPARISONS.function("equals", as_compared, as_compared)(lambda left, right: abs(left - right) < TOLERANCE)


COMPARISONS.function("notEquals", as_compared, as_compared)(
    lambda left, right: abs(left - right) >= TOLERANCE
)
COMPARISONS.function("lessThan", as_compared, as_compared)(lambda left, right: left < right)
COMPARISONS.function("lessThanOrEqual", as_compared, as_compared)(lambda left, right: left <= right)
COMPARISONS.function("greaterThan", as_compared, as_compared)(lambda left, right: left > right)
COMPARISONS.function("greaterThanOrEqual", as_compared, as_compared)(lambda left, right: left >= right)


COMPARISONS.function("between", as_compared, as_compared, as_compared)(
    lambda value, low, high: low <= value <= high
)


def as_logical(value: Any) -> bool | None:
    """True, false or null."""
    if value is None or isinstance(value, bool):
        return value
    raise FunctionError(f"AND, OR and NOT are between true, false and null; {value!r:.60} is another value")


COMPARISONS.function("not", as_logical, nullable=True)(lambda value: None if value is None else not value)
COMPARISONS.function("isNull", as_object, nullable=True)(lambda value: value is None)
COMPARISONS.function("isNotNull", as_object, nullable=True)(lambda value: value is not None)


def is_same(left: Any, right: Any) -> bool:
    """Whether two values are equal and of one kind.

    >>> is_same(1, 1), is_same(1, 1.0), is_same(None, None)
    (True, False, True)
    """
    if isinstance(left, Mapping | list | tuple) or isinstance(right, Mapping | list | tuple):
        return left is right or (
            isinstance(left, Mapping) and isinstance(right, Mapping) and dict(left) == dict(right)
        )
    try:
        if kind_of(left) is not kind_of(right):
            return False
    except CannotConvert:
        return left is right
    return bool(left == right) or (left != left and right != right)


COMPARISONS.function("isNotDistinctFrom", as_object, as_object, nullable=True)(is_same)
COMPARISONS.function("isDistinctFrom", as_object, as_object, nullable=True)(
    lambda left, right: not is_same(left, right)
)
COMPARISONS.function("nullIf", as_object, as_object, nullable=True)(
    lambda value, other: None if is_same(value, other) else value
)


@COMPARISONS.function("coalesce", variadic=as_object, nullable=True)
def _coalesce(*values: Any) -> Any:
    """The first value that is not null."""
    return next((value for value in values if value is not None), None)


@COMPARISONS.function("caseWhen case", variadic=as_object, nullable=True)
def _case_when(*values: Any) -> Any:
    """The value after the first condition that is true, else the last value, if it stands alone, else null.

    Written as CASE WHEN condition THEN value ... ELSE value END.
    """
    for index in range(0, len(values) - 1, 2):
        if values[index] is True:
            return values[index + 1]
    return values[-1] if len(values) % 2 else None

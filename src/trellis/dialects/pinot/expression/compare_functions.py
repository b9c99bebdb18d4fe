"""Comparisons, logic and choice (spec pinot.md, section 5). Comparisons are between doubles, as in Pinot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import FunctionError, as_double, as_object
from trellis.dialects.pinot.value.kinds import CannotConvert, kind_of

COMPARE: Final = Theme()
TOLERANCE: Final = 1e-7
"""How near two numbers are that Pinot takes for equal."""


def as_compared(value: Any) -> float:
    """A number; for a text that is none, what to use instead."""
    try:
        return as_double(value)
    except FunctionError as wrong:
        hint = "Pinot compares numbers only; for texts use isNotDistinctFrom(a, b), strcmp(a, b) or LIKE"
        raise FunctionError(f"{wrong}: {hint}") from None


@COMPARE.function("equals", as_compared, as_compared)
def _equals(left: float, right: float) -> bool:
    """Whether two numbers are equal, to 7 decimal places."""
    return abs(left - right) < TOLERANCE


@COMPARE.function("notEquals", as_compared, as_compared)
def _not_equals(left: float, right: float) -> bool:
    """Whether two numbers differ, to 7 decimal places."""
    return abs(left - right) >= TOLERANCE


@COMPARE.function("lessThan", as_compared, as_compared)
def _less_than(left: float, right: float) -> bool:
    """left < right"""
    return left < right


@COMPARE.function("lessThanOrEqual", as_compared, as_compared)
def _less_than_or_equal(left: float, right: float) -> bool:
    """left <= right"""
    return left <= right


@COMPARE.function("greaterThan", as_compared, as_compared)
def _greater_than(left: float, right: float) -> bool:
    """left > right"""
    return left > right


@COMPARE.function("greaterThanOrEqual", as_compared, as_compared)
def _greater_than_or_equal(left: float, right: float) -> bool:
    """left >= right"""
    return left >= right


@COMPARE.function("between", as_compared, as_compared, as_compared)
def _between(value: float, low: float, high: float) -> bool:
    """Whether a number lies between two others or is one of them."""
    return low <= value <= high


def as_logical(value: Any) -> bool | None:
    """True, false or null."""
    if value is None or isinstance(value, bool):
        return value
    raise FunctionError(f"AND, OR and NOT are between true, false and null; {value!r:.60} is none of them")


@COMPARE.function("not", as_logical, nullable=True)
def _not(value: bool | None) -> bool | None:
    """True for false, false for true, null for null."""
    return None if value is None else not value


@COMPARE.function("isNull", as_object, nullable=True)
def _is_null(value: Any) -> bool:
    """Whether there is no value."""
    return value is None


@COMPARE.function("isNotNull", as_object, nullable=True)
def _is_not_null(value: Any) -> bool:
    """Whether there is a value."""
    return value is not None


@COMPARE.function("isDistinctFrom", as_object, as_object, nullable=True)
def _is_distinct(left: Any, right: Any) -> bool:
    """Whether two values differ; null is equal to null. Numbers of different kinds differ: 1 and 1.0."""
    return not same(left, right)


@COMPARE.function("isNotDistinctFrom", as_object, as_object, nullable=True)
def _is_not_distinct(left: Any, right: Any) -> bool:
    """Whether two values are equal; null is equal to null. Numbers of different kinds differ: 1 and 1.0."""
    return same(left, right)


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal and of one kind.

    >>> same(1, 1), same(1, 1.0), same(None, None)
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


@COMPARE.function("coalesce", rest=as_object, nullable=True)
def _coalesce(*values: Any) -> Any:
    """The first value that is not null."""
    return next((each for each in values if each is not None), None)


@COMPARE.function("nullIf", as_object, as_object, nullable=True)
def _null_if(value: Any, other: Any) -> Any:
    """The value; null where it is equal to the other and of its kind."""
    return None if same(value, other) else value


@COMPARE.function("caseWhen case", rest=as_object, nullable=True)
def _case_when(*values: Any) -> Any:
    """The value after the first condition that is true, else the last value, if it stands alone, else null.

    Written as CASE WHEN condition THEN value ... ELSE value END.
    """
    for at in range(0, len(values) - 1, 2):
        if values[at] is True:
            return values[at + 1]
    return values[-1] if len(values) % 2 else None

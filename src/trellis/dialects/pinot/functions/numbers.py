"""Functions on numbers, comparisons, logic and choice. They compute in doubles, as Pinot does."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.pinot.functions.registry import (
    Function,
    FunctionError,
    as_double,
    as_object,
)
from trellis.dialects.pinot.value.source_kinds import CannotConvert, kind_of

TOLERANCE: Final = 1e-7
"""Pinot takes two numbers for equal that differ by less."""
_INFINITY: Final = float("inf")
_NAN: Final = float("nan")


def _divide(left: float, right: float, default: float | None = None) -> float:
    """By 0 the default; without one it is infinite, or NaN for 0 / 0."""
    if right:
        return left / right
    if default is not None:
        return default
    return _NAN if left == 0 or left != left else math.copysign(_INFINITY, left) * math.copysign(1, right)


def _mod(left: float, right: float) -> float:
    """The rest of a division, with the sign of `left`; NaN by 0."""
    return _NAN if right == 0 or abs(left) == _INFINITY else math.fmod(left, right)


def _floor(value: float) -> float:
    return math.copysign(float(math.floor(value)), value) if math.isfinite(value) else value


def _max(left: float, right: float) -> float:
    return _NAN if left != left or right != right else max(left, right)


def as_compared(value: Any) -> float:
    """A number. Raises FunctionError for other text, with what to use instead."""
    try:
        return as_double(value)
    except FunctionError as error:
        hint = "Pinot compares numbers only; for texts use isNotDistinctFrom(a, b) or LIKE"
        raise FunctionError(f"{error}: {hint}") from None


def as_logical(value: Any) -> bool | None:
    """True, false or null."""
    if value is None or isinstance(value, bool):
        return value
    raise FunctionError(f"AND, OR and NOT are between true, false and null; {value!r:.60} is another value")


def is_same(left: Any, right: Any) -> bool:
    """Whether two values are equal and of one kind.

    >>> is_same(1, 1), is_same(1, 1.0), is_same(None, None)
    (True, False, True)
    """
    if isinstance(left, Mapping | list | tuple) or isinstance(right, Mapping | list | tuple):
        maps = isinstance(left, Mapping) and isinstance(right, Mapping)
        return left is right or (maps and dict(left) == dict(right))
    try:
        if kind_of(left) is not kind_of(right):
            return False
    except CannotConvert:
        return left is right
    return bool(left == right) or (left != left and right != right)


def _case_when(*values: Any) -> Any:
    """The value after the first condition that is true, else the last one, if it stands alone, else null."""
    for index in range(0, len(values) - 1, 2):
        if values[index] is True:
            return values[index + 1]
    return values[-1] if len(values) % 2 else None


_TWO: Final = (as_double, as_double)
_COMPARED: Final = (as_compared, as_compared)
_ANY_TWO: Final = (as_object, as_object)
FUNCTIONS: Final[tuple[Function, ...]] = (
    Function("plus add", operator.add, *_TWO),
    Function("minus sub", operator.sub, *_TWO),
    Function("times mult", operator.mul, *_TWO),
    Function("divide div", _divide, *_TWO, as_double, optional=1),
    Function("mod", _mod, *_TWO),
    Function("abs", abs, as_double),
    Function("negate", operator.neg, as_double),
    Function("floor", _floor, as_double),
    Function("ceil ceiling", lambda value: -_floor(-value), as_double),
    Function("max greatest", _max, *_TWO),
    Function("min least", lambda left, right: -_max(-left, -right), *_TWO),
    Function("equals", lambda left, right: abs(left - right) < TOLERANCE, *_COMPARED),
    Function("notEquals", lambda left, right: abs(left - right) >= TOLERANCE, *_COMPARED),
    Function("lessThan", operator.lt, *_COMPARED),
    Function("lessThanOrEqual", operator.le, *_COMPARED),
    Function("greaterThan", operator.gt, *_COMPARED),
    Function("greaterThanOrEqual", operator.ge, *_COMPARED),
    Function("between", lambda value, low, high: low <= value <= high, *_COMPARED, as_compared),
    Function("not", lambda value: None if value is None else not value, as_logical, nullable=True),
    Function("isNull", lambda value: value is None, as_object, nullable=True),
    Function("isNotNull", lambda value: value is not None, as_object, nullable=True),
    Function("isNotDistinctFrom", is_same, *_ANY_TWO, nullable=True),
    Function("isDistinctFrom", lambda left, right: not is_same(left, right), *_ANY_TWO, nullable=True),
    Function(
        "coalesce",
        lambda *values: next((value for value in values if value is not None), None),
        variadic=as_object,
        nullable=True,
    ),
    Function("caseWhen case", _case_when, variadic=as_object, nullable=True),
)

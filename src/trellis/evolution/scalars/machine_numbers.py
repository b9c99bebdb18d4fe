"""Numbers as machines have them: what makes a bigint, a double or a bool of another value."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from math import isinf
from typing import Any, Final

from trellis.evolution.scalars.literals import INERT_STARTS, NOT_FINITE, hexadecimal, literal
from trellis.evolution.scalars.values import BIGINT_MAX, BIGINT_MIN, MISFIT, Convert, same
from trellis.schema.model import DataType

_TRUE = frozenset(("yes", "true", "t", "y", "1"))

_FALSE = frozenset(("no", "false", "f", "n", "0"))


def within_bits(bits: int) -> Convert:
    """What a bigint column of so many bits makes of an integer."""
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return lambda number: number if low <= number <= high else MISFIT


def _bigint(value: int) -> Any:
    return value if BIGINT_MIN <= value <= BIGINT_MAX else MISFIT


def _bigint_of_text(text: str) -> Any:
    if text[:1] in INERT_STARTS:
        return MISFIT
    number = hexadecimal(text)
    if number is None:
        bare = literal(text)
        try:
            number = int(bare) if bare else None
        except ValueError:
            return MISFIT
    return MISFIT if number is None else _bigint(number)


def _bigint_of_double(value: float) -> Any:
    if value.is_integer() and -(2.0**63) <= value < 2.0**63:
        return int(value)
    return MISFIT


def _bigint_of_decimal(value: Decimal) -> Any:
    if not value.is_finite() or value.adjusted() > 18:
        return MISFIT
    number = int(value)
    return _bigint(number) if number == value else MISFIT


def _double_of_text(text: str) -> Any:
    if text[:1] in INERT_STARTS:
        return MISFIT
    number = hexadecimal(text)
    if number is not None:
        return _double_of_int(number)
    bare = literal(text)
    try:
        if bare:
            double = float(bare)
            # the text 1e400 overflows to infinity, which it does not mean; the word "inf" does
            return MISFIT if isinf(double) and "n" not in bare.lower() else double
        bare = text.strip()
        return float(bare) if bare.lower().lstrip("+-") in NOT_FINITE else MISFIT
    except ValueError:
        return MISFIT


def _double_of_int(value: int) -> Any:
    try:
        return float(value)
    except OverflowError:
        return MISFIT


def _double_of_decimal(value: Decimal) -> Any:
    try:
        number = float(value)
    except ValueError:  # a signalling NaN
        return MISFIT
    return MISFIT if isinf(number) and value.is_finite() else number


def _bool_of_text(text: str) -> Any:
    if len(text) > 5:
        return MISFIT
    word = text.lower()
    return True if word in _TRUE else False if word in _FALSE else MISFIT


def _bool_of_decimal(value: Decimal) -> bool:
    return not value.is_zero()


BIGINT: Final[Mapping[DataType, Convert]] = {
    "text": _bigint_of_text,
    "bigint": _bigint,
    "double": _bigint_of_double,
    "decimal": _bigint_of_decimal,
    "wei": _bigint_of_decimal,
}

DOUBLE: Final[Mapping[DataType, Convert]] = {
    "text": _double_of_text,
    "bigint": _double_of_int,
    "double": same,
    "decimal": _double_of_decimal,
    "wei": _double_of_decimal,
}

BOOL: Final[Mapping[DataType, Convert]] = {
    "text": _bool_of_text,
    "bigint": bool,
    "double": bool,
    "decimal": _bool_of_decimal,
    "wei": _bool_of_decimal,
    "bool": same,
}

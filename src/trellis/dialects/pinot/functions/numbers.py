"""Functions on numbers. They compute in doubles, as Pinot does."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

from trellis.dialects.pinot.functions.registry import FunctionError, Theme, as_double, as_int
from trellis.dialects.pinot.value.numbers import double_of, double_text, saturated

NUMBERS: Final = Theme()
INFINITY: Final = float("inf")
NAN: Final = float("nan")
_WIDE: Final = Context(prec=800, Emin=-10_000, Emax=10_000)


NUMBERS.function("plus add", as_double, as_double)(lambda left, right: left + right)
NUMBERS.function("minus sub", as_double, as_double)(lambda left, right: left - right)
NUMBERS.function("times mult", as_double, as_double)(lambda left, right: left * right)


@NUMBERS.function("divide div", as_double, as_double)
def _divide(left: float, right: float) -> float:
    """left / right; by 0 it is infinite, or NaN for 0 / 0."""
    if right:
        return left / right
    return NAN if left == 0 or left != left else math.copysign(INFINITY, left) * math.copysign(1, right)


@NUMBERS.function("divide div", as_double, as_double, as_double)
def _divide_or(left: float, right: float, default: float) -> float:
    """left / right; by 0 it is `default`."""
    return left / right if right else default


@NUMBERS.function("mod", as_double, as_double)
def _mod(left: float, right: float) -> float:
    """What is left of a division, with the sign of `left`; NaN by 0."""
    return NAN if right == 0 or abs(left) == INFINITY else math.fmod(left, right)


NUMBERS.function("abs", as_double)(abs)
NUMBERS.function("negate", as_double)(lambda value: -value)
NUMBERS.function("ceil ceiling", as_double)(lambda value: -floor_double(-value))


def floor_double(value: float) -> float:
    """Down to the next whole number, as a float; what is not finite stays."""
    return math.copysign(float(math.floor(value)), value) if math.isfinite(value) else value


NUMBERS.function("floor", as_double)(floor_double)


@NUMBERS.function("max greatest", as_double, as_double)
def _max(left: float, right: float) -> float:
    """The greater of two numbers; NaN if one is."""
    return NAN if left != left or right != right else max(left, right)


@NUMBERS.function("min least", as_double, as_double)
def _min(left: float, right: float) -> float:
    """The smaller of two numbers; NaN if one is."""
    return NAN if left != left or right != right else min(left, right)


@NUMBERS.function("roundDecimal", as_double)
def _round_whole(value: float) -> float:
    """To the nearest whole number; halves go up. NaN is 0, and what is too large is the nearest long."""
    return float(saturated(floor_double(value + 0.5) if abs(value) < 2**52 else value, 64))


@NUMBERS.function("roundDecimal", as_double, as_int)
def _round_decimal(value: float, places: int) -> float:
    """To so many decimal places; halves go away from 0."""
    return _quantized(value, places, ROUND_HALF_UP)


def _quantized(value: float, places: int, rounding: str) -> float:
    if not math.isfinite(value):
        raise FunctionError(f"{double_text(value)} has no decimal places")
    if places > 400:
        return value
    if places < -400:
        return 0.0
    exact = Decimal(repr(value)).quantize(Decimal((0, (1,), -places)), rounding, _WIDE)
    return double_of(exact or Decimal(0))

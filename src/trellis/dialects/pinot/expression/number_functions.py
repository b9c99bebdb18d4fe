"""Functions on numbers. They count in doubles, as Pinot does (spec pinot.md, section 5)."""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Final

from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import (
    FunctionError,
    as_double,
    as_int,
    as_long,
    give_int,
    give_long,
)
from trellis.dialects.pinot.value.java_text import double_text
from trellis.dialects.pinot.value.rounding import double_of, saturated

NUMBER: Final = Theme()
INFINITY: Final = float("inf")
NAN: Final = float("nan")
_WIDE: Final = Context(prec=800, Emin=-10_000, Emax=10_000)


@NUMBER.function("plus add", as_double, as_double)
def _plus(left: float, right: float) -> float:
    """left + right"""
    return left + right


@NUMBER.function("minus sub", as_double, as_double)
def _minus(left: float, right: float) -> float:
    """left - right"""
    return left - right


@NUMBER.function("times mult", as_double, as_double)
def _times(left: float, right: float) -> float:
    """left * right"""
    return left * right


def quotient(left: float, right: float) -> float:
    """left / right; by 0 it is infinite, or NaN for 0 / 0."""
    if right:
        return left / right
    return NAN if left == 0 or left != left else math.copysign(INFINITY, left) * math.copysign(1, right)


@NUMBER.function("divide div", as_double, as_double)
def _divide(left: float, right: float) -> float:
    """left / right; by 0 it is infinite, or NaN for 0 / 0."""
    return quotient(left, right)


@NUMBER.function("divide div", as_double, as_double, as_double)
def _divide_or(left: float, right: float, instead: float) -> float:
    """left / right; by 0 it is `instead`."""
    return left / right if right else instead


@NUMBER.function("mod", as_double, as_double)
def _mod(left: float, right: float) -> float:
    """What is left of a division, with the sign of `left`; NaN by 0."""
    return remainder(left, right)


def remainder(left: float, right: float) -> float:
    """
    >>> remainder(-7, 3), remainder(7.5, 2), remainder(1, 0)
    (-1.0, 1.5, nan)
    """
    return NAN if right == 0 or abs(left) == INFINITY else math.fmod(left, right)


@NUMBER.function("moduloOrZero", as_double, as_double)
def _modulo_or_zero(left: float, right: float) -> float:
    """As mod; 0 where the divisor is 0."""
    return remainder(left, right) if right else 0.0


@NUMBER.function("positiveModulo", as_double, as_double)
def _positive_modulo(left: float, right: float) -> float:
    """As mod, made positive."""
    found = remainder(left, right)
    return found if found >= 0 or found != found else found + abs(right)


@NUMBER.function("intDiv", as_double, as_double, gives=give_long)
def _int_div(left: float, right: float) -> int:
    """left / right, down to the next whole number."""
    return saturated(floored(quotient(left, right)), 64)


@NUMBER.function("intDivOrZero", as_double, as_double, gives=give_long)
def _int_div_or_zero(left: float, right: float) -> int:
    """As intDiv; 0 where the divisor is 0."""
    return saturated(floored(quotient(left, right)), 64) if right else 0


@NUMBER.function("abs", as_double)
def _abs(value: float) -> float:
    """The number without its sign."""
    return abs(value)


@NUMBER.function("negate", as_double)
def _negate(value: float) -> float:
    """The number with the other sign."""
    return -value


@NUMBER.function("sign", as_double)
def _sign(value: float) -> float:
    """-1, 0 or 1."""
    return value if value == 0 or value != value else math.copysign(1.0, value)


@NUMBER.function("ceil ceiling", as_double)
def _ceil(value: float) -> float:
    """Up to the next whole number."""
    return -floored(-value)


def floored(value: float) -> float:
    """Down to the next whole number, as a float; what is not finite stays."""
    return math.copysign(float(math.floor(value)), value) if math.isfinite(value) else value


@NUMBER.function("floor", as_double)
def _floor(value: float) -> float:
    """Down to the next whole number."""
    return floored(value)


@NUMBER.function("exp", as_double)
def _exp(value: float) -> float:
    """e to the power of a number."""
    try:
        return math.exp(value)
    except OverflowError:
        return INFINITY


def logarithm(value: float) -> float:
    """The natural logarithm; of 0 it is -Infinity, below 0 it is NaN."""
    if value > 0:
        return math.log(value)
    return -INFINITY if value == 0 else NAN


@NUMBER.function("ln log", as_double)
def _ln(value: float) -> float:
    """The natural logarithm."""
    return logarithm(value)


@NUMBER.function("log2", as_double)
def _log2(value: float) -> float:
    """The logarithm to the base 2."""
    return logarithm(value) / math.log(2)


@NUMBER.function("log10", as_double)
def _log10(value: float) -> float:
    """The logarithm to the base 10."""
    return math.log10(value) if value > 0 else logarithm(value)


@NUMBER.function("sqrt", as_double)
def _sqrt(value: float) -> float:
    """The square root; NaN below 0."""
    return math.sqrt(value) if value >= 0 else NAN


@NUMBER.function("pow power", as_double, as_double)
def _power(base: float, exponent: float) -> float:
    """base to the power of exponent."""
    if (
        exponent != exponent
        or (abs(base) == 1 and abs(exponent) == INFINITY)
        or (base == 1 and exponent != exponent)
    ):
        return NAN
    if base != base and exponent != 0:
        return NAN
    odd = exponent % 2 == 1 if math.isfinite(exponent) else False
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -INFINITY if base < 0 and odd else INFINITY
    except ValueError:
        if base:
            return NAN
        return math.copysign(INFINITY, base) if odd else INFINITY


@NUMBER.function("hypot", as_double, as_double)
def _hypot(left: float, right: float) -> float:
    """The square root of the sum of both squares."""
    return math.hypot(left, right)


@NUMBER.function("max greatest", as_double, as_double)
def _max(left: float, right: float) -> float:
    """The greater of two numbers; NaN if one is."""
    return NAN if left != left or right != right else max(left, right)


@NUMBER.function("min least", as_double, as_double)
def _min(left: float, right: float) -> float:
    """The smaller of two numbers; NaN if one is."""
    return NAN if left != left or right != right else min(left, right)


@NUMBER.function("roundDecimal", as_double)
def _round_whole(value: float) -> float:
    """To the nearest whole number; halves go up. NaN is 0, and what is too large is the nearest long."""
    return float(saturated(floored(value + 0.5) if abs(value) < 2**52 else value, 64))


@NUMBER.function("roundDecimal", as_double, as_int)
def _round_decimal(value: float, places: int) -> float:
    """To so many decimal places; halves go away from 0."""
    return _quantized(value, places, ROUND_HALF_UP)


@NUMBER.function("truncate", as_double)
def _truncate_whole(value: float) -> float:
    """Without the fraction."""
    return math.copysign(float(math.trunc(value)), value) if math.isfinite(value) else value


@NUMBER.function("truncate", as_double, as_int)
def _truncate(value: float, places: int) -> float:
    """Cut after so many decimal places."""
    return _quantized(value, places, ROUND_DOWN)


def _quantized(value: float, places: int, rounding: str) -> float:
    if not math.isfinite(value):
        raise FunctionError(f"{double_text(value)} has no decimal places")
    if places > 400:
        return value
    if places < -400:
        return 0.0
    exact = Decimal(repr(value)).quantize(Decimal((0, (1,), -places)), rounding, _WIDE)
    return double_of(exact or Decimal(0))


@NUMBER.function("isFinite", as_double)
def _is_finite(value: float) -> int:
    """1 for a number that is neither infinite nor NaN, else 0."""
    return int(math.isfinite(value))


@NUMBER.function("isInfinite", as_double)
def _is_infinite(value: float) -> int:
    """1 for an infinite number, else 0."""
    return int(math.isinf(value))


@NUMBER.function("isNaN", as_double)
def _is_nan(value: float) -> int:
    """1 for NaN, else 0."""
    return int(value != value)


@NUMBER.function("ifNotFinite", as_double, as_double)
def _if_not_finite(value: float, instead: float) -> float:
    """The number; `instead` where it is infinite or NaN."""
    return value if math.isfinite(value) else instead


@NUMBER.function("gcd", as_long, as_long, gives=give_long)
def _gcd(left: int, right: int) -> int:
    """The greatest common divisor."""
    return math.gcd(left, right)


@NUMBER.function("lcm", as_long, as_long, gives=give_long)
def _lcm(left: int, right: int) -> int:
    """The least common multiple."""
    return math.lcm(left, right)


@NUMBER.function("byteswapInt", as_int, gives=give_int)
def _byteswap_int(value: int) -> int:
    """The number with its 4 bytes in the opposite order."""
    return int.from_bytes(value.to_bytes(4, "big", signed=True), "little", signed=True)


@NUMBER.function("byteswapLong", as_long, gives=give_long)
def _byteswap_long(value: int) -> int:
    """The number with its 8 bytes in the opposite order."""
    return int.from_bytes(value.to_bytes(8, "big", signed=True), "little", signed=True)

"""Exact numbers rounded to floats, and to whole numbers of 32 and 64 bits."""

from __future__ import annotations

from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Final

from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, round32

EXACT: Final = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)
"""Decimal arithmetic that keeps every digit."""

INFINITY: Final = float("inf")


def double_of(value: int | Decimal) -> float:
    """The nearest float of 64 bits; infinite beyond the largest.

    >>> double_of(9007199254740993), double_of(10**400)
    (9007199254740992.0, inf)
    """
    try:
        return float(value)
    except OverflowError:
        return INFINITY if value > 0 else -INFINITY


def float32_of(value: int | Decimal) -> float:
    """The nearest float of 32 bits, by way of a double; infinite beyond the largest.

    >>> float32_of(16777217), float32_of(Decimal("1e39"))
    (16777216.0, inf)
    """
    return round32(double_of(value))


def wrapped(value: int, bits: int) -> int:
    """The low bits of a whole number, as a number with a sign.

    >>> wrapped(3000000000, 32)
    -1294967296
    """
    half = 1 << (bits - 1)
    return ((int(value) + half) & ((1 << bits) - 1)) - half


def saturated(value: float, bits: int) -> int:
    """A float without its fraction, at most the largest of so many bits; NaN is 0.

    >>> saturated(-7.9, 32), saturated(1e20, 32), saturated(float("nan"), 32)
    (-7, 2147483647, 0)
    """
    low, high = (INT_MIN, INT_MAX) if bits == 32 else (LONG_MIN, LONG_MAX)
    if value != value:
        return 0
    if value >= high:
        return high
    return low if value <= low else int(value)


def low_bits(value: Decimal, bits: int) -> int:
    """The low bits of a decimal without its fraction.

    >>> low_bits(Decimal("-1.9"), 32), low_bits(Decimal("1E+20"), 64), low_bits(Decimal("1E+1000000000"), 32)
    (-1, 7766279631452241920, 0)
    """
    if int(value.as_tuple().exponent) >= 64 or value.adjusted() < 0:
        return 0
    return wrapped(int(value), bits)


def without_trailing_zeros(value: Decimal) -> Decimal:
    """`BigDecimal.stripTrailingZeros`; zero is 0, and never negative.

    >>> [str(without_trailing_zeros(Decimal(text))) for text in ("1200.00", "0E-18", "-0.0", "7.9")]
    ['1.2E+3', '0', '0', '7.9']
    """
    return value.normalize(EXACT) if value else Decimal(0)

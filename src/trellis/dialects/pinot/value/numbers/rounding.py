"""Exact numbers rounded once to a float of 32 bits, and to whole numbers of 32 and 64 bits."""

from __future__ import annotations

import struct
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Final

from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, round32

EXACT: Final = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)
"""Decimal arithmetic that keeps every digit."""

INFINITY: Final = float("inf")
_BEYOND_32: Final = 2.0**128
"""Where the float of 32 bits after the largest would be."""


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
    """The nearest float of 32 bits, rounded once; infinite beyond the largest.

    >>> float32_of(16777217), float32_of(Decimal("16777217.0000000001"))
    (16777216.0, 16777218.0)
    """
    double = double_of(value)
    single = round32(double)
    if single == double:
        return single
    other = _next32(single, up=single < double)
    if (_finite(single) + _finite(other)) / 2 != double or value == double:
        return single
    return max(single, other) if value > double else min(single, other)


def _finite(single: float) -> float:
    return single if abs(single) < _BEYOND_32 else _BEYOND_32 if single > 0 else -_BEYOND_32


def _next32(single: float, up: bool) -> float:
    """The float of 32 bits after this one."""
    (bits,) = struct.unpack("<i", struct.pack("<f", single))
    if single == 0:
        bits = 1 if up else 1 - 2**31
    else:
        bits += 1 if (single > 0) == up else -1
    return float(struct.unpack("<f", struct.pack("<i", bits))[0])


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

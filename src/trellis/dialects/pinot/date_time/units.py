"""The units of time, with the arithmetic of Java's `TimeUnit` on integers of 64 bits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from trellis.dialects.pinot.date_time.iso_calendar import DAY, HOUR, LONG_MAX, LONG_MIN, MINUTE, SECOND


class FormatError(ValueError):
    """An invalid format, or a value that does not follow its format; the text is one sentence."""


_COARSE: Final[Mapping[str, int]] = {
    "MILLISECONDS": 1,
    "SECONDS": SECOND,
    "MINUTES": MINUTE,
    "HOURS": HOUR,
    "DAYS": DAY,
}
_FINE: Final[Mapping[str, int]] = {"NANOSECONDS": 1_000_000, "MICROSECONDS": 1000}
UNITS: Final = (*_FINE, *_COARSE)
"""The names, from the finest to the coarsest."""

VALID_MIN_MILLIS: Final = 31_536_000_000
VALID_MAX_MILLIS: Final = 3_187_296_000_000
"""1971-01-01 and 2071-01-01 UTC: the main times that Pinot accepts (`TimeUtils.VALID_MIN_TIME_MILLIS`)."""

_INTEGER: Final = re.compile(r"[+-]?\d+")
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,10})?")
_INT_MAX: Final = 2**31 - 1


def size_of(text: str, where: str) -> int:
    """A size in a document. Raises FormatError."""
    if _INTEGER.fullmatch(text) is None or abs(int(text)) > _INT_MAX:
        raise FormatError(f"Invalid size: {text} in {where}, must be an integer")
    if int(text) <= 0:
        raise FormatError(f"Invalid size: {int(text)} in {where}, must be positive")
    return int(text)


def unit_of(text: str, where: str) -> str:
    """A unit in a document. Raises FormatError."""
    if text not in UNITS:
        raise FormatError(f"Invalid time unit: {text} in {where}, must be one of {', '.join(UNITS)}")
    return text


def truncated_integer(text: str) -> int | None:
    """The integer of a decimal text, truncated, in its lowest 64 bits; None where the text is not a number.

    >>> truncated_integer("1.7E9"), truncated_integer("-1.9"), truncated_integer(" 5")
    (1700000000, -1, None)
    """
    if text.isdecimal() and len(text) <= 18:
        return int(text)
    if _DECIMAL.fullmatch(text) is None:
        return None
    value = Decimal(text)
    return low_bits(value) if abs(int(value.as_tuple().exponent)) <= _INT_MAX else None


def low_bits(value: Decimal, bits: int = 64) -> int:
    """The low bits of a decimal without its fraction.

    >>> low_bits(Decimal("-1.9"), 32), low_bits(Decimal("1E+20"), 64), low_bits(Decimal("1E+1000000000"), 32)
    (-1, 7766279631452241920, 0)
    """
    if int(value.as_tuple().exponent) >= 64 or value.adjusted() < 0:
        return 0
    return wrap(int(value), bits)


def wrap(number: int, bits: int = 64) -> int:
    """The lowest bits of an integer, as a Java long or int holds them.

    >>> wrap(3000000000, 32)
    -1294967296
    """
    half = 1 << (bits - 1)
    return (int(number) + half) % (1 << bits) - half


def saturate(number: int) -> int:
    return max(LONG_MIN, min(LONG_MAX, number))


def truncated(number: int, divisor: int) -> int:
    """A quotient toward zero."""
    return number // divisor if number >= 0 else -(-number // divisor)


def to_millis(count: int, unit: str) -> int:
    """Milliseconds of a count of units: finer ones truncate toward zero, too many saturate.

    >>> to_millis(-1999, "MICROSECONDS"), to_millis(2, "HOURS")
    (-1, 7200000)
    """
    if unit in _FINE:
        return truncated(count, _FINE[unit])
    return saturate(count * _COARSE[unit])


def of_millis(millis: int, unit: str) -> int:
    """The units in a count of milliseconds, truncated toward zero.

    >>> of_millis(-1, "DAYS")
    0
    """
    if unit in _FINE:
        return saturate(millis * _FINE[unit])
    return truncated(millis, _COARSE[unit])

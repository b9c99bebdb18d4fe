"""Functions between milliseconds and counts of seconds, minutes, hours and days.

Java divides whole numbers toward 0, and so do these.
"""

from __future__ import annotations

from typing import Final

from trellis.dialects.pinot.functions.arguments import FunctionError, as_long, long_result
from trellis.dialects.pinot.functions.registry import Theme
from trellis.dialects.pinot.value.numbers.rounding import wrapped
from trellis.dialects.pinot.value.source_kinds import LONG_MAX, LONG_MIN

EPOCHS: Final = Theme()
UNITS: Final = {"Seconds": 1000, "Minutes": 60_000, "Hours": 3_600_000, "Days": 86_400_000}


def divide_whole(value: int, divisor: int) -> int:
    """Whole division toward 0. Raises FunctionError by 0.

    >>> divide_whole(-7, 2)
    -3
    """
    if not divisor:
        raise FunctionError("a whole number is divided by 0")
    return value // divisor if (value < 0) == (divisor < 0) else -(-value // divisor)


def clamp_long(value: int) -> int:
    """At most the largest long, at least the smallest."""
    return max(LONG_MIN, min(LONG_MAX, value))


def _declare(unit: str, length: int) -> None:
    @EPOCHS.function(f"toEpoch{unit}", as_long, result=long_result)
    def _to(millis: int) -> int:
        return divide_whole(millis, length)

    @EPOCHS.function(f"toEpoch{unit}Rounded", as_long, as_long, result=long_result)
    def _rounded(millis: int, size: int) -> int:
        return divide_whole(divide_whole(millis, length), size) * size

    @EPOCHS.function(f"toEpoch{unit}Bucket", as_long, as_long, result=long_result)
    def _bucket(millis: int, size: int) -> int:
        return divide_whole(divide_whole(millis, length), size)

    @EPOCHS.function(f"fromEpoch{unit}", as_long, result=long_result)
    def _from(count: int) -> int:
        return clamp_long(count * length)

    @EPOCHS.function(f"fromEpoch{unit}Bucket", as_long, as_long, result=long_result)
    def _from_bucket(count: int, size: int) -> int:
        return clamp_long(wrapped(count * size, 64) * length)


for _unit, _length in UNITS.items():
    _declare(_unit, _length)


@EPOCHS.function("round", as_long, as_long, result=long_result)
def _round(value: int, size: int) -> int:
    """A whole number, cut to a multiple of a size."""
    return divide_whole(value, size) * size

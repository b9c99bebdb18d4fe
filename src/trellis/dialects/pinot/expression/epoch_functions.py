"""Functions between milliseconds and counts of seconds, minutes, hours and days (spec pinot.md, section 5).

Java divides whole numbers toward 0, and so do these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import FunctionError, as_long, give_long, several
from trellis.dialects.pinot.value.kinds import LONG_MAX, LONG_MIN, Int64
from trellis.dialects.pinot.value.rounding import wrapped

EPOCH_TIME: Final = Theme()
UNITS: Final = {"Seconds": 1000, "Minutes": 60_000, "Hours": 3_600_000, "Days": 86_400_000}


def divided(value: int, by: int) -> int:
    """Whole division toward 0. Raises FunctionError by 0.

    >>> divided(-7, 2)
    -3
    """
    if not by:
        raise FunctionError("a whole number is divided by 0")
    return value // by if (value < 0) == (by < 0) else -(-value // by)


def saturated_long(value: int) -> int:
    """At most the largest long, at least the smallest."""
    return max(LONG_MIN, min(LONG_MAX, value))


def give_longs(values: list[int]) -> list[Int64]:
    """What a function gives as several longs."""
    return list(map(give_long, values))


def with_several(
    names: str,
    *takes: Callable[[Any], Any],
    at: int = 0,
    optional: int = 0,
    gives: Callable[[Any], Any] = give_long,
    theme: Theme = EPOCH_TIME,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares a function, and one of the same name with MV at the end that takes a list at place `at`."""

    def declared(call: Callable[..., Any]) -> Callable[..., Any]:
        def each(*values: Any) -> list[Any]:
            return [gives(call(*values[:at], one, *values[at + 1 :])) for one in values[at]]

        each.__doc__ = f"{call.__doc__} For every value of a list."
        theme.function(names, *takes, optional=optional, gives=gives)(call)
        lists = (*takes[:at], several(takes[at]), *takes[at + 1 :])
        theme.function(" ".join(f"{name}MV" for name in names.split()), *lists, optional=optional)(each)
        return call

    return declared


def _declare(unit: str, length: int) -> None:
    @with_several(f"toEpoch{unit}", as_long)
    def _to(millis: int) -> int:
        return divided(millis, length)

    @with_several(f"toEpoch{unit}Rounded", as_long, as_long)
    def _rounded(millis: int, size: int) -> int:
        return divided(divided(millis, length), size) * size

    @with_several(f"toEpoch{unit}Bucket", as_long, as_long)
    def _bucket(millis: int, size: int) -> int:
        return divided(divided(millis, length), size)

    @with_several(f"fromEpoch{unit}", as_long)
    def _from(count: int) -> int:
        return saturated_long(count * length)

    @with_several(f"fromEpoch{unit}Bucket", as_long, as_long)
    def _from_bucket(count: int, size: int) -> int:
        return saturated_long(wrapped(count * size, 64) * length)

    named = unit.lower()
    _to.__doc__ = f"Milliseconds as whole {named}."
    _rounded.__doc__ = f"Milliseconds as {named}, cut to a multiple of a size."
    _bucket.__doc__ = f"Milliseconds as buckets of so many {named}."
    _from.__doc__ = f"A count of {named} in milliseconds."
    _from_bucket.__doc__ = f"A count of buckets of so many {named} in milliseconds."


for _unit, _length in UNITS.items():
    _declare(_unit, _length)


@with_several("round", as_long, as_long)
def _round(value: int, size: int) -> int:
    """A whole number, cut to a multiple of a size."""
    return divided(value, size) * size

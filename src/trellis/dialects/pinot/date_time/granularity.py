"""The granularity of a dateTime column, which never rounds a value (`DateTimeGranularitySpec`)."""

from __future__ import annotations

from trellis.dialects.pinot.date_time.errors import FormatError
from trellis.dialects.pinot.date_time.units import size_of, to_millis, unit_of


def granularity_millis(text: str) -> int:
    """The length of a bucket in milliseconds. Raises FormatError.

    >>> granularity_millis("15:MINUTES"), granularity_millis("MINUTES|15"), granularity_millis("MINUTES")
    (900000, 900000, 60000)
    """
    size, unit = size_and_unit(text)
    return to_millis(size, unit)


def size_and_unit(text: str) -> tuple[int, str]:
    """The size and unit of a granularity. Raises FormatError.

    >>> size_and_unit("15:MINUTES"), size_and_unit("DAYS")
    ((15, 'MINUTES'), (1, 'DAYS'))
    """
    if not text:
        raise FormatError("Must provide granularity")
    where = f"granularity: {text}"
    if text[0].isdecimal():
        size, colon, unit = text.partition(":")
        if not colon:
            raise FormatError(
                f"Invalid granularity: {text}, must be of format 'timeUnit(|size)' or 'size:timeUnit'"
            )
        return size_of(size, where), unit_of(unit, where)
    unit, bar, size = text.partition("|")
    unit_of(unit, where)
    return size_of(size, where) if bar else 1, unit

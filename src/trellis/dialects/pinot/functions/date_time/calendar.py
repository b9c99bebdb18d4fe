"""The fields of an instant in a zone, and steps from one to another, as Joda counts them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from trellis.dialects.pinot.date_time.iso_calendar import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    WEEK,
    date_of,
    days_of,
    week_of,
    weekday_of,
    weekyear_of,
)
from trellis.dialects.pinot.date_time.time_zones import UTC, Clock, clock_of, zone_ids
from trellis.dialects.pinot.functions.registry import FunctionError
from trellis.errors import nearest

LENGTHS: Final = {
    "MILLISECOND": 1,
    "SECOND": SECOND,
    "MINUTE": MINUTE,
    "HOUR": HOUR,
    "DAY": DAY,
    "WEEK": WEEK,
}
MONTHS: Final = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_OFFSET: Final = re.compile(r"([+-])(\d{2})(?::?(\d{2}))?")


def zone_of(text: str) -> str:
    """The zone a function names: an id of the time zone database, or an offset. Raises FunctionError.

    >>> zone_of("Asia/Kolkata"), zone_of("+05:30"), zone_of("Z")
    ('Asia/Kolkata', '+05:30', 'UTC')
    """
    if text in ("UTC", "UT", "GMT", "Z"):
        return UTC
    if text in zone_ids():
        return text
    offset = _OFFSET.fullmatch(text)
    if offset and int(offset[2]) < 24 and int(offset[3] or 0) < 60:
        return f"{offset[1]}{offset[2]}:{offset[3] or '00'}"
    close = nearest(text, sorted(zone_ids())) if "/" in text else ""
    hint = close if close.startswith(": did") else ": it is written as Europe/Berlin, +05:30 or UTC"
    raise FunctionError(f"unknown time zone {text[:60]!r}{hint}")


def field_of(name: str, millis: int, zone: str) -> int:
    """One field of an instant.

    >>> field_of("HOUR", 1700000000123, "Asia/Kolkata"), field_of("WEEK", 1700000000123, "UTC")
    (3, 46)
    """
    local = millis + clock_of(zone).offset(millis)
    days, rest = divmod(local, DAY)
    return FIELDS[name](days, rest)


FIELDS: Final[dict[str, Callable[[int, int], int]]] = {
    "YEAR": lambda days, _: date_of(days)[0],
    "QUARTER": lambda days, _: (date_of(days)[1] + 2) // 3,
    "MONTH": lambda days, _: date_of(days)[1],
    "WEEK": lambda days, _: week_of(days),
    "YEAROFWEEK": lambda days, _: weekyear_of(days),
    "DAY": lambda days, _: date_of(days)[2],
    "DOY": lambda days, _: days - days_of(date_of(days)[0], 1, 0),
    "DOW": lambda days, _: weekday_of(days),
    "HOUR": lambda _, rest: rest // HOUR,
    "MINUTE": lambda _, rest: rest // MINUTE % 60,
    "SECOND": lambda _, rest: rest // SECOND % 60,
    "MILLISECOND": lambda _, rest: rest % SECOND,
}


def start_of(unit: str, millis: int, zone: str) -> int:
    """The start of the unit that an instant lies in.

    >>> start_of("DAY", 1700000000123, "America/New_York")
    1699938000000
    """
    clock = clock_of(zone)
    offset = clock.offset(millis)
    local = millis + offset
    if unit in ("MILLISECOND", "SECOND", "MINUTE", "HOUR"):
        return local - local % LENGTHS[unit] - offset
    return instant_near(clock, _local_start(unit, local), offset)


def _local_start(unit: str, local: int) -> int:
    days = local // DAY
    if unit == "DAY":
        return days * DAY
    if unit == "WEEK":
        return (days - weekday_of(days) + 1) * DAY
    year, month, _ = date_of(days)
    months = MONTHS[unit]
    return days_of(year, month - (month - 1) % months, 1) * DAY


def instant_near(clock: Clock, local: int, offset: int) -> int:
    """The instant of a local time: where there are two, the one at this offset."""
    guess = local - offset
    return guess if clock.offset(guess) == offset else clock.instant_after_gap(local)

"""The fields of an instant in a zone, and steps from one to another, as Joda counts them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from trellis.dialects.pinot.date_time.iso_calendar import DAY, SECOND, date_of, days_of
from trellis.dialects.pinot.date_time.joda.fields import RULES
from trellis.dialects.pinot.date_time.joda.writer import NUMBERS, DisplayedTime
from trellis.dialects.pinot.date_time.time_zones import UTC, clock_of, zone_ids
from trellis.dialects.pinot.functions.registry import FunctionError
from trellis.errors import nearest

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
    return FIELDS[name](DisplayedTime(millis, zone))


FIELDS: Final[Mapping[str, Callable[[DisplayedTime], int]]] = {
    "YEAR": NUMBERS["y"],
    "QUARTER": lambda displayed: (displayed.month + 2) // 3,
    "MONTH": NUMBERS["M"],
    "WEEK": NUMBERS["w"],
    "YEAROFWEEK": NUMBERS["x"],
    "DAY": NUMBERS["d"],
    "DOY": NUMBERS["D"],
    "DOW": NUMBERS["e"],
    "HOUR": NUMBERS["H"],
    "MINUTE": NUMBERS["m"],
    "SECOND": NUMBERS["s"],
    "MILLISECOND": lambda displayed: displayed.time % SECOND,
}


def start_of(unit: str, millis: int, zone: str) -> int:
    """The start of the unit that an instant lies in.

    >>> start_of("DAY", 1700000000123, "America/New_York")
    1699938000000
    """
    clock = clock_of(zone)
    offset = clock.offset(millis)
    local = STARTS[unit](millis + offset)
    start = local - offset
    if unit in _WITHIN_DAY or clock.offset(start) == offset:
        return start
    return clock.instant_after_gap(local)


def _quarter_start(local: int) -> int:
    year, month, _ = date_of(local // DAY)
    return days_of(year, month - (month - 1) % 3, 1) * DAY


_WITHIN_DAY: Final = ("MILLISECOND", "SECOND", "MINUTE", "HOUR")
STARTS: Final[Mapping[str, Callable[[int], int]]] = {
    "MILLISECOND": RULES["S"].floor,
    "SECOND": RULES["s"].floor,
    "MINUTE": RULES["m"].floor,
    "HOUR": RULES["H"].floor,
    "DAY": RULES["d"].floor,
    "WEEK": RULES["w"].floor,
    "MONTH": RULES["M"].floor,
    "QUARTER": _quarter_start,
    "YEAR": RULES["y"].floor,
}
"""The start of each unit by the clock, in milliseconds of local time."""

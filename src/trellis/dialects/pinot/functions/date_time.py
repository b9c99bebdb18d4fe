"""Functions on instants, which are milliseconds since 1970-01-01 UTC, as Joda counts them.

Java divides whole numbers toward 0, and so do these.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Final

from trellis.dialects.pinot.date_time.format import DateTimeFormat
from trellis.dialects.pinot.date_time.iso_calendar import DAY, SECOND, date_of, days_of
from trellis.dialects.pinot.date_time.joda.fields import RULES
from trellis.dialects.pinot.date_time.joda.writer import NUMBERS, DisplayedTime
from trellis.dialects.pinot.date_time.time_zones import UTC, clock_of, zone_ids
from trellis.dialects.pinot.date_time.units import UNITS, FormatError, of_millis, to_millis, wrap
from trellis.dialects.pinot.functions.registry import (
    FunctionError,
    Theme,
    as_instant,
    as_long,
    as_text,
    int_result,
    long_result,
    timestamp_of,
)
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


TIMES: Final = Theme()


def divide_whole(value: int, divisor: int) -> int:
    """Whole division toward 0. Raises FunctionError by 0.

    >>> divide_whole(-7, 2)
    -3
    """
    if not divisor:
        raise FunctionError("a whole number is divided by 0")
    return value // divisor if (value < 0) == (divisor < 0) else -(-value // divisor)


def _declare(unit: str) -> None:
    name = unit.upper()
    TIMES.function(f"toEpoch{unit}", as_long, result=long_result)(partial(of_millis, unit=name))
    TIMES.function(f"fromEpoch{unit}", as_long, result=long_result)(partial(to_millis, unit=name))

    @TIMES.function(f"toEpoch{unit}Rounded", as_long, as_long, result=long_result)
    def _rounded(millis: int, size: int) -> int:
        return divide_whole(of_millis(millis, name), size) * size

    @TIMES.function(f"toEpoch{unit}Bucket", as_long, as_long, result=long_result)
    def _bucket(millis: int, size: int) -> int:
        return divide_whole(of_millis(millis, name), size)

    @TIMES.function(f"fromEpoch{unit}Bucket", as_long, as_long, result=long_result)
    def _from_bucket(count: int, size: int) -> int:
        return to_millis(wrap(count * size), name)


for _unit in ("Seconds", "Minutes", "Hours", "Days"):
    _declare(_unit)


@TIMES.function("round", as_long, as_long, result=long_result)
def _round(value: int, size: int) -> int:
    """A whole number, cut to a multiple of a size."""
    return divide_whole(value, size) * size


_EXTRACTED: Final = tuple(field for field in FIELDS if field not in ("YEAROFWEEK", "MILLISECOND"))


def now_millis() -> int:
    """The milliseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1_000_000


TIMES.function("now", result=long_result)(now_millis)


TIMES.function("toTimestamp", as_long)(timestamp_of)
TIMES.function("fromTimestamp", as_instant, result=long_result)(lambda millis: millis)


def _declare_field(names: str, field: str) -> None:
    @TIMES.function(names, as_long, as_text, optional=1, result=int_result)
    def _field(millis: int, zone: str = UTC) -> int:
        return field_of(field, millis, zone_of(zone))


for _names, _field_name in (
    ("year", "YEAR"),
    ("quarter", "QUARTER"),
    ("month monthOfYear", "MONTH"),
    ("week weekOfYear", "WEEK"),
    ("yearOfWeek yow", "YEAROFWEEK"),
    ("dayOfYear doy", "DOY"),
    ("dayOfMonth day", "DAY"),
    ("dayOfWeek dow", "DOW"),
    ("hour", "HOUR"),
    ("minute", "MINUTE"),
    ("second", "SECOND"),
    ("millisecond", "MILLISECOND"),
):
    _declare_field(_names, _field_name)


@TIMES.function("extract", as_text, as_long, result=int_result)
def _extract(field: str, millis: int) -> int:
    """A field of an instant in UTC; written as extract(YEAR FROM x)."""
    return field_of(_known(field, _EXTRACTED, "field"), millis, UTC)


@TIMES.function("dateTrunc", as_text, as_long, as_text, as_text, as_text, optional=3, result=long_result)
def _date_trunc(
    unit: str, count: int, counted_in: str = "MILLISECONDS", zone: str = UTC, result_in: str = ""
) -> int:
    """The start of the year, quarter, month, week, day, hour, minute or second that a time lies in.

    The time is a count of `counted_in`, the result one of `result_in`, or else of the same unit.
    """
    known_unit = _known(unit.upper(), tuple(STARTS), "unit")
    millis = to_millis(count, _known(counted_in.upper(), UNITS, "unit"))
    start = start_of(known_unit, millis, zone_of(zone))
    return of_millis(start, _known((result_in or counted_in).upper(), UNITS, "unit"))


def _known(word: str, words: tuple[str, ...], noun: str) -> str:
    if word not in words:
        raise FunctionError(f"unknown {noun} {word[:60]!r}{nearest(word, words)}")
    return word


@lru_cache(maxsize=256)
def _format(pattern: str, zone: str) -> DateTimeFormat:
    return DateTimeFormat("SIMPLE_DATE_FORMAT", pattern=pattern, zone=zone_of(zone))


@TIMES.function("toDateTime", as_long, as_text, as_text, optional=1)
def _to_date_time(millis: int, pattern: str, zone: str = UTC) -> str:
    """An instant as text, by a pattern and in a zone."""
    return _format(pattern, zone).from_millis(millis)


@TIMES.function("fromDateTime", as_text, as_text, as_text, optional=1, result=long_result)
def _from_date_time(text: str, pattern: str, zone: str = UTC) -> int:
    """The instant of a text, by a pattern and in a zone.

    A time that a clock skips moves on by as much as the clock does.
    """
    return _read_text(pattern, zone, text)


@TIMES.function("fromDateTime", as_text, as_text, as_text, as_long, result=long_result)
def _from_date_time_or(text: str, pattern: str, zone: str, default: int) -> int:
    """As with three arguments; `default` if the text does not follow the pattern."""
    _format(pattern, zone)
    try:
        return _read_text(pattern, zone, text)
    except FormatError:
        return default


def _read_text(pattern: str, zone: str, text: str) -> int:
    """The instant of a text, also of one that names a time its zone skips. Raises FormatError."""
    time_format = _format(pattern, zone)
    try:
        return int(time_format.to_millis(text))
    except FormatError:
        skipped = _after_gap(text, pattern, time_format.zone)
        if skipped is not None:
            return skipped
        raise


def _after_gap(text: str, pattern: str, zone: str) -> int | None:
    """The instant of a text that names a time its zone skips; None for any other."""
    try:
        local = _format(pattern, UTC).to_millis(text)
    except FormatError:
        return None
    clock = clock_of(zone)
    return clock.instant_after_gap(local) if clock.instant(local) is None else None

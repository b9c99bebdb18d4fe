"""Functions on instants, which are milliseconds since 1970-01-01 UTC, as Joda counts them.

Java divides whole numbers toward 0, and so do these.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

from trellis.dialects.pinot.date_time.format import DateTimeFormat
from trellis.dialects.pinot.date_time.iso_calendar import DAY, date_of, days_of
from trellis.dialects.pinot.date_time.joda.fields import RULES, FieldRule
from trellis.dialects.pinot.date_time.time_zones import UTC, clock_of, zone_ids
from trellis.dialects.pinot.date_time.units import UNITS, FormatError, of_millis, to_millis, wrap
from trellis.dialects.pinot.functions.registry import (
    Function,
    FunctionError,
    as_instant,
    as_long,
    as_object,
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
    return FIELDS[name].get(millis + clock_of(zone).offset(millis))


def start_of(unit: str, millis: int, zone: str) -> int:
    """The start of the unit that an instant lies in.

    >>> start_of("DAY", 1700000000123, "America/New_York")
    1699938000000
    """
    clock = clock_of(zone)
    offset = clock.offset(millis)
    local = FIELDS[unit].floor(millis + offset)
    start = local - offset
    if unit in _WITHIN_DAY or clock.offset(start) == offset:
        return start
    return clock.instant_after_gap(local)


def _quarter_start(local: int) -> int:
    year, month, _ = date_of(local // DAY)
    return days_of(year, month - (month - 1) % 3, 1) * DAY


_MONTH: Final = RULES["M"]
_WITHIN_DAY: Final = ("MILLISECOND", "SECOND", "MINUTE", "HOUR")
_UNITS: Final = (*_WITHIN_DAY, "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
FIELDS: Final[Mapping[str, FieldRule]] = {
    "YEAR": RULES["y"],
    "QUARTER": replace(_MONTH, get=lambda local: (_MONTH.get(local) + 2) // 3, floor=_quarter_start),
    "MONTH": _MONTH,
    "WEEK": RULES["w"],
    "YEAROFWEEK": RULES["x"],
    "DAY": RULES["d"],
    "DOY": RULES["D"],
    "DOW": RULES["e"],
    "HOUR": RULES["H"],
    "MINUTE": RULES["m"],
    "SECOND": RULES["s"],
    "MILLISECOND": RULES["S"],
}
"""The fields of a local time; `_UNITS` are those that times are cut to."""


_EXTRACTED: Final = tuple(field for field in FIELDS if field not in ("YEAROFWEEK", "MILLISECOND"))


def now_millis() -> int:
    """The milliseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1_000_000


def divide_whole(value: int, divisor: int) -> int:
    """Whole division toward 0. Raises FunctionError by 0.

    >>> divide_whole(-7, 2)
    -3
    """
    if not divisor:
        raise FunctionError("a whole number is divided by 0")
    return value // divisor if (value < 0) == (divisor < 0) else -(-value // divisor)


def _cut(value: int, size: int) -> int:
    """A whole number, cut to a multiple of a size."""
    return divide_whole(value, size) * size


def _extract(field: str, millis: int) -> int:
    """A field of an instant in UTC; written as extract(YEAR FROM x)."""
    return field_of(_known(field, _EXTRACTED, "field"), millis, UTC)


def _truncate(unit: str, count: int, counted_in: str = "MILLISECONDS", zone: str = UTC, out: str = "") -> int:
    """The start of the unit that a time lies in: a count of one unit of time, as one of another."""
    known_unit = _known(unit.upper(), _UNITS, "unit")
    millis = to_millis(count, _known(counted_in.upper(), UNITS, "unit"))
    start = start_of(known_unit, millis, zone_of(zone))
    return of_millis(start, _known((out or counted_in).upper(), UNITS, "unit"))


def _known(word: str, words: tuple[str, ...], noun: str) -> str:
    if word not in words:
        raise FunctionError(f"unknown {noun} {word[:60]!r}{nearest(word, words)}")
    return word


@lru_cache(maxsize=256)
def _format(pattern: str, zone: str) -> DateTimeFormat:
    return DateTimeFormat("SIMPLE_DATE_FORMAT", pattern=pattern, zone=zone_of(zone))


def _read_text(text: str, pattern: str, zone: str = UTC, default: int | None = None) -> int:
    """The instant of a text; the default, if there is one, where it does not follow the pattern.

    A time that a clock skips moves on by as much as the clock does.
    """
    time_format = _format(pattern, zone)
    try:
        return time_format.to_millis(text)
    except FormatError:
        instant = _after_gap(text, pattern, time_format.zone)
        instant = default if instant is None else instant
        if instant is None:
            raise
        return instant


def _after_gap(text: str, pattern: str, zone: str) -> int | None:
    """The instant of a text that names a time its zone skips; None for any other."""
    try:
        local = _format(pattern, UTC).to_millis(text)
    except FormatError:
        return None
    clock = clock_of(zone)
    return clock.instant_after_gap(local) if clock.instant(local) is None else None


def _epoch_functions(name: str) -> Iterator[Function]:
    unit, two = name.upper(), (as_long, as_long)

    def of_bucket(count: int, size: int) -> int:
        return to_millis(wrap(count * size), unit)

    def bucket(millis: int, size: int) -> int:
        return divide_whole(of_millis(millis, unit), size)

    def rounded(millis: int, size: int) -> int:
        return _cut(of_millis(millis, unit), size)

    yield Function(f"toEpoch{name}", partial(of_millis, unit=unit), as_long, result=long_result)
    yield Function(f"toEpoch{name}Rounded", rounded, *two, result=long_result)
    yield Function(f"toEpoch{name}Bucket", bucket, *two, result=long_result)
    yield Function(f"fromEpoch{name}", partial(to_millis, unit=unit), as_long, result=long_result)
    yield Function(f"fromEpoch{name}Bucket", of_bucket, *two, result=long_result)


def _field_function(names: str, field: str) -> Function:
    def value_of(millis: int, zone: str = UTC) -> int:
        return field_of(field, millis, zone_of(zone))

    return Function(names, value_of, as_long, as_text, optional=1, result=int_result)


_FIELD_NAMES: Final[Mapping[str, str]] = {
    "year": "YEAR",
    "quarter": "QUARTER",
    "month monthOfYear": "MONTH",
    "week weekOfYear": "WEEK",
    "yearOfWeek yow": "YEAROFWEEK",
    "dayOfYear doy": "DOY",
    "dayOfMonth day": "DAY",
    "dayOfWeek dow": "DOW",
    "hour": "HOUR",
    "minute": "MINUTE",
    "second": "SECOND",
    "millisecond": "MILLISECOND",
}
_TEXTS: Final = (as_text, as_text, as_text)
FUNCTIONS: Final[tuple[Function, ...]] = (
    *(declared for name in ("Seconds", "Minutes", "Hours", "Days") for declared in _epoch_functions(name)),
    *(_field_function(names, field) for names, field in _FIELD_NAMES.items()),
    Function("round", _cut, as_long, as_long, result=long_result),
    Function("now", now_millis, result=long_result),
    Function("toTimestamp", timestamp_of, as_long),
    Function("fromTimestamp", as_object, as_instant, result=long_result),
    Function("extract", _extract, as_text, as_long, result=int_result),
    Function("dateTrunc", _truncate, as_text, as_long, *_TEXTS, optional=3, result=long_result),
    Function(
        "toDateTime",
        lambda millis, pattern, zone=UTC: _format(pattern, zone).from_millis(millis),
        as_long,
        as_text,
        as_text,
        optional=1,
    ),
    Function("fromDateTime", _read_text, *_TEXTS, as_long, optional=2, result=long_result),
)

"""Functions on instants, which are milliseconds since 1970-01-01 UTC: fields, starts of units, spans."""

from __future__ import annotations

import time
from typing import Final

from trellis.dialects.pinot.date_time.time_zones import UTC
from trellis.dialects.pinot.functions.arguments import (
    FunctionError,
    as_instant,
    as_long,
    as_text,
    int_result,
    long_result,
    timestamp_of,
)
from trellis.dialects.pinot.functions.date_time.calendar import (
    FIELDS,
    LENGTHS,
    MONTHS,
    field_of,
    start_of,
    zone_of,
)
from trellis.dialects.pinot.functions.date_time.epochs import clamp_long, divide_whole
from trellis.dialects.pinot.functions.registry import Theme
from trellis.errors import nearest

TIMES: Final = Theme()
_EXTRACTED: Final = tuple(field for field in FIELDS if field not in ("YEAROFWEEK", "MILLISECOND"))
_UNITS: Final = (*LENGTHS, *MONTHS)
_COUNTS: Final = {
    "NANOSECONDS": (1, 1_000_000),
    "MICROSECONDS": (1, 1000),
    "MILLISECONDS": (1, 1),
    "SECONDS": (1000, 1),
    "MINUTES": (60_000, 1),
    "HOURS": (3_600_000, 1),
    "DAYS": (86_400_000, 1),
}
"""What makes milliseconds of a count: a factor and a divisor."""


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
    known_unit = _known(unit.upper(), _UNITS, "unit")
    start = start_of(known_unit, _millis_of_count(count, counted_in), zone_of(zone))
    return _count_of_millis(start, result_in or counted_in)


def _millis_of_count(count: int, unit: str) -> int:
    factor, divisor = _COUNTS[_known(unit.upper(), tuple(_COUNTS), "unit")]
    return clamp_long(divide_whole(count * factor, divisor))


def _count_of_millis(millis: int, unit: str) -> int:
    factor, divisor = _COUNTS[_known(unit.upper(), tuple(_COUNTS), "unit")]
    return clamp_long(divide_whole(millis * divisor, factor))


def _known(word: str, words: tuple[str, ...], noun: str) -> str:
    if word not in words:
        raise FunctionError(f"unknown {noun} {word[:60]!r}{nearest(word, words)}")
    return word

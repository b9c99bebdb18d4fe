"""The fields of a date: how a value is set on a local time, and what it leaves to finer fields.

A local time is an integer of milliseconds since 1970-01-01T00:00. Fields are set from the largest to the
smallest, each sets what is finer to its start, and then all are set once more: so a field that contradicts an
earlier one (a weekday its date, an hour its half of the day) is applied, not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from trellis.dialects.pinot.date_time.iso_calendar import (
    DAY,
    HOUR,
    LONG_MIN,
    MINUTE,
    SECOND,
    WEEK,
    YEAR_MAX,
    YEAR_MIN,
    date_of,
    days_of,
    month_length,
    week_of,
    weekday_of,
    weeks_in,
    weekyear_of,
    weekyear_start,
    year_length,
)
from trellis.dialects.pinot.date_time.units import FormatError

DEFAULT_YEAR: Final = 2000
BEFORE_CHRIST: Final = 0


@dataclass(frozen=True)
class FieldRule:
    """A field: its place in the order from large to small, how it is set, where its span begins."""

    rank: int
    set_value: Callable[[int, int], int]
    floor: Callable[[int], int]


def local_time_of_fields(values: Iterable[tuple[FieldRule, int]]) -> int:
    """The local time of field values; missing fields are those of 1970-01-01T00:00.

    Without a year, but with a month, week or day, the year is 2000. Raises FormatError.
    """
    ordered = sorted(values, key=lambda entry: entry[0].rank)
    if ordered and _MONTH <= ordered[0][0].rank <= _WEEKDAY:
        ordered.insert(0, (RULES["y"], DEFAULT_YEAR))
    local = 0
    for rule, value in ordered:
        local = rule.floor(rule.set_value(local, value))
    for rule, value in ordered:
        local = rule.set_value(local, value)
    return ordered[-1][0].floor(local) if ordered else local


def _check(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise FormatError(f"the {name} {value} is not in {low} to {high}")


def _on_date(local: int, year: int, month: int, day: int) -> int:
    return days_of(year, month, min(day, month_length(year, month))) * DAY + local % DAY


def _to_year(local: int, year: int) -> int:
    _, month, day = date_of(local // DAY)
    return _on_date(local, year, month, day)


def _year_start(local: int) -> int:
    return days_of(date_of(local // DAY)[0], 1, 1) * DAY


def _put_year(local: int, year: int) -> int:
    _check("year", year, YEAR_MIN, YEAR_MAX)
    return _to_year(local, year)


def _put_year_of_era(local: int, year: int) -> int:
    _check("year of the era", year, 1, YEAR_MAX - 1)
    return _to_year(local, year if date_of(local // DAY)[0] > 0 else 1 - year)


def _put_era(local: int, era: int) -> int:
    year = date_of(local // DAY)[0]
    return _to_year(local, -year) if (year <= 0) != (era == BEFORE_CHRIST) else local


def _floor_era(local: int) -> int:
    return days_of(1, 1, 1) * DAY if date_of(local // DAY)[0] > 0 else LONG_MIN


def _put_century(local: int, century: int) -> int:
    _check("century", century, 0, YEAR_MAX // 100)
    year = date_of(local // DAY)[0]
    moved = century * 100 + abs(year) % 100
    return _to_year(local, -moved if year < 0 else moved)


def _floor_century(local: int) -> int:
    year = date_of(local // DAY)[0]
    start = abs(year) // 100 * 100
    return days_of(-start if year < 0 else start, 1, 1) * DAY


def _put_weekyear(local: int, weekyear: int) -> int:
    _check("weekyear", weekyear, YEAR_MIN + 1, YEAR_MAX - 1)
    days = local // DAY
    week = min(week_of(days), weeks_in(weekyear)) if weekyear != weekyear_of(days) else week_of(days)
    return (weekyear_start(weekyear) + (week - 1) * 7 + weekday_of(days) - 1) * DAY + local % DAY


def _put_month(local: int, month: int) -> int:
    _check("month", month, 1, 12)
    year, _, day = date_of(local // DAY)
    return _on_date(local, year, month, day)


def _put_week(local: int, week: int) -> int:
    days = local // DAY
    _check("week", week, 1, weeks_in(weekyear_of(days)))
    return local + (week - week_of(days)) * WEEK


def _put_day_of_year(local: int, day: int) -> int:
    year = date_of(local // DAY)[0]
    _check("day of the year", day, 1, year_length(year))
    return days_of(year, 1, day) * DAY + local % DAY


def _put_day(local: int, day: int) -> int:
    year, month, _ = date_of(local // DAY)
    _check("day", day, 1, month_length(year, month))
    return days_of(year, month, day) * DAY + local % DAY


def _put_weekday(local: int, weekday: int) -> int:
    _check("weekday", weekday, 1, 7)
    return local + (weekday - weekday_of(local // DAY)) * DAY


def _floor_to(unit: int, local: int) -> int:
    return local - local % unit


def _put_time(name: str, unit: int, count: int, local: int, value: int) -> int:
    """Sets how many units of a larger one have passed: `count` make the larger one."""
    _check(name, value, 0, count - 1)
    return local + (value - local // unit % count) * unit


def _put_clock_hour(count: int, local: int, value: int) -> int:
    _check("clock hour", value, 1, count)
    return _put_time("hour", HOUR, count, local, value % count)


_MONTH: Final = 3
_WEEKDAY: Final = 7


def _time(rank: int, name: str, unit: int, count: int) -> FieldRule:
    return FieldRule(rank, partial(_put_time, name, unit, count), partial(_floor_to, unit))


def _clock_hour(rank: int, count: int) -> FieldRule:
    return FieldRule(rank, partial(_put_clock_hour, count), partial(_floor_to, HOUR))


RULES: Final[Mapping[str, FieldRule]] = MappingProxyType(
    {
        "G": FieldRule(0, _put_era, _floor_era),
        "C": FieldRule(1, _put_century, _floor_century),
        "y": FieldRule(2, _put_year, _year_start),
        "Y": FieldRule(2, _put_year_of_era, _year_start),
        "x": FieldRule(2, _put_weekyear, lambda local: weekyear_start(weekyear_of(local // DAY)) * DAY),
        "M": FieldRule(_MONTH, _put_month, lambda local: days_of(*date_of(local // DAY)[:2], 1) * DAY),
        "w": FieldRule(4, _put_week, lambda local: local - (local + 3 * DAY) % WEEK),
        "D": FieldRule(5, _put_day_of_year, partial(_floor_to, DAY)),
        "d": FieldRule(6, _put_day, partial(_floor_to, DAY)),
        "e": FieldRule(_WEEKDAY, _put_weekday, partial(_floor_to, DAY)),
        "E": FieldRule(_WEEKDAY, _put_weekday, partial(_floor_to, DAY)),
        "a": _time(8, "half of the day", 12 * HOUR, 2),
        "H": _time(9, "hour", HOUR, 24),
        "k": _clock_hour(9, 24),
        "K": _time(10, "hour", HOUR, 12),
        "h": _clock_hour(10, 12),
        "m": _time(11, "minute", MINUTE, 60),
        "s": _time(12, "second", SECOND, 60),
        "S": _time(13, "millisecond", 1, SECOND),
    }
)
"""The rule of each letter."""

MILLIS_OF_MINUTE: Final = _time(12, "millisecond of the minute", 1, MINUTE)
MILLIS_OF_HOUR: Final = _time(11, "millisecond of the hour", 1, HOUR)

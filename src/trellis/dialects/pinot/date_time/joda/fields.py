"""The fields of a date: how each is read from a local time, how it is set, and where its span begins.

A local time is an integer of milliseconds since 1970-01-01T00:00. Fields are set from the largest to the
smallest, each sets what is finer to its start, and then all are set once more: so a field that contradicts an
earlier one (a weekday its date, an hour its half of the day) is applied, not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
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
    week_date_of,
    weeks_in,
    weekyear_start,
    year_length,
)
from trellis.dialects.pinot.date_time.units import FormatError

DEFAULT_YEAR: Final = 2000
_MONTH_RANK: Final = 3
_WEEKDAY_RANK: Final = 7

Local = Callable[[int], int]
"""A function of a local time."""


@dataclass(frozen=True)
class FieldRule:
    """A field: its place from large to small, its value, how it is set, and where its span begins."""

    rank: int
    get: Local
    set_value: Callable[[int, int], int]
    floor: Local


def local_time_of_fields(values: Iterable[tuple[FieldRule, int]]) -> int:
    """The local time of field values; missing fields are those of 1970-01-01T00:00.

    Without a year, but with a month, week or day, the year is 2000. Raises FormatError.
    """
    ordered = sorted(values, key=lambda entry: entry[0].rank)
    if ordered and _MONTH_RANK <= ordered[0][0].rank <= _WEEKDAY_RANK:
        ordered.insert(0, (RULES["y"], DEFAULT_YEAR))
    local = 0
    for rule, value in ordered:
        local = rule.floor(rule.set_value(local, value))
    for rule, value in ordered:
        local = rule.set_value(local, value)
    return ordered[-1][0].floor(local) if ordered else local


def _checked(name: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise FormatError(f"the {name} {value} is not in {low} to {high}")
    return value


def _counted(
    rank: int, name: str, unit: int, get: Local, first: int, last: Local, offset: int = 0
) -> FieldRule:
    """A field that counts units of one length; its span begins where they do."""

    def set_value(local: int, value: int) -> int:
        return local + (_checked(name, value, first, last(local)) - get(local)) * unit

    return FieldRule(rank, get, set_value, lambda local: local - (local + offset) % unit)


def _of_day(rank: int, name: str, unit: int, count: int) -> FieldRule:
    """A part of the day: `count` make the next larger one."""
    return _counted(rank, name, unit, lambda local: local // unit % count, 0, lambda _: count - 1)


def _clock_hour(rank: int, count: int) -> FieldRule:
    """Hours from 1 on: the last one is hour 0."""
    hours = _of_day(rank, "hour", HOUR, count)
    return FieldRule(
        rank,
        lambda local: hours.get(local) or count,
        lambda local, value: hours.set_value(local, _checked("clock hour", value, 1, count) % count),
        hours.floor,
    )


def _year_of(local: int) -> int:
    return date_of(local // DAY)[0]


def _to_date(local: int, year: int, month: int, day: int) -> int:
    return days_of(year, month, min(day, month_length(year, month))) * DAY + local % DAY


def _year(
    rank: int, name: str, low: int, high: int, get: Local, year_for: Callable[[int, int], int], floor: Local
) -> FieldRule:
    """A field that moves to another year; `year_for` gives it for the year that is and a value."""

    def set_value(local: int, value: int) -> int:
        year, month, day = date_of(local // DAY)
        return _to_date(local, year_for(year, _checked(name, value, low, high)), month, day)

    return FieldRule(rank, get, set_value, floor)


def _year_start(local: int) -> int:
    return days_of(_year_of(local), 1, 1) * DAY


def _century_start(local: int) -> int:
    year = _year_of(local)
    return days_of((abs(year) // 100 * 100) * (-1 if year < 0 else 1), 1, 1) * DAY


def _era_start(local: int) -> int:
    return days_of(1, 1, 1) * DAY if _year_of(local) > 0 else LONG_MIN


def _set_month(local: int, month: int) -> int:
    year, _, day = date_of(local // DAY)
    return _to_date(local, year, _checked("month", month, 1, 12), day)


def _week_date(part: int) -> Local:
    """The ISO year (0), the week (1) or the weekday (2)."""
    return lambda local: week_date_of(local // DAY)[part]


def _set_weekyear(local: int, weekyear: int) -> int:
    _checked("weekyear", weekyear, YEAR_MIN + 1, YEAR_MAX - 1)
    _, week, weekday = week_date_of(local // DAY)
    weeks = min(week, weeks_in(weekyear)) - 1
    return (weekyear_start(weekyear) + weeks * 7 + weekday - 1) * DAY + local % DAY


_WEEKDAY: Final = _counted(_WEEKDAY_RANK, "weekday", DAY, _week_date(2), 1, lambda _: 7)
RULES: Final[Mapping[str, FieldRule]] = MappingProxyType(
    {
        "G": _year(
            0,
            "era",
            0,
            1,
            lambda local: int(_year_of(local) > 0),
            lambda year, era: year if (year > 0) == bool(era) else -year,
            _era_start,
        ),
        "C": _year(
            1,
            "century",
            0,
            YEAR_MAX // 100,
            lambda local: abs(_year_of(local)) // 100,
            lambda year, century: (century * 100 + abs(year) % 100) * (-1 if year < 0 else 1),
            _century_start,
        ),
        "y": _year(2, "year", YEAR_MIN, YEAR_MAX, _year_of, lambda _, year: year, _year_start),
        "Y": _year(
            2,
            "year of the era",
            1,
            YEAR_MAX - 1,
            lambda local: year if (year := _year_of(local)) > 0 else 1 - year,
            lambda old, year: year if old > 0 else 1 - year,
            _year_start,
        ),
        "x": FieldRule(
            2,
            _week_date(0),
            _set_weekyear,
            lambda local: weekyear_start(week_date_of(local // DAY)[0]) * DAY,
        ),
        "M": FieldRule(
            _MONTH_RANK,
            lambda local: date_of(local // DAY)[1],
            _set_month,
            lambda local: days_of(*date_of(local // DAY)[:2], 1) * DAY,
        ),
        "w": _counted(
            4,
            "week",
            WEEK,
            _week_date(1),
            1,
            lambda local: weeks_in(week_date_of(local // DAY)[0]),
            offset=3 * DAY,
        ),
        "D": _counted(
            5,
            "day of the year",
            DAY,
            lambda local: (local - _year_start(local)) // DAY + 1,
            1,
            lambda local: year_length(_year_of(local)),
        ),
        "d": _counted(
            6,
            "day",
            DAY,
            lambda local: date_of(local // DAY)[2],
            1,
            lambda local: month_length(*date_of(local // DAY)[:2]),
        ),
        "e": _WEEKDAY,
        "E": _WEEKDAY,
        "a": _of_day(8, "half of the day", 12 * HOUR, 2),
        "H": _of_day(9, "hour", HOUR, 24),
        "k": _clock_hour(9, 24),
        "K": _of_day(10, "hour", HOUR, 12),
        "h": _clock_hour(10, 12),
        "m": _of_day(11, "minute", MINUTE, 60),
        "s": _of_day(12, "second", SECOND, 60),
        "S": _of_day(13, "millisecond", 1, SECOND),
    }
)
"""The rule of each letter."""

MILLIS_OF_MINUTE: Final = _of_day(12, "millisecond of the minute", 1, MINUTE)
MILLIS_OF_HOUR: Final = _of_day(11, "millisecond of the hour", 1, HOUR)

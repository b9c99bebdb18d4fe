"""The fields of a date: how each is read from a local time, how it is set, and where its span begins.

A local time is an integer of milliseconds since 1970-01-01T00:00. Fields are set from the largest to the
smallest, each sets what is finer to its start, and then all are set once more: so a field that contradicts an
earlier one (a weekday its date, an hour its half of the day) is applied, not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
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
    if ordered and RULES["M"].rank <= ordered[0][0].rank <= RULES["e"].rank:
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


def _date_part(index: int) -> Local:
    return lambda local: date_of(local // DAY)[index]


def _week_date_part(index: int) -> Local:
    return lambda local: week_date_of(local // DAY)[index]


_year, _month, _day = map(_date_part, range(3))
_weekyear, _week, _weekday = map(_week_date_part, range(3))


def _to_date(local: int, year: int, month: int, day: int) -> int:
    return days_of(year, month, min(day, month_length(year, month))) * DAY + local % DAY


def _year_start(local: int) -> int:
    return days_of(_year(local), 1, 1) * DAY


def _years(
    rank: int,
    name: str,
    low: int,
    high: int,
    get: Local,
    year_for: Callable[[int, int], int],
    floor: Local = _year_start,
) -> FieldRule:
    """A field that moves to another year; `year_for` gives it for the year that is and a value."""

    def set_value(local: int, value: int) -> int:
        year, month, day = date_of(local // DAY)
        return _to_date(local, year_for(year, _checked(name, value, low, high)), month, day)

    return FieldRule(rank, get, set_value, floor)


def _era_start(local: int) -> int:
    return days_of(1, 1, 1) * DAY if _year(local) > 0 else LONG_MIN


def _signed(year: int, size: int) -> int:
    return -size if year < 0 else size


def _century_start(local: int) -> int:
    year = _year(local)
    return days_of(_signed(year, abs(year) // 100 * 100), 1, 1) * DAY


def _year_in_era(old: int, year: int) -> int:
    """A year counted from 1 in both eras: the year 0 is 1 BC."""
    return year if old > 0 else 1 - year


def _set_month(local: int, month: int) -> int:
    return _to_date(local, _year(local), _checked("month", month, 1, 12), _day(local))


def _set_weekyear(local: int, weekyear: int) -> int:
    _checked("weekyear", weekyear, YEAR_MIN + 1, YEAR_MAX - 1)
    weeks = min(_week(local), weeks_in(weekyear)) - 1
    return (weekyear_start(weekyear) + weeks * 7 + _weekday(local) - 1) * DAY + local % DAY


def _day_of_year(local: int) -> int:
    return (local - _year_start(local)) // DAY + 1


def _days_of_month(local: int) -> int:
    return month_length(_year(local), _month(local))


RULES: Final[Mapping[str, FieldRule]] = {
    "G": _years(
        0,
        "era",
        0,
        1,
        lambda local: int(_year(local) > 0),
        lambda year, era: year if (year > 0) == bool(era) else -year,
        _era_start,
    ),
    "C": _years(
        1,
        "century",
        0,
        YEAR_MAX // 100,
        lambda local: abs(_year(local)) // 100,
        lambda year, century: _signed(year, century * 100 + abs(year) % 100),
        _century_start,
    ),
    "y": _years(2, "year", YEAR_MIN, YEAR_MAX, _year, lambda _, year: year),
    "Y": _years(
        2,
        "year of the era",
        1,
        YEAR_MAX - 1,
        lambda local: _year_in_era(_year(local), _year(local)),
        _year_in_era,
    ),
    "x": FieldRule(2, _weekyear, _set_weekyear, lambda local: weekyear_start(_weekyear(local)) * DAY),
    "M": FieldRule(3, _month, _set_month, lambda local: days_of(_year(local), _month(local), 1) * DAY),
    "w": _counted(4, "week", WEEK, _week, 1, lambda local: weeks_in(_weekyear(local)), offset=3 * DAY),
    "D": _counted(5, "day of the year", DAY, _day_of_year, 1, lambda local: year_length(_year(local))),
    "d": _counted(6, "day", DAY, _day, 1, _days_of_month),
    **dict.fromkeys("eE", _counted(7, "weekday", DAY, _weekday, 1, lambda _: 7)),
    "a": _of_day(8, "half of the day", 12 * HOUR, 2),
    "H": _of_day(9, "hour", HOUR, 24),
    "k": _clock_hour(9, 24),
    "K": _of_day(10, "hour", HOUR, 12),
    "h": _clock_hour(10, 12),
    "m": _of_day(11, "minute", MINUTE, 60),
    "s": _of_day(12, "second", SECOND, 60),
    "S": _of_day(13, "millisecond", 1, SECOND),
}
"""The rule of each letter."""

MILLIS_OF_MINUTE: Final = _of_day(12, "millisecond of the minute", 1, MINUTE)
MILLIS_OF_HOUR: Final = _of_day(11, "millisecond of the hour", 1, HOUR)

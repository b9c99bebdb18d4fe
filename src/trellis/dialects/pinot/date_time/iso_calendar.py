"""The ISO calendar in integers: days since 1970-01-01, without bounds and with a year 0.

Python's `date` ends at the years 1 and 9999, Joda's calendar does not. After 400 years it repeats, weekdays
included, so that every date has the properties of one of the years 2000 to 2399.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date
from functools import lru_cache
from typing import Final

SECOND: Final = 1000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
WEEK: Final = 7 * DAY
CYCLE_DAYS: Final = 146_097
"""Days of 400 years."""

LONG_MIN: Final = -(2**63)
LONG_MAX: Final = 2**63 - 1
YEAR_MIN: Final = -292_275_055
YEAR_MAX: Final = 292_278_994
"""The years in which the instants of 64 bits lie."""

_CYCLE: Final = 400
_EPOCH: Final = date(1970, 1, 1).toordinal()
_FIRST_YEAR: Final = 2000
_FIRST_DAY: Final = date(_FIRST_YEAR, 1, 1).toordinal()


def month_length(year: int, month: int) -> int:
    return monthrange(_FIRST_YEAR + year % _CYCLE, month)[1]


def year_length(year: int) -> int:
    return 337 + month_length(year, 2)


def days_of(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to a date of the month 1 to 12; the day may lie outside its month.

    >>> days_of(1970, 1, 1), days_of(2000, 2, 29), days_of(0, 12, 31)
    (0, 11016, -719163)
    """
    cycle, year = divmod(year - _FIRST_YEAR, _CYCLE)
    first = date(_FIRST_YEAR + year, month, 1).toordinal() - _EPOCH
    return first + cycle * CYCLE_DAYS + day - 1


def _in_cycle(days: int) -> tuple[date, int]:
    """The date of the years 2000 to 2399 for a day, and how many years later the day is."""
    cycle, day = divmod(days + _EPOCH - _FIRST_DAY, CYCLE_DAYS)
    return date.fromordinal(_FIRST_DAY + day), cycle * _CYCLE


@lru_cache(maxsize=4096)
def date_of(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day counted from 1970-01-01.

    >>> date_of(0), date_of(11016), date_of(-719163)
    ((1970, 1, 1), (2000, 2, 29), (0, 12, 31))
    """
    day, later = _in_cycle(days)
    return day.year + later, day.month, day.day


@lru_cache(maxsize=4096)
def week_date_of(days: int) -> tuple[int, int, int]:
    """The ISO year, week and weekday of a day; Monday is 1.

    >>> week_date_of(0)
    (1970, 1, 4)
    """
    day, later = _in_cycle(days)
    weekyear, week, weekday = day.isocalendar()
    return weekyear + later, week, weekday


def weekyear_start(weekyear: int) -> int:
    """The Monday of the first ISO week, counted from 1970-01-01."""
    fourth = days_of(weekyear, 1, 4)
    return fourth - (fourth + 3) % 7


def weeks_in(weekyear: int) -> int:
    return (weekyear_start(weekyear + 1) - weekyear_start(weekyear)) // 7


@lru_cache(maxsize=4096)
def month_span(year: int, month: int) -> tuple[int, int]:
    """The day before a month's first, counted from 1970-01-01, and the month's length in days."""
    return days_of(year, month, 0), month_length(year, month)


def local_time(year: int, month: int, day: int, hour: int, minute: int, second: int) -> int | None:
    """Milliseconds from 1970-01-01T00:00 to a date and time; None where a part is out of range.

    Of the parts only the year may be negative.

    >>> local_time(2023, 11, 14, 22, 13, 20), local_time(2023, 2, 29, 0, 0, 0)
    (1700000000000, None)
    """
    if not 1 <= month <= 12 or hour > 23 or minute > 59 or second > 59 or not -YEAR_MAX < year < YEAR_MAX:
        return None
    before, length = month_span(year, month)
    if not 1 <= day <= length:
        return None
    return (((before + day) * 24 + hour) * 60 + minute) * MINUTE + second * SECOND

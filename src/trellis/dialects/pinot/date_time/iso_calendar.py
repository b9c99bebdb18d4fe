"""The ISO calendar in integers: days since 1970-01-01, without bounds and with a year 0.

Python's `datetime` ends at the years 1 and 9999; Joda's calendar does not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

SECOND: Final = 1000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
WEEK: Final = 7 * DAY
CYCLE_DAYS: Final = 146_097
"""Days of 400 years, after which the calendar repeats, weekdays included."""

LONG_MIN: Final = -(2**63)
LONG_MAX: Final = 2**63 - 1
YEAR_MIN: Final = -292_275_055
YEAR_MAX: Final = 292_278_994
"""The years in which the instants of 64 bits lie."""

_LENGTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year: int, month: int) -> int:
    return 29 if month == 2 and is_leap(year) else _LENGTHS[month - 1]


def year_length(year: int) -> int:
    return 366 if is_leap(year) else 365


def days_of(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to a date of the month 1 to 12; the day may lie outside its month.

    >>> days_of(1970, 1, 1), days_of(2000, 2, 29), days_of(0, 12, 31)
    (0, 11016, -719163)
    """
    if month <= 2:
        year -= 1
        month += 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month - 457) // 5 + day - 719_469


def date_of(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day counted from 1970-01-01.

    >>> date_of(0), date_of(11016), date_of(-719163)
    ((1970, 1, 1), (2000, 2, 29), (0, 12, 31))
    """
    cycle, rest = divmod(days + 719_468, CYCLE_DAYS)
    year = (rest - rest // 1460 + rest // 36_524 - rest // 146_096) // 365
    of_year = rest - (365 * year + year // 4 - year // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return cycle * 400 + year + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


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


def weekday_of(days: int) -> int:
    """1 for Monday to 7 for Sunday."""
    return (days + 3) % 7 + 1


def weekyear_start(weekyear: int) -> int:
    """The Monday of the first ISO week, counted from 1970-01-01."""
    fourth = days_of(weekyear, 1, 4)
    return fourth - weekday_of(fourth) + 1


def weekyear_of(days: int) -> int:
    """The ISO year that a day's week belongs to: the year of its Thursday."""
    return date_of(days - weekday_of(days) + 4)[0]


def week_of(days: int) -> int:
    """The ISO week of a day, 1 to 53."""
    return (days - weekyear_start(weekyear_of(days))) // 7 + 1


def weeks_in(weekyear: int) -> int:
    return (weekyear_start(weekyear + 1) - weekyear_start(weekyear)) // 7

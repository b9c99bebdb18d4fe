"""The calendar of `java.sql.Timestamp`: Julian until 1582-10-04, Gregorian from 1582-10-15."""

from __future__ import annotations

from typing import Final

from trellis.dialects.pinot.date_time.iso_calendar import date_of, days_of, month_length

GREGORIAN_FROM: Final = (1582, 10, 15)
_GREGORIAN_DAYS: Final = days_of(*GREGORIAN_FROM)


def hybrid_days(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to a date; a day beyond its month runs into the next.

    >>> hybrid_days(1582, 10, 15) - hybrid_days(1582, 10, 4)
    1
    """
    if (year, month, day) >= GREGORIAN_FROM:
        return days_of(year, month, day)
    shifted = year - (month <= 2)
    months = month + 12 * (month <= 2)
    return 365 * shifted + shifted // 4 + (153 * months - 457) // 5 + day - 719_471


def hybrid_date(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day counted from 1970-01-01.

    >>> hybrid_date(-141427), hybrid_date(-141428)
    ((1582, 10, 15), (1582, 10, 4))
    """
    if days >= _GREGORIAN_DAYS:
        return date_of(days)
    cycle, rest = divmod(days + 719_470, 1461)
    year = (rest - rest // 1460) // 365
    shifted = (5 * (rest - 365 * year) + 2) // 153
    day = rest - 365 * year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    return cycle * 4 + year + (month <= 2), month, day


def hybrid_month_length(year: int, month: int) -> int:
    if (year, month) < GREGORIAN_FROM[:2] and month == 2:
        return 29 if year % 4 == 0 else 28
    return month_length(year, month)

"""Datetimes and dates of the source as time since the epoch."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Final

from trellis.dialects.pinot.date_time.time_zones import clock_of

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND: Final = timedelta(microseconds=1)


def micros_of(value: datetime, zone: str = "UTC") -> int:
    """Microseconds since the epoch; `zone` is that of a datetime that names none.

    >>> micros_of(datetime(1970, 1, 1, 0, 0, 1), "Asia/Kolkata")
    -19799000000
    """
    if value.tzinfo is not None:
        return (value - _EPOCH) // _MICROSECOND
    millis, micros = divmod((value.replace(tzinfo=timezone.utc) - _EPOCH) // _MICROSECOND, 1000)
    return clock_of(zone).later_instant(millis) * 1000 + micros


def millis_of(value: date, zone: str = "UTC") -> int:
    """Milliseconds since the epoch, rounded down as Pinot has nothing finer; of a date its midnight.

    >>> millis_of(datetime(2023, 11, 14, 22, 13, 20, 123999))
    1700000000123
    """
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return micros_of(value, zone) // 1000


def days_of(value: date) -> int:
    """Days since the epoch.

    >>> days_of(date(2023, 11, 14))
    19675
    """
    return value.toordinal() - _EPOCH.toordinal()

"""The text of a TIMESTAMP (`TimestampUtils.toMillisSinceEpoch`, `Timestamp.toString`)."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from trellis.dialects.pinot.date_time.iso_calendar import (
    DAY,
    HOUR,
    LONG_MAX,
    LONG_MIN,
    MINUTE,
    SECOND,
    date_of,
    days_of,
    local_time,
    month_length,
)
from trellis.dialects.pinot.date_time.time_zones import clock_of
from trellis.dialects.pinot.date_time.units import FormatError

_JDBC: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2}) (\d{1,9}):(\d{1,9}):(\d{1,9})(?:\.(\d{1,9}))?")
_USUAL: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2}) ([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?"
)
_LONG: Final = re.compile(r"[+-]?\d+")
_ISO: Final = re.compile(
    r"([0-9]{4}|\+[0-9]{5,19})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?(?:\.([0-9]{1,9}))?)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_BLANKS: Final = "".join(map(chr, range(33)))
_WIDEST_OFFSET: Final = 18 * HOUR


def timestamp_millis(text: str, zone: str = "UTC", strict: bool = False) -> int:
    """The instant of a timestamp text in milliseconds since 1970-01-01 UTC. Raises FormatError.

    `2023-11-14 22:13:20.5`, an integer (milliseconds), or ISO as `2023-11-14T22:13:20+05:30`. Without an
    offset it is local time in `zone`, an id from `time_zones.resolve`. As in Pinot, values of the first form
    roll over (25:00:00 is one o'clock of the next day), the last one uses the last day of a month
    for a later day, and 24:00 for the next day; `strict` refuses all of these.

    >>> timestamp_millis("2023-11-14T22:13:20+05:30"), timestamp_millis("2023-11-14 25:00:00")
    (1699980200000, 1700010000000)
    """
    usual = _USUAL.fullmatch(text)
    if usual is not None:
        *numbers, fraction = usual.groups("")
        local = local_time(*map(int, numbers))
        if local is not None:
            return clock_of(zone).later_instant(local) + int(fraction[:3].ljust(3, "0"))
    if _LONG.fullmatch(text) is not None and LONG_MIN <= (count := int(text)) <= LONG_MAX:
        return count
    rolling = _JDBC.fullmatch(text.strip(_BLANKS))
    match = rolling or _ISO.fullmatch(text)
    if match is None:
        _refuse(text)
    year, month, day, hour, minute, second = (int(number or 0) for number in match.groups()[:6])
    fraction, offset = match[7] or "", None if rolling else match[8]
    if not (1 <= month <= 12 and 1 <= day <= 31):
        _refuse(text)
    end_of_day = hour == 24 and not (minute or second or fraction.strip("0"))
    in_clock = (hour < 24 or end_of_day) and minute < 60 and second < 60
    if rolling is None and not (in_clock and 1 <= year <= 999_999_999):
        _refuse(text)
    length = month_length(year, month)
    if strict and not (year > 0 and day <= length and in_clock and hour < 24):
        _refuse(text, "there is no such day or time")
    last = day if rolling else min(day, length)
    local = days_of(year, month, last) * DAY + hour * HOUR + minute * MINUTE + second * SECOND
    if offset is not None:
        millis = local - _offset(text, offset)
    else:
        clock = clock_of(zone)
        millis = clock.later_instant(local) if rolling else clock.instant_after_gap(local)
    millis += int(fraction.ljust(3, "0")[:3])
    if millis > LONG_MAX:
        _refuse(text, "it does not fit into 64 bits of milliseconds")
    return millis


def timestamp_text(millis: int, zone: str = "UTC") -> str:
    """`yyyy-MM-dd HH:mm:ss.f` of an instant in a zone; the fraction has no zeros at its end but in `.0`.

    >>> timestamp_text(1700000000123), timestamp_text(1700000000000)
    ('2023-11-14 22:13:20.123', '2023-11-14 22:13:20.0')
    """
    days, time = divmod(millis + clock_of(zone).offset(millis), DAY)
    year, month, day = date_of(days)
    fraction = f"{time % SECOND:03}".rstrip("0") or "0"
    return (
        f"{year if year > 0 else 1 - year:04}-{month:02}-{day:02} "
        f"{time // HOUR:02}:{time // MINUTE % 60:02}:{time // SECOND % 60:02}.{fraction}"
    )


def _offset(text: str, offset: str) -> int:
    if offset == "Z":
        return 0
    hours, minutes = int(offset[1:3]), int(offset[4:])
    millis = hours * HOUR + minutes * MINUTE
    if minutes > 59 or millis > _WIDEST_OFFSET:
        _refuse(text, "an offset is at most 18:00")
    return -millis if offset[0] == "-" else millis


def _refuse(text: str, reason: str = "expected yyyy-MM-dd HH:mm:ss, ISO 8601 or milliseconds") -> NoReturn:
    raise FormatError(f"Invalid timestamp: '{text}', {reason}")

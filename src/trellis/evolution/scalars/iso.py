"""Reading ISO 8601 dates and times from text: strictly to detect types, loosely to convert values.

Digits are ASCII. A fraction of a second has up to nine digits and is cut to microseconds. Every
function answers None instead of raising. Two grammars live side by side, as in ISO 8601 itself:

* extended: `2024-05-06`, `2024-05`, `2024-127`, `2024-W19-1` and `07:08:09.5`
* basic: `20240506`, `2024127`, `2024W191` and `070809.5`

and a third one that people write: `2024/05/06 7:08`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone

UTC = timezone.utc
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_SECOND = -62_135_596_800  # 0001-01-01T00:00:00Z
LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z

_FRACTION = r"(?:[.,](?P<fraction>\d{1,9}))?"
_OFFSET = r"(?P<offset>Z|[+-]\d\d(?::?\d\d)?)?"
_EXTENDED_DATE = (
    r"(?P<year>\d{4})-"
    r"(?:W(?P<week>\d\d)(?:-(?P<weekday>\d))?|(?P<ordinal>\d{3})|(?P<month>\d\d)(?:-(?P<day>\d\d))?)"
)
_BASIC_DATE = (
    r"(?P<year>\d{4})"
    r"(?:W(?P<week>\d\d)(?P<weekday>\d)?|(?P<ordinal>\d{3})|(?P<month>\d\d)(?P<day>\d\d))"
)
_PLAIN_DAY = r"[/:]?(?P<month>\d\d)[/:]?(?P<day>\d\d)"
_EXTENDED_TIME = rf"(?P<hour>\d\d)(?::(?P<minute>\d\d)(?::(?P<second>\d\d){_FRACTION})?)?"
_BASIC_TIME = rf"(?P<hour>\d\d)(?::?(?P<minute>\d\d)|(?P<minute2>\d\d)(?P<second>\d\d){_FRACTION})?"
_PLAIN_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2}))?(?:[.,|](?P<fraction>\d{1,9}))?"

Reader = Callable[[str], "re.Match[str] | None"]


def _reader(pattern: str) -> Reader:
    return re.compile(pattern, re.ASCII).fullmatch


# What nearly every real timestamp looks like. It is valid for certain if group 3, the day, is below 29.
common_timestamp: Reader = _reader(
    r"([1-8]\d{3})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[T ]([01]\d|2[0-3]):([0-5]\d)"
    r"(?::([0-5]\d)(?:[.,](\d{1,9}))?)?(?:(Z)|([+-])([01]\d|2[0-3]):?([0-5]\d))?"
)
common_date: Reader = _reader(r"([1-9]\d{3})-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])")
_may_be = re.compile(r"[0-9T :./,W|Z+-]+").fullmatch
_timestamps: tuple[Reader, ...] = (
    _reader(rf"{_EXTENDED_DATE}[T ]{_EXTENDED_TIME}{_OFFSET}"),
    _reader(rf"{_BASIC_DATE}[T ]{_BASIC_TIME}{_OFFSET}"),
    _reader(rf"(?P<year>\d{{4}})(?:{_PLAIN_DAY})?[ ]{_PLAIN_TIME}"),
)
_dates: tuple[Reader, ...] = (
    _reader(_EXTENDED_DATE),
    _reader(_BASIC_DATE),
    _reader(rf"(?P<year>\d{{4}})(?:{_PLAIN_DAY})?"),
)
_times: tuple[Reader, ...] = (
    _reader(rf"(?:T(?P<hour>\d\d)(?::?(?P<minute>\d\d))?){_OFFSET}"),
    _reader(rf"T(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d){_FRACTION}{_OFFSET}"),
    _reader(rf"T?(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d){_FRACTION})?{_OFFSET}"),
    _reader(rf"[ ]?{_PLAIN_TIME}"),
)

_LONGEST = len("2024-W10-3T10:00:00.123456789+02:00")
# From 3.11 on the standard library reads all of the common form, and does it faster.
_STANDARD = sys.version_info >= (3, 11)


def parse_timestamp(text: str) -> datetime | None:
    """A date with a time of day: aware in UTC if it names an offset, naive if not.

    >>> parse_timestamp("2024-05-06T01:02:03+02:00")
    datetime.datetime(2024, 5, 5, 23, 2, 3, tzinfo=datetime.timezone.utc)
    >>> parse_timestamp("2024/05/06 7:08")
    datetime.datetime(2024, 5, 6, 7, 8)
    >>> parse_timestamp("2024-05-06")
    """
    match = common_timestamp(text)
    if match is None:
        return _uncommon_timestamp(text)
    try:
        if not _STANDARD:
            return _from_common_match(match)
        moment = datetime.fromisoformat(text)
    except ValueError:  # the 31st of a shorter month
        return None
    zone = moment.tzinfo
    return moment if zone is None or zone is UTC else moment.astimezone(UTC)


def _from_common_match(match: re.Match[str]) -> datetime:
    year, month, day, hour, minute, second, fraction, utc, sign, hours, minutes = match.groups()
    moment = datetime(
        int(year),
        int(month),
        int(day),
        int(hour),
        int(minute),
        int(second) if second else 0,
        int(fraction[:6].ljust(6, "0")) if fraction else 0,
        UTC if utc or sign else None,
    )
    if not sign:
        return moment
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return moment + offset if sign == "-" else moment - offset


def is_timestamp(text: str) -> bool:
    """Whether `parse_timestamp` reads it; for common forms cheaper than reading it."""
    match = common_timestamp(text)
    return (match is not None and match[3] < "29") or parse_timestamp(text) is not None


def parse_date(text: str) -> date | None:
    """A date without a time of day; of a year, a month or a week it is the first day.

    >>> parse_date("2024-05"), parse_date("2024-W10"), parse_date("2024-130")
    (datetime.date(2024, 5, 1), datetime.date(2024, 3, 4), datetime.date(2024, 5, 9))
    """
    if not 4 <= len(text) <= 10 or not _may_be(text):
        return None
    if (match := common_date(text)) is not None:
        year, month, day = match.groups()
        return date(int(year), int(month), int(day))
    for read in _dates:
        if (match := read(text)) is not None and (read_date := _date_of(match)) is not None:
            return read_date
    return None


def parse_time(text: str) -> time | None:
    """A time of day; with an offset it is moved to UTC. Naive either way.

    >>> parse_time("14:01:02+02:00"), parse_time("T1430")
    (datetime.time(12, 1, 2), datetime.time(14, 30))
    """
    if not 3 <= len(text) <= _LONGEST or not (text[0] == "T" or ":" in text) or not _may_be(text):
        return None
    for read in _times:
        if (match := read(text)) is not None:
            return _time_of(match)
    return None


def to_timestamp(text: str) -> datetime | None:
    """The loose reading of the coercion matrix: also a date (its midnight) or seconds since 1970.

    >>> to_timestamp("2024-05-01")
    datetime.datetime(2024, 5, 1, 0, 0)
    >>> to_timestamp("0.5")
    datetime.datetime(1970, 1, 1, 0, 0, 0, 500000, tzinfo=datetime.timezone.utc)
    """
    moment = parse_timestamp(text)
    if moment is not None:
        return moment
    day = parse_date(text)
    if day is not None:
        return datetime(day.year, day.month, day.day)
    return _epoch_text(text)


def from_epoch(seconds: int | float) -> datetime | None:
    """The moment so many seconds after 1970 in UTC, or None outside the years 1 to 9999."""
    if FIRST_SECOND <= seconds < LAST_SECOND + 1:
        return EPOCH + timedelta(seconds=seconds)
    return None


def _epoch_text(text: str) -> datetime | None:
    if not text or text[-1].isalpha() or ":" in text:  # "nan", "inf", "...Z": nothing to count with
        return None
    try:
        return from_epoch(float(text.strip()))
    except ValueError:
        return None


def _uncommon_timestamp(text: str) -> datetime | None:
    if not 8 <= len(text) <= _LONGEST or not ("T" in text or " " in text or ":" in text):
        return None
    if not _may_be(text):
        return None
    for read in _timestamps:
        match = read(text)
        if match is None:
            continue
        day = _date_of(match)
        clock = None if day is None else _clock_of(match)
        if day is None or clock is None:
            continue
        offset = _offset_of(match)
        if offset is None:
            return datetime.combine(day, clock)
        try:
            return datetime.combine(day, clock, UTC) - offset
        except OverflowError:
            return None
    return None


def _date_of(match: re.Match[str]) -> date | None:
    groups = match.groupdict()
    year = int(groups["year"])
    try:
        if groups.get("week"):
            return date.fromisocalendar(year, int(groups["week"]), int(groups["weekday"] or 1))
        if groups.get("ordinal"):
            day = date(year, 1, 1) + timedelta(days=int(groups["ordinal"]) - 1)
            return day if day.year == year else None
        return date(year, int(groups["month"] or 1), int(groups["day"] or 1))
    except (ValueError, OverflowError):
        return None


def _clock_of(match: re.Match[str]) -> time | None:
    groups = match.groupdict()
    if not _offset_is_valid(groups.get("offset")):
        return None
    minute = groups["minute"] or groups.get("minute2") or 0
    fraction = groups.get("fraction")
    try:
        return time(
            int(groups["hour"]),
            int(minute),
            int(groups.get("second") or 0),
            int(fraction[:6].ljust(6, "0")) if fraction else 0,
        )
    except ValueError:
        return None


def _time_of(match: re.Match[str]) -> time | None:
    clock = _clock_of(match)
    offset = None if clock is None else _offset_of(match)
    if clock is None or offset is None:
        return clock
    return (datetime.combine(EPOCH, clock) - offset).time()


def _offset_is_valid(offset: str | None) -> bool:
    if offset is None or offset == "Z":
        return True
    return int(offset[1:3]) < 24 and (len(offset) == 3 or int(offset[-2:]) < 60)


def _offset_of(match: re.Match[str]) -> timedelta | None:
    offset = match.groupdict().get("offset")
    if offset is None:
        return None
    if offset == "Z":
        return timedelta(0)
    minutes = int(offset[1:3]) * 60 + (int(offset[-2:]) if len(offset) > 3 else 0)
    return timedelta(minutes=-minutes if offset[0] == "-" else minutes)

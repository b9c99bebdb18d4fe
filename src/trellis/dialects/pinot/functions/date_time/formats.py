"""Functions that read and write times: by patterns, in ISO 8601, and from one format of Pinot to another."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from trellis.dialects.pinot.date_time.format import DateTimeFormat, FormatError, parse_format
from trellis.dialects.pinot.date_time.granularity import granularity_millis, size_and_unit
from trellis.dialects.pinot.date_time.iso_calendar import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    date_of,
    days_of,
    month_length,
)
from trellis.dialects.pinot.date_time.time_zones import UTC, clock_of
from trellis.dialects.pinot.date_time.units import of_millis
from trellis.dialects.pinot.functions.arguments import (
    FunctionError,
    as_long,
    as_text,
    long_result,
)
from trellis.dialects.pinot.functions.date_time.calendar import instant_near, start_of, zone_of
from trellis.dialects.pinot.functions.date_time.epochs import divide_whole
from trellis.dialects.pinot.functions.registry import Theme
from trellis.dialects.pinot.value.source_kinds import LONG_MAX, LONG_MIN

TIME_FORMATS: Final = Theme()
_ISO: Final = re.compile(
    r"(\d{4}|\+\d{5,10}|-\d{4,10})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{0,9}))?)?"
    r"(?:Z|([+-])(\d\d)(?::(\d\d)(?::(\d\d))?)?)",
    re.ASCII | re.IGNORECASE,
)
_CLOCK_UNITS: Final = {
    "MILLISECONDS": ("MILLISECOND", 1, 1000),
    "SECONDS": ("SECOND", SECOND, 60),
    "MINUTES": ("MINUTE", MINUTE, 60),
    "HOURS": ("HOUR", HOUR, 24),
}
"""The field that a unit of a granularity counts: its name, its length, how many there are of it."""


@lru_cache(maxsize=256)
def _format(pattern: str, zone: str) -> DateTimeFormat:
    return DateTimeFormat("SIMPLE_DATE_FORMAT", pattern=pattern, zone=zone_of(zone))


@TIME_FORMATS.function("toDateTime", as_long, as_text, as_text, optional=1)
def _to_date_time(millis: int, pattern: str, zone: str = UTC) -> str:
    """An instant as text, by a pattern and in a zone."""
    return _format(pattern, zone).from_millis(millis)


@TIME_FORMATS.function("fromDateTime", as_text, as_text, as_text, optional=1, result=long_result)
def _from_date_time(text: str, pattern: str, zone: str = UTC) -> int:
    """The instant of a text, by a pattern and in a zone.

    A time that a clock skips moves on by as much as the clock does.
    """
    return _read_text(pattern, zone, text)


@TIME_FORMATS.function("fromDateTime", as_text, as_text, as_text, as_long, result=long_result)
def _from_date_time_or(text: str, pattern: str, zone: str, default: int) -> int:
    """As with three arguments; `default` if the text does not follow the pattern."""
    _format(pattern, zone)
    try:
        return _read_text(pattern, zone, text)
    except FormatError:
        return default


def _read_text(pattern: str, zone: str, text: str) -> int:
    """The instant of a text, also of one that names a time its zone skips. Raises FormatError."""
    time_format = _format(pattern, zone)
    try:
        return int(time_format.to_millis(text))
    except FormatError:
        skipped = _after_gap(text, pattern, time_format.zone)
        if skipped is not None:
            return skipped
        raise


def _after_gap(text: str, pattern: str, zone: str) -> int | None:
    """The instant of a text that names a time its zone skips; None for any other."""
    try:
        local = _format(pattern, UTC).to_millis(text)
    except FormatError:
        return None
    clock = clock_of(zone)
    return clock.instant_after_gap(local) if clock.instant(local) is None else None


@TIME_FORMATS.function("toIso8601", as_long)
def _to_iso(millis: int) -> str:
    """An instant as text such as 2023-11-14T22:13:20.123Z."""
    days, rest = divmod(millis, DAY)
    year, month, day = date_of(days)
    sign = "+" if year > 9999 else "-" if year < 0 else ""
    fraction = f".{rest % SECOND:03}" if rest % SECOND else ""
    clock = f"{rest // HOUR:02}:{rest // MINUTE % 60:02}:{rest // SECOND % 60:02}"
    return f"{sign}{abs(year):04}-{month:02}-{day:02}T{clock}{fraction}Z"


@TIME_FORMATS.function("fromIso8601", as_text, result=long_result)
def _from_iso(text: str) -> int:
    """The instant of a text such as 2023-11-14T22:13:20.123+05:30."""
    match = _ISO.fullmatch(text)
    if not match or match[1] == "-0000":
        raise _not_iso(text)
    year, month, day, hour, minute = map(int, match.groups()[:5])
    ahead = (int(match[9] or 0) * 60 + int(match[10] or 0)) * 60 + int(match[11] or 0)
    is_valid = 1 <= month <= 12 and 1 <= day <= month_length(year, month) and hour < 24
    if not is_valid or max(minute, int(match[6] or 0), int(match[10] or 0), int(match[11] or 0)) > 59:
        raise _not_iso(text)
    second = int(match[6] or 0) - (-ahead if match[8] == "-" else ahead)
    millis = days_of(year, month, day) * DAY + hour * HOUR + minute * MINUTE + second * SECOND
    millis += int((match[7] or "").ljust(3, "0")[:3])
    if ahead > 18 * 3600 or not LONG_MIN <= millis <= LONG_MAX:
        raise _not_iso(text)
    return millis


def _not_iso(text: str) -> FunctionError:
    return FunctionError(
        f"a time is expected as 2023-11-14T22:13:20Z or 2023-11-14T22:13+05:30, not {text[:60]!r}"
    )


@TIME_FORMATS.function("dateTimeConvert", as_text, as_text, as_text, as_text, as_text, optional=1)
def _convert(value: str, source: str, target: str, granularity: str, zone: str | None = None) -> Any:
    """A time in another format, cut to a granularity; the days and hours that are cut are those of `zone`.

    Without a zone they are those of the target's pattern, and counts and timestamps are cut in UTC.
    """
    millis, target_format = parse_format(source).to_millis(value), parse_format(target)
    bucket_zone = None if zone is None else _bucket_zone(zone)
    if target_format.kind == "SIMPLE_DATE_FORMAT":
        if target_format.pattern is None:
            raise FunctionError(
                "dateTimeConvert needs a pattern to write by, as in SIMPLE_DATE_FORMAT|yyyy-MM-dd"
            )
        return target_format.from_millis(_cut(millis, granularity, bucket_zone or target_format.zone))
    if bucket_zone is not None:
        millis = _cut(millis, granularity, bucket_zone)
    else:
        length = granularity_millis(granularity)
        millis = divide_whole(millis, length) * length
        if target_format.kind == "TIMESTAMP":
            return target_format.from_millis(millis)
    return long_result(divide_whole(of_millis(millis, target_format.unit), target_format.size))


def _cut(millis: int, granularity: str, zone: str) -> int:
    """The start of the bucket of an instant. Buckets begin anew with each month, day, hour or minute."""
    size, unit = size_and_unit(granularity)
    clock = clock_of(zone)
    offset = clock.offset(millis)
    local = millis + offset
    if unit == "DAYS":
        field, excess = "DAY", (date_of(local // DAY)[2] - 1) % size * DAY
    elif unit in _CLOCK_UNITS:
        field, length, count = _CLOCK_UNITS[unit]
        excess = local // length % count % size * length
    else:
        return millis
    start = instant_near(clock, local - excess, offset)
    if start + clock.offset(start) != local - excess:
        raise FunctionError(f"the start of the bucket of {millis} ms is a time that the zone {zone} skips")
    return start_of(field, start, zone)


@lru_cache(maxsize=256)
def _bucket_zone(text: str) -> str:
    """The zone that java.time reads. Pinot takes UTC for UTC-03:00 and its like, and so does Trellis."""
    if re.fullmatch(r"(?:UTC|UT)[+-]\d\d?(?::?\d\d){0,2}", text, re.ASCII):
        return UTC
    if text in ("EST", "MST", "HST"):
        raise FunctionError(f"unknown time zone {text!r} here: it is written as -05:00")
    short = re.fullmatch(r"(?:GMT)?([+-])(\d)", text, re.ASCII)
    return zone_of(f"{short[1]}0{short[2]}" if short else re.sub(r"^GMT(?=[+-])", "", text))

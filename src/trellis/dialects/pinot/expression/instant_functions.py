"""Functions that change how instants are written, or cut them to bins (spec pinot.md, section 5)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from trellis.dialects.pinot.expression.calendar_fields import floored, instant_near, zone_of
from trellis.dialects.pinot.expression.epoch_functions import divided, with_several
from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import (
    FunctionError,
    as_instant,
    as_long,
    as_object,
    as_text,
    give_long,
    moment_of,
)
from trellis.dialects.pinot.moment.civil import DAY, HOUR, MINUTE, SECOND, date_of, days_of, month_length
from trellis.dialects.pinot.moment.format import parse_format
from trellis.dialects.pinot.moment.granularity import granularity_millis, size_and_unit
from trellis.dialects.pinot.moment.units import of_millis
from trellis.dialects.pinot.moment.zones import UTC, clock_of
from trellis.dialects.pinot.value.kinds import LONG_MAX, LONG_MIN

INSTANT: Final = Theme()
_ISO: Final = re.compile(
    r"(\d{4}|\+\d{5,10}|-\d{4,10})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{0,9}))?)?"
    r"(?:Z|([+-])(\d\d)(?::(\d\d)(?::(\d\d))?)?)",
    re.ASCII | re.IGNORECASE,
)
_PERIOD: Final = re.compile(
    r"(?:([+-]?\d+)d)?(?:([+-]?\d+)h)?(?:([+-]?\d+)m)?(?:([+-]?\d+)s)?", re.ASCII | re.IGNORECASE
)
_CUT: Final = {
    "MILLISECONDS": ("MILLISECOND", 1, 1000),
    "SECONDS": ("SECOND", SECOND, 60),
    "MINUTES": ("MINUTE", MINUTE, 60),
    "HOURS": ("HOUR", HOUR, 24),
}
"""The field that a unit of a granularity counts: its name, its length, how many there are of it."""


@with_several("toIso8601", as_long, gives=as_object, theme=INSTANT)
def _to_iso(millis: int) -> str:
    """An instant as text such as 2023-11-14T22:13:20.123Z."""
    days, rest = divmod(millis, DAY)
    year, month, day = date_of(days)
    sign = "+" if year > 9999 else "-" if year < 0 else ""
    fraction = f".{rest % SECOND:03}" if rest % SECOND else ""
    clock = f"{rest // HOUR:02}:{rest // MINUTE % 60:02}:{rest // SECOND % 60:02}"
    return f"{sign}{abs(year):04}-{month:02}-{day:02}T{clock}{fraction}Z"


@with_several("fromIso8601", as_text, theme=INSTANT)
def _from_iso(text: str) -> int:
    """The instant of a text such as 2023-11-14T22:13:20.123+05:30."""
    found = _ISO.fullmatch(text)
    if not found or found[1] == "-0000":
        raise _no_iso(text)
    year, month, day, hour, minute = map(int, found.groups()[:5])
    ahead = (int(found[9] or 0) * 60 + int(found[10] or 0)) * 60 + int(found[11] or 0)
    fits = 1 <= month <= 12 and 1 <= day <= month_length(year, month) and hour < 24
    if not fits or max(minute, int(found[6] or 0), int(found[10] or 0), int(found[11] or 0)) > 59:
        raise _no_iso(text)
    second = int(found[6] or 0) - (-ahead if found[8] == "-" else ahead)
    millis = days_of(year, month, day) * DAY + hour * HOUR + minute * MINUTE + second * SECOND
    millis += int((found[7] or "").ljust(3, "0")[:3])
    if ahead > 18 * 3600 or not LONG_MIN <= millis <= LONG_MAX:
        raise _no_iso(text)
    return millis


def _no_iso(text: str) -> FunctionError:
    return FunctionError(
        f"a time is expected as 2023-11-14T22:13:20Z or 2023-11-14T22:13+05:30, not {text[:60]!r}"
    )


@INSTANT.function("dateBin", as_text, as_instant, as_instant, gives=moment_of)
def _date_bin(width: str, millis: int, origin: int) -> int:
    """The start of the bin that a timestamp lies in; bins are wide as 1d2h3m4s and counted from `origin`."""
    found = _PERIOD.fullmatch(width)
    if not found:
        raise FunctionError(f"the width of a bin is expected as 15m or 1d12h, not {width[:60]!r}")
    days, hours, minutes, seconds = (int(each or 0) for each in found.groups())
    length = days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND
    return origin + divided(millis - origin, length) * length


@INSTANT.function("dateTimeConvert", as_text, as_text, as_text, as_text, as_text, optional=1)
def _convert(value: str, given: str, wanted: str, granularity: str, zone: str | None = None) -> Any:
    """A time in another format, cut to a granularity; the days and hours that are cut are those of `zone`.

    Without a zone they are those of the wanted pattern, and counts and timestamps are cut in UTC.
    """
    millis, to = parse_format(given).to_millis(value), parse_format(wanted)
    bucket = None if zone is None else _bucket_zone(zone)
    if to.kind == "SIMPLE_DATE_FORMAT":
        if to.pattern is None:
            raise FunctionError("dateTimeConvert writes by a pattern: say SIMPLE_DATE_FORMAT|yyyy-MM-dd")
        return to.from_millis(_cut(millis, granularity, bucket or to.zone))
    if bucket is not None:
        millis = _cut(millis, granularity, bucket)
    else:
        length = granularity_millis(granularity)
        millis = divided(millis, length) * length
        if to.kind == "TIMESTAMP":
            return to.from_millis(millis)
    return give_long(divided(of_millis(millis, to.unit), to.size))


def _cut(millis: int, granularity: str, zone: str) -> int:
    """The start of the bucket of an instant. Buckets begin anew with each month, day, hour or minute."""
    size, unit = size_and_unit(granularity)
    clock = clock_of(zone)
    offset = clock.offset(millis)
    local = millis + offset
    if unit == "DAYS":
        field, cut = "DAY", (date_of(local // DAY)[2] - 1) % size * DAY
    elif unit in _CUT:
        field, length, count = _CUT[unit]
        cut = local // length % count % size * length
    else:
        return millis
    made = instant_near(clock, local - cut, offset)
    if made + clock.offset(made) != local - cut:
        raise FunctionError(f"the start of the bucket of {millis} ms is a time that the zone {zone} skips")
    return floored(field, made, zone)


@lru_cache(maxsize=256)
def _bucket_zone(said: str) -> str:
    """The zone that java.time finds. Pinot takes UTC for UTC-03:00 and its like, and so do we."""
    if re.fullmatch(r"(?:UTC|UT)[+-]\d\d?(?::?\d\d){0,2}", said, re.ASCII):
        return UTC
    if said in ("EST", "MST", "HST"):
        raise FunctionError(f"there is no time zone {said!r} here: it is written as -05:00")
    short = re.fullmatch(r"(?:GMT)?([+-])(\d)", said, re.ASCII)
    return zone_of(f"{short[1]}0{short[2]}" if short else re.sub(r"^GMT(?=[+-])", "", said))

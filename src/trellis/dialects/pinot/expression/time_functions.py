"""Functions on date-times (spec pinot.md, section 5). Instants are milliseconds since 1970-01-01 UTC."""

from __future__ import annotations

import re
import time
from functools import lru_cache
from typing import Final

from trellis.dialects.pinot.expression.calendar_fields import (
    FIELDS,
    LENGTHS,
    MONTHS,
    between,
    field_of,
    floored,
    moved,
    zone_of,
)
from trellis.dialects.pinot.expression.epoch_functions import (
    divided,
    give_longs,
    saturated_long,
    with_several,
)
from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import (
    FunctionError,
    as_instant,
    as_long,
    as_object,
    as_text,
    give_int,
    give_long,
    moment_of,
    several,
)
from trellis.dialects.pinot.moment.format import DateTimeFormat, FormatError
from trellis.dialects.pinot.moment.zones import UTC, clock_of
from trellis.errors import nearest

TIME: Final = Theme()
_EXTRACTED: Final = tuple(each for each in FIELDS if each not in ("YEAROFWEEK", "MILLISECOND"))
_UNITS: Final = (*LENGTHS, *MONTHS)
_SPANS: Final = {
    "NANOSECONDS": (1, 1_000_000),
    "MICROSECONDS": (1, 1000),
    "MILLISECONDS": (1, 1),
    "SECONDS": (1000, 1),
    "MINUTES": (60_000, 1),
    "HOURS": (3_600_000, 1),
    "DAYS": (86_400_000, 1),
}
_DURATION: Final = re.compile(
    r"([+-]?)P(?:([+-]?\d+)D)?(?:T(?:([+-]?\d+)H)?(?:([+-]?\d+)M)?(?:([+-]?\d+)(?:\.(\d{0,9}))?S)?)?",
    re.IGNORECASE,
)


@TIME.function("now", gives=give_long)
def _now() -> int:
    """The time at which the row is made."""
    return now_millis()


def now_millis() -> int:
    """The milliseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1_000_000


@with_several("ago", as_text, theme=TIME)
def _ago(duration: str) -> int:
    """The time so long ago; the duration is written as P1DT2H3M4.5S."""
    found = _DURATION.fullmatch(duration)
    if not found or duration[-1] in "PpTt" or not any(found.groups()[1:]):
        raise FunctionError(f"a duration is expected as PT1H or P2DT30M, not {duration[:60]!r}")
    sign, days, hours, minutes, seconds, fraction = found.groups()
    millis = ((int(days or 0) * 24 + int(hours or 0)) * 60 + int(minutes or 0)) * 60_000 + int(
        seconds or 0
    ) * 1000
    millis += int((fraction or "").ljust(3, "0")[:3]) * (-1 if (seconds or "").startswith("-") else 1)
    return now_millis() - (-millis if sign == "-" else millis)


@lru_cache(maxsize=256)
def _format(pattern: str, zone: str) -> DateTimeFormat:
    return DateTimeFormat("SIMPLE_DATE_FORMAT", pattern=pattern, zone=zone_of(zone))


@with_several("toDateTime", as_long, as_text, as_text, optional=1, gives=as_object, theme=TIME)
def _to_date_time(millis: int, pattern: str, zone: str = UTC) -> str:
    """An instant as text, by a pattern and in a zone."""
    return _format(pattern, zone).from_millis(millis)


@with_several("fromDateTime", as_text, as_text, as_text, optional=1, theme=TIME)
def _from_date_time(text: str, pattern: str, zone: str = UTC) -> int:
    """The instant of a text, by a pattern and in a zone.

    A time that a clock skips moves on by as much as the clock does.
    """
    return read_by(pattern, zone, text)


@TIME.function("fromDateTime", as_text, as_text, as_text, as_long, gives=give_long)
def _from_date_time_or(text: str, pattern: str, zone: str, default: int) -> int:
    """As with three arguments; `default` if the text does not follow the pattern."""
    _format(pattern, zone)
    try:
        return read_by(pattern, zone, text)
    except FormatError:
        return default


def read_by(pattern: str, zone: str, text: str) -> int:
    """The instant of a text, also of one that names a time its zone skips. Raises FormatError."""
    known = _format(pattern, zone)
    try:
        return int(known.to_millis(text))
    except FormatError:
        skipped = _after_gap(text, pattern, known.zone)
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


@with_several("toTimestamp", as_long, gives=as_object, theme=TIME)
def _to_timestamp(millis: int) -> object:
    """Milliseconds as a timestamp."""
    return moment_of(millis)


@with_several("fromTimestamp", as_instant, theme=TIME)
def _from_timestamp(millis: int) -> int:
    """A timestamp in milliseconds."""
    return millis


def _declare_field(names: str, field: str) -> None:
    @with_several(names, as_long, as_text, optional=1, gives=give_int, theme=TIME)
    def _field(millis: int, zone: str = UTC) -> int:
        return field_of(field, millis, zone_of(zone))

    _field.__doc__ = f"The field {names.split(maxsplit=1)[0]} of an instant in a zone."


for _names, _name in (
    ("year", "YEAR"),
    ("quarter", "QUARTER"),
    ("month monthOfYear", "MONTH"),
    ("week weekOfYear", "WEEK"),
    ("yearOfWeek yow", "YEAROFWEEK"),
    ("dayOfYear doy", "DOY"),
    ("dayOfMonth day", "DAY"),
    ("dayOfWeek dow", "DOW"),
    ("hour", "HOUR"),
    ("minute", "MINUTE"),
    ("second", "SECOND"),
    ("millisecond", "MILLISECOND"),
):
    _declare_field(_names, _name)


@TIME.function("extract", as_text, as_long, gives=give_int)
def _extract(field: str, millis: int) -> int:
    """A field of an instant in UTC; written as extract(YEAR FROM x)."""
    return field_of(_known(field.upper(), _EXTRACTED, "field"), millis, UTC)


@with_several("dateTrunc", as_text, as_long, as_text, as_text, as_text, at=1, optional=3, theme=TIME)
def _date_trunc(unit: str, value: int, given: str = "MILLISECONDS", zone: str = UTC, wanted: str = "") -> int:
    """The start of the year, quarter, month, week, day, hour, minute or second that a time lies in.

    The time is counted in the unit `given`, the result in `wanted`, or else as given.
    """
    field = _known(unit.upper(), _UNITS, "unit")
    start = floored(field, as_millis(value, given), zone_of(zone))
    return counted(start, wanted or given)


@with_several("timestampAdd dateAdd", as_text, as_long, as_long, at=2, theme=TIME)
def _add(unit: str, count: int, millis: int) -> int:
    """An instant so many units later."""
    return moved(_known(unit.upper(), _UNITS, "unit"), count, millis)


@with_several("timestampDiff dateDiff", as_text, as_long, as_long, at=1, theme=TIME)
def _diff(unit: str, start: int, end: int) -> int:
    """How many whole units lie between two instants."""
    return between(_known(unit.upper(), _UNITS, "unit"), start, end)


@TIME.function(
    "timestampDiffMVReverse dateDiffMVReverse", as_text, as_long, several(as_long), gives=give_longs
)
def _diffs(unit: str, start: int, ends: list[int]) -> list[int]:
    """How many whole units lie between an instant and each of several others."""
    return [between(_known(unit.upper(), _UNITS, "unit"), start, end) for end in ends]


def as_millis(value: int, unit: str) -> int:
    """A count of a unit in milliseconds."""
    times, by = _SPANS[_known(unit.upper(), tuple(_SPANS), "unit")]
    return saturated_long(divided(value * times, by))


def counted(millis: int, unit: str) -> int:
    """Milliseconds as a count of a unit, cut toward 0."""
    times, by = _SPANS[_known(unit.upper(), tuple(_SPANS), "unit")]
    return saturated_long(divided(millis * by, times))


def _known(word: str, words: tuple[str, ...], what: str) -> str:
    if word not in words:
        raise FunctionError(f"there is no {what} {word[:60]!r}{nearest(word, words)}")
    return word

"""Functions that read and write times: by patterns, in ISO 8601, and from one format of Pinot to another."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from trellis.dialects.pinot.date_time.format import DateTimeFormat, FormatError
from trellis.dialects.pinot.date_time.time_zones import UTC, clock_of
from trellis.dialects.pinot.functions.arguments import (
    as_long,
    as_text,
    long_result,
)
from trellis.dialects.pinot.functions.date_time.calendar import zone_of
from trellis.dialects.pinot.functions.registry import Theme

TIME_FORMATS: Final = Theme()


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

"""A format tried on values: the instant of each, and the warnings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trellis.dialects.pinot.date_time.format import (
    DateTimeFormat,
    is_sortable,
    parse_format,
    sort_order_message,
)
from trellis.dialects.pinot.date_time.iso_8601 import write_iso
from trellis.dialects.pinot.date_time.units import VALID_MAX_MILLIS, VALID_MIN_MILLIS, FormatError


@dataclass(frozen=True)
class ParsedValue:
    """One value: its instant in milliseconds and as ISO text, and the text written back; or the error."""

    value: str
    millis: int | None = None
    instant: str | None = None
    written: str | None = None
    error: str | None = None
    lints: tuple[str, ...] = ()


@dataclass(frozen=True)
class FormatPreview:
    """A format and the values it was tried on; `lints` concern the format itself."""

    format: DateTimeFormat
    lints: tuple[str, ...]
    values: tuple[ParsedValue, ...]


def try_format(text: str, values: Iterable[str] = (), session_zone: str = "UTC") -> FormatPreview:
    """What a format makes of values. Raises FormatError for an invalid format.

    >>> preview = try_format("SIMPLE_DATE_FORMAT|yyyy-MM-dd", ["23-11-14"]).values[0]
    >>> preview.millis, preview.instant, preview.written
    (-61413984000000, '0023-11-14T00:00:00Z', '0023-11-14')
    """
    form = parse_format(text)
    return FormatPreview(
        form, format_lints(form), tuple(_parse_value(form, value, session_zone) for value in values)
    )


def format_lints(form: DateTimeFormat) -> tuple[str, ...]:
    """Warnings about a format that Pinot accepts without an error, or refuses only with its schema."""
    lints = []
    if not form.zone_known:
        lints.append(f"The zone {form.zone_name!r} is unknown, so Pinot silently uses UTC")
    if form.pattern is not None and not is_sortable(form.pattern):
        lints.append(sort_order_message(form.pattern))
    return tuple(lints)


def _parse_value(form: DateTimeFormat, value: str, session_zone: str) -> ParsedValue:
    try:
        millis = form.to_millis(value, session_zone)
        written = form.from_millis(millis, session_zone)
    except FormatError as error:
        return ParsedValue(value, error=str(error))
    lints = [] if written == value else [f"it is formatted back as {written!r}"]
    if not VALID_MIN_MILLIS <= millis <= VALID_MAX_MILLIS:
        lints.append("a main time column refuses it: 1971-01-01 to 2071-01-01 UTC is allowed")
    return ParsedValue(value, millis, _instant(millis), written, lints=tuple(lints))


def _instant(millis: int) -> str:
    fraction = millis % 1000
    return write_iso(millis)[:-1] + (f".{fraction:03}Z" if fraction else "Z")

"""A format tried on values: the instant of each, and the warnings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trellis.dialects.pinot.date_time.errors import FormatError
from trellis.dialects.pinot.date_time.format import DateTimeFormat, parse_format
from trellis.dialects.pinot.date_time.iso_8601 import write_iso
from trellis.dialects.pinot.date_time.lexicographic_order import in_order, order_message
from trellis.dialects.pinot.document.validation.date_time_rules import EARLIEST, LATEST


@dataclass(frozen=True)
class Tried:
    """One value: its instant in milliseconds and as ISO text, and the text written back; or the error."""

    value: str
    millis: int | None = None
    instant: str | None = None
    written: str | None = None
    error: str | None = None
    lints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sample:
    """A format and the values it was tried on; `lints` concern the format itself."""

    format: DateTimeFormat
    lints: tuple[str, ...]
    values: tuple[Tried, ...]


def try_format(text: str, values: Iterable[str] = (), session_zone: str = "UTC") -> Sample:
    """What a format makes of values. Raises FormatError if it is no format.

    >>> tried = try_format("SIMPLE_DATE_FORMAT|yyyy-MM-dd", ["23-11-14"]).values[0]
    >>> tried.millis, tried.instant, tried.written
    (-61413984000000, '0023-11-14T00:00:00Z', '0023-11-14')
    """
    form = parse_format(text)
    return Sample(form, format_lints(form), tuple(_try(form, value, session_zone) for value in values))


def format_lints(form: DateTimeFormat) -> tuple[str, ...]:
    """What to mind about a format that Pinot accepts without a word, or refuses only with its schema."""
    lints = []
    if not form.zone_known:
        lints.append(f"The zone {form.zone_said!r} is unknown, so it silently means UTC")
    if form.pattern is not None and not in_order(form.pattern):
        lints.append(order_message(form.pattern))
    return tuple(lints)


def _try(form: DateTimeFormat, value: str, session_zone: str) -> Tried:
    try:
        millis = form.to_millis(value, session_zone)
        written = form.from_millis(millis, session_zone)
    except FormatError as error:
        return Tried(value, error=str(error))
    lints = [] if written == value else [f"it is written back as {written!r}"]
    if not EARLIEST <= millis <= LATEST:
        lints.append("a main time column does not take it: 1971-01-01 to 2071-01-01 UTC fits")
    return Tried(value, millis, _instant(millis), written, lints=tuple(lints))


def _instant(millis: int) -> str:
    fraction = millis % 1000
    return write_iso(millis)[:-1] + (f".{fraction:03}Z" if fraction else "Z")

"""The date-time formats and granularities of a schema document (`DateTimeFormatSpec`,
`DateTimeGranularitySpec`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from trellis.dialects.pinot.date_time.iso_8601 import read_iso, write_iso
from trellis.dialects.pinot.date_time.joda.pattern import parse_pattern
from trellis.dialects.pinot.date_time.joda.reader import reader_of
from trellis.dialects.pinot.date_time.joda.writer import write
from trellis.dialects.pinot.date_time.time_zones import UTC, resolve
from trellis.dialects.pinot.date_time.timestamp_text import timestamp_millis, timestamp_text
from trellis.dialects.pinot.date_time.units import (
    FormatError,
    of_millis,
    size_of,
    to_millis,
    truncated,
    truncated_integer,
    unit_of,
    wrap,
)

_ZONE_SUFFIX: Final = re.compile(r"(.+) tz *\((.+)\) *")
_KINDS: Final = ("EPOCH", "TIMESTAMP", "SIMPLE_DATE_FORMAT")


@dataclass(frozen=True)
class DateTimeFormat:
    """How a column writes its instants.

    `kind` is EPOCH, TIMESTAMP or SIMPLE_DATE_FORMAT. `unit` and `size` count for EPOCH only, otherwise they
    are MILLISECONDS and 1. `pattern` is Joda's, without the zone; None means ISO 8601. `zone` is the resolved
    zone (an IANA id, or an offset as `+05:30`), `zone_name` the name in the format, `zone_known` False where
    an unknown name silently means UTC.
    """

    kind: str
    unit: str = "MILLISECONDS"
    size: int = 1
    pattern: str | None = None
    zone: str = UTC
    zone_name: str | None = None
    zone_known: bool = True

    def to_millis(self, value: str | int | float | Decimal, session_zone: str = UTC) -> int:
        """The instant a value means, in milliseconds since 1970-01-01 UTC. Raises FormatError.

        >>> parse_format("EPOCH|SECONDS|5").to_millis("340000000")
        1700000000000
        """
        if self.kind == "SIMPLE_DATE_FORMAT":
            text = value if isinstance(value, str) else _plain(value)
            return read_iso(text) if self.pattern is None else reader_of(self.pattern, self.zone).read(text)
        if self.kind == "TIMESTAMP":
            return timestamp_millis(value, session_zone) if isinstance(value, str) else wrap(_truncate(value))
        count = truncated_integer(value) if isinstance(value, str) else _truncate(value)
        if count is None:
            raise FormatError(
                f"Cannot read {value!r} as a count of {self.unit}: expected a number without blanks"
            )
        return to_millis(wrap(count * self.size), self.unit)

    def from_millis(self, millis: int, session_zone: str = UTC) -> str:
        """The text of an instant; for EPOCH the digits of its count.

        >>> parse_format("SIMPLE_DATE_FORMAT|yyyy-MM-dd|IST").from_millis(1700000000123)
        '2023-11-15'
        """
        if self.kind == "SIMPLE_DATE_FORMAT":
            return write_iso(millis) if self.pattern is None else write(self.pattern, millis, self.zone)
        if self.kind == "TIMESTAMP":
            return timestamp_text(millis, session_zone)
        return str(truncated(of_millis(millis, self.unit), self.size))


@lru_cache(maxsize=1024)
def parse_format(text: str) -> DateTimeFormat:
    """The format of a text in the pipe or the colon form. Raises FormatError.

    >>> parse_format("5:MINUTES:EPOCH") == parse_format("EPOCH|MINUTES|5")
    True
    """
    if not text:
        raise FormatError("Must provide format")
    where = f"format: {text}"
    if text[0].isdecimal():
        kind, arguments = _colon_form(text)
    else:
        kind, *arguments = text.split("|", 2)
    match kind:
        case "EPOCH":
            unit, size = (*arguments, *("MILLISECONDS", "1")[len(arguments) :])
            return DateTimeFormat(kind, unit_of(unit, where), size_of(size, where))
        case "TIMESTAMP":
            return DateTimeFormat(kind)
        case "SIMPLE_DATE_FORMAT":
            return _pattern_format(*arguments, text=text) if arguments else DateTimeFormat(kind)
        case _:
            raise FormatError(f"Invalid time format: {kind} in {where}, must be one of {', '.join(_KINDS)}")


def _colon_form(text: str) -> tuple[str, list[str]]:
    """The kind of `size:unit:kind:pattern`, and its arguments in the order of the pipe form."""
    tokens = text.split(":", 3)
    if len(tokens) < 3:
        raise FormatError(
            f"Invalid format: {text}, must be of format 'size:timeUnit:timeFormat(:patternWithTz)'"
        )
    size, unit, kind, *pattern = tokens
    return kind, [unit, size] if kind == "EPOCH" else pattern


def _pattern_format(pattern: str, zone: str | None = None, *, text: str) -> DateTimeFormat:
    zone_name = zone
    if zone_name is None and (suffixed := _ZONE_SUFFIX.match(pattern)) is not None:
        pattern, zone_name = suffixed[1].strip(), suffixed[2].strip()
    try:
        parse_pattern(pattern)
    except FormatError as error:
        raise FormatError(
            f"Invalid SIMPLE_DATE_FORMAT pattern: {pattern} in format: {text}, {error}"
        ) from None
    zone_id, known = (UTC, True) if zone_name is None else resolve(zone_name)
    return DateTimeFormat(
        "SIMPLE_DATE_FORMAT", pattern=pattern, zone=zone_id, zone_name=zone_name, zone_known=known
    )


def _truncate(value: float | Decimal) -> int:
    """A number without its fraction. Raises FormatError for what is not finite."""
    if isinstance(value, int):
        return value
    try:
        return int(value)
    except (ValueError, OverflowError):
        raise FormatError(f"Cannot read {value} as an instant: expected a finite number") from None


def _plain(value: float | Decimal) -> str:
    """The text of a number; an integer has no fraction, whatever its type."""
    return str(int(value)) if not isinstance(value, int) and value == value // 1 else str(value)


def granularity_millis(text: str) -> int:
    """The length of a bucket in milliseconds; it never rounds a value. Raises FormatError.

    >>> granularity_millis("15:MINUTES"), granularity_millis("MINUTES|15"), granularity_millis("MINUTES")
    (900000, 900000, 60000)
    """
    if not text:
        raise FormatError("Must provide granularity")
    where = f"granularity: {text}"
    if text[0].isdecimal():
        size, colon, unit = text.partition(":")
        if not colon:
            raise FormatError(
                f"Invalid granularity: {text}, must be of format 'timeUnit(|size)' or 'size:timeUnit'"
            )
        return to_millis(size_of(size, where), unit_of(unit, where))
    unit, bar, size = text.partition("|")
    unit_of(unit, where)
    return to_millis(size_of(size, where) if bar else 1, unit)


_FROM_LARGE: Final = "yMdHmsS"


def is_sortable(pattern: str) -> bool:
    """Whether Pinot accepts the pattern as sorted by both text and time.

    The last place of each of the letters `y M d H m s S` counts, in quotes too; other letters are not ranked.

    >>> is_sortable("yyyy-MM-dd"), is_sortable("MM-dd-yyyy"), is_sortable("yyyy-MM-dd'day'")
    (True, False, False)
    """
    places = [place for letter in _FROM_LARGE if (place := pattern.rfind(letter)) >= 0]
    return places == sorted(places)

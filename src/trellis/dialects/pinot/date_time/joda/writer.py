"""Writing an instant by a Joda pattern."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Final, NamedTuple

from trellis.dialects.pinot.date_time.iso_calendar import HOUR, MINUTE, SECOND
from trellis.dialects.pinot.date_time.joda.fields import RULES, Local
from trellis.dialects.pinot.date_time.joda.pattern import ERAS, HALVES, MONTHS, WEEKDAYS, Part, parse_pattern
from trellis.dialects.pinot.date_time.time_zones import Clock, clock_of
from trellis.dialects.pinot.date_time.units import FormatError


class DisplayedTime(NamedTuple):
    """An instant as the clocks of a zone show it: `local` is their time in milliseconds since 1970."""

    millis: int
    local: int
    clock: Clock


Write = Callable[[DisplayedTime], str]


@lru_cache(maxsize=512)
def writer_of(pattern: str) -> tuple[Write, ...]:
    """What writes each part of a pattern. Raises FormatError."""
    return tuple(_writer(part) for part in parse_pattern(pattern))


def write(pattern: str, millis: int, zone: str) -> str:
    """The text of an instant.

    >>> write("yyyy-MM-dd HH ZZZ", 1700000000123, "Asia/Kolkata")
    '2023-11-15 03 Asia/Kolkata'
    """
    clock = clock_of(zone)
    displayed = DisplayedTime(millis, millis + clock.offset(millis), clock)
    return "".join([part(displayed) for part in writer_of(pattern)])


def offset_text(offset: int, colon: str) -> str:
    """`+05:30` of an offset in milliseconds; seconds are left out."""
    hours, rest = divmod(abs(offset), HOUR)
    return f"{'-' if offset < 0 else '+'}{hours:02}{colon}{rest // MINUTE:02}"


def _writer(part: Part) -> Write:
    if isinstance(part, str):
        return lambda _: part
    letter, width = part.letter, part.width
    if letter == "S":
        return partial(_fraction, width)
    if letter in "xyY" and width == 2:
        year_of = RULES["x" if letter == "x" else "y"].get
        return lambda displayed: f"{abs(year_of(displayed.local)) % 100:02}"
    if part.numeric:
        return partial(_number, RULES[letter].get, width)
    return _text(letter, width)


def _number(value_of: Local, width: int, displayed: DisplayedTime) -> str:
    value = value_of(displayed.local)
    return str(value).zfill(width) if value >= 0 else "-" + str(-value).zfill(width)


def _fraction(width: int, displayed: DisplayedTime) -> str:
    """The fraction of the second. Joda ends at 15 digits, unless they are all zero."""
    millis = displayed.local % SECOND
    return f"{millis:03}".ljust(min(width, 15), "0")[:width] if millis else "0" * width


_NAMES: Final = {"G": ERAS, "a": HALVES, "M": ("", *MONTHS), "E": ("", *WEEKDAYS)}
"""The names of a letter by the value of its field."""


def _text(letter: str, width: int) -> Write:
    length = None if width >= 4 else 3
    if letter in _NAMES:
        names, value_of = _NAMES[letter], RULES[letter].get
        return lambda displayed: names[value_of(displayed.local)][:length]
    if letter == "z":
        return _zone_name if length else _refuse_long_name
    if width > 2:
        return lambda displayed: displayed.clock.zone
    colon = ":" if width == 2 else ""
    return lambda displayed: offset_text(displayed.local - displayed.millis, colon)


def _zone_name(displayed: DisplayedTime) -> str:
    return displayed.clock.name(displayed.millis) or offset_text(displayed.local - displayed.millis, ":")


def _refuse_long_name(displayed: DisplayedTime) -> str:
    raise FormatError("The pattern letters zzzz write a name that differs from one Java to the next, use ZZZ")

"""Writing an instant by a Joda pattern."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Final, NamedTuple

from trellis.dialects.pinot.date_time.iso_calendar import HOUR, MINUTE, SECOND
from trellis.dialects.pinot.date_time.joda.fields import RULES, Local
from trellis.dialects.pinot.date_time.joda.pattern import HALVES, MONTHS, WEEKDAYS, Part, parse_pattern
from trellis.dialects.pinot.date_time.time_zones import Clock, clock_of


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
        year_of = RULES[letter].get
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


_NAMES: Final = {"a": HALVES, "M": ("", *MONTHS), "E": ("", *WEEKDAYS)}
"""The names of a letter by the value of its field."""


def _text(letter: str, width: int) -> Write:
    if letter in _NAMES:
        names, value_of = _NAMES[letter], RULES[letter].get
        length = None if width >= 4 else 3
        return lambda displayed: names[value_of(displayed.local)][:length]
    if width > 2:
        return lambda displayed: displayed.clock.zone
    colon = ":" if width == 2 else ""
    return lambda displayed: offset_text(displayed.local - displayed.millis, colon)

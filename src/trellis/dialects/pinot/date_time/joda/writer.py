"""Writing an instant by a Joda pattern."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Final

from trellis.dialects.pinot.date_time.iso_calendar import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    date_of,
    days_of,
    week_of,
    weekday_of,
    weekyear_of,
)
from trellis.dialects.pinot.date_time.joda.pattern import ERAS, HALVES, MONTHS, WEEKDAYS, Part, parse_pattern
from trellis.dialects.pinot.date_time.time_zones import clock_of
from trellis.dialects.pinot.date_time.units import FormatError


class DisplayedTime:
    """An instant as the clocks of a zone show it."""

    __slots__ = ("clock", "day", "days", "millis", "month", "offset", "time", "year")

    def __init__(self, millis: int, zone: str) -> None:
        self.millis = millis
        self.clock = clock_of(zone)
        self.offset = self.clock.offset(millis)
        self.days, self.time = divmod(millis + self.offset, DAY)
        self.year, self.month, self.day = date_of(self.days)


Write = Callable[[DisplayedTime], str]

NUMBERS: Final[Mapping[str, Callable[[DisplayedTime], int]]] = MappingProxyType(
    {
        "C": lambda displayed: abs(displayed.year) // 100,
        "y": lambda displayed: displayed.year,
        "Y": lambda displayed: displayed.year if displayed.year > 0 else 1 - displayed.year,
        "x": lambda displayed: weekyear_of(displayed.days),
        "w": lambda displayed: week_of(displayed.days),
        "e": lambda displayed: weekday_of(displayed.days),
        "D": lambda displayed: displayed.days - days_of(displayed.year, 1, 1) + 1,
        "M": lambda displayed: displayed.month,
        "d": lambda displayed: displayed.day,
        "H": lambda displayed: displayed.time // HOUR,
        "k": lambda displayed: displayed.time // HOUR or 24,
        "K": lambda displayed: displayed.time // HOUR % 12,
        "h": lambda displayed: displayed.time // HOUR % 12 or 12,
        "m": lambda displayed: displayed.time // MINUTE % 60,
        "s": lambda displayed: displayed.time // SECOND % 60,
    }
)


@lru_cache(maxsize=512)
def writer_of(pattern: str) -> tuple[Write, ...]:
    """What writes each part of a pattern. Raises FormatError."""
    return tuple(_writer(part) for part in parse_pattern(pattern))


def write(pattern: str, millis: int, zone: str) -> str:
    """The text of an instant.

    >>> write("yyyy-MM-dd HH ZZZ", 1700000000123, "Asia/Kolkata")
    '2023-11-15 03 Asia/Kolkata'
    """
    displayed = DisplayedTime(millis, zone)
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
        year_of = NUMBERS["x" if letter == "x" else "y"]
        return lambda displayed: f"{abs(year_of(displayed)) % 100:02}"
    if part.numeric:
        return partial(_number, NUMBERS[letter], width)
    return _text(letter, width)


def _number(value_of: Callable[[DisplayedTime], int], width: int, displayed: DisplayedTime) -> str:
    value = value_of(displayed)
    return str(value).zfill(width) if value >= 0 else "-" + str(-value).zfill(width)


def _fraction(width: int, displayed: DisplayedTime) -> str:
    """The fraction of the second. Joda ends at 15 digits, unless they are all zero."""
    millis = displayed.time % SECOND
    return f"{millis:03}".ljust(min(width, 15), "0")[:width] if millis else "0" * width


def _text(letter: str, width: int) -> Write:
    length = None if width >= 4 else 3
    match letter:
        case "G":
            return lambda displayed: ERAS[displayed.year > 0]
        case "a":
            return lambda displayed: HALVES[displayed.time >= 12 * HOUR]
        case "M":
            return lambda displayed: MONTHS[displayed.month - 1][:length]
        case "E":
            return lambda displayed: WEEKDAYS[weekday_of(displayed.days) - 1][:length]
        case "z":
            return _zone_name if length else _refuse_long_name
    if width > 2:
        return lambda displayed: displayed.clock.zone
    colon = ":" if width == 2 else ""
    return lambda displayed: offset_text(displayed.offset, colon)


def _zone_name(displayed: DisplayedTime) -> str:
    return displayed.clock.name(displayed.millis) or offset_text(displayed.offset, ":")


def _refuse_long_name(displayed: DisplayedTime) -> str:
    raise FormatError("The pattern letters zzzz write a name that differs from one Java to the next, use ZZZ")

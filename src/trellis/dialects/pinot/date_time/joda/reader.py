"""Reading a text by a Joda pattern.

A pattern becomes one regular expression. Every part takes as much as it can and gives nothing back, as Joda's
parts do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache, partial
from typing import Final

from trellis.dialects.pinot.date_time.iso_calendar import HOUR, LONG_MAX, LONG_MIN, MINUTE, SECOND, local_time
from trellis.dialects.pinot.date_time.joda.fields import RULES, FieldRule, local_time_of_fields
from trellis.dialects.pinot.date_time.joda.pattern import (
    VALUES,
    ZONES,
    Field,
    Part,
    parse_pattern,
)
from trellis.dialects.pinot.date_time.time_zones import Clock, clock_of, resolve, zone_ids
from trellis.dialects.pinot.date_time.units import FormatError

OFFSET: Final = (
    r"[Zz]|[+-](?:[01][0-9]|2[0-3])(?:"
    r":[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,3}|(?![.,]))|(?!:))"
    r"|[0-5][0-9](?:[0-5][0-9](?:[0-9]{1,3})?|(?![0-9]))"
    r"|(?![:0-9]))"
)
"""An offset as Joda reads it: `Z`, or hours, minutes, seconds and a fraction, all with colons or none."""

_PIVOT_BACK: Final = 30
_COMMON: Final = ("y", "M", "d", "H", "m", "s", "S")

Convert = Callable[[str], int]


class Reader:
    """Texts of one pattern -> milliseconds since 1970-01-01 UTC."""

    def __init__(self, pattern: str, zone: str, year: int) -> None:
        self._pattern = pattern
        self._clock = clock_of(zone)
        self._parts = parse_pattern(pattern)
        pieces = [_piece(part) for part in self._parts]
        self._pieces = [re.compile(piece) for piece in pieces]
        self._fields: list[tuple[int, FieldRule, Convert]] = []
        self._offset: int | None = None
        self._zone: tuple[int, Callable[[str], Clock]] | None = None
        groups: list[Field] = []
        for index, part in enumerate(self._parts):
            if isinstance(part, str):
                continue
            groups.append(part)
            group = len(groups)
            pieces[index] = _grouped(part, pieces[index], group)
            if part.letter == "z":
                self._zone = group, lambda name: clock_of(ZONES[name])
            elif part.letter == "Z" and part.width > 2:
                self._zone = group, lambda name: clock_of(resolve(name).id)
            elif part.letter == "Z":
                self._offset = group
            else:
                self._fields.append((group, _rule(part), _convert(part, year)))
        self._match = re.compile("".join(pieces)).fullmatch
        self._common = _common(groups)
        self._plain_offset = self._clock.fixed if self._offset is None and self._zone is None else None

    def read(self, text: str) -> int:
        """The instant of a text. Raises FormatError."""
        match = self._match(text)
        if match is None:
            raise FormatError(self._refusal(text))
        local = None if self._common is None else self._common(match)
        if local is None:
            fields = ((rule, convert(match[group])) for group, rule, convert in self._fields)
            try:
                local = local_time_of_fields(fields)
            except FormatError as error:
                raise FormatError(f"{self._cannot_read(text)}: {error}") from None
        elif self._plain_offset is not None:
            return local - self._plain_offset
        if self._offset is not None:
            millis = local - offset_millis(match[self._offset])
        else:
            clock = self._clock if self._zone is None else self._zone[1](match[self._zone[0]])
            instant = clock.instant(local)
            if instant is None:
                raise FormatError(f"{self._cannot_read(text)}: clocks of {clock.zone} skip this time")
            millis = instant
        if not LONG_MIN <= millis <= LONG_MAX:
            raise FormatError(
                f"{self._cannot_read(text)}: the instant does not fit into 64 bits of milliseconds"
            )
        return millis

    def _cannot_read(self, text: str) -> str:
        return f"Cannot read {text!r} by the pattern {self._pattern!r}"

    def _refusal(self, text: str) -> str:
        at = 0
        for part, piece in zip(self._parts, self._pieces, strict=True):
            match = piece.match(text, at)
            if match is None:
                expected = f"the text {part!r}" if isinstance(part, str) else part.letter * part.width
                rest = f"{text[at:]!r} at position {at + 1}" if at < len(text) else "the end"
                return f"{self._cannot_read(text)}: expected {expected}, found {rest}"
            at = match.end()
        return f"{self._cannot_read(text)}: {text[at:]!r} is left over"


@lru_cache(maxsize=512)
def reader_of(pattern: str, zone: str, year: int | None = None) -> Reader:
    """The reader of a pattern in a zone. `year` is the current one, on which years of two digits turn."""
    return Reader(pattern, zone, datetime.now().year if year is None else year)


def offset_millis(text: str) -> int:
    """The milliseconds east of UTC that an offset says."""
    if text in "Zz":
        return 0
    digits = re.sub(r"[^0-9]", "", text)
    millis = int(digits[:2]) * HOUR + int(digits[2:4] or 0) * MINUTE + int(digits[4:6] or 0) * SECOND
    millis += fraction_millis(digits[6:] or "0", SECOND)
    return -millis if text[0] == "-" else millis


def fraction_millis(digits: str, unit: int) -> int:
    """The fraction that digits make of a unit, in whole milliseconds; each digit counts by itself, cut down.

    >>> fraction_millis("5", 60_000), fraction_millis("1239", 1000)
    (30000, 123)
    """
    value = 0
    weight = unit * 10
    for digit in digits:
        weight //= 10
        value += int(digit) * weight
    return value // 10


def _grouped(field: Field, piece: str, group: int) -> str:
    """The piece of a field as a group that gives nothing back; a number that no digit follows needs none."""
    digit_next = field.before_number or (isinstance(field.next, str) and field.next[:1].isdecimal())
    return f"({piece})" if field.numeric and not digit_next else f"(?=({piece}))\\{group}"


def _piece(part: Part) -> str:
    """The regular expression of one part."""
    if isinstance(part, str):
        return f"(?i:{re.escape(part)})"
    if part.letter in VALUES and not part.numeric:
        return _any_of(VALUES[part.letter])
    if part.letter == "z":
        return _any_of(ZONES)
    if part.letter == "Z":
        return _zone_ids() if part.width > 2 else OFFSET
    if part.letter in "xyY" and part.width == 2:
        return "[0-9]{2}" if part.before_number else r"\+*-?[0-9]+"
    sign = "[+-]?" if part.letter in "Cyx" and part.max_digits > 1 else ""
    return f"{sign}[0-9]{{1,{part.max_digits}}}"


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=lambda text: (-len(text), text)))


@lru_cache(maxsize=1)
def _zone_ids() -> str:
    """Any id; one without a slash is not seen if a slash comes later, as Joda looks for the area first."""
    ids = zone_ids()
    with_area = [zone_id for zone_id in ids if "/" in zone_id]
    return f"{_any_of(with_area)}|(?![^/]*/)(?:{_any_of(ids - set(with_area))})"


def _rule(field: Field) -> FieldRule:
    """Of two letters Y is the year, not that of the era."""
    return RULES["y" if field.letter == "Y" and field.width == 2 else field.letter]


def _convert(field: Field, year: int) -> Convert:
    if field.letter in VALUES and not field.numeric:
        return VALUES[field.letter].__getitem__
    if field.letter == "S":
        return partial(fraction_millis, unit=SECOND)
    if field.letter in "xyY" and field.width == 2:
        return partial(_short_year, pivot=year - _PIVOT_BACK)
    return int


def _short_year(text: str, pivot: int) -> int:
    """Two digits are a year from 50 before the pivot to 49 after; anything else is the year itself."""
    if len(text) != 2 or not text.isdigit():
        return int(text.lstrip("+"))
    low = pivot - 50
    return low + (int(text) - low) % 100


def _common(fields: list[Field]) -> Callable[[re.Match[str]], int | None] | None:
    """A fast reader of year, month, day and the time down to the fraction; None for other patterns."""
    timed = {group: field for group, field in enumerate(fields, 1) if field.letter not in "zZ"}
    letters = [field.letter for field in timed.values()]
    usual = _COMMON[: len(letters)]
    if len(letters) < 3 or sorted(letters) != sorted(usual):
        return None
    if any(not field.numeric or (field.letter == "y" and field.width == 2) for field in timed.values()):
        return None
    groups = sorted(timed, key=lambda group: usual.index(timed[group].letter))
    return partial(_common_time, tuple(groups), (0,) * (6 - len(groups)), len(groups) == 7)


def _common_time(
    groups: tuple[int, ...], missing: tuple[int, ...], fraction: bool, match: re.Match[str]
) -> int | None:
    """The local time of a match that gives year, month, day and so on; None where a value is out of range."""
    texts = match.group(*groups)
    local = local_time(*map(int, texts[:6]), *missing)
    return local + int(texts[6][:3].ljust(3, "0")) if fraction and local is not None else local

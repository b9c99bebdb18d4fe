"""The patterns of `DateTimeFormat.forPattern`: letters, literal texts, and the names of letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Union

from trellis.dialects.pinot.date_time.units import FormatError

LETTERS: Final = "GCYxweEyDMdaKhHkmsSzZ"
_NUMBERS: Final = frozenset("CYxweyDdKhHkmsS")
_REPLACEMENTS: Final = {"X": "Z or ZZ for an offset", "L": "M for a month", "u": "e or E for a weekday"}
_LONG_YEAR: Final = 9


@dataclass(frozen=True)
class Field:
    """A run of one letter, and the part right after it."""

    letter: str
    width: int
    next: Part = field(default="", repr=False, compare=False)

    @property
    def numeric(self) -> bool:
        return self.letter in _NUMBERS or (self.letter == "M" and self.width <= 2)

    @property
    def before_number(self) -> bool:
        """Whether the part right after is a numeric field."""
        return isinstance(self.next, Field) and self.next.numeric

    @property
    def max_digits(self) -> int:
        """How many digits a numeric field reads at most: a year more than its width if no number follows."""
        if self.letter in "xyY":
            return self.width if self.before_number else max(self.width, _LONG_YEAR)
        if self.letter == "C":
            return self.width
        if self.letter == "S":
            return min(self.width, 18)
        return max(self.width, {"D": 3, "e": 1}.get(self.letter, 2))


Part = Union[Field, str]  # noqa: UP007  (the class stands above)
"""A field, or a literal text."""


def parse_pattern(pattern: str) -> tuple[Part, ...]:
    """The parts of a pattern. Raises FormatError.

    >>> parse_pattern("yyyy-'W'ww")
    (Field(letter='y', width=4), '-W', Field(letter='w', width=2))
    """
    parts: list[Part] = []
    at = 0
    while at < len(pattern):
        if _is_letter(pattern[at]):
            end = at
            while end < len(pattern) and pattern[end] == pattern[at]:
                end += 1
            parts.append(_field(pattern[at], end - at))
            at = end
        else:
            literal, at = _literal(pattern, at)
            if literal:
                parts.append(literal)
    if not parts:
        raise FormatError("it holds neither a letter nor a text")
    following: Part = ""
    for index, part in reversed([*enumerate(parts)]):
        parts[index] = following = part if isinstance(part, str) else replace(part, next=following)
    return tuple(parts)


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


def _field(letter: str, width: int) -> Field:
    if letter not in LETTERS:
        advice = (
            f"use {_REPLACEMENTS[letter]}"
            if letter in _REPLACEMENTS
            else f"write '{letter * width}' for a text"
        )
        raise FormatError(f"{letter * width} is not a letter of Joda's patterns, {advice}")
    return Field(letter, width)


def _literal(pattern: str, at: int) -> tuple[str, int]:
    """The text that begins at a position, and where it ends. Two quotes are one, one opens or closes."""
    text: list[str] = []
    quoted = False
    while at < len(pattern):
        character = pattern[at]
        if character == "'":
            if pattern[at + 1 : at + 2] == "'":
                text.append("'")
                at += 1
            else:
                quoted = not quoted
        elif not quoted and _is_letter(character):
            break
        else:
            text.append(character)
        at += 1
    return "".join(text), at


MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ERAS: Final = ("BC", "AD")
HALVES: Final = ("AM", "PM")

ZONES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("UT", "UTC", "GMT"), "UTC"),
    **dict.fromkeys(("EST", "EDT"), "America/New_York"),
    **dict.fromkeys(("CST", "CDT"), "America/Chicago"),
    **dict.fromkeys(("MST", "MDT"), "America/Denver"),
    **dict.fromkeys(("PST", "PDT"), "America/Los_Angeles"),
}
"""The zones that the letter z reads. Summer and winter name the same zone."""


def _numbered(names: Sequence[str], first: int) -> dict[str, int]:
    return {
        spelled: number
        for number, name in enumerate(names, first)
        for form in (name, name[:3])
        for spelled in (form, form.lower(), form.upper())
    }


VALUES: Final[Mapping[str, Mapping[str, int]]] = {
    "M": _numbered(MONTHS, 1),
    "E": _numbered(WEEKDAYS, 1),
    "a": _numbered(HALVES, 0),
    "G": _numbered((*ERAS, "BCE", "CE"), 0) | {"BCE": 0, "bce": 0, "CE": 1, "ce": 1},
}
"""What a text of a letter means: as it is written, all small, or all capitals."""

"""The English names in Joda's texts: months, weekdays, eras, halves of the day, and a few zones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ERAS: Final = ("BC", "AD")
HALVES: Final = ("AM", "PM")

ZONES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("UT", "UTC", "GMT"), "UTC"),
        **dict.fromkeys(("EST", "EDT"), "America/New_York"),
        **dict.fromkeys(("CST", "CDT"), "America/Chicago"),
        **dict.fromkeys(("MST", "MDT"), "America/Denver"),
        **dict.fromkeys(("PST", "PDT"), "America/Los_Angeles"),
    }
)
"""The zones that the letter z reads. Summer and winter name the same zone."""


def _numbered(names: Sequence[str], first: int) -> dict[str, int]:
    return {
        spelled: number
        for number, name in enumerate(names, first)
        for form in (name, name[:3])
        for spelled in (form, form.lower(), form.upper())
    }


VALUES: Final[Mapping[str, Mapping[str, int]]] = MappingProxyType(
    {
        "M": _numbered(MONTHS, 1),
        "E": _numbered(WEEKDAYS, 1),
        "a": _numbered(HALVES, 0),
        "G": _numbered((*ERAS, "BCE", "CE"), 0) | {"BCE": 0, "bce": 0, "CE": 1, "ce": 1},
    }
)
"""What a text of a letter means: as it is written, all small, or all capitals."""

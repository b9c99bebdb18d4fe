"""One JSON object of a schema document, read leniently; faults and unknown keys go into a report."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from functools import lru_cache
from typing import Any, Final, TypeVar

from trellis.dialects.pinot.document.defaults import literal_text
from trellis.dialects.pinot.document.faults import Fault, pointer
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN
from trellis.errors import nearest

EnumType = TypeVar("EnumType", bound=Enum)
_BOOLEANS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_EMPTY: Final = ("", "null")


@dataclass(frozen=True)
class Unknown:
    """A key that Pinot ignores: its JSON pointer and value, and the nearest known key, if one is close."""

    pointer: str
    value: Any
    nearest: str | None = None

    def __str__(self) -> str:
        meant = f": did you mean {self.nearest!r}?" if self.nearest else ""
        return f"{self.pointer} is ignored{meant}"


@dataclass
class ReadReport:
    """The faults and unknown keys of a document."""

    faults: list[Fault] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)


class JsonObject:
    """A JSON object with its place. Its methods return None or the default for an absent key."""

    def __init__(
        self, document: Mapping[str, Any], place: str, report: ReadReport, keys: frozenset[str]
    ) -> None:
        self.document, self.place, self._report = document, place, report
        self.column: str | None = None
        for key, value in document.items():
            if key not in keys:
                close = nearest_key(str(key), keys)
                report.unknown.append(Unknown(place + pointer(key), value, close))

    def raw_value(self, key: str) -> Any:
        """The JSON value of the key; None where it is absent."""
        return self.document.get(key)

    def pointer_to(self, *steps: str | int) -> str:
        """The pointer of a place in this object; of the object itself where the key is absent."""
        return self.place + pointer(*steps) if steps and steps[0] in self.document else self.place

    def fault(self, message: str, *steps: str | int) -> None:
        self._report.faults.append(Fault(self.pointer_to(*steps), message, self.column))

    def text(self, key: str) -> str | None:
        """A text; another scalar as its text."""
        value = self.raw_value(key)
        if isinstance(value, Mapping | list):
            self.fault(f"{key} is text, not {shown(value)}", key)
            return None
        return None if value is None else literal_text(value)

    def flag(self, key: str, default: bool = False) -> bool:
        """A boolean, also as text or as a number. Null and empty text count as false."""
        if key not in self.document:
            return default
        value = self.raw_value(key)
        if isinstance(value, bool | int):
            return bool(value)
        stripped = value.strip() if isinstance(value, str) else value
        if stripped is None or stripped in _EMPTY:
            return False
        if isinstance(stripped, str) and stripped in _BOOLEANS:
            return _BOOLEANS[stripped]
        self.fault(f"{key} is true or false, not {shown(value)}", key)
        return default

    def integer(self, key: str) -> int | None:
        """An integer of 32 bits, also as text. A fraction is cut off."""
        value = self.raw_value(key)
        number = value.strip() if isinstance(value, str) else value
        if number is None or number in _EMPTY:
            return None
        if isinstance(number, str) and re.fullmatch(r"[+-]?[0-9]+", number):
            number = int(number)
        if isinstance(number, float) and INT_MIN - 1 < number < INT_MAX + 1:
            number = int(number)
        if isinstance(number, int) and not isinstance(number, bool) and INT_MIN <= number <= INT_MAX:
            return number
        self.fault(f"{key} is an integer of 32 bits, not {shown(value)}", key)
        return None

    def enum_member(self, key: str, kind: type[EnumType]) -> EnumType | None:
        """A member of an enumeration by its value."""
        word = self.choice(key, [str(member.value) for member in kind])
        return None if word is None else kind(word)

    def choice(self, key: str, known: Collection[str], ignore_case: bool = False) -> str | None:
        """One of the known words, in upper case, exactly so unless the case is ignored."""
        value = self.raw_value(key)
        if value is None:
            return None
        if isinstance(value, str):
            word = value.strip().upper() if ignore_case else value.strip()
            if word in known:
                return word
        close = nearest(value.strip().upper(), known) if isinstance(value, str) else nearest("", known)
        self.fault(f"unknown {key} {shown(value)}{close}", key)
        return None

    def json_object(self, key: str) -> Mapping[str, Any] | None:
        """An object; None, with a fault, for anything else."""
        value = self.raw_value(key)
        if value is None or isinstance(value, Mapping):
            return value
        self.fault(f"{key} is an object, not {shown(value)}", key)
        return None

    def text_list(self, key: str) -> tuple[str, ...]:
        """A list of texts; scalars as their text."""
        elements = self.elements(key)
        for index, element in enumerate(elements):
            if element is None or isinstance(element, Mapping | list):
                self.fault(f"an element of {key} is text, not {shown(element)}", key, index)
                return ()
        return tuple(map(literal_text, elements))

    def elements(self, key: str) -> list[Any]:
        """A list; an empty one where it is absent."""
        value = self.raw_value(key)
        if value is None or isinstance(value, list):
            return value or []
        self.fault(f"{key} is a list, not {shown(value)}", key)
        return []


def shown(value: Any) -> str:
    """A JSON value for a message, at most 60 characters."""
    if isinstance(value, Mapping | list):
        return "an object" if isinstance(value, Mapping) else "a list"
    text = literal_text(value)
    quoted = f"'{text}'" if isinstance(value, str) else text
    return quoted if len(quoted) <= 60 else quoted[:57] + "..."


@lru_cache(maxsize=1024)
def nearest_key(key: str, keys: frozenset[str], cutoff: float = 0.6) -> str | None:
    """The nearest key, ignoring case, if one is close."""
    folded = {known_key.lower(): known_key for known_key in sorted(keys)}
    close = get_close_matches(key.lower(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None

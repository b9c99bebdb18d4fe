"""One JSON object of a schema document: lenient scalars out of it, faults and unknown keys into a ledger."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from functools import lru_cache
from typing import Any, Final, TypeVar

from trellis.dialects.pinot.document.faults import Fault, pointer
from trellis.dialects.pinot.document.literals import literal_text
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN
from trellis.errors import nearest

Word = TypeVar("Word", bound=Enum)
NOTHING: Final[frozenset[str]] = frozenset()
_FLAGS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
TWICE: Final = "Field spec already exists"
_EMPTY: Final = ("", "null")


@dataclass(frozen=True)
class Unknown:
    """A key that Pinot ignores: its JSON pointer and value, the right key that is nearest, if one is near.

    `extended`: the key is one of the profile `extended`.
    """

    pointer: str
    value: Any
    nearest: str | None = None
    extended: bool = False

    def __str__(self) -> str:
        if self.extended:
            return f"{self.pointer} is ignored: the profile 'extended' knows it, an older Pinot does not"
        meant = f": did you mean {self.nearest!r}?" if self.nearest else ""
        return f"{self.pointer} is ignored{meant}"


@dataclass
class Ledger:
    """What came up while a document was read. `gaps`: a field could not be read at all."""

    faults: list[Fault] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    gaps: bool = False
    places: dict[str, str] = field(default_factory=dict)
    """Where the fields that were read stand in the document, by their place in the schema."""

    def placed(self, place: str) -> str:
        """The pointer into the document for one into the schema that was read."""
        steps = place.split("/", 3)
        moved = self.places.get("/".join(steps[:3]))
        return place if moved is None else "/".join((moved, *steps[3:]))


class Node:
    """A JSON object with its place. Its methods read keys: None or the default where one is absent."""

    def __init__(
        self,
        document: Mapping[str, Any],
        place: str,
        ledger: Ledger,
        keys: frozenset[str],
        extended: frozenset[str] = NOTHING,
    ) -> None:
        self.document, self.place, self._ledger = document, place, ledger
        self.column: str | None = None
        for key, value in document.items():
            if key not in keys:
                close = near(str(key), keys)
                ledger.unknown.append(Unknown(place + pointer(key), value, close, key in extended))

    def said(self, key: str) -> Any:
        """The value of the key as it stands; None where it is absent."""
        return self.document.get(key)

    def at(self, *steps: str | int) -> str:
        """The pointer of something in this object; of the object itself where the key is not there."""
        return self.place + pointer(*steps) if steps and steps[0] in self.document else self.place

    def fault(self, message: str, *steps: str | int) -> None:
        self._ledger.faults.append(Fault(self.at(*steps), self.column, message))

    def text(self, key: str) -> str | None:
        """A text; any other scalar as it prints."""
        value = self.said(key)
        if isinstance(value, Mapping | list):
            self.fault(f"{key} is text, not {shown(value)}", key)
            return None
        return None if value is None else literal_text(value)

    def flag(self, key: str, default: bool = False) -> bool:
        """A boolean, also as text or as a number. What is null or empty text counts as false."""
        if key not in self.document:
            return default
        value = self.said(key)
        if isinstance(value, bool | int):
            return bool(value)
        said = value.strip() if isinstance(value, str) else value
        if said is None or said in _EMPTY:
            return False
        if isinstance(said, str) and said in _FLAGS:
            return _FLAGS[said]
        self.fault(f"{key} is true or false, not {shown(value)}", key)
        return default

    def integer(self, key: str) -> int | None:
        """An integer of 32 bits, also as text. A fraction is cut off."""
        value = self.said(key)
        said = value.strip() if isinstance(value, str) else value
        if said is None or said in _EMPTY:
            return None
        if isinstance(said, str) and re.fullmatch(r"[+-]?[0-9]+", said):
            said = int(said)
        if isinstance(said, float) and INT_MIN - 1 < said < INT_MAX + 1:
            said = int(said)
        if isinstance(said, int) and not isinstance(said, bool) and INT_MIN <= said <= INT_MAX:
            return said
        self.fault(f"{key} is an integer of 32 bits, not {shown(value)}", key)
        return None

    def word(self, key: str, kind: type[Word]) -> Word | None:
        """One of the words of an enumeration, in exact upper case."""
        value = self.said(key)
        if value is None:
            return None
        known = {each.value: each for each in kind}
        if isinstance(value, str) and value.strip() in known:
            return known[value.strip()]
        close = nearest(value.strip().upper(), known) if isinstance(value, str) else nearest("", known)
        self.fault(f"unknown {key} {shown(value)}{close}", key)
        return None

    def objects(self, key: str) -> Mapping[str, Any] | None:
        """An object; None, with a fault where it is something else."""
        value = self.said(key)
        if value is None or isinstance(value, Mapping):
            return value
        self.fault(f"{key} is an object, not {shown(value)}", key)
        return None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; scalars as they print."""
        value = self.said(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.fault(f"{key} is a list, not {shown(value)}", key)
            return ()
        for at, each in enumerate(value):
            if each is None or isinstance(each, Mapping | list):
                self.fault(f"an element of {key} is text, not {shown(each)}", key, at)
                return ()
        return tuple(map(literal_text, value))


def shown(value: Any) -> str:
    """A JSON value in a sentence: short ones as they stand."""
    if isinstance(value, Mapping | list):
        return "an object" if isinstance(value, Mapping) else "a list"
    said = literal_text(value)
    quoted = f"'{said}'" if isinstance(value, str) else said
    return quoted if len(quoted) <= 60 else quoted[:57] + "..."


@lru_cache(maxsize=1024)
def near(key: str, keys: frozenset[str], cutoff: float = 0.6) -> str | None:
    """The key that is nearest, whatever the case, if one is near."""
    folded = {each.lower(): each for each in sorted(keys)}
    close = get_close_matches(key.lower(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None

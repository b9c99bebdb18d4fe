"""What a change needs: the kind of version that may make it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from trellis.dialects.snowplow.identity.keys import Kind

KINDS: Final[tuple[Kind, ...]] = ("ADDITION", "REVISION", "MODEL")

Rule = Literal[
    "property added",
    "property added to an open object",
    "required property added",
    "property removed",
    "made optional",
    "made required",
    "null added",
    "type changed",
    "types disjoint",
    "bound loosened",
    "bound tightened",
    "enum extended",
    "enum removed",
    "enum narrowed",
    "enum disjoint",
    "format changed",
    "format removed",
    "pattern changed",
    "pattern removed",
    "multipleOf loosened",
    "multipleOf tightened",
    "object opened",
    "object closed",
    "items added",
    "items removed",
    "alternative added",
    "combination changed",
    "reference beside a change",
    "table cannot follow",
]


@dataclass(frozen=True)
class Change:
    """A difference between two versions, and the kind of version that it needs."""

    pointer: str
    """The place in the new schema, or in the old one what it has no longer."""
    rule: Rule
    needs: Kind
    detail: str = ""
    profile: str = ""
    """The warehouse whose table it breaks; empty for what concerns data."""


def needs_of(changes: Iterable[Change], profile: str) -> Kind:
    """The kind that changes need in one warehouse."""
    return strictest(change.needs for change in changes if change.profile in ("", profile))


def strictest(kinds: Iterable[Kind]) -> Kind:
    """
    >>> strictest(["ADDITION", "MODEL", "REVISION"])
    'MODEL'
    """
    return max(kinds, key=KINDS.index, default="ADDITION")

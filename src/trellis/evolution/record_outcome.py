"""What a record may yield besides rows: lost values, a rejection, the end of the load."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

DUPLICATE_KEY: Final = "duplicate key: a later value of the same key replaced it"


class LostValue(NamedTuple):
    """A value of a record that reaches no table: its position, the value and the reason."""

    table: str
    column: str
    path: str
    value: Any
    reason: str


class Rejected(Exception):
    """Why a whole record is rejected; `kind` is the reason without details, under which it is counted."""

    def __init__(self, reason: str, kind: str = "") -> None:
        super().__init__(reason)
        self.kind = kind or reason.partition(":")[0]


class Stopped(Exception):
    """Why a record stops the load: a sentence without the place of the record."""

"""What may become of a record instead of rows."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

DUPLICATE_KEY: Final = "duplicate key: a later value of the same key replaced it"


class Lost(NamedTuple):
    """A value of a record that reaches no table: where it stood, what it was, why."""

    table: str
    column: str
    path: str
    value: Any
    reason: str


class Rejected(Exception):
    """Why a record is turned away as a whole; `kind` is what it is counted under, without particulars."""

    def __init__(self, reason: str, kind: str = "") -> None:
        super().__init__(reason)
        self.kind = kind or reason.partition(":")[0]


class Stopped(Exception):
    """Why a record stops the load: a sentence without the place of the record."""

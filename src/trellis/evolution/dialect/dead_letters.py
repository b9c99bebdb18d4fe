"""Where values go that no column takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from trellis.schema.model import Schema


@dataclass(frozen=True)
class DeadLetterTable:
    """A dialect's own table of rejected values: its name and the names of its columns."""

    name: str
    table: str
    column: str
    value: str
    reason: str


@dataclass(frozen=True)
class RestoredValue:
    """A value that can go back into its row, which its keys identify; `latest` orders rows of one key."""

    table: str
    column: str
    value: Any
    keys: Mapping[str, Any]
    latest: str


class DeadLetterPolicy(Protocol):
    def table(self, schema: Schema) -> DeadLetterTable | None:
        """The dialect's own table of rejected values; None: they go to the discards of Trellis."""
        ...

    def dead_letter(
        self, schema: Schema, table: str, row: Mapping[str, Any], column: str, value: Any, reason: str
    ) -> tuple[str, Mapping[str, Any]] | None:
        """The table and row that keep a rejected value; None: the discards of Trellis do.

        `row` has the values that came, also those which no column takes. Raises Rejected where the whole
        record is to be rejected.
        """
        ...

    def restore(self, schema: Schema, row: Mapping[str, Any]) -> RestoredValue | None:
        """The value of a row of `table` if its column now takes it; None if it still does not."""
        ...

    def overflow(self, schema: Schema, row: Mapping[str, Any], over: Mapping[str, Any]) -> tuple[str, Any]:
        """The column, and its value, that takes values (by path) for whose columns there is no room."""
        ...

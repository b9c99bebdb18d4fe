"""How nested values become columns and child tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from trellis.schema.model import Schema


class NestingRules(Protocol):
    def max_nesting(self, schema: Schema, root: str) -> int:
        """How many levels of nesting become columns and tables under this root."""
        ...

    def keeps_json(self, schema: Schema, table: str, column: str, levels: int) -> bool:
        """Whether a nested value stays one JSON value in this column, with so many levels left."""
        ...

    def excluded_paths(self, schema: Schema, table: str) -> Callable[[str], bool] | None:
        """Whether the value at a path below the table is left out; None where none is."""
        ...

"""Rows come flat: what is nested in an event is flattened when it is spread over tables."""

from __future__ import annotations

from trellis.schema.model import Schema


class RudderShape:
    def budget(self, schema: Schema, root: str) -> int:
        return 0

    def keeps_whole(self, schema: Schema, table: str, column: str, budget: int) -> bool:
        return True

    def excludes(self, schema: Schema, table: str, path: str) -> bool:
        return False

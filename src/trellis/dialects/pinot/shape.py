"""Rows come flat: the program of the schema makes them."""

from __future__ import annotations

from trellis.schema.model import Schema


class PinotShape:
    def budget(self, schema: Schema, root: str) -> int:
        return 0

    def keeps_whole(self, schema: Schema, table: str, column: str, budget: int) -> bool:
        return True

    def excludes(self, schema: Schema, table: str, path: str) -> bool:
        return False

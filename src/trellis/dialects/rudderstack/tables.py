"""Quotas of tables and columns, and what follows in `users` and the tables beside the events."""

from __future__ import annotations

from collections.abc import Collection

from trellis.dialects.rudderstack.quota import room
from trellis.dialects.rudderstack.settle import settled
from trellis.dialects.rudderstack.system import options_of
from trellis.evolution.dialect.defaults import DefaultTables
from trellis.schema.model import Schema


class RudderTables(DefaultTables):
    def has_room(self, schema: Schema, table: str, column: str | None) -> bool:
        return room(schema, options_of(schema), table, column)

    def finalize_schema(self, before: Schema, after: Schema, touched: Collection[str]) -> Schema:
        return settled(before, after, touched, options_of(after))

"""Quotas of tables and columns, and what follows in `users` and the tables beside the events."""

from __future__ import annotations

from collections.abc import Collection

from trellis.dialects.rudderstack.quota import has_room
from trellis.dialects.rudderstack.schema_completion import complete_schema, shared_column
from trellis.dialects.rudderstack.schema_document import options_of
from trellis.evolution.dialect.defaults import DefaultTables
from trellis.schema.model import Column, Schema


class RudderTables(DefaultTables):
    def has_room(self, schema: Schema, table: str, column: str | None) -> bool:
        return has_room(schema, options_of(schema), table, column)

    def model_column(self, schema: Schema, table: str, column: str) -> Column | None:
        return shared_column(schema, table, column, options_of(schema))

    def max_columns(self, schema: Schema) -> int | None:
        warehouse = options_of(schema).warehouse
        return warehouse.max_columns if warehouse.beyond_columns == "fail" else None

    def finalize_schema(self, before: Schema, after: Schema, touched: Collection[str]) -> Schema:
        return complete_schema(before, after, touched, options_of(after))

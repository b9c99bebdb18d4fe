"""What a load adds to the description of its tables."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from trellis.schema.model import Column, Schema, Table


class TableRules(Protocol):
    def new_table(self, schema: Schema, name: str, parent: str | None) -> Table:
        """A table that the records brought up."""
        ...

    def mark_populated(self, table: Table) -> Table:
        """The table once it holds rows."""
        ...

    def has_room(self, schema: Schema, table: str, column: str | None) -> bool:
        """Whether quotas leave room for one more table, or for one more column of it."""
        ...

    def model_column(self, schema: Schema, table: str, column: str) -> Column | None:
        """The column whose type a new column has, whatever its first value; None: the value decides."""
        ...

    def max_columns(self, schema: Schema) -> int | None:
        """The most columns of a table by the dialect's own rules; None: as many as the destination takes."""
        ...

    def drop_tables(self, schema: Schema, tables: Collection[str]) -> Schema:
        """The schema without these tables and without what it says of them."""
        ...

    def finalize_schema(self, before: Schema, after: Schema, touched: Collection[str]) -> Schema:
        """The schema with what follows from the tables that got rows in a load. Raises SchemaError."""
        ...

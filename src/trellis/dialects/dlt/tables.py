"""What a load adds to the description of its tables, as dlt does it."""

from __future__ import annotations

from collections.abc import Collection

from trellis.dialects.dlt.normalizer.custom_keys import refuse_orphans
from trellis.dialects.dlt.normalizer.options import is_custom
from trellis.dialects.dlt.normalizer.propagation import without_root_keys
from trellis.evolution.dialect.defaults import DefaultTables
from trellis.schema.merge import drop_tables
from trellis.schema.model import Schema, Table


class DltTables(DefaultTables):
    def new_table(self, schema: Schema, name: str, parent: str | None) -> Table:
        if parent is not None:
            return Table(name, parent=parent)
        return Table(name).with_hints(write_disposition="append", resource=name)

    def mark_populated(self, table: Table) -> Table:
        marks = dict(table.hints.get("x-normalizer") or {})
        marks.pop("evolve-columns-once", None)
        return table.with_hints(**{"x-normalizer": {**marks, "seen-data": True}})

    def drop_tables(self, schema: Schema, tables: Collection[str]) -> Schema:
        return without_root_keys(drop_tables(schema, tables), tables)

    def finalize_schema(self, before: Schema, after: Schema, touched: Collection[str]) -> Schema:
        if is_custom(after):
            refuse_orphans(after, touched)
        return after

"""What a load adds to the description of its tables, as dlt does it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from trellis.dialects.dlt.normalizer.custom_keys import refuse_orphans
from trellis.dialects.dlt.normalizer.options import is_custom
from trellis.dialects.dlt.normalizer.propagation import without_root_keys
from trellis.dialects.dlt.system_tables import ROW_ID, STATE, STATE_TABLE
from trellis.evolution.dialect.defaults import DefaultTables
from trellis.schema.merge import drop_tables
from trellis.schema.model import Schema, Table
from trellis.schema.version import content_hash


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
        if STATE in after.tables and not after.tables[STATE].seen_data:
            states = after.tables[STATE].with_columns(STATE_TABLE.columns[ROW_ID])
            after = after.with_tables(self.mark_populated(states))
        return _with_first_hash(before, after)


def _with_first_hash(declared: Schema, after: Schema) -> Schema:
    """A new schema with the hash it had before the state of the pipeline joined it: dlt saves it there."""
    if declared.stored_version != 1 or declared.previous_hashes or STATE not in declared.tables:
        return after
    tables = {name: table for name, table in declared.tables.items() if name != STATE}
    return replace(after, previous_hashes=(content_hash(replace(declared, tables=tables)),))

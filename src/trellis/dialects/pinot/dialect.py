"""The parts of this dialect, put together: every record belongs to the table of the authored schema, whose
program makes the rows; rows are appended or merged by the primary key.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from trellis.dialects.pinot.options import OPTIONS, TABLE_CONFIG
from trellis.dialects.pinot.row_transform import program_of
from trellis.dialects.pinot.schemas import PinotSchemas
from trellis.dialects.pinot.stored_schema import METADATA, PREFIX, authored_of, table_name
from trellis.dialects.pinot.table.row_versions import row_choice
from trellis.evolution.dialect.capabilities import Capabilities
from trellis.evolution.dialect.defaults import DefaultTables, DefaultWrites, DialectDefaults
from trellis.evolution.dialect.own_metadata import OwnMetadata
from trellis.evolution.dialect.transforms import Author, Flatten, RecordTransform
from trellis.evolution.table_writes import KeyedWrite, Load, Mode, TableTreeWrite
from trellis.schema.model import Schema
from trellis.schema.naming import Naming


class PinotWrites(DefaultWrites):
    def table_writes(
        self, schema: Schema, roots: Sequence[str], touched: Collection[str], mode: Mode | None, now: datetime
    ) -> tuple[Load, ...]:
        authored = authored_of(schema)
        if authored.schema is None:
            return ()
        name, key = table_name(authored.schema), authored.schema.primary_key
        if mode == "replace":
            return (TableTreeWrite(name, "replace"),)
        if name not in touched:
            return ()
        choice = row_choice(authored.schema, authored.table) if mode != "append" else None
        if choice is not None:
            return (KeyedWrite(name, key, choice.latest, choice.on_match),)
        return (KeyedWrite(name, key, None, "replace") if mode == "merge" else KeyedWrite(name),)

    def backfill(self, schema: Schema, now: datetime) -> Mapping[str, Mapping[str, Any]]:
        """The defaults, as a reload of Pinot fills them in."""
        program = program_of(authored_of(schema), now)
        return {} if program is None else {program.table: program.defaults()}


class PinotRouting:
    def transform(
        self, schema: Schema, naming: Naming, now: datetime, closed: Collection[str] = ()
    ) -> RecordTransform:
        program = program_of(authored_of(schema), now)
        return Flatten() if program is None else Author(program)


class PinotTables(DefaultTables):
    def finalize_schema(self, before: Schema, after: Schema, touched: Collection[str]) -> Schema:
        populated = (after.tables[name] for name in touched if name in after.tables)
        return after.with_tables(*map(self.mark_populated, populated))


class Pinot(DialectDefaults):
    name = "pinot"
    capabilities = Capabilities(
        records_name_tables=True, system_prefix=PREFIX, options=OPTIONS, file_options=(TABLE_CONFIG,)
    )
    routing = PinotRouting()
    schemas = PinotSchemas()
    tables = PinotTables()
    writes = PinotWrites()
    metadata = OwnMetadata(METADATA)

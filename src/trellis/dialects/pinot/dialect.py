"""The parts of this dialect, put together: every record belongs to the table of the authored schema, whose
program makes the rows.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from trellis.dialects.pinot.options import OPTIONS, TABLE_CONFIG
from trellis.dialects.pinot.row_transform import program_of
from trellis.dialects.pinot.schemas import PinotSchemas
from trellis.dialects.pinot.stored_schema import METADATA, PREFIX, authored_of
from trellis.dialects.pinot.writes import PinotWrites
from trellis.evolution.dialect.capabilities import Capabilities
from trellis.evolution.dialect.defaults import DefaultTables, DialectDefaults
from trellis.evolution.dialect.own_metadata import OwnMetadata
from trellis.evolution.dialect.transforms import Author, Flatten, RecordTransform
from trellis.schema.model import Schema
from trellis.schema.naming import Naming


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

"""The parts of this dialect, put together: the schema is authored, and its program makes the rows."""

from __future__ import annotations

from collections.abc import Collection

from trellis.dialects.pinot.options import OPTIONS, TABLE_CONFIG
from trellis.dialects.pinot.routing import PinotRouting
from trellis.dialects.pinot.schemas import PinotSchemas
from trellis.dialects.pinot.system import METADATA, PREFIX
from trellis.dialects.pinot.writes import PinotWrites
from trellis.evolution.dialect.capabilities import Capabilities
from trellis.evolution.dialect.defaults import DefaultTables, DialectDefaults
from trellis.evolution.dialect.own_metadata import OwnMetadata
from trellis.schema.model import Schema


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

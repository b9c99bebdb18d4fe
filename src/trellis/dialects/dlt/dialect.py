"""The parts of this dialect, put together."""

from __future__ import annotations

from trellis.dialects.dlt.metadata import DltMetadata
from trellis.dialects.dlt.naming import DltNaming
from trellis.dialects.dlt.nesting import DltNesting
from trellis.dialects.dlt.routing import DltRouting
from trellis.dialects.dlt.schemas import SETTINGS, DltSchemas
from trellis.dialects.dlt.system_columns import DltSystemColumns
from trellis.dialects.dlt.system_tables import PREFIX
from trellis.dialects.dlt.tables import DltTables
from trellis.dialects.dlt.types import DltTypes
from trellis.dialects.dlt.writes import DltWrites
from trellis.evolution.dialect.capabilities import Capabilities
from trellis.evolution.dialect.defaults import DialectDefaults


class Dlt(DialectDefaults):
    name = "dlt"
    capabilities = Capabilities(system_prefix=PREFIX, options=SETTINGS)
    routing = DltRouting()
    nesting = DltNesting()
    naming = DltNaming()
    types = DltTypes()
    schemas = DltSchemas()
    tables = DltTables()
    system_columns = DltSystemColumns()
    writes = DltWrites()
    metadata = DltMetadata()

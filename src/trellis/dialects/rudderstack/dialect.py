"""The parts of this dialect, put together: events name their tables, and the schema follows the warehouse."""

from __future__ import annotations

from trellis.dialects.rudderstack.dead_letters import RudderDeadLetters
from trellis.dialects.rudderstack.naming import RudderNaming
from trellis.dialects.rudderstack.options import FIELDS
from trellis.dialects.rudderstack.routing import RudderRouting
from trellis.dialects.rudderstack.schema_document import METADATA, PREFIX
from trellis.dialects.rudderstack.schemas import RudderSchemas
from trellis.dialects.rudderstack.system_columns import RudderSystemColumns
from trellis.dialects.rudderstack.tables import RudderTables
from trellis.dialects.rudderstack.types import RudderTypes
from trellis.dialects.rudderstack.writes import RudderWrites
from trellis.evolution.dialect.capabilities import Capabilities
from trellis.evolution.dialect.defaults import DialectDefaults
from trellis.evolution.dialect.own_metadata import OwnMetadata


class RudderStack(DialectDefaults):
    name = "rudderstack"
    capabilities = Capabilities(
        records_name_tables=True,
        follows_catalog=True,
        system_prefix=PREFIX,
        tables_fail_alone=True,
        too_wide="set --option max_properties=NUMBER, or name those to keep with --option properties=NAMES",
        options=tuple(FIELDS),
    )
    routing = RudderRouting()
    naming = RudderNaming()
    types = RudderTypes()
    schemas = RudderSchemas()
    tables = RudderTables()
    system_columns = RudderSystemColumns()
    writes = RudderWrites()
    dead_letters = RudderDeadLetters()
    metadata = OwnMetadata(METADATA)

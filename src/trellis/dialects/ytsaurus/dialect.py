"""The parts of this dialect, put together: tables are typed by the user's schema, nothing is learned."""

from __future__ import annotations

from trellis.dialects.ytsaurus.loads.options import OPTIONS
from trellis.dialects.ytsaurus.loads.row_transform import TypedRouting
from trellis.dialects.ytsaurus.loads.schemas import METADATA, TypedSchemas
from trellis.evolution.dialect.capabilities import Capabilities
from trellis.evolution.dialect.defaults import DialectDefaults
from trellis.evolution.dialect.own_metadata import OwnMetadata


class YTsaurus(DialectDefaults):
    name = "ytsaurus"
    capabilities = Capabilities(options=OPTIONS)
    routing = TypedRouting()
    schemas = TypedSchemas()
    metadata = OwnMetadata(METADATA)

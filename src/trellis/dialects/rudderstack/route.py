"""An event tells its tables itself (spec rudderstack.md, section 3.1)."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from trellis.dialects.rudderstack.events.router import EventRouter
from trellis.dialects.rudderstack.schema_document import options_of
from trellis.evolution.dialect import Reshaper, Router
from trellis.evolution.program import RowProgram
from trellis.schema.model import Schema
from trellis.schema.naming import Naming


class RudderRoute:
    names_tables = True

    def router(self, schema: Schema, now: datetime, closed: Collection[str] = ()) -> Router | None:
        return EventRouter(options_of(schema), now, closed)

    def reshaper(self, schema: Schema, naming: Naming) -> Reshaper | None:
        return None

    def program(self, schema: Schema, now: datetime) -> RowProgram | None:
        return None

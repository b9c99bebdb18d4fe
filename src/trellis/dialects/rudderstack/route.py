"""An event tells its tables itself (spec rudderstack.md, section 3.1)."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from trellis.dialects.rudderstack.explode import exploder
from trellis.dialects.rudderstack.system import options_of
from trellis.evolution.dialect import Router
from trellis.schema.model import Schema


class RudderRoute:
    names_tables = True

    def router(self, schema: Schema, now: datetime, closed: Collection[str] = ()) -> Router | None:
        return exploder(options_of(schema), now, closed)

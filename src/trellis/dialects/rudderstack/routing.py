"""An event names its tables itself."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from trellis.dialects.rudderstack.explode import exploder
from trellis.dialects.rudderstack.system import options_of
from trellis.evolution.dialect.transforms import RecordTransform, Route
from trellis.schema.model import Schema
from trellis.schema.naming import Naming


class RudderRouting:
    def transform(
        self, schema: Schema, naming: Naming, now: datetime, closed: Collection[str] = ()
    ) -> RecordTransform:
        return Route(exploder(options_of(schema), now, closed))

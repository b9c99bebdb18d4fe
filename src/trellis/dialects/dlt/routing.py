"""Records belong to the table that the user named, unless a normalizer of the user's says otherwise."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from trellis.dialects.dlt.normalizer import is_own
from trellis.dialects.dlt.own import OwnNormalizer
from trellis.evolution.dialect.transforms import Emit, Flatten, RecordTransform
from trellis.schema.model import Schema
from trellis.schema.naming import Naming


class DltRouting:
    def transform(
        self, schema: Schema, naming: Naming, now: datetime, closed: Collection[str] = ()
    ) -> RecordTransform:
        return Emit(OwnNormalizer(schema, naming)) if is_own(schema) else Flatten()

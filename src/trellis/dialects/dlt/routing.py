"""Records belong to the table that the user named, unless a normalizer of the user's says otherwise."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from trellis.dialects.dlt.normalizer.custom_normalizer import CustomNormalizer
from trellis.dialects.dlt.normalizer.options import is_custom
from trellis.evolution.dialect.transforms import Emit, Flatten, RecordTransform
from trellis.schema.model import Schema
from trellis.schema.naming import Naming


class DltRouting:
    def transform(
        self, schema: Schema, naming: Naming, now: datetime, closed: Collection[str] = ()
    ) -> RecordTransform:
        return Emit(CustomNormalizer(schema, naming)) if is_custom(schema) else Flatten()

"""Every record belongs to the one table the user named, unless a normalizer of the user's says otherwise."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from trellis.dialects.dlt.normalizer.custom_normalizer import CustomNormalizer
from trellis.dialects.dlt.normalizer.options import is_custom
from trellis.evolution.dialect import Reshaper, Router
from trellis.evolution.program import RowProgram
from trellis.schema.model import Schema
from trellis.schema.naming import Naming


class DltRoute:
    names_tables = False

    def router(self, schema: Schema, now: datetime, closed: Collection[str] = ()) -> Router | None:
        return None

    def reshaper(self, schema: Schema, naming: Naming) -> Reshaper | None:
        return CustomNormalizer(schema, naming) if is_custom(schema) else None

    def program(self, schema: Schema, now: datetime) -> RowProgram | None:
        return None

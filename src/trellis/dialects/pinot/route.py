"""Every record belongs to the table of the schema, and its program makes the rows."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from trellis.dialects.pinot.row_transform import program_of
from trellis.dialects.pinot.stored_schema import authored_of
from trellis.evolution.dialect import Reshaper, Router
from trellis.evolution.program import RowProgram
from trellis.schema.model import Schema
from trellis.schema.naming import Naming


class PinotRoute:
    names_tables = True

    def router(self, schema: Schema, now: datetime, closed: Collection[str] = ()) -> Router | None:
        return None

    def reshaper(self, schema: Schema, naming: Naming) -> Reshaper | None:
        return None

    def program(self, schema: Schema, now: datetime) -> RowProgram | None:
        return program_of(authored_of(schema), now)

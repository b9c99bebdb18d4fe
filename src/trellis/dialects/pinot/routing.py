"""Every record belongs to the table of the schema, and its program makes the rows."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from trellis.dialects.pinot.program import program_of
from trellis.dialects.pinot.system import authored_of
from trellis.evolution.dialect.transforms import Author, Flatten, RecordTransform
from trellis.schema.model import Schema
from trellis.schema.naming import Naming


class PinotRouting:
    def transform(
        self, schema: Schema, naming: Naming, now: datetime, closed: Collection[str] = ()
    ) -> RecordTransform:
        program = program_of(authored_of(schema), now)
        return Flatten() if program is None else Author(program)

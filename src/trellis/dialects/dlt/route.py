"""Every record belongs to the one table the user named."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from trellis.evolution.dialect import Router
from trellis.schema.model import Schema


class DltRoute:
    names_tables = False

    def router(self, schema: Schema, now: datetime, closed: Collection[str] = ()) -> Router | None:
        return None

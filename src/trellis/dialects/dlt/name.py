"""The naming convention is the one the schema carries (spec dlt.md, section 9)."""

from __future__ import annotations

from trellis.schema.model import Schema
from trellis.schema.naming import Naming, get_naming


class DltName:
    def naming(self, schema: Schema, max_length: int | None) -> Naming:
        return get_naming(str(schema.normalizers.get("names") or "snake_case"), max_length)

"""The naming convention is the one the schema carries (spec dlt.md, section 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.schema.model import Schema
from trellis.schema.naming import Naming, naming_of


class DltName:
    def naming(self, schema: Schema, max_length: int | None) -> Naming:
        return naming_of(schema, max_length)

    def dataset(self, settings: Mapping[str, Any], default: str) -> str:
        return default

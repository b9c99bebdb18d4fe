"""Nesting becomes columns and child tables until the budget of levels is used up.

The rows of a user's own normalizer are flat already: what is nested in them stays JSON.
"""

from __future__ import annotations

from collections.abc import Callable

from trellis.dialects.dlt.normalizer.options import is_custom
from trellis.schema.model import Schema
from trellis.schema.rules import matches, preferred_type

MAX_NESTING = 1000


class DltNesting:
    def max_nesting(self, schema: Schema, root: str) -> int:
        if is_custom(schema):
            return 0
        notes = (schema.tables[root].hints.get("x-normalizer") or {}) if root in schema.tables else {}
        if "max_nesting" in notes:
            return int(notes["max_nesting"])
        config = (schema.normalizers.get("json") or {}).get("config") or {}
        return int(config.get("max_nesting", MAX_NESTING))

    def keeps_json(self, schema: Schema, table: str, column: str, levels: int) -> bool:
        if levels <= 0:
            return True
        known = schema.tables[table].columns.get(column) if table in schema.tables else None
        if known is not None and known.data_type is not None:
            return known.data_type == "json"
        return preferred_type(schema.settings, column) == "json"

    def excluded_paths(self, schema: Schema, table: str) -> Callable[[str], bool] | None:
        filters = (schema.tables[table].hints.get("filters") or {}) if table in schema.tables else {}
        excludes, includes = filters.get("excludes") or (), filters.get("includes") or ()
        if not excludes:
            return None
        return lambda path: matches(excludes, path) and not matches(includes, path)

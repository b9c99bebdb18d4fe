"""Log-like rows: fields that are no columns go into columns of the rest (spec pinot.md, section 5.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.table.config import ConformingConfig

Rest = dict[str, Any]


class Conforming:
    """Applies one `schemaConformingTransformerConfig` to the columns of a schema.

    `texts` are the columns of one STRING: a list or a map in them becomes JSON text when it is converted.
    """

    def __init__(self, config: ConformingConfig, types: Mapping[str, PinotType]) -> None:
        self.config = config
        self.columns = frozenset(types)
        self.by_path = {path: column for column, path in config.paths.items()}
        self.kept = {config.indexable, config.unindexable}

    def row(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The columns that the record fills, and the rest of it in the two extra columns."""
        made: dict[str, Any] = {}
        indexed, unindexed = self._walk(record, "", made)
        if indexed and self.config.indexable in self.columns:
            made[self.config.indexable] = indexed
        if unindexed and self.config.unindexable in self.columns:
            made[self.config.unindexable] = unindexed
        return made

    def _walk(self, within: Mapping[str, Any], path: str, made: dict[str, Any]) -> tuple[Rest, Rest]:
        indexed: Rest = {}
        unindexed: Rest = {}
        for key, value in within.items():
            if value is None:
                continue
            full = f"{path}.{key}" if path else key
            column = self.by_path.get(full, full if full in self.columns - self.kept else None)
            if column is not None:
                made[column] = value
            elif key.endswith(self.config.suffix):
                unindexed[key] = value
            elif isinstance(value, Mapping):
                inner, hidden = self._walk(value, full, made)
                if inner:
                    indexed[key] = inner
                if hidden:
                    unindexed[key] = hidden
            else:
                indexed[key] = value
        return indexed, unindexed

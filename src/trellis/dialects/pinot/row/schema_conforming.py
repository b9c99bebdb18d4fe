"""Fields of log-like rows that have no column (`SchemaConformingTransformer`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.row.row import Fault, Row, RowFault
from trellis.dialects.pinot.table.config import ConformingConfig
from trellis.dialects.pinot.value.json_text.writer import json_of
from trellis.dialects.pinot.value.source_kinds import CannotConvert
from trellis.errors import SchemaError

Rest = dict[str, Any]


class Conforming:
    """Applies one `schemaConformingTransformerConfig` to the columns of a schema.

    Raises SchemaError where a column of the rest is missing, or is neither JSON nor STRING.
    """

    def __init__(self, config: ConformingConfig, specs: Mapping[str, FieldSpec], zone: str = "UTC") -> None:
        self.config = config
        self.zone = zone
        paths = {name: config.paths.get(name, name) for name in specs}
        self.by_path = {path: name for name, path in paths.items()}
        self.above = {path[:at] for path in self.by_path for at, sign in enumerate(path) if sign == "."}
        self.texts = {
            name for name, spec in specs.items() if spec.data_type is PinotType.STRING and spec.single_value
        }
        for column in (config.indexable, config.unindexable):
            if column is not None and (
                column not in specs or specs[column].data_type not in (PinotType.JSON, PinotType.STRING)
            ):
                raise SchemaError(
                    f"schemaConformingTransformerConfig: Field '{column}' doesn't exist in schema as JSON or "
                    "STRING; add that column, or say enableIndexableExtras or enableUnindexableExtras false"
                )

    def apply(self, row: Row) -> None:
        """Leave the columns that the row fills, and the rest of it in the two extra columns. Raises RowFault.

        What the record itself brought for these is overwritten where there is a rest.
        """
        made: dict[str, Any] = {}
        indexed, unindexed = self._walk(row.values, "", made)
        for column, rest in ((self.config.indexable, indexed), (self.config.unindexable, unindexed)):
            if column is None or not rest:
                continue
            if column in made:
                row.faults.append(Fault(column, made[column], "overwritten by fields that are no columns"))
            made[column] = self._given(column, rest)
        row.values = made

    def _walk(self, within: Mapping[str, Any], path: str, made: dict[str, Any]) -> tuple[Rest, Rest]:
        """What of an object is no column: what may be indexed, and what may not."""
        indexed: Rest = {}
        unindexed: Rest = {}
        for key, value in within.items():
            full = f"{path}.{key}" if path else key
            if value is None or full in self.config.dropped:
                continue
            if key.endswith(self.config.suffix):
                if (shown := _without_nulls(value)) is not None:
                    unindexed[key] = shown
                continue
            column = self.by_path.get(full)
            if column is not None:
                made[column] = self._given(column, value)
            if isinstance(value, Mapping) and (column is None or full in self.above):
                inner, hidden = self._walk(value, full, made)
                if inner and column is None:
                    indexed[key] = inner
                if hidden and column is None:
                    unindexed[key] = hidden
            elif column is None:
                indexed[key] = value
        return indexed, unindexed

    def _given(self, column: str, value: Any) -> Any:
        """A value as its column takes it: lists and maps are JSON text where it holds one text."""
        if column not in self.texts or not isinstance(value, _NESTED):
            return value
        try:
            return json_of(value, self.zone)
        except CannotConvert as bad:
            raise RowFault(column, str(bad)) from None


def _without_nulls(value: Any) -> Any:
    """A value without the nulls of its maps; None for a map that holds nothing else."""
    if not isinstance(value, Mapping):
        return value
    shown = {key: kept for key, each in value.items() if (kept := _without_nulls(each)) is not None}
    return shown or None


_NESTED: Final = (Mapping, list, tuple)

"""Fields of log-like rows that have no column (`SchemaConformingTransformer`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.row.row import Row, RowFault, ValueFault
from trellis.dialects.pinot.table.config import SchemaConformingConfig
from trellis.dialects.pinot.value.json_text.writer import json_of
from trellis.dialects.pinot.value.source_kinds import CannotConvert
from trellis.errors import SchemaError

Extras = dict[str, Any]


class SchemaConforming:
    """Applies one `schemaConformingTransformerConfig` to the columns of a schema.

    Raises SchemaError where a column for the extra fields is missing, or is neither JSON nor STRING.
    """

    def __init__(
        self, config: SchemaConformingConfig, specs: Mapping[str, FieldSpec], zone: str = "UTC"
    ) -> None:
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
                    "STRING; add it, or set enableIndexableExtras or enableUnindexableExtras to false"
                )

    def apply(self, row: Row) -> None:
        """Keep the fields that have a column, and put the others into the two extra columns. Raises RowFault.

        A value of the record for an extra column is overwritten where there are extra fields.
        """
        values: dict[str, Any] = {}
        indexed, unindexed = self._walk(row.values, "", values)
        for column, extras in ((self.config.indexable, indexed), (self.config.unindexable, unindexed)):
            if column is None or not extras:
                continue
            if column in values:
                row.faults.append(
                    ValueFault(column, values[column], "overwritten by fields that have no column")
                )
            values[column] = self._column_value(column, extras)
        row.values = values

    def _walk(self, within: Mapping[str, Any], path: str, values: dict[str, Any]) -> tuple[Extras, Extras]:
        """The fields of an object that have no column: indexable ones, and others."""
        indexed: Extras = {}
        unindexed: Extras = {}
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
                values[column] = self._column_value(column, value)
            if isinstance(value, Mapping) and (column is None or full in self.above):
                inner, hidden = self._walk(value, full, values)
                if inner and column is None:
                    indexed[key] = inner
                if hidden and column is None:
                    unindexed[key] = hidden
            elif column is None:
                indexed[key] = value
        return indexed, unindexed

    def _column_value(self, column: str, value: Any) -> Any:
        """A value for its column: lists and maps become JSON text in a STRING column."""
        if column not in self.texts or not isinstance(value, _NESTED):
            return value
        try:
            return json_of(value, self.zone)
        except CannotConvert as error:
            raise RowFault(column, str(error)) from None


def _without_nulls(value: Any) -> Any:
    """A value without the nulls of its maps; None for a map that holds nothing else."""
    if not isinstance(value, Mapping):
        return value
    entries = {
        key: value_without_nulls
        for key, entry in value.items()
        if (value_without_nulls := _without_nulls(entry)) is not None
    }
    return entries or None


_NESTED: Final = (Mapping, list, tuple)

"""How the rows of a new table lie, by the hints of its schema: partitions, clusters, properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from trellis.errors import SchemaError
from trellis.schema.model import Column, Table

PROPERTIES_HINT: Final = "x-table-properties"
"""The hint of a table with properties of its format, by name."""


@dataclass(frozen=True)
class TableLayout:
    """The columns that a new table is partitioned and clustered by, and its properties."""

    partitions: tuple[Column, ...] = ()
    clusters: tuple[Column, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(table: Table) -> TableLayout:
        """Raises SchemaError for properties that are no names with values.

        >>> TableLayout.of(Table("t").with_hints(**{PROPERTIES_HINT: {"delta.appendOnly": True}})).properties
        {'delta.appendOnly': 'true'}
        """
        properties = table.hints.get(PROPERTIES_HINT) or {}
        if not isinstance(properties, Mapping):
            raise SchemaError(
                f"table {table.name}: {PROPERTIES_HINT} is {properties!r}, not names with values; write for "
                "example {'delta.logRetentionDuration': 'interval 7 days'}",
                table=table.name,
            )
        return TableLayout(
            tuple(column for column in table.complete_columns if column.hint("partition")),
            tuple(column for column in table.complete_columns if column.hint("cluster")),
            {str(name): _text(value) for name, value in properties.items()},
        )


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

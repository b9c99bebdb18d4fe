"""Drift for a person, and for a program: of a destination from its schema, of a schema from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.cli.output.console import counted, cut, grid, indented
from trellis.cli.output.schema_report import change_dict, show_difference
from trellis.cli.schema_files import read_schema
from trellis.cli.schema_store import StoredSchema, imported
from trellis.pipelines.datasets.schema_history import Changes
from trellis.pipelines.drift import Drift, drift

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class SchemaDrift:
    """What the tables have otherwise, and `changes`, which lead from the stored schema to that of a file."""

    drift: tuple[Drift, ...]
    changes: Changes = ()

    @staticmethod
    def of(file: str | None, at: str | None, dataset: str | None, name: str | None) -> SchemaDrift:
        """Raises UsageError where there is no schema to compare with."""
        if file is None:
            return SchemaDrift(drift(StoredSchema.open(at, dataset, name).pipeline))
        schema = read_schema(file).schema
        store = StoredSchema.open(at, dataset, name or schema.name, empty=True)
        if not store.rows and name is None:
            store = StoredSchema.open(at, dataset, name, empty=True)
        after, changes = imported(store, file, schema)
        return SchemaDrift(drift(store.pipeline, after), changes)

    def __bool__(self) -> bool:
        return bool(self.drift or self.changes)

    def to_dict(self) -> dict[str, Any]:
        return {
            "drift": [difference.to_dict() for difference in self.drift],
            "changes": [change_dict(change) for change in self.changes],
        }

    def show(self, file: str | None, out: Console) -> None:
        """The tables first, then the file."""
        _show_drift(self.drift, out)
        if file is not None:
            out.print(f"\nFrom the stored schema to {file}", style="bold")
            show_difference(self.changes, out)


def _show_drift(differences: Sequence[Drift], out: Console) -> None:
    if not differences:
        out.print("the tables are as the schema says")
        return
    table = grid("Table", "Column", "What is", "The next load", whole=("Table", "Column"))
    for difference in differences:
        table.add_row(
            cut(difference.table, 30), cut(difference.column or "", 30), difference.what, difference.next_load
        )
    out.print(indented(table))
    out.print(f"\n{counted(len(differences), 'difference')}", style="bold")

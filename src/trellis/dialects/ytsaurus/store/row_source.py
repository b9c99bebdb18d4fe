"""A table as rows are read from it: its files, its schema, the columns of a filter, new names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.schema.model import SortColumn, TableSchema
from trellis.dialects.ytsaurus.store.chunks import ChunkFiles


@dataclass(frozen=True)
class RowSource:
    files: ChunkFiles
    schema: TableSchema
    columns: tuple[str, ...] | None = None
    """Under their new names."""
    renames: Mapping[str, str] = field(default_factory=dict)
    path: str = ""
    """Of the table, for errors."""

    def old_keys(self, keys: Sequence[SortColumn]) -> list[SortColumn]:
        """Key columns as the table calls them."""
        old_names = {new: old for old, new in self.renames.items()}
        return [replace(key, name=old_names.get(key.name, key.name)) for key in keys]

    def new_name(self, column: str) -> str:
        return self.renames.get(column, column)

    def shows(self, column: str) -> bool:
        """Whether the filter has a column, under its new name."""
        return self.columns is None or column in self.columns

    @property
    def stored_names(self) -> list[str] | None:
        """The columns of the filter as the table calls them; None for all."""
        if self.columns is None:
            return None
        old_names = {new: old for old, new in self.renames.items()}
        return [old_names.get(name, name) for name in self.columns]

    def select(self, row: Row) -> Row:
        """A row of the table with the columns of the filter, under their new names."""
        if self.renames:
            row = {self.new_name(name): value for name, value in row.items()}
        if self.columns is not None:
            row = {name: row[name] for name in self.columns if name in row}
        return row

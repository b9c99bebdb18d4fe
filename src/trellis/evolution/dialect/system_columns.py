"""The columns that are not in the records, and how rows are identified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from trellis.schema.model import Column, Schema


@dataclass(frozen=True)
class RowKeys:
    """How the rows of one table are identified: the roles and names of its system columns.

    `from_columns` names the columns whose raw values the row id is a hash of; `of_item` makes it a hash of
    the whole record; else the id is pseudo-random, derived from the load id and the position of the row.
    Without `row_id` rows have no id.
    `loaded_at` names columns that get the time of the load, cut to its unit.
    """

    row_id: str = ""
    load_id: str | None = None
    root_id: str | None = None
    parent_id: str | None = None
    list_index: str | None = None
    loaded_at: Mapping[str, Literal["s", "ms"]] = field(default_factory=dict)
    from_columns: tuple[str, ...] = ()
    of_item: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The system columns in the order in which they are appended to a row."""
        names = (self.root_id, self.load_id, self.parent_id, self.list_index, self.row_id, *self.loaded_at)
        return tuple(name for name in names if name)


class SystemColumns(Protocol):
    def row_keys(self, schema: Schema, table: str, below: str | None = None) -> RowKeys:
        """`below`: the table whose lists feed this one, if any does."""
        ...

    def preserved_row_keys(self, schema: Schema, table: str, settings: Mapping[str, Any]) -> RowKeys:
        """The `row_keys` of rows that keep their types; `settings` are those of `SchemaStore.configure`."""
        ...

    def columns(self, schema: Schema, table: str, below: str | None = None) -> tuple[Column, ...]:
        """The system columns of a table that gets rows; `below` as in `row_keys`."""
        ...

    def inherited_values(self, schema: Schema, table: str) -> Mapping[str, str]:
        """Columns whose values the rows below a row of this table get too, and under which names."""
        ...

    def root_ids(self, seed: bytes, count: int) -> list[str]:
        """So many row ids that depend on the seed alone."""
        ...

    def hashed_ids(self, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
        """Row ids from the values of some columns."""
        ...

    def record_ids(self, records: Iterable[Mapping[str, Any]]) -> list[str]:
        """Row ids from whole records, as they came."""
        ...

    def child_ids(self, parents: Sequence[Any], table: str, indexes: Sequence[int]) -> list[str]:
        """Row ids from those of the parents, the table and the places in the parents' lists."""
        ...

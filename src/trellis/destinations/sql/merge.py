"""The row results of a merge as SQL over a staged and a current relation.

Everything is expressed by sets of root rows: those to delete, by their id, those whose validity ends, and
those to insert, by their id and their position among the staged rows. A destination that changes rows in
place does so by the conditions; one that writes whole files selects rows by their positions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trellis.destinations.sql.names import quoted
from trellis.destinations.sql.roots import MergeNames, RootStatements, positioned_query
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.evolution.table_writes import TableTreeWrite
from trellis.schema.model import Schema, Table


@dataclass(frozen=True)
class TableTreeStatements:
    """A root table and its descendants as SQL relations: the current rows, and the staged ones.

    A relation is an item of a FROM clause and has every complete column of its table. The result of
    `roots.rows_to_delete` is to be kept as the temporary table `names.rows_to_delete`, that of
    `roots.rows_to_insert` as `names.rows_to_insert`. `has_unique_keys` is said of the staged root rows.
    """

    schema: Schema
    load: TableTreeWrite
    keys: Callable[[str], RowKeys]
    current: Callable[[str], str]
    staged: Callable[[str], str]
    names: MergeNames
    has_unique_keys: bool = False

    @property
    def tables(self) -> list[Table]:
        return [table for table in self.schema.chain(self.load.root) if table.complete_columns]

    @property
    def root(self) -> Table:
        return self.schema.tables[self.load.root]

    @property
    def roots(self) -> RootStatements:
        name = self.load.root
        return RootStatements(
            self.root,
            self.load,
            self.keys(name).row_id,
            self.current(name),
            self.staged(name),
            self.names,
            self.has_unique_keys,
        )

    @property
    def replaces(self) -> bool:
        """Whether rows are replaced, so that a nested row id is inserted once."""
        return self.load.strategy in ("delete-insert", "upsert")

    def duplicate_id_count(self, table: str) -> str:
        """A query of how many row ids occur more than once in the load."""
        staged, row_id = self.names.staged_row, quoted(self._row_id(table))
        grouped = f"GROUP BY {staged}.{row_id} HAVING count(*) > 1"
        duplicates = f"SELECT 1 FROM {self.staged(table)} AS {staged} {grouped}"
        return f"SELECT count(*) FROM ({duplicates}) AS {self.names.prefix}twice"

    def is_deleted(self, table: str) -> str:
        """A condition on a current row, as `MergeNames` calls it: its root row is deleted."""
        column, owners = self.link(table, self.current, self.names.rows_to_delete)
        return f"{self.names.current_row}.{quoted(column)} IN ({owners})"

    def is_inserted(self, table: str) -> str:
        """A condition on a staged row, as `MergeNames` calls it: its root row is inserted."""
        staged = self.names.staged_row
        column, owners = self.link(table, self.staged, self.names.rows_to_insert)
        is_new = self._and_new(table, f"{staged}.{quoted(self._row_id(table))}")
        return f"{staged}.{quoted(column)} IN ({owners}){is_new}"

    def positions_to_insert(self, table: str, once: bool) -> str:
        """A query of the positions, from 1, of the staged rows to insert.

        `once`: each nested row id is inserted once.
        """
        q = self.names.prefix
        if table == self.load.root:
            return f"SELECT {q}place FROM {self.names.rows_to_insert}"
        column, owners = self.link(table, self.staged, self.names.rows_to_insert)
        columns = {f"{q}link": column, f"{q}row_id": self._row_id(table)}
        rows = positioned_query(self.names, self.staged(table), self.names.place, columns)
        where = f"{q}link IN ({owners}){self._and_new(table, f'{q}placed.{q}row_id')}"
        first, grouped = (f"min({q}place) AS {q}place", f" GROUP BY {q}row_id") if once else (f"{q}place", "")
        return f"SELECT {first} FROM ({rows}) AS {q}placed WHERE {where}{grouped}"

    def _and_new(self, table: str, row_id: str) -> str:
        """Nested rows of a version that became active again exist already."""
        if self.load.history is None or table == self.load.root:
            return ""
        current = self.names.current_row
        same = f"{current}.{quoted(self._row_id(table))} = {row_id}"
        return f" AND NOT EXISTS (SELECT 1 FROM {self.current(table)} AS {current} WHERE {same})"

    def link(self, table: str, source: Callable[[str], str], ids: str) -> tuple[str, str]:
        """The column that leads towards the root row, and a query of the values it may have."""
        q, keys = self.names.prefix, self.keys(table)
        if table == self.load.root:
            return keys.row_id, f"SELECT {q}id FROM {ids}"
        known = self.schema.tables[table]
        if keys.root_id and keys.root_id in known.columns:
            return keys.root_id, f"SELECT {q}id FROM {ids}"
        assert known.parent is not None and keys.parent_id is not None, table
        column, owners = self.link(known.parent, source, ids)
        if known.parent == self.load.root:
            return keys.parent_id, owners
        parents = f"{source(known.parent)} AS {q}parents WHERE {q}parents.{quoted(column)} IN ({owners})"
        return keys.parent_id, f"SELECT {q}parents.{quoted(self._row_id(known.parent))} FROM {parents}"

    def _row_id(self, table: str) -> str:
        return self.keys(table).row_id

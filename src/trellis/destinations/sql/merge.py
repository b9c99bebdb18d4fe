"""The row results of a merge as SQL over a staged and a current relation (spec dlt.md, 14).

Everything is expressed by sets of root rows: those that leave the destination, by their id, those whose
time ends there, and those that come in, by their id and their place among the staged rows. A destination
that can change rows in place does so; one that writes whole files picks rows by their places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trellis.destinations.sql.names import quoted
from trellis.destinations.sql.roots import Roots, Words, needed, placed
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.evolution.loading import ChainLoad
from trellis.schema.model import Column, Schema, Table


@dataclass(frozen=True)
class Chain:
    """A root table and its descendants as SQL relations: what is there now, what is staged.

    A relation stands in a FROM clause and has every complete column of its table. The result of
    `roots.leaving` is to be kept as the temporary table `words.leaving`, that of `roots.coming` as
    `words.coming`.
    """

    schema: Schema
    load: ChainLoad
    keys: Callable[[str], RowKeys]
    current: Callable[[str], str]
    staged: Callable[[str], str]
    words: Words

    @property
    def tables(self) -> list[Table]:
        return [table for table in self.schema.chain(self.load.root) if table.complete_columns]

    @property
    def root(self) -> Table:
        return self.schema.tables[self.load.root]

    @property
    def roots(self) -> Roots:
        name = self.load.root
        return Roots(
            self.root, self.load, self.keys(name).row_id, self.current(name), self.staged(name), self.words
        )

    @property
    def replaces(self) -> bool:
        """Whether rows leave for others, so that a nested row id comes once; else what is there stays."""
        return self.load.strategy in ("delete-insert", "upsert")

    def has_double_ids(self, table: str) -> str:
        """A query of how many row ids stand twice in the load."""
        staged, row_id = self.words.staged_row, quoted(self._row_id(table))
        grouped = f"GROUP BY {staged}.{row_id} HAVING count(*) > 1"
        twice = f"SELECT 1 FROM {self.staged(table)} AS {staged} {grouped}"
        return f"SELECT count(*) FROM ({twice}) AS {self.words.prefix}twice"

    def leaving(self, table: str) -> str:
        """A condition on a current row, as `Words` calls it: its root row leaves."""
        column, owners = self._link(table, self.current, self.words.leaving)
        return f"{self.words.current_row}.{quoted(column)} IN ({owners})"

    def coming(self, table: str) -> str:
        """A condition on a staged row, as `Words` calls it: it comes with its root row."""
        staged = self.words.staged_row
        column, owners = self._link(table, self.staged, self.words.coming)
        is_new = self._and_new(table, f"{staged}.{quoted(self._row_id(table))}")
        return f"{staged}.{quoted(column)} IN ({owners}){is_new}"

    def places_leaving(self, table: str) -> str:
        """A query of the places, from 1, of the current rows of a table that leave."""
        q = self.words.prefix
        column, owners = self._link(table, self.current, self.words.leaving)
        rows = placed(self.words, self.current(table), "row_number() OVER ()", {f"{q}link": column})
        return f"SELECT {q}place FROM ({rows}) AS {q}placed WHERE {q}link IN ({owners})"

    def places_coming(self, table: str, once: bool) -> str:
        """A query of the places, from 1, of the staged rows that come; `once`: no nested row id twice."""
        q = self.words.prefix
        if table == self.load.root:
            return f"SELECT {q}place FROM {self.words.coming}"
        column, owners = self._link(table, self.staged, self.words.coming)
        columns = {f"{q}link": column, f"{q}row_id": self._row_id(table)}
        rows = placed(self.words, self.staged(table), self.words.place, columns)
        where = f"{q}link IN ({owners}){self._and_new(table, f'{q}placed.{q}row_id')}"
        first, grouped = (f"min({q}place) AS {q}place", f" GROUP BY {q}row_id") if once else (f"{q}place", "")
        return f"SELECT {first} FROM ({rows}) AS {q}placed WHERE {where}{grouped}"

    def needs(self, table: str) -> tuple[Column, ...]:
        """The columns of a table that the queries of this chain read."""
        names = {*self.keys(table).columns}
        if table == self.load.root:
            names |= needed(self.root, self.load)
        return tuple(c for c in self.schema.tables[table].complete_columns if c.name in names)

    def _and_new(self, table: str, row_id: str) -> str:
        """Nested rows of a version that comes back are there already."""
        if self.load.history is None or table == self.load.root:
            return ""
        current = self.words.current_row
        same = f"{current}.{quoted(self._row_id(table))} = {row_id}"
        return f" AND NOT EXISTS (SELECT 1 FROM {self.current(table)} AS {current} WHERE {same})"

    def _link(self, table: str, source: Callable[[str], str], ids: str) -> tuple[str, str]:
        """The column that leads towards the root row, and a query of the values it may have."""
        q, keys = self.words.prefix, self.keys(table)
        if table == self.load.root:
            return keys.row_id, f"SELECT {q}id FROM {ids}"
        known = self.schema.tables[table]
        if keys.root_id and keys.root_id in known.columns:
            return keys.root_id, f"SELECT {q}id FROM {ids}"
        assert known.parent is not None and keys.parent_id is not None, table
        column, owners = self._link(known.parent, source, ids)
        parents = f"{source(known.parent)} AS {q}parents WHERE {q}parents.{quoted(column)} IN ({owners})"
        return keys.parent_id, f"SELECT {q}parents.{quoted(self._row_id(known.parent))} FROM {parents}"

    def _row_id(self, table: str) -> str:
        return self.keys(table).row_id

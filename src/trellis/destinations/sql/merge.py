"""The row results of a merge as SQL over a staged and a current relation (spec dlt.md, 14).

Everything is expressed by sets of root rows: those that leave the destination, by their id, those whose
time ends there, and those that come in, by their id and their place among the staged rows. A destination
that can change rows in place does so; one that writes whole files picks rows by their places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from trellis.destinations.sql.names import quoted
from trellis.destinations.sql.roots import Roots, Words, needed, placed
from trellis.evolution.dialect import RowKeys
from trellis.evolution.loading import ChainLoad
from trellis.schema.model import Column, Schema, Table


@dataclass(frozen=True)
class Chain:
    """A root table and its descendants as SQL relations: what is there now, what is staged.

    A relation stands in a FROM clause and has every complete column of its table. The result of
    `roots.leaving` is to be kept as a relation LEAVING (id), that of `roots.coming` as COMING (id, place).
    """

    schema: Schema
    load: ChainLoad
    keys: Callable[[str], RowKeys]
    current: Callable[[str], str]
    staged: Callable[[str], str]
    words: Words = field(default_factory=Words)

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
        row_id = quoted(self.keys(table).row_id)
        twice = f"SELECT 1 FROM {self.staged(table)} s GROUP BY s.{row_id} HAVING count(*) > 1"
        return f"SELECT count(*) FROM ({twice}) AS twice"

    def leaving(self, table: str) -> str:
        """A condition on a current row: its root row leaves."""
        column, owners = self._link(table, self.current, self.words.leaving)
        return f"{quoted(column)} IN ({owners})"

    def coming(self, table: str) -> str:
        """A condition on a staged row `s`: it comes with its root row."""
        column, owners = self._link(table, self.staged, self.words.coming)
        return f"s.{quoted(column)} IN ({owners}){self._and_new(table, f's.{quoted(self._row_id(table))}')}"

    def places_leaving(self, table: str) -> str:
        """A query of the places, from 1, of the current rows of a table that leave."""
        column, owners = self._link(table, self.current, self.words.leaving)
        rows = placed(self.current(table), "row_number() OVER ()", {"link": column})
        return f"SELECT place FROM ({rows}) AS placed WHERE link IN ({owners})"

    def places_coming(self, table: str, once: bool) -> str:
        """A query of the places, from 1, of the staged rows that come; `once`: no nested row id twice."""
        if table == self.load.root:
            return f"SELECT place FROM {self.words.coming}"
        column, owners = self._link(table, self.staged, self.words.coming)
        rows = placed(self.staged(table), self.words.place, {"link": column, "row_id": self._row_id(table)})
        where = f"link IN ({owners}){self._and_new(table, 'placed.row_id')}"
        first, grouped = ("min(place) AS place", " GROUP BY row_id") if once else ("place", "")
        return f"SELECT {first} FROM ({rows}) AS placed WHERE {where}{grouped}"

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
        there = f"SELECT 1 FROM {self.current(table)} d WHERE d.{quoted(self._row_id(table))} = {row_id}"
        return f" AND NOT EXISTS ({there})"

    def _link(self, table: str, source: Callable[[str], str], ids: str) -> tuple[str, str]:
        """The column that leads towards the root row, and a query of the values it may have."""
        keys = self.keys(table)
        if table == self.load.root:
            return keys.row_id, f"SELECT id FROM {ids}"
        known = self.schema.tables[table]
        if keys.root_id and keys.root_id in known.columns:
            return keys.root_id, f"SELECT id FROM {ids}"
        assert known.parent is not None and keys.parent_id is not None, table
        column, owners = self._link(known.parent, source, ids)
        above = quoted(self._row_id(known.parent))
        parents = f"{source(known.parent)} AS parents WHERE {quoted(column)} IN ({owners})"
        return keys.parent_id, f"SELECT {above} FROM {parents}"

    def _row_id(self, table: str) -> str:
        return self.keys(table).row_id

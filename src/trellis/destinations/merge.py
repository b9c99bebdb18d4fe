"""The row results of replace and merge as SQL over a staged and a current relation (spec dlt.md, 14).

Everything is expressed by two sets of root rows: those that leave the destination, by their id, and
those that come in, by their id and their place among the staged rows. A destination that can delete in
place deletes the one and inserts the other; one that writes whole files picks rows by their places.

Users name their columns as they like, so a query here never adds a column beside those of a table:
what it needs is renamed in a subquery that shows nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from trellis.errors import SchemaError
from trellis.evolution.dialect import RowKeys, Strategy
from trellis.schema.model import Column, Schema, Table

LEAVING = "temp.main.leaving"
COMING = "temp.main.coming"


def quoted(name: str) -> str:
    """An SQL identifier.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Words:
    """How a destination calls the relations LEAVING and COMING, and the place of a staged row `s`."""

    leaving: str = LEAVING
    coming: str = COMING
    place: str = "row_number() OVER ()"


@dataclass(frozen=True)
class Chain:
    """A root table and its descendants as SQL relations: what is there now, what is staged.

    A relation stands in a FROM clause and has every complete column of its table. The result of
    `leaving` is to be kept as a relation LEAVING (id), that of `coming` as COMING (id, place).
    """

    schema: Schema
    root: Table
    keys: Callable[[str], RowKeys]
    current: Callable[[str], str]
    staged: Callable[[str], str]
    words: Words = field(default_factory=Words)

    def needs(self, table: str) -> tuple[Column, ...]:
        """The columns of a table that the queries of this chain read."""
        names = {*self.keys(table).columns}
        if table == self.root.name:
            for hint in ("primary_key", "merge_key", "dedup_sort", "hard_delete"):
                names.update(self.root.columns_with(hint))
        return tuple(c for c in self.schema.tables[table].complete_columns if c.name in names)

    def check(self, strategy: Strategy) -> None:
        """Raises SchemaError where the hints of the root table do not suit a merge."""
        name = self.root.name
        if strategy == "upsert" and not self._columns("primary_key"):
            raise SchemaError(f"table {name}: upsert needs a primary key; name one with --key COLUMN")
        for hint in ("dedup_sort", "hard_delete"):
            marked = self.root.columns_with(hint)
            if len(marked) > 1:
                raise SchemaError(
                    f"table {name}: columns {' and '.join(marked)} are all marked {hint}; only one may be"
                )

    def leaving(self, strategy: Strategy) -> str:
        """A query of the ids of root rows that the load removes or replaces."""
        row_id = quoted(self.keys(self.root.name).row_id)
        conditions = [
            f"EXISTS (SELECT 1 FROM {self.staged(self.root.name)} s WHERE {_equal(columns)})"
            for columns in self._matching(strategy)
        ]
        rows = f"SELECT d.{row_id} AS id FROM {self.current(self.root.name)} d"
        return " UNION ".join(f"{rows} WHERE {where}" for where in conditions or ["FALSE"])

    def coming(self, strategy: Strategy) -> str:
        """A query of the staged root rows that go in: one per primary key, none marked deleted."""
        keys = () if self.root.hints.get("x-stage-data-deduplicated") else self._columns("primary_key")
        parts = [f"s.{quoted(self.keys(self.root.name).row_id)} AS id", f"{self.words.place} AS place"]
        parts += [f"s.{quoted(key)} AS key_{number}" for number, key in enumerate(keys)]
        order, conditions = "place", []
        for name in self._columns("dedup_sort"):
            parts.append(f"s.{quoted(name)} AS sort_by")
            column = self.root.columns[name]
            sort_by = 'sort_by COLLATE "C"' if column.data_type == "text" else "sort_by"
            order = f"{sort_by} {'DESC' if column.hint('dedup_sort') == 'desc' else 'ASC'} NULLS LAST, place"
        for name in self._columns("hard_delete"):
            parts.append(f"s.{quoted(name)} AS flag")
            is_bool = self.root.columns[name].data_type == "bool"
            conditions.append("flag IS NOT TRUE" if is_bool else "flag IS NULL")
        source = f"SELECT {', '.join(parts)} FROM {self.staged(self.root.name)} s"
        if keys:
            by = ", ".join(f"key_{number}" for number in range(len(keys)))
            unknown = " OR ".join(f"key_{number} IS NULL" for number in range(len(keys)))
            turn = f"row_number() OVER (PARTITION BY {by} ORDER BY {order}) AS turn"
            source = f"SELECT *, {turn} FROM ({source}) AS keyed"
            conditions.insert(0, f"(turn = 1 OR {unknown})")
        return f"SELECT id, place FROM ({source}) AS rows WHERE {' AND '.join(conditions) or 'TRUE'}"

    def double_keys(self) -> str:
        """A query of how many primary keys stand twice among the staged rows; NULL is equal to nothing."""
        columns = self._columns("primary_key")
        by = ", ".join(f"s.{quoted(key)}" for key in columns)
        known = " AND ".join(f"s.{quoted(key)} IS NOT NULL" for key in columns)
        source = f"{self.staged(self.root.name)} s WHERE {known}"
        return f"SELECT count(*) FROM (SELECT 1 FROM {source} GROUP BY {by} HAVING count(*) > 1) AS twice"

    def has_double_ids(self, table: str) -> str:
        """A query of how many row ids, which the data brought itself, stand twice in the load."""
        row_id = quoted(self.keys(table).row_id)
        twice = f"SELECT 1 FROM {self.staged(table)} s GROUP BY s.{row_id} HAVING count(*) > 1"
        return f"SELECT count(*) FROM ({twice}) AS twice"

    def members(self, table: str, source: Callable[[str], str], ids: str) -> str:
        """A condition on the rows of a table: their root row is one of `ids`."""
        column, owners = self._link(table, source, ids)
        return f"{quoted(column)} IN ({owners})"

    def places_leaving(self, table: str) -> str:
        """A query of the places, from 1, of the current rows of a table that leave."""
        column, owners = self._link(table, self.current, self.words.leaving)
        placed = _placed(self.current(table), "row_number() OVER ()", link=column)
        return f"SELECT place FROM ({placed}) AS placed WHERE link IN ({owners})"

    def places_coming(self, table: str, once: bool) -> str:
        """A query of the places, from 1, of the staged rows that come; `once`: no nested row id twice."""
        if table == self.root.name:
            return f"SELECT place FROM {self.words.coming}"
        column, owners = self._link(table, self.staged, self.words.coming)
        row_id = self.keys(table).row_id
        placed = _placed(self.staged(table), self.words.place, link=column, row_id=row_id)
        first = "min(place) AS place" if once else "place"
        grouped = " GROUP BY row_id" if once else ""
        return f"SELECT {first} FROM ({placed}) AS placed WHERE link IN ({owners}){grouped}"

    def _link(self, table: str, source: Callable[[str], str], ids: str) -> tuple[str, str]:
        """The column that leads towards the root row, and a query of the values it may have."""
        keys = self.keys(table)
        if table == self.root.name:
            return keys.row_id, f"SELECT id FROM {ids}"
        known = self.schema.tables[table]
        if keys.root_id and keys.root_id in known.columns:
            return keys.root_id, f"SELECT id FROM {ids}"
        assert known.parent is not None and keys.parent_id is not None, table
        column, owners = self._link(known.parent, source, ids)
        above = quoted(self.keys(known.parent).row_id)
        parents = f"{source(known.parent)} WHERE {quoted(column)} IN ({owners})"
        return keys.parent_id, f"SELECT {above} FROM {parents}"

    def _matching(self, strategy: Strategy) -> list[Sequence[str]]:
        """The keys by which a staged row replaces current ones. One without a type is NULL everywhere."""
        hints = ("primary_key",) if strategy == "upsert" else ("primary_key", "merge_key")
        said = [self.root.columns_with(hint) for hint in hints]
        return [
            columns for columns in said if columns and all(self.root.columns[c].complete for c in columns)
        ]

    def _columns(self, hint: str) -> tuple[str, ...]:
        return tuple(c for c in self.root.columns_with(hint) if self.root.columns[c].complete)


def _equal(columns: Sequence[str]) -> str:
    return " AND ".join(f"d.{quoted(c)} = s.{quoted(c)}" for c in columns)


def _placed(relation: str, place: str, **columns: str) -> str:
    picked = "".join(f", s.{quoted(column)} AS {name}" for name, column in columns.items())
    return f"SELECT {place} AS place{picked} FROM {relation} s"

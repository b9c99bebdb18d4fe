"""The row results of replace and merge as SQL over a staged and a current relation (spec dlt.md, 14).

Everything is expressed by two sets of root row ids: those that leave the destination and those that
come in. A destination that can delete in place deletes the one and inserts the other; one that writes
whole tables selects what stays and what comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trellis.errors import SchemaError
from trellis.evolution.dialect import RowKeys, Strategy
from trellis.schema.model import Schema, Table


def quoted(name: str) -> str:
    """An SQL identifier.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Chain:
    """A root table and its descendants as SQL relations: what is there now, what is staged."""

    schema: Schema
    root: Table
    keys: Callable[[str], RowKeys]
    current: Callable[[str], str]
    staged: Callable[[str], str]

    def leaving(self, strategy: Strategy) -> str:
        """A query of the ids of root rows that the load removes or replaces."""
        row_id = quoted(self.keys(self.root.name).row_id)
        conditions = [
            f"EXISTS (SELECT 1 FROM {self.staged(self.root.name)} s WHERE {_equal(columns)})"
            for columns in self._matching(strategy)
        ]
        if not conditions:
            return f"SELECT {row_id} AS id FROM {self.current(self.root.name)} WHERE FALSE"
        return f"SELECT d.{row_id} AS id FROM {self.current(self.root.name)} d WHERE {' OR '.join(conditions)}"

    def coming(self, strategy: Strategy) -> str:
        """A query of the ids of staged root rows that go in: one per primary key, none marked deleted."""
        keys = self.keys(self.root.name)
        row_id = quoted(keys.row_id)
        primary = self.root.columns_with("primary_key")
        kept = f"SELECT *, {row_id} AS id FROM {self.staged(self.root.name)}"
        if primary and not self.root.hints.get("x-stage-data-deduplicated"):
            by = ", ".join(map(quoted, primary))
            rank = f"row_number() OVER (PARTITION BY {by} ORDER BY {self._order()}) AS rank_of_key"
            kept = f"SELECT * FROM (SELECT *, {row_id} AS id, {rank} FROM {self.staged(self.root.name)}) WHERE rank_of_key = 1"
        condition = self._alive()
        return f"SELECT id FROM ({kept})" + (f" WHERE {condition}" if condition else "")

    def double_keys(self) -> str:
        """A query of how many primary keys stand twice among the staged rows."""
        by = ", ".join(map(quoted, self.root.columns_with("primary_key")))
        return f"SELECT count(*) FROM (SELECT {by} FROM {self.staged(self.root.name)} GROUP BY {by} HAVING count(*) > 1)"

    def path_to_root(self, table: str) -> str | None:
        """The column that links a nested table straight to its root."""
        return self.keys(table).root_id

    def members(self, table: str, source: Callable[[str], str], ids: str) -> str:
        """A condition on rows of a table: their root row is one of `ids`."""
        keys = self.keys(table)
        if table == self.root.name:
            return f"{quoted(keys.row_id)} IN (SELECT id FROM {ids})"
        if keys.root_id:
            return f"{quoted(keys.root_id)} IN (SELECT id FROM {ids})"
        parent = self.schema.tables[table].parent
        assert parent is not None and keys.parent_id is not None
        above = self.keys(parent)
        return (
            f"{quoted(keys.parent_id)} IN (SELECT {quoted(above.row_id)} FROM {source(parent)} "
            f"WHERE {self.members(parent, source, ids)})"
        )

    def _matching(self, strategy: Strategy) -> list[Sequence[str]]:
        primary, merge = self.root.columns_with("primary_key"), self.root.columns_with("merge_key")
        if strategy == "upsert":
            if not primary:
                raise SchemaError(
                    f"table {self.root.name}: upsert needs a primary key; name one with --key COLUMN"
                )
            return [primary]
        return [columns for columns in (primary, merge) if columns]

    def _order(self) -> str:
        for column in self.root.columns.values():
            direction = column.hint("dedup_sort")
            if direction:
                return f"{quoted(column.name)} {'DESC' if direction == 'desc' else 'ASC'} NULLS LAST, staged_at"
        return "staged_at"

    def _alive(self) -> str | None:
        flag = next((c for c in self.root.columns.values() if c.hint("hard_delete")), None)
        if flag is None:
            return None
        name = quoted(flag.name)
        return f"{name} IS NOT TRUE" if flag.data_type == "bool" else f"{name} IS NULL"


def _equal(columns: Sequence[str]) -> str:
    return " AND ".join(f"d.{quoted(c)} = s.{quoted(c)}" for c in columns)

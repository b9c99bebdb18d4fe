"""Which columns may still be given a nested type: nested types do not evolve (D-104)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from trellis.schema.model import NESTED_TYPE, Column, Schema


@dataclass(frozen=True)
class Nesting:
    """`empty` names tables that hold no rows when those of the load come in: new ones, and those it replaces.

    Their `json` columns take the first nested type that comes; those in `typed` have taken theirs.
    """

    empty: frozenset[str] = frozenset()
    typed: frozenset[tuple[str, str]] = frozenset()

    @staticmethod
    def of(schema: Schema, replaced: Collection[str]) -> Nesting:
        """Before a load that replaces some tables. What a table without rows declares is typed."""
        unseen = [table for table in schema.tables.values() if not table.seen_data]
        declared = {(t.name, c.name) for t in unseen for c in t.columns.values() if c.hint(NESTED_TYPE)}
        return Nesting(frozenset({*replaced, *(table.name for table in unseen)}), frozenset(declared))

    def takes(self, table: str, column: Column) -> bool:
        """Whether the column may be given a nested type, or another one."""
        free = table in self.empty and (table, column.name) not in self.typed
        return free and column.data_type == "json"

    def with_typed(self, table: str, column: str) -> Nesting:
        return replace(self, typed=self.typed | {(table, column)})


def with_nested_type(column: Column, nested: str | None) -> Column:
    """The column with a nested type, if it is one of JSON and there is a type."""
    if nested is None or column.data_type != "json":
        return column
    return column.with_hints(**{NESTED_TYPE: nested})

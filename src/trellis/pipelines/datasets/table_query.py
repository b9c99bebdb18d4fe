"""The SELECT that reads a table: one load of it, with or without system columns, nested rows as lists.

Users name their columns as they like, so every name that a query adds begins with `prefix`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trellis.evolution.dialect.system_columns import RowKeys


class SqlEngine(ABC):
    """Where the SQL of the engines that read differs."""

    @abstractmethod
    def quote(self, name: str) -> str: ...

    @abstractmethod
    def text(self, value: str) -> str:
        """A text as a literal."""

    @abstractmethod
    def struct(self, values: Mapping[str, str]) -> str:
        """One value with these fields."""

    @abstractmethod
    def collect(self, value: str, index: str) -> str:
        """An aggregate: the list of the values in the order of an index."""


class DuckDBSql(SqlEngine):
    def quote(self, name: str) -> str:
        return f'"{_doubled(name, chr(34))}"'

    def text(self, value: str) -> str:
        return f"'{_doubled(value, chr(39))}'"

    def struct(self, values: Mapping[str, str]) -> str:
        return f"struct_pack({', '.join(f'{self.quote(name)} := {value}' for name, value in values.items())})"

    def collect(self, value: str, index: str) -> str:
        return f"list({value} ORDER BY {index})"


class SparkSql(SqlEngine):
    """Spark replaces {name} in a query by a DataFrame, so braces of users are doubled."""

    def quote(self, name: str) -> str:
        return f"`{_braces(_doubled(name, '`'))}`"

    def text(self, value: str) -> str:
        return "'" + _braces(value.replace("\\", "\\\\").replace("'", "\\'")) + "'"

    def struct(self, values: Mapping[str, str]) -> str:
        return f"named_struct({', '.join(f'{self.text(name)}, {value}' for name, value in values.items())})"

    def collect(self, value: str, index: str) -> str:
        pairs = f"collect_list(named_struct('at', {index}, 'value', {value}))"
        earlier = "(a, b) -> CASE WHEN a.at < b.at THEN -1 WHEN a.at > b.at THEN 1 ELSE 0 END"
        return f"transform(array_sort({pairs}, {earlier}), pair -> pair.value)"


class ReadTable(NamedTuple):
    """A stored table: its columns in order, those that are shown, its keys, and the tables below it.

    `relation` is an item of a FROM clause, `field` what its rows are called among those of its parent.
    """

    name: str
    relation: str
    columns: Sequence[str]
    shown: Sequence[str]
    keys: RowKeys
    field: str = ""
    children: Sequence[ReadTable] = ()

    def tree(self) -> Iterator[ReadTable]:
        """The table and those below it."""
        yield self
        for child in self.children:
            yield from child.tree()


@dataclass(frozen=True)
class TableQuery:
    """The query of a table, whose `ancestors` are given from its parent upwards.

    With a `load_id` it has the rows that this load brought, or the rows below such.
    """

    table: ReadTable
    ancestors: Sequence[ReadTable]
    engine: SqlEngine
    prefix: str
    load_id: str | None = None

    def render(self) -> str:
        where = "" if self.load_id is None else f" WHERE {self._is_of_load(self.table, self.ancestors)}"
        return f"{self._select(self.table)}{where}"

    def _select(self, table: ReadTable, extra: Mapping[str, str | None] | None = None) -> str:
        q, quote = self.prefix, self.engine.quote
        values = {name: f"{q}row.{quote(name)}" for name in table.shown}
        values |= {name: f"{q}row.{quote(column)}" for name, column in (extra or {}).items() if column}
        joins = []
        for number, child in enumerate(table.children):
            alias = f"{q}{number}"
            values[child.field] = f"{alias}.{q}items"
            same = f"{alias}.{q}parent = {q}row.{quote(table.keys.row_id)}"
            joins.append(f" LEFT JOIN ({self._lists(child)}) AS {alias} ON {same}")
        picked = ", ".join(f"{value} AS {quote(name)}" for name, value in values.items())
        return f"SELECT {picked} FROM {table.relation} AS {q}row{''.join(joins)}"

    def _lists(self, table: ReadTable) -> str:
        """The rows of a nested table as one list for each row of its parent; those of scalars are scalars."""
        q, quote = self.prefix, self.engine.quote
        keys = {f"{q}parent": table.keys.parent_id, f"{q}index": table.keys.list_index}
        fields = [*table.shown, *(child.field for child in table.children)]
        values = {name: f"{q}item.{quote(name)}" for name in fields}
        value = values["value"] if fields == ["value"] else self.engine.struct(values)
        items = self.engine.collect(value, f"{q}item.{q}index")
        rows = f"({self._select(table, keys)}) AS {q}item GROUP BY {q}item.{q}parent"
        return f"SELECT {q}item.{q}parent AS {q}parent, {items} AS {q}items FROM {rows}"

    def _is_of_load(self, table: ReadTable, ancestors: Sequence[ReadTable]) -> str:
        q, quote = self.prefix, self.engine.quote
        if not ancestors:
            assert table.keys.load_id is not None and self.load_id is not None
            return f"{q}row.{quote(table.keys.load_id)} = {self.engine.text(self.load_id)}"
        parent, *others = ancestors
        assert table.keys.parent_id is not None
        ids = f"SELECT {q}row.{quote(parent.keys.row_id)} FROM {parent.relation} AS {q}row"
        return f"{q}row.{quote(table.keys.parent_id)} IN ({ids} WHERE {self._is_of_load(parent, others)})"


def _doubled(text: str, mark: str) -> str:
    return text.replace(mark, mark * 2)


def _braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")

"""Casts of staged columns to real columns of another type, which must not change a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trellis.destinations.postgres.session import ErrorContext, Session, StatementError
from trellis.destinations.refusals import type_mismatch
from trellis.destinations.sql.names import quoted
from trellis.errors import SchemaError
from trellis.schema.model import Column, DataType, Table

_GROUPS: Mapping[DataType | None, str] = {"double": "number", "decimal": "number", "wei": "number"}
_COMPARABLE = (
    ("bigint", "number"),
    ("number", "bigint"),
    ("timestamp", "date"),
    ("date", "timestamp"),
)
_BLOCK = 8192


@dataclass(frozen=True)
class Casts:
    """The columns of a table: in its staging relation, and as they really are.

    `declared` are the types of the schema, `real` those of existing columns, `kinds` the data types of
    these. The server makes the values of `computed` columns. Without staged rows there is
    no `staged` relation.
    """

    table: Table
    staged: str
    place: str
    declared: Mapping[str, str]
    real: Mapping[str, str]
    kinds: Mapping[str, DataType | None]
    computed: frozenset[str] = frozenset()

    @property
    def relation(self) -> str:
        """The staged rows in the types of the real table, as an item of a FROM clause."""
        columns = self.table.complete_columns
        if not self.staged:
            listed = ", ".join(f"CAST(NULL AS {self._type(c)}) AS {quoted(c.name)}" for c in columns)
            return f"(SELECT {listed} WHERE FALSE)"
        if not any(self._is_foreign(c) for c in columns):
            return self.staged
        listed = ", ".join(f"{self._cast(c)} AS {quoted(c.name)}" for c in columns)
        return f"(SELECT {listed}, {quoted(self.place)} FROM {self.staged})"

    def check(self, session: Session, context: ErrorContext) -> None:
        """Raises SchemaError where a value would not be the same in the type of its column."""
        for column in self.table.complete_columns if self.staged else ():
            if self._is_foreign(column) and (changed := self._changed(column)):
                name = quoted(column.name)
                query = f"SELECT CAST({name} AS text) FROM {self.staged} WHERE {changed} LIMIT 1"
                row = session.run(query, context=context).fetchone()
                if row is not None:
                    raise self._clash(column, row[0])

    def find_mismatch(self, session: Session) -> SchemaError | None:
        """The first column that does not take all staged values, and one of these. No transaction is open."""
        for column in self.table.complete_columns if self.staged else ():
            if self._type(column) != self.declared[column.name]:
                probe = CastProbe(session, self._type(column), self._cast(column), self.staged)
                if not probe.accepts():
                    return self._clash(column, probe.find_example(quoted(column.name)))
        return None

    def _type(self, column: Column) -> str:
        return self.real.get(column.name, self.declared[column.name])

    def _is_foreign(self, column: Column) -> bool:
        """Whether the real column is of another kind than the schema says."""
        if column.name not in self.real or column.name in self.computed:
            return False
        return _kind(self.kinds.get(column.name)) != _kind(column.data_type)

    def _cast(self, column: Column) -> str:
        name, real = quoted(column.name), self._type(column)
        if not self._is_foreign(column):
            return name
        pair = (_kind(column.data_type), _kind(self.kinds.get(column.name)))
        is_direct = "text" in pair or pair in _COMPARABLE
        return f"CAST({name} AS {real})" if is_direct else f"CAST(CAST({name} AS text) AS {real})"

    def _changed(self, column: Column) -> str:
        """A condition: the value is another one in the real column. Texts are taken as they are written."""
        pair = (_kind(column.data_type), _kind(self.kinds.get(column.name)))
        if "text" in pair:
            return ""
        name, cast = quoted(column.name), self._cast(column)
        back = self.declared[column.name] if pair in _COMPARABLE else "text"
        return f"CAST({cast} AS {back}) IS DISTINCT FROM CAST({name} AS {back})"

    def _clash(self, column: Column, value: Any) -> SchemaError:
        name = column.name
        return type_mismatch(self.table.name, name, self.real[name], self.declared[name], value)


@dataclass(frozen=True)
class CastProbe:
    """Finds a value of some rows, cast, that a column of a type does not take."""

    session: Session
    type: str
    cast: str
    rows: str

    def accepts(self, where: str = "TRUE") -> bool:
        try:
            with self.session.transaction():
                self.session.run(f"CREATE TEMP TABLE probe (value {self.type}) ON COMMIT DROP")
                self.session.run(
                    f"INSERT INTO pg_temp.probe SELECT {self.cast} FROM {self.rows} WHERE {where}"
                )
        except StatementError:
            return False
        return True

    def find_example(self, column: str) -> Any:
        """The text of a value that does not fit: in half of the blocks, in half of these, in a row of one."""
        low, high = 0, self.session.value("SELECT pg_relation_size(to_regclass($1))", [self.rows]) // _BLOCK
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.accepts(_blocks(low, middle)) else (low, middle)
        rows = self.session.run(
            f"SELECT CAST(ctid AS text), CAST({column} AS text) FROM {self.rows} WHERE {_blocks(low, high)}"
        ).fetchall()
        return next((text for row, text in rows if not self.accepts(f"ctid = '{row}'")), None)


def _kind(data_type: DataType | None) -> str | None:
    return _GROUPS.get(data_type, data_type)


def _blocks(low: int, high: int) -> str:
    return f"ctid >= '({low},0)' AND ctid < '({high},0)'"

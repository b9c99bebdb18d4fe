"""A `KeyedWrite` as SQL that runs unchanged on DuckDB and PostgreSQL.

A destination that changes tables in place makes one `KeyedStatements` per load, after the migration, and
executes `statements`, one after the other, in its one transaction. Each may use the temporary tables of those
before it; the last ones drop these.

A destination that writes whole files executes `prepare` and asks for the parts: it inserts the staged rows
for which `is_inserted` holds; where the load replaces or coalesces, it removes the rows of the table for
which `is_replaced` holds; where it coalesces, it inserts `coalesced_rows` and `coalesced_new_rows`, too.

Users name their columns as they like, so every name that a statement adds begins with `prefix`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from trellis.destinations.sql.names import RowAliases, quoted
from trellis.evolution.table_writes import KeyedWrite

Count = Callable[[str], int]


class KeyedStatement(NamedTuple):
    """`effect`: what it does to rows of the table, if anything."""

    sql: str
    effect: Literal["insert", "update", "delete"] | None = None


@dataclass(frozen=True)
class EngineSyntax:
    """Where the SQL of the engines differs.

    `temp` is the qualifier of temporary tables. `newest` is an aggregate of the columns {value} and {turn}:
    the value of the greatest turn that has one. `cells` is how many values are coalesced in one statement at
    most; None: any number. `create` makes a temporary table, or a view that is computed when it is read.
    """

    temp: str
    newest: str
    cells: int | None = None
    create: str = "CREATE TEMP TABLE"


# In DuckDB 8 million values take about 1 GB; where that is too much it spills, and takes three times as long.
DUCKDB = EngineSyntax("temp.main.", "arg_max({value}, {turn})", 8_000_000)
POSTGRES = EngineSyntax(
    "pg_temp.", "(array_agg({value} ORDER BY {turn} DESC) FILTER (WHERE {value} IS NOT NULL))[1]"
)


@dataclass(frozen=True)
class KeyedStatements(RowAliases):
    """One keyed load as SQL.

    `table` is the name of the table, or for a destination of whole files an item of a FROM clause;
    `table_columns` are those that can be written. `staged` is an item of a FROM clause and read several
    times: it has `columns`, all of them `table_columns` and of the types that they have in the table, and
    `place`, an integer that is unique, never NULL and grows in the order of the input. No column
    of the table or of `staged` begins with `prefix`, but for the place.
    """

    load: KeyedWrite
    table: str
    staged: str
    columns: Sequence[str]
    table_columns: Collection[str]
    place: str
    prefix: str
    syntax: EngineSyntax = DUCKDB

    @property
    def merges(self) -> bool:
        """Whether rows can be equal: a key that no staged row has is NULL in all of them."""
        return bool(self.load.keys) and {*self.load.keys} <= {*self.columns}

    @property
    def coalesces(self) -> bool:
        return self.merges and self.load.on_match in ("coalesce_latest", "coalesce_matched_only")

    @property
    def replaces(self) -> bool:
        return self.merges and self.load.on_match in ("replace", "newer")

    def statements(self, count: Count | None = None) -> Iterator[KeyedStatement]:
        """The statements to execute, in order, each before the next one is rendered.

        `count` executes a query of one number; it is needed where not all can be filled at once.
        """
        yield from map(KeyedStatement, self.prepare(count))
        into = f"INSERT INTO {self.table} ({', '.join(map(quoted, self.columns))})"
        current, staged, filled = self.current_row, self.staged_row, self._coalesced_row
        values = [quoted(name) for name in self.columns if name not in self.load.keys]
        if self.replaces:
            delete = f"DELETE FROM {self.table} AS {current} WHERE {self.is_replaced()}"
            yield KeyedStatement(delete, "delete")
        if self.coalesces and values:
            set_ = ", ".join(f"{name} = {filled}.{name}" for name in values)
            source = f"{self.coalesced} AS {filled} WHERE {self._equal(current, filled)}"
            yield KeyedStatement(f"UPDATE {self.table} AS {current} SET {set_} FROM {source}", "update")
        if self.coalesces:
            yield KeyedStatement(f"{into} {self.coalesced_new_rows(self.columns)}", "insert")
        columns = ", ".join(f"{staged}.{quoted(name)}" for name in self.columns)
        rows = f"SELECT {columns} FROM {self.staged} AS {staged} WHERE {self.is_inserted()}"
        yield KeyedStatement(f"{into} {rows}", "insert")
        yield from map(KeyedStatement, self.drop_temporary_tables())

    def prepare(self, count: Count | None = None) -> Iterator[str]:
        """Statements that make the temporary tables which the other queries read."""
        if self.coalesces:
            yield f"{self.syntax.create} {self._turns} AS {self._every_turn()}"
            passes = self._passes(count)
            yield f"{self.syntax.create} {self.coalesced} AS {self._newest(0, passes)}"
            for number in range(1, passes):
                yield f"INSERT INTO {self.coalesced} {self._newest(number, passes)}"
        elif self.merges:
            yield f"{self.syntax.create} {self._older} AS {self._not_newest()}"

    def drop_temporary_tables(self) -> Iterator[str]:
        """Statements that drop the temporary tables."""
        if self.coalesces:
            yield f"DROP TABLE {self.coalesced}"
            yield f"DROP TABLE {self._turns}"
        elif self.merges:
            yield f"DROP TABLE {self._older}"

    def is_inserted(self) -> str:
        """A condition on a staged row, called `staged_row`: it is inserted as it is."""
        if self.load.on_match == "coalesce_matched_only":
            return "FALSE"
        if not self.merges:
            return "FALSE" if self.load.needs_keys else "TRUE"
        q, current, staged = self.prefix, self.current_row, self.staged_row
        others = f"{self._turns if self.coalesces else self._older} AS {q}turns"
        is_latest = (
            f"NOT EXISTS (SELECT 1 FROM {others} WHERE {q}turns.{q}place = {staged}.{quoted(self.place)})"
        )
        if self.load.needs_keys:
            keys = (f"{staged}.{quoted(key)} IS NOT NULL" for key in self.load.keys)
            is_latest = " AND ".join((is_latest, *keys))
        stays = {"keep": "TRUE", "first": "TRUE", "newer": self._is_newer}.get(self.load.on_match)
        if stays is None:
            return is_latest
        same = f"{self._equal(current, staged)} AND {stays}"
        return f"{is_latest} AND NOT EXISTS (SELECT 1 FROM {self.table} AS {current} WHERE {same})"

    def is_replaced(self) -> str:
        """A condition on a row of the table, called `current_row`: a staged row takes its place."""
        goes = f" AND NOT ({self._is_newer})" if self.load.on_match == "newer" else ""
        same = f"{self._equal(self.current_row, self.staged_row)}{goes}"
        return f"EXISTS (SELECT 1 FROM {self.staged} AS {self.staged_row} WHERE {same})"

    @property
    def _is_newer(self) -> str:
        """A condition on a row of the table and a staged one: that of the table is the later one."""
        latest = self._staged_latest
        if not latest or latest not in self.table_columns:
            return "FALSE"
        current, staged = (f"{row}.{quoted(latest)}" for row in (self.current_row, self.staged_row))
        return f"({current} IS NOT NULL AND ({staged} IS NULL OR {staged} < {current}))"

    def coalesced_rows(self, columns: Iterable[str]) -> str:
        """A query of these columns of the rows that leave, as they are when filled."""
        current, filled = self.current_row, self._coalesced_row
        picked = (f"{filled if name in self.columns else current}.{quoted(name)}" for name in columns)
        joined = f"{self.table} AS {current} JOIN {self.coalesced} AS {filled}"
        return f"SELECT {', '.join(picked)} FROM {joined} ON {self._equal(current, filled)}"

    def coalesced_new_rows(self, columns: Iterable[str]) -> str:
        """A query of these columns of filled rows that the table does not hold."""
        q, filled = self.prefix, self._coalesced_row
        picked = (
            f"{filled}.{quoted(name)}" if name in self.columns else f"NULL AS {quoted(name)}"
            for name in columns
        )
        same = f"{q}turns.{q}place IS NULL AND {self._equal_key(filled)}"
        known = f"SELECT 1 FROM {self._turns} AS {q}turns WHERE {same}"
        return f"SELECT {', '.join(picked)} FROM {self.coalesced} AS {filled} WHERE NOT EXISTS ({known})"

    def _passes(self, count: Count | None) -> int:
        """In how many parts the rows are filled."""
        if count is None or self.syntax.cells is None:
            return 1
        keys = count(f"SELECT count(DISTINCT {self.prefix}number) FROM {self._turns}")
        return max(1, -(-keys * len(self.columns) // self.syntax.cells))

    def _newest(self, number: int, passes: int) -> str:
        """A query of the filled rows, or of a part of them: the columns that staged rows have."""
        q, current, staged = self.prefix, self.current_row, self.staged_row
        values = [name for name in self.columns if name not in self.load.keys]
        newest = {
            name: self.syntax.newest.format(value=f"{q}value_{at}", turn=f"{q}turn")
            for at, name in enumerate(values)
        }
        shown = {**dict(zip(self.load.keys, self._key_columns, strict=True)), **newest}
        picked = ", ".join(f"{shown[name]} AS {quoted(name)}" for name in self.columns)
        turns = f"{self._turns} AS {q}turns"
        part = f" AND {q}turns.{q}number % {passes} = {number}" if passes > 1 else ""
        return (
            f"SELECT {picked} FROM ("
            f"SELECT {self._values(values, staged)} FROM {self.staged} AS {staged} "
            f"JOIN {turns} ON {q}turns.{q}place = {staged}.{quoted(self.place)}{part} UNION ALL "
            f"SELECT {self._values(values, current)} FROM {self.table} AS {current} "
            f"JOIN {turns} ON {q}turns.{q}place IS NULL AND {self._equal_key(current)}{part}"
            f") AS {q}rows GROUP BY {self._keys}"
        )

    def _not_newest(self) -> str:
        """A query of the places of staged rows that yield to another one of their key."""
        q = self.prefix
        latest = f"{q}latest DESC NULLS LAST, " if self._staged_latest else ""
        direction = "ASC" if self.load.on_match == "first" else "DESC"
        order = f"PARTITION BY {self._keys} ORDER BY {latest}{q}place {direction}"
        ranked = (
            f"SELECT {q}place, row_number() OVER ({order}) AS {q}turn FROM ({self._of_staged()}) AS {q}keyed"
        )
        return f"SELECT {q}place FROM ({ranked}) AS {q}ranked WHERE {q}turn > 1"

    def _every_turn(self) -> str:
        """A query of the rows whose key occurs more than once: the staged ones, and one for all of the table.

        That one has no place. `turn` grows with the right to be believed, `number` is one for a key.
        """
        q, current = self.prefix, self.current_row
        latest = f"{q}latest NULLS FIRST, " if self._staged_latest or self._table_latest else ""
        by = f"PARTITION BY {self._keys}"
        several = (
            f"{q}times > {q}places" if self.load.on_match == "coalesce_matched_only" else f"{q}times > 1"
        )
        keys = ", ".join(f"{current}.{quoted(key)}" for key in self.load.keys)
        newest = f"max({current}.{quoted(self._table_latest)})" if self._table_latest else "NULL"
        held = f"{self.table} AS {current} WHERE {self.is_replaced()} GROUP BY {keys}"
        every_row = f"{self._of_staged()} UNION ALL SELECT NULL, {keys}, {newest} FROM {held}"
        return (
            f"SELECT {q}place, {q}turn, {q}number, {self._keys} FROM (SELECT {q}place, {self._keys}, "
            f"row_number() OVER ({by} ORDER BY {latest}{q}place NULLS FIRST) AS {q}turn, "
            f"count(*) OVER ({by}) AS {q}times, count({q}place) OVER ({by}) AS {q}places, "
            f"max({q}place) OVER ({by}) AS {q}number "
            f"FROM ({every_row}) AS {q}keyed) AS {q}ranked WHERE {several}"
        )

    def _of_staged(self) -> str:
        """A query of the place, the keys and the time of the staged rows that have a whole key."""
        q, staged = self.prefix, self.staged_row
        keys = [f"{staged}.{quoted(key)}" for key in self.load.keys]
        known = " AND ".join(f"{key} IS NOT NULL" for key in keys)
        latest = f"{staged}.{quoted(self._staged_latest)}" if self._staged_latest else "NULL"
        picked = (
            f"{staged}.{quoted(self.place)} AS {q}place",
            *(f"{key} AS {shown}" for key, shown in zip(keys, self._key_columns, strict=True)),
            f"{latest} AS {q}latest",
        )
        return f"SELECT {', '.join(picked)} FROM {self.staged} AS {staged} WHERE {known}"

    def _values(self, names: Sequence[str], row: str) -> str:
        q = self.prefix
        turns = (f"{q}turns.{name}" for name in (f"{q}turn", *self._key_columns))
        values = (f"{row}.{quoted(name)} AS {q}value_{at}" for at, name in enumerate(names))
        return ", ".join((*turns, *values))

    @property
    def _staged_latest(self) -> str:
        return self.load.latest if self.load.latest and self.load.latest in self.columns else ""

    @property
    def _table_latest(self) -> str:
        return self.load.latest if self.load.latest and self.load.latest in self.table_columns else ""

    @property
    def _keys(self) -> str:
        return ", ".join(self._key_columns)

    @property
    def _key_columns(self) -> Sequence[str]:
        """What the keys are called in the queries of turns."""
        return [f"{self.prefix}key_{at}" for at in range(len(self.load.keys))]

    def _equal(self, one: str, other: str) -> str:
        return " AND ".join(f"{one}.{quoted(key)} = {other}.{quoted(key)}" for key in self.load.keys)

    def _equal_key(self, row: str) -> str:
        pairs = zip(self.load.keys, self._key_columns, strict=True)
        return " AND ".join(f"{row}.{quoted(key)} = {self.prefix}turns.{shown}" for key, shown in pairs)

    @property
    def _coalesced_row(self) -> str:
        return f"{self.prefix}filled"

    @property
    def _older(self) -> str:
        return f"{self.syntax.temp}{self.prefix}keyed_older"

    @property
    def coalesced(self) -> str:
        return f"{self.syntax.temp}{self.prefix}keyed_filled"

    @property
    def _turns(self) -> str:
        return f"{self.syntax.temp}{self.prefix}keyed_turns"

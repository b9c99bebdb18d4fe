"""The row results of a `KeyedLoad` as SQL that runs unchanged on DuckDB and PostgreSQL.

A destination that changes tables in place makes one `Keyed` per load, after the migration, and executes
what `statements` gives, one after the other, in its one transaction:

    keyed = Keyed(load, '"shop"."users"', "pg_temp.staged", columns, there, "place", POSTGRES)
    for statement in keyed.statements():
        cursor.execute(statement)

Every statement may use what those before it made; the last ones drop the temporary tables. A destination
that writes whole files executes `prepare` and asks for the parts: the staged rows for which `comes` holds go
in; where the load replaces or fills, the rows of the table for which `leaves` holds go out; where it fills,
what `changed` and `added` give goes in too.

Users name their columns as they like, so a query here never adds a column beside those of a table:
what it needs is renamed in a subquery that shows nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from trellis.destinations.sql.names import quoted
from trellis.evolution.loading import KeyedLoad

Count = Callable[[str], int]


@dataclass(frozen=True)
class Speaks:
    """What engines say differently.

    `temp` stands before the name of a temporary table. `newest` is an aggregate of the columns {value} and
    turn: the value of the greatest turn in which there is one. `cells` is how many values can be filled at
    once, None if it does not matter.
    """

    temp: str
    newest: str
    cells: int | None = None


# In DuckDB 8 million values take about 1 GB; where that is too much it spills, and takes three times as long.
DUCKDB = Speaks("temp.main.", "arg_max({value}, turn)", 8_000_000)
POSTGRES = Speaks("pg_temp.", "(array_agg({value} ORDER BY turn DESC) FILTER (WHERE {value} IS NOT NULL))[1]")


@dataclass(frozen=True)
class Keyed:
    """One keyed load as SQL.

    `table` is the name of the table, or for a destination of whole files what stands for it in a FROM clause;
    `there` are its columns, as far as they can be written. `staged` stands in a FROM clause and is read
    several times: it has `columns`, which are all `there` and have the types they have in the table, and
    `place`, an integer that is never NULL and never twice and grows in the order of the input.
    """

    load: KeyedLoad
    table: str
    staged: str
    columns: Sequence[str]
    there: Collection[str]
    place: str = "place"
    speaks: Speaks = DUCKDB

    @property
    def merges(self) -> bool:
        """Whether rows can be equal: a key that no staged row has is NULL in all of them."""
        return bool(self.load.keys) and {*self.load.keys} <= {*self.columns}

    @property
    def fills(self) -> bool:
        return self.merges and self.load.on_match in ("fill", "amend")

    @property
    def replaces(self) -> bool:
        return self.merges and self.load.on_match in ("replace", "newer")

    def statements(self, count: Count | None = None) -> Iterator[str]:
        """What is to be executed, in order, each before the next one is asked for.

        `count` executes a query of one number; it is needed where not all can be filled at once.
        """
        yield from self.prepare(count)
        into, table = ", ".join(map(quoted, self.columns)), self.table
        values = [quoted(name) for name in self.columns if name not in self.load.keys]
        if self.replaces:
            yield f"DELETE FROM {table} AS c WHERE {self.leaves()}"
        if self.fills and values:
            set_ = ", ".join(f"{name} = f.{name}" for name in values)
            yield f"UPDATE {table} AS c SET {set_} FROM {self._filled} f WHERE {self._equal('c', 'f')}"
        if self.fills:
            yield f"INSERT INTO {table} ({into}) {self.added(self.columns)}"
        yield f"INSERT INTO {table} ({into}) SELECT {into} FROM {self.staged} s WHERE {self.comes()}"
        yield from self.clear()

    def prepare(self, count: Count | None = None) -> Iterator[str]:
        """Statements that make the temporary tables which the other queries read."""
        if self.fills:
            yield f"CREATE TEMP TABLE {self._turns} AS {self._every_turn()}"
            passes = self._passes(count)
            yield f"CREATE TEMP TABLE {self._filled} AS {self._newest(0, passes)}"
            for number in range(1, passes):
                yield f"INSERT INTO {self._filled} {self._newest(number, passes)}"
        elif self.merges:
            yield f"CREATE TEMP TABLE {self._older} AS {self._not_newest()}"

    def clear(self) -> Iterator[str]:
        """Statements that drop the temporary tables."""
        if self.fills:
            yield f"DROP TABLE {self._filled}"
            yield f"DROP TABLE {self._turns}"
        elif self.merges:
            yield f"DROP TABLE {self._older}"

    def comes(self) -> str:
        """A condition on a staged row `s`: it goes in as it is."""
        if self.load.on_match == "amend":
            return "FALSE"
        if not self.merges:
            return "TRUE"
        made = self._turns if self.fills else self._older
        alone = f"NOT EXISTS (SELECT 1 FROM {made} t WHERE t.place = s.{quoted(self.place)})"
        stays = {"keep": "TRUE", "newer": self._is_newer}.get(self.load.on_match)
        if stays is None:
            return alone
        known = f"SELECT 1 FROM {self.table} c WHERE {self._equal('c', 's')} AND {stays}"
        return f"{alone} AND NOT EXISTS ({known})"

    def leaves(self) -> str:
        """A condition on a row `c` of the table: a staged row takes its place."""
        goes = f" AND NOT ({self._is_newer})" if self.load.on_match == "newer" else ""
        return f"EXISTS (SELECT 1 FROM {self.staged} s WHERE {self._equal('c', 's')}{goes})"

    @property
    def _is_newer(self) -> str:
        """A condition on a row `c` of the table and a staged row `s`: that of the table is the later one."""
        latest = self._staged_latest
        if not latest or latest not in self.there:
            return "FALSE"
        mine, other = (f"{row}.{quoted(latest)}" for row in ("c", "s"))
        return f"({mine} IS NOT NULL AND ({other} IS NULL OR {other} < {mine}))"

    def changed(self, columns: Iterable[str]) -> str:
        """A query of these columns of the rows that leave, as they are when filled."""
        picked = ", ".join(f"{'f' if name in self.columns else 'c'}.{quoted(name)}" for name in columns)
        return f"SELECT {picked} FROM {self.table} c JOIN {self._filled} f ON {self._equal('c', 'f')}"

    def added(self, columns: Iterable[str]) -> str:
        """A query of these columns of filled rows that the table does not hold."""
        picked = (
            f"f.{quoted(name)}" if name in self.columns else f"NULL AS {quoted(name)}" for name in columns
        )
        known = f"SELECT 1 FROM {self._turns} t WHERE t.place IS NULL AND {self._equal_key('f')}"
        return f"SELECT {', '.join(picked)} FROM {self._filled} f WHERE NOT EXISTS ({known})"

    def _passes(self, count: Count | None) -> int:
        """In how many parts the rows are filled."""
        if count is None or self.speaks.cells is None:
            return 1
        keys = count(f"SELECT count(DISTINCT number) FROM {self._turns}")
        return max(1, -(-keys * len(self.columns) // self.speaks.cells))

    def _newest(self, number: int, passes: int) -> str:
        """A query of the filled rows, or of a part of them: the columns that staged rows have."""
        values = [name for name in self.columns if name not in self.load.keys]
        keys = {name: f"key_{at}" for at, name in enumerate(self.load.keys)}
        newest = {name: self.speaks.newest.format(value=f"value_{at}") for at, name in enumerate(values)}
        shown = ", ".join(f"{(keys | newest)[name]} AS {quoted(name)}" for name in self.columns)
        part = f" AND t.number % {passes} = {number}" if passes > 1 else ""
        return (
            f"SELECT {shown} FROM ("
            f"SELECT {self._values(values, 's')} FROM {self.staged} s "
            f"JOIN {self._turns} t ON t.place = s.{quoted(self.place)}{part} UNION ALL "
            f"SELECT {self._values(values, 'c')} FROM {self.table} c "
            f"JOIN {self._turns} t ON t.place IS NULL AND {self._equal_key('c')}{part}"
            f") every_row GROUP BY {self._keys}"
        )

    def _not_newest(self) -> str:
        """A query of the places of staged rows that yield to another one of their key."""
        latest = "latest DESC NULLS LAST, " if self._staged_latest else ""
        turn = f"row_number() OVER (PARTITION BY {self._keys} ORDER BY {latest}place DESC) AS turn"
        return (
            f"SELECT place FROM (SELECT place, {turn} FROM ({self._of_staged()}) keyed) ranked WHERE turn > 1"
        )

    def _every_turn(self) -> str:
        """A query of the rows whose key stands more than once: the staged ones, and one for all of the table.

        That one has no place. `turn` grows with the right to be believed, `number` is one for a key.
        """
        latest = "latest NULLS FIRST, " if self._staged_latest or self._table_latest else ""
        by, several = f"PARTITION BY {self._keys}", "times > 1"
        if self.load.on_match == "amend":
            several = "times > places"
        keys = ", ".join(f"c.{quoted(key)}" for key in self.load.keys)
        newest = f"max(c.{quoted(self._table_latest)})" if self._table_latest else "NULL"
        of_table = f"SELECT NULL, {keys}, {newest} FROM {self.table} c WHERE {self.leaves()} GROUP BY {keys}"
        return (
            f"SELECT place, turn, number, {self._keys} FROM (SELECT place, {self._keys}, "
            f"row_number() OVER ({by} ORDER BY {latest}place NULLS FIRST) AS turn, "
            f"count(*) OVER ({by}) AS times, count(place) OVER ({by}) AS places, "
            f"max(place) OVER ({by}) AS number "
            f"FROM ({self._of_staged()} UNION ALL {of_table}) keyed) ranked WHERE {several}"
        )

    def _of_staged(self) -> str:
        """A query of the place, the keys and the time of the staged rows that have a whole key."""
        keys = ", ".join(f"s.{quoted(key)} AS key_{at}" for at, key in enumerate(self.load.keys))
        latest = f"s.{quoted(self._staged_latest)}" if self._staged_latest else "NULL"
        known = " AND ".join(f"s.{quoted(key)} IS NOT NULL" for key in self.load.keys)
        place = f"s.{quoted(self.place)} AS place"
        return f"SELECT {place}, {keys}, {latest} AS latest FROM {self.staged} s WHERE {known}"

    def _values(self, names: Sequence[str], row: str) -> str:
        values = (f"{row}.{quoted(name)} AS value_{at}" for at, name in enumerate(names))
        return ", ".join(["t.turn", *(f"t.key_{at}" for at in range(len(self.load.keys))), *values])

    @property
    def _staged_latest(self) -> str:
        return self.load.latest if self.load.latest and self.load.latest in self.columns else ""

    @property
    def _table_latest(self) -> str:
        return self.load.latest if self.load.latest and self.load.latest in self.there else ""

    @property
    def _keys(self) -> str:
        return ", ".join(f"key_{at}" for at in range(len(self.load.keys)))

    def _equal(self, one: str, other: str) -> str:
        return " AND ".join(f"{one}.{quoted(key)} = {other}.{quoted(key)}" for key in self.load.keys)

    def _equal_key(self, row: str) -> str:
        return " AND ".join(f"{row}.{quoted(key)} = t.key_{at}" for at, key in enumerate(self.load.keys))

    @property
    def _older(self) -> str:
        return f"{self.speaks.temp}keyed_older"

    @property
    def _filled(self) -> str:
        return f"{self.speaks.temp}keyed_filled"

    @property
    def _turns(self) -> str:
        return f"{self.speaks.temp}keyed_turns"

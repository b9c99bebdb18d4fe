"""Columns named like what stands in our own statements: every alias, helper column, function and keyword.

The names are read off the statements that loads of all kinds execute, so they are those of today's code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import trellis
from destinations.commits import Row, Warehouse
from destinations.conftest import merging
from destinations.postgres_server import Server
from trellis.destinations.base import History, Reset, TableTreeWrite
from trellis.destinations.postgres.session import Session
from trellis.destinations.sql.names import quoted
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.evolution.table_writes import IdentityRules, KeyedWrite, OnMatch
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.schema.model import Column, DataType, Schema, Table

KINDS: tuple[DataType, ...] = ("json", "text", "bigint")
RETYPED_FROM: Mapping[DataType, DataType] = {"json": "text", "text": "bigint", "bigint": "text"}
ON_MATCH: tuple[OnMatch, ...] = (
    "replace",
    "newer",
    "keep",
    "coalesce_latest",
    "coalesce_matched_only",
    "append",
)
NOON, ONE = (datetime(2026, 1, 1, hour, tzinfo=timezone.utc) for hour in (12, 13))
ENGINES = ("rowid", "filename", "file_index", "file_row_number", "excluded", "alias", "old", "new", "value")
"""What engines call something by themselves."""
ODD = ('a"b', "a.b", "a b", "Ä", "1")
NOT_IN_DELTA = frozenset(" ,;{}()=\t\n")
SYSTEM_COLUMNS = {"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}
"""What no column of PostgreSQL can be called."""


# --- The names -------------------------------------------------------------------------------------------


class Recorder:
    """A connection of DuckDB that keeps the statements it executes."""

    def __init__(self, db: duckdb.DuckDBPyConnection, statements: list[str]) -> None:
        self.db = db
        self.statements = statements

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.db.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.db, name)

    def execute(self, statement: str, *values: Any) -> Any:
        self.statements.append(statement)
        return self.db.execute(statement, *values)

    def sql(self, query: str, **options: Any) -> Any:
        self.statements.append(query)
        return self.db.sql(query, **options)


@contextmanager
def recording() -> Iterator[list[str]]:
    """The statements that DuckDB and PostgreSQL execute meanwhile."""
    statements: list[str] = []
    connect, run = duckdb.connect, Session.run

    def recorded_run(session: Session, statement: str, *values: Any, **options: Any) -> Any:
        statements.append(statement)
        return run(session, statement, *values, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(duckdb, "connect", lambda *path: Recorder(connect(*path), statements))
        patched.setattr(Session, "run", recorded_run)
        yield statements


@pytest.fixture(scope="module")
def statements(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Those of loads of all kinds that read tables of users: these statements quote names."""
    folder, database = tmp_path_factory.mktemp("words"), postgres.new_database()
    with pytest.MonkeyPatch.context() as patched, recording() as executed:
        patched.setenv("TRELLIS_STAGING", str(folder / "staging"))
        for url in (f"duckdb:{folder}/w.duckdb", postgres.url(database)):
            Loads(Warehouse(url, folder / url[:3]), ("one", "two", "three", "four"), "text").check_all()
    postgres.drop_database(database)
    return [statement for statement in executed if '"' in statement]


_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_TEXT = re.compile(r"'(?:[^']|'')*'")
_STAGING = re.compile(r"[0-9a-f]{16}_")


@dataclass(frozen=True)
class Words:
    """The identifiers and keywords in statements; `fields` are those that stand behind a dot."""

    names: frozenset[str]
    fields: frozenset[str]

    @staticmethod
    def of(statements: Sequence[str]) -> Words:
        """In lower case, without what stands in texts, and without the names of staging tables."""
        names, fields = set[str](), set[str]()
        for statement in {_TEXT.sub("''", statement) for statement in statements}:
            names |= {*_QUOTED.findall(statement), *re.findall(r"[A-Za-z_]\w*", _QUOTED.sub(" ", statement))}
            fields |= {*re.findall(r"\.\"?(\w+)", statement)}
        return Words(*(frozenset(_lower(words)) for words in (names, fields)))


def _lower(names: set[str]) -> set[str]:
    return {name.lower() for name in names if name and not _STAGING.match(name)}


@pytest.fixture(scope="module")
def words(statements: list[str]) -> Words:
    """What stands in the statements, and reserved words."""
    with duckdb.connect() as db:
        query = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
        reserved = {name for (name,) in db.execute(query).fetchall()}
    recorded = Words.of(statements)
    return replace(recorded, names=recorded.names | reserved | SYSTEM_COLUMNS | {*ENGINES, *ODD})


# --- The loads -------------------------------------------------------------------------------------------

LINKS = IdentityRules(
    "rules",
    "mappings",
    (("kind_1", "value_1"), ("kind_2", "value_2")),
    "kind",
    "value_1",
    "identity",
    "updated",
)
FIXED: Mapping[str, Column] = {
    column.name: column
    for column in (
        Column("id", "bigint").with_hints(primary_key=True, merge_key=True),
        Column("at", "bigint").with_hints(dedup_sort="desc"),
        Column("gone", "bool").with_hints(hard_delete=True),
        *(Column(name, "text") for name in ("row", "parent", "root", "kind", "identity")),
        *(Column(name, "text") for pair in LINKS.pairs for name in pair),
        *(Column(name, "timestamp") for name in ("begins", "ends", "updated")),
    )
}
"""The columns that the loads look at, and that are not among the names."""
CHAINS: Mapping[str, Callable[[datetime], TableTreeWrite]] = {
    "appended": lambda at: TableTreeWrite("appended", "append"),
    "replaced": lambda at: TableTreeWrite("replaced", "replace"),
    "merged": lambda at: TableTreeWrite("merged", "merge"),
    "upserted": lambda at: TableTreeWrite("upserted", "merge", "upsert"),
    "inserted": lambda at: TableTreeWrite("inserted", "merge", "insert-only"),
    "historized": lambda at: TableTreeWrite(
        "historized", "merge", "scd2", History("row", "begins", "ends", at)
    ),
}
LEVELS = {
    "": RowKeys("row"),
    "__k": RowKeys("row", parent_id="parent"),
    "__k__g": RowKeys("row", root_id="root", parent_id="parent"),
}
"""By the end of a table's name: nested rows know the row above them, the lowest ones their root as well."""
NESTED = ("merged", "historized")
"""The root tables with tables below them."""


@dataclass
class Loads:
    """Loads of every kind into tables with columns of these names.

    A row has the same version in all of these columns: "old", "new" (NULL in every third column), "filled"
    (the new value where there is one, else the old), or "none" (all NULL). JSON holds the number of its row
    in each of `fields`. `by_hand` adds the columns to a real table, with old cells in its rows; without it
    they are in the schema.
    """

    warehouse: Warehouse
    names: Sequence[str]
    kind: DataType
    fields: Sequence[str] = ()
    by_hand: Callable[[Loads, str], None] | None = None
    tables: dict[str, Table] = field(default_factory=dict)

    def check_all(self) -> None:
        if self.merges:
            self.check_keyed()
            self.check_chains()
            self.check_links()
        else:
            self.check_appended()
        if self.by_hand is None:
            self.check_columns()
            self.check_reading()

    # Cells

    @cached_property
    def key_names(self) -> Sequence[str]:
        """The columns that are keys beside the id: half of those that can be."""
        if self.by_hand or self.kind == "json":
            return ()
        return self.names[::2] if self.kind == "text" else self.names[1::2]

    def cell(self, number: int, version: str) -> Any:
        if self.kind == "json":
            return json.dumps({**dict.fromkeys(self.fields, number), "version": version})
        return f"{number} {version}" if self.kind == "text" else 10 * number + ("old", "new").index(version)

    def cells(self, number: int, version: str) -> dict[str, Any]:
        """What the columns of a row hold; keys are old in all versions."""
        if version == "none":
            return dict.fromkeys(self.names)
        old, new = self.cell(number, "old"), self.cell(number, "new")
        every_third = None if version == "new" else old
        others = old if version == "old" else new
        cells = {name: others if at % 3 else every_third for at, name in enumerate(self.names)}
        return cells | dict.fromkeys(self.key_names, old)

    def staged(self, number: int, version: str) -> dict[str, Any]:
        return {} if self.by_hand else self.cells(number, version)

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        """These columns of the rows and the version of the others, or what they hold if it is no version."""
        rows = self.warehouse.destination.query(self.warehouse.dataset, table)
        shown = ((*(row[name] for name in columns), self._version(row)) for row in rows)
        return sorted(shown, key=repr)

    def _version(self, row: Mapping[str, Any]) -> str:
        cells = {name: self._plain(row[name]) for name in self.names}
        for version in ("old", "new", "filled", "none"):
            expected = self.cells(row["id"] or 0, version)
            if cells == {name: self._plain(cell) for name, cell in expected.items()}:
                return version
        return repr(cells)

    def _plain(self, cell: Any) -> Any:
        return parsed(cell) if self.kind == "json" and isinstance(cell, str) else cell

    # Tables

    def table(self, name: str, *fixed: str, kind: DataType | None = None, parent: str | None = None) -> Table:
        columns = {column_name: FIXED[column_name] for column_name in ("id", *fixed)}
        if not self.by_hand:
            columns |= {column_name: Column(column_name, kind or self.kind) for column_name in self.names}
        self.tables[name] = Table(name, columns, parent=parent)
        return self.tables[name]

    def add_by_hand(self, *tables: str) -> None:
        if self.by_hand:
            for table in tables:
                self.by_hand(self, table)

    # Checks

    @property
    def merges(self) -> bool:
        return self.warehouse.destination.abilities.no_merge is None

    def check_appended(self) -> None:
        """Tables that are only appended to, with the rows that the merges leave in these."""
        tables = [self.table("on_keep", "at"), self.table("appended", "at", "row", "gone")]
        rows = [{"id": n, "at": 1, "row": f"{n} old", **self.cells(n, "old")} for n in (1, 2, 3)]
        rows.append({"id": 4, "at": 2, "row": "4 new", **self.cells(4, "new")})
        names = [table.name for table in tables]
        for row in rows:
            staged = {
                name: [[{k: v for k, v in row.items() if k in self.tables[name].columns}]] for name in names
            }
            self.warehouse.run(tables, staged, keyed=tuple(map(KeyedWrite, names)))
        assert self.rows("on_keep", "id", "at") == [
            (1, 1, "old"),
            (2, 1, "old"),
            (3, 1, "old"),
            (4, 2, "new"),
        ]

    def check_keyed(self) -> None:
        """Flat tables where rows of equal keys are one."""
        tables = {f"on_{on_match}": self.table(f"on_{on_match}", "at") for on_match in ON_MATCH}
        old = [{"id": number, "at": 1, **self.staged(number, "old")} for number in (1, 2, 3)]
        rows = ((3, 2), (4, 2), (4, 1))
        new = [{"id": number, "at": at, **self.staged(number, "new")} for number, at in rows]
        keyed = tuple(KeyedWrite(name) for name in tables)
        self.warehouse.run([*tables.values()], {name: [old] for name in tables}, keyed=keyed)
        self.add_by_hand(*tables)
        keys = ("id", *self.key_names)
        keyed = tuple(KeyedWrite(f"on_{on_match}", keys, "at", on_match) for on_match in ON_MATCH)
        self.warehouse.run([*tables.values()], {name: [new] for name in tables}, keyed=keyed)
        added, filled = ("none", "old") if self.by_hand else ("new", "filled")
        untouched = [(1, 1, "old"), (2, 1, "old")]
        assert {name: self.rows(name, "id", "at") for name in tables} == {
            "on_replace": [*untouched, (3, 2, added), (4, 2, added)],
            "on_newer": [*untouched, (3, 2, added), (4, 2, added)],
            "on_keep": [*untouched, (3, 1, "old"), (4, 2, added)],
            "on_coalesce_latest": [*untouched, (3, 2, filled), (4, 2, added)],
            "on_coalesce_matched_only": [*untouched, (3, 2, filled)],
            "on_append": [*untouched, (3, 1, "old"), (3, 2, added), (4, 2, added)],
        }

    def check_chains(self) -> None:
        """Root tables with two levels below: row 1 is marked deleted, 2 comes as it was, 3 and 4 are new."""
        tables = [
            self.table(f"{name}{end}", *_chain_columns(name, end), parent=_parent(name, end))
            for name in CHAINS
            for end in _levels(name)
        ]
        keys = {f"{name}{end}": LEVELS[end] for name in CHAINS for end in _levels(name)}
        first = {1: "old", 2: "old", 3: "old"}
        second = {1: "none", 2: "old", 3: "new", 4: "new"}
        for at, versions in ((NOON, first), (ONE, second)):
            files = {
                table_name: [rows]
                for name in CHAINS
                for table_name, rows in self._tree(name, versions).items()
            }
            chains = tuple(chain(at) for chain in CHAINS.values())
            self.warehouse.run(tables, files, chains=chains, keys=keys)
            if at == NOON:
                self.add_by_hand(*(chain_table.name for chain_table in tables))
        old, new, again = "old", *(("none", "none") if self.by_hand else ("new", "old"))
        expected = {
            "appended": [(1, "none"), (1, old), (2, again), (2, old), (3, new), (3, old), (4, new)],
            "replaced": [(1, "none"), (2, again), (3, new), (4, new)],
            "merged": [(2, again), (3, new), (4, new)],
            "upserted": [(2, again), (3, new), (4, new)],
            "inserted": [(1, old), (2, old), (3, old), (4, new)],
            "historized": [(1, old), (2, old), (3, new), (3, old), (4, new)],
        }
        assert {table.name: self.rows(table.name, "id") for table in tables} == {
            f"{name}{end}": rows for name, rows in expected.items() for end in _levels(name)
        }
        assert self.warehouse.rows("historized", "row", "begins", "ends") == [
            ("1 old", NOON, None),
            ("2 old", NOON, None),
            ("3 new", ONE, None),
            ("3 old", NOON, ONE),
            ("4 new", ONE, None),
        ]

    def _tree(self, root: str, versions: Mapping[int, str]) -> dict[str, list[Row]]:
        """The rows of a root table and of those below; a row has the number of its root."""
        rows: dict[str, list[Row]] = {f"{root}{end}": [] for end in LEVELS}
        for number, version in versions.items():
            if version == "none" and root == "historized":
                continue
            row = {"id": number, **self.staged(number, version)}
            top = f"{number} {version}" if root != "upserted" else f"{number}"
            marked = {"gone": True} if version == "none" else {}
            for at in (1, 0) if root == "merged" and number == 4 else (1,):  # row ids that stand twice
                rows[root].append({**row, "at": at, "row": top, **marked})
                rows[f"{root}__k"].append({**row, "row": f"{top}/k", "parent": top})
                rows[f"{root}__k__g"].append({**row, "row": f"{top}/k/g", "parent": f"{top}/k", "root": top})
        return {f"{root}{end}": rows[f"{root}{end}"] for end in _levels(root)}

    def check_links(self) -> None:
        rules = self.table("rules", *(name for pair in LINKS.pairs for name in pair))
        mappings = self.table("mappings", "kind", "value_1", "identity", "updated")
        known = [
            {"id": 1, "kind": "user", "value_1": "u1", "identity": "A", "updated": NOON},
            {"id": 2, "kind": "user", "value_1": "u2", "identity": "B", "updated": NOON},
        ]
        rows = [{**row, **self.staged(int(str(row["id"])), "old")} for row in known]
        self.warehouse.run([rules, mappings], {"mappings": [rows]}, keyed=(KeyedWrite("mappings"),))
        self.add_by_hand("mappings")
        pairs = (("user", "u1", "user", "u2"), ("user", "u1", "anonymous", "a1"))
        names = [name for pair in LINKS.pairs for name in pair]
        linked = [{**dict(zip(names, pair, strict=True)), **self.staged(1, "new"), "id": 1} for pair in pairs]
        self.warehouse.run(
            [rules, mappings], {"rules": [linked]}, keyed=(KeyedWrite("rules"),), links=LINKS, now=ONE
        )
        assert self.rows("mappings", "kind", "value_1", "identity", "updated") == [
            ("anonymous", "a1", "A", ONE, "none"),
            ("user", "u1", "A", NOON, "old"),
            ("user", "u2", "A", ONE, "old"),
        ]

    def check_columns(self) -> None:
        """Columns that get another type or come with a value, tables that are dropped or emptied."""
        stored, retyped = {"json": ('["x"]', ["x"]), "text": (7, "7"), "bigint": ("7", 7)}[self.kind]
        before = self.table("retyped", kind=RETYPED_FROM[self.kind])
        others = [self.table("dropped"), self.table("emptied")]
        value = {table.name: [[{"id": 1, **self.cells(1, "old")}]] for table in others}
        self.warehouse.run(
            [before, *others, Table("filled", {"id": FIXED["id"]})],
            {**value, "retyped": [[{"id": 1, **dict.fromkeys(self.names, stored)}]], "filled": [[{"id": 1}]]},
            keyed=tuple(KeyedWrite(name) for name in ("retyped", "filled", "dropped", "emptied")),
        )
        version = {"version": 2, "inserted_at": None, "schema_name": "shop", "version_hash": "v"}
        old = self.cells(1, "old")
        self.warehouse.run(
            [self.table("retyped"), self.table("filled"), others[1]],
            {
                "retyped": [[{"id": 2, **self.cells(2, "new")}]],
                "filled": [[{"id": 2, **self.cells(2, "new")}]],
            },
            keyed=tuple(
                KeyedWrite(name, ("id",), None, "replace") if self.merges else KeyedWrite(name)
                for name in ("retyped", "filled")
            ),
            retyped={"retyped": self.names},
            filled={"filled": {name: pa.scalar(cell) for name, cell in old.items()}},
            reset=Reset(("dropped",), ("emptied",), versions=True),
            records={"_loads": [{"load_id": "columns"}], "_versions": [version]},
            load_id="columns",
        )
        del self.tables["dropped"]
        assert self.rows("filled", "id") == [(1, "old"), (2, "new")]
        assert self.rows("emptied", "id") == []
        assert "dropped" not in self.warehouse.destination.catalog(self.warehouse.dataset)
        assert self.warehouse.rows("_versions", "version") == [(2,)]
        row, other = sorted(
            self.warehouse.destination.query(self.warehouse.dataset, "retyped"), key=lambda row: row["id"]
        )
        assert {self.kind: {str(self._plain(row[name])) for name in self.names}} == {
            self.kind: {str(retyped)}
        }
        assert self._version(other) == "new"

    def check_reading(self) -> None:
        destination, dataset = self.warehouse.destination, self.warehouse.dataset
        name, sparse = self.names[1], self.names[3]
        of_name = sorted(destination.count_by(dataset, "on_keep", [*self.names], name), key=repr)
        assert [row[-2] for row in of_name] == [1, 1, 1, 1]
        assert destination.row_counts(dataset)["on_keep"] == 4
        assert sum(batch.num_rows for batch in destination.batches(dataset, "on_keep")) == 4
        empty = {"4"} if sparse not in self.key_names else set()
        assert {*destination.empty_cells(dataset, "on_keep", "id", sparse, ["1", "4", "9"])} == empty
        newest = destination.newest_row(dataset, "appended", "row", "3 old", self.names)
        assert newest is not None
        assert (newest["id"], self._version(newest)) == (3, "old")
        assert destination.migration(dataset, Schema("shop", self.tables)) == []


@lru_cache
def parsed(text: str) -> Any:
    return json.loads(text)


def _levels(root: str) -> Sequence[str]:
    return tuple(LEVELS) if root in NESTED else ("",)


def _chain_columns(name: str, end: str) -> Sequence[str]:
    history = ("begins", "ends") if name == "historized" else ("gone",)
    return {"": ("at", "row", *history), "__k": ("row", "parent"), "__k__g": ("row", "parent", "root")}[end]


def _parent(name: str, end: str) -> str | None:
    return f"{name}{end.rpartition('__')[0]}" if end else None


# --- The tests -------------------------------------------------------------------------------------------


def column_names(words: Words, url: str) -> list[str]:
    taken = {*FIXED} | (SYSTEM_COLUMNS if url.startswith("postgresql:") else set())
    names = sorted(words.names - taken)
    return [name for name in names if not NOT_IN_DELTA & {*name}] if url.startswith("delta:") else names


@contextmanager
def held_open(url: str) -> Iterator[None]:
    """A file of DuckDB stays open meanwhile, so that every step after the first opens it faster."""
    kind, _, path = url.partition(":")
    with duckdb.connect(path) if kind == "duckdb" else nullcontext():
        yield


def test_the_names_are_those_of_our_statements(words: Words) -> None:
    """Were the statements not seen, the tests below would show nothing."""
    assert {"select", "exists", "row_number", "on_keep", "timestamp", "q_staged", "q_place"} <= words.names
    assert {"id", "row", "merged", "identity", "q_place", "q_key_0"} <= words.fields


def test_names_that_statements_add_begin_with_the_prefix(statements: list[str]) -> None:
    """What is quoted is a user's name, here without such a prefix."""
    added = set[str]()
    for statement in {*statements}:
        for alias in sqlglot.parse_one(statement, read="postgres").find_all(exp.TableAlias, exp.Alias):
            name = alias.args["alias"] if isinstance(alias, exp.Alias) else alias.this
            added |= set() if name.quoted else {name.name}
    assert {"q_staged", "q_current", "q_place"} <= added
    assert [name for name in sorted(added) if not name.startswith("q_")] == []


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_any_name(destination_url: str, tmp_path: Path, words: Words, kind: DataType) -> None:
    names = column_names(words, destination_url)
    with held_open(destination_url):
        Loads(Warehouse(destination_url, tmp_path), names, kind, sorted(words.fields)).check_all()


def add_to_duckdb(loads: Loads, table: str) -> None:
    added = ", ".join(f"CAST($cell AS JSON) AS {quoted(name)}" for name in loads.names)
    rows = f'FROM "{table}" WHERE "id" = $number'
    with duckdb.connect(loads.warehouse.destination.url.partition(":")[2]) as db:
        for number in (1, 2, 3):
            into = 'CREATE TABLE "by_hand" AS' if number == 1 else 'INSERT INTO "by_hand"'
            values = {"cell": loads.cell(number, "old"), "number": number}
            db.execute(f"{into} SELECT *, {added} {rows}", values)
        db.execute(f'DROP TABLE "{table}"')
        db.execute(f'ALTER TABLE "by_hand" RENAME TO "{table}"')


def add_to_postgres(loads: Loads, table: str) -> None:
    added = ", ".join(f"ADD COLUMN {quoted(name)} jsonb" for name in loads.names)
    set_ = ", ".join(f"{quoted(name)} = %(cell)s" for name in loads.names)
    with psycopg.connect(**loads.warehouse.destination.parameters) as db:  # type: ignore[attr-defined]
        db.execute(f'ALTER TABLE "{table}" {added}'.encode())
        for number in (1, 2, 3):
            values = {"cell": loads.cell(number, "old"), "number": number}
            db.execute(f'UPDATE "{table}" SET {set_} WHERE "id" = %(number)s'.encode(), values)


@pytest.mark.parametrize(
    ("destination_url", "by_hand"),
    [("duckdb", add_to_duckdb), ("postgres", add_to_postgres)],
    indirect=["destination_url"],
)
def test_columns_that_were_added_by_hand(
    destination_url: str, tmp_path: Path, words: Words, by_hand: Callable[[Loads, str], None]
) -> None:
    names = column_names(words, destination_url)
    with held_open(destination_url):
        Loads(Warehouse(destination_url, tmp_path), names, "json", sorted(words.fields), by_hand).check_all()


# --- Pipelines -------------------------------------------------------------------------------------------


@pytest.fixture
def names(words: Words, destination_url: str) -> list[str]:
    return [name for name in column_names(words, destination_url) if name not in ODD]


def cell_of(words: Words, id: Any) -> dict[str, Any]:
    return dict.fromkeys(sorted(words.fields), id)


def cells_of(pipe: Pipeline, table: str, *others: str) -> list[tuple[Any, ...]]:
    """The rows of a table: some columns, and what all columns of JSON hold; an error if they differ."""
    rows = pipe.destination.query(pipe.dataset, table)
    kinds = pipe.schema.tables[table].columns
    as_json = [name for name in rows[0] if kinds[name].data_type == "json"]
    shown = []
    for row in rows:
        (cell,) = {row[name] and json.dumps(parsed(row[name]), sort_keys=True) for name in as_json}
        shown.append((*(row[name] for name in others), cell and json.loads(cell)))
    return sorted(shown, key=repr)


@merging
def test_records_with_keys_of_any_name(destination_url: str, names: list[str], words: Words) -> None:
    """Every strategy, with a nested table, and a refresh."""
    one, two, three = (cell_of(words, number) for number in (1, 2, 3))
    columns = {name: {"data_type": "json"} for name in names}

    def rows(*cells: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"id": cell["id"], "k": [cell["id"]], **dict.fromkeys(names, cell)} for cell in cells]

    def farm(strategy: str, *cells: dict[str, Any]) -> trellis.Resource:
        return trellis.resource(
            rows(*cells),
            name=strategy.replace("-", "_"),
            primary_key="id",
            columns=columns,
            write_disposition={"disposition": "merge", "strategy": strategy},
        )

    strategies = ("delete-insert", "upsert", "insert-only", "scd2")
    with held_open(destination_url):
        shop = pipeline("shop", to=destination_url)
        shop.run([farm(strategy, one, two) for strategy in strategies])
        shop.run([farm(strategy, two, three) for strategy in strategies])
        for strategy in strategies:
            name = strategy.replace("-", "_")
            assert cells_of(shop, name, "id") == [(1, one), (2, two), (3, three)]
            nested = shop.destination.query(shop.dataset, f"{name}__k")
            assert sorted(row["value"] for row in nested) == [1, 2, 3]
        shop.run(farm("upsert", three), refresh="drop_data")
        assert cells_of(shop, "upsert", "id") == [(3, three)]
        shop.run(farm("scd2", one), refresh="drop_resources")
        assert cells_of(shop, "scd2", "id") == [(1, one)]

"""What is particular to PostgreSQL: URLs, staging tables, types changed by hand, what is left behind."""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from destinations.postgres_loads import LOADS, commit_of, staged
from destinations.postgres_server import Server
from trellis.destinations import open_destination
from trellis.destinations.base import CommitConflict, Destination, IdentityRules, KeyedWrite
from trellis.destinations.postgres.names import digest, lock_number, staging_schema
from trellis.destinations.url import redacted
from trellis.engine.parallel import in_threads
from trellis.errors import SchemaError, UsageError
from trellis.pipelines.pipeline import pipeline
from trellis.schema.model import Column, Table

RowsOf = Callable[..., list[dict[str, Any]]]
UUID = "5f3c0a9e-6f0b-4f0e-9d55-0d6a53f7c1b2"
T = Table("t", {"id": Column("id", "bigint"), "v": Column("v", "text")})


@pytest.fixture
def url(postgres: Server, database: str) -> str:
    return postgres.url(database)


@pytest.fixture
def warehouse(url: str) -> Destination:
    return open_destination(url)


Sql = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def sql(postgres: Server, database: str) -> Sql:
    return lambda *statements: postgres.run(*statements, database=database)


def staging_tables(warehouse: Destination, dataset: str = "public") -> list[str]:
    return sorted(warehouse.catalog(staging_schema(dataset)))


# --- URLs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@host:5433/shop", "postgresql://me:***@host:5433/shop"),
        ("postgres://me:se:c@r/e?t@host/shop", "postgres://me:***@host/shop"),
        (
            "postgresql://me@host/shop?password=secret&sslmode=require",
            "postgresql://me@host/shop?password=***&sslmode=require",
        ),
        ("postgresql://host/shop?ssl%70assword=secret", "postgresql://host/shop?ssl%70assword=***"),
        ("postgresql:///shop?host=/run/postgresql", "postgresql:///shop?host=/run/postgresql"),
        ("postgresql://host:5432/shop", "postgresql://host:5432/shop"),
    ],
)
def test_passwords_are_never_shown(url: str, shown: str) -> None:
    assert redacted(url) == shown


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "postgresql://me:sec@ret@host/shop?sslmod=x",
            "no connection option 'sslmod': did you mean 'sslmode'",
        ),
        ("postgresql://me:sec ret@host/shop", "with %40 for @"),
        ("postgresql://me:sec@ret@host/shop", "with %40 for @"),
        ("postgresql://me:sec%zzret@host/shop", "it is not a URL that PostgreSQL understands"),
        ("postgresql:shop", "it is not a URL that PostgreSQL understands"),
        ("postgrsql://me:secret@host/shop", "names no destination: did you mean 'postgresql'"),
    ],
)
def test_urls_that_are_none(url: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        open_destination(url)
    assert message in str(raised.value)
    assert "sec" not in str(raised.value)
    assert "ret" not in str(raised.value).replace("interpreted", "")


def test_options_of_the_connection(url: str, sql: Sql) -> None:
    sql("CREATE TABLE t AS SELECT current_setting('application_name') AS name, 1 AS id")
    sql("CREATE VIEW v AS SELECT current_setting('application_name') || current_setting('work_mem') AS name")
    named = open_destination(f"{url}?application_name=shop&options=-c%20work_mem%3D9MB")
    assert named.query("public", "v") == [{"name": "shop9MB"}]
    assert open_destination(url.replace("postgresql:", "postgres:")).query("public", "v") == [
        {"name": "trellis4MB"}
    ]


def test_settings_of_the_database_do_not_matter(url: str, sql: Sql, database: str, rows_of: RowsOf) -> None:
    for setting in (
        "statement_timeout = 1", "default_transaction_isolation = 'serializable'", "datestyle = 'SQL, DMY'",
        "timezone = 'America/New_York'", "standard_conforming_strings = off", "extra_float_digits = -15",
        "bytea_output = 'escape'", "search_path = 'nowhere'", "client_encoding = 'LATIN1'",
    ):  # fmt: skip
        sql(f'ALTER DATABASE "{database}" SET {setting}')
    shop = pipeline("shop", to=url)
    rows = [{"id": 1, "f": 0.1 + 0.2, "at": "2024-02-03T04:05:06Z", "s": "it's \\ \u20ac", "k": [1]}]
    shop.load(rows, table="t", mode="merge", keys=("id",))
    shop.load(rows, table="t", mode="merge", keys=("id",))
    (row,) = rows_of(shop, "t")
    assert (row["f"], row["s"], row["at"].isoformat()) == (
        0.1 + 0.2,
        "it's \\ \u20ac",
        "2024-02-03T04:05:06+00:00",
    )


def test_staging_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRELLIS_STAGING", str(tmp_path / "shared"))
    folder = Path(open_destination("postgresql://me:secret@host:5433/shop").staging("1/2"))
    assert folder == tmp_path / "shared" / "host 5433 shop" / "1%2F2"
    assert folder.is_dir()
    monkeypatch.delenv("TRELLIS_STAGING")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = Path(open_destination("postgresql://host/shop").staging(""))
    assert folder.relative_to(tmp_path).parts == (f"trellis-{os.getuid()}", "host 5432 shop")
    assert stat.S_IMODE((tmp_path / f"trellis-{os.getuid()}").stat().st_mode) == 0o700


# --- Staging tables --------------------------------------------------------------------------------------


def test_items_that_run_twice_in_any_order(warehouse: Destination, sql: Sql, tmp_path: Path) -> None:
    rows = [{"id": n, "v": None} for n in range(2000)]

    def twice(work: Any, items: Sequence[Any]) -> Iterator[Any]:
        assert len(items) == 7
        shuffled = [*items, *items]
        random.Random(1).shuffle(shuffled)
        return in_threads(work, shuffled)

    files = [*staged(tmp_path, T, rows[:900], group=300), *staged(tmp_path, T, rows[900:], group=300)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trellis.destinations.postgres.copy.TASK_BYTES", 1)
        warehouse.commit(commit_of({"t": files}, T), twice)
    assert sorted(sql("SELECT id FROM t")) == [(n,) for n in range(2000)]
    assert staging_tables(warehouse) == []


def test_last_in_the_input_wins(warehouse: Destination, sql: Sql, tmp_path: Path) -> None:
    """Across row groups and files, and whichever of them is copied first."""
    files = staged(
        tmp_path, T, *([{"id": n % 5, "v": f"{f} {n}"} for n in range(40)] for f in "abc"), group=7
    )

    def backwards(work: Any, items: Sequence[Any]) -> Iterator[Any]:
        return map(work, reversed(items))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trellis.destinations.postgres.copy.TASK_BYTES", 1)
        for _ in range(2):
            keyed = (KeyedWrite("t", ("id",), on_match="replace"),)
            warehouse.commit(commit_of({"t": files}, T, chains=(), keyed=keyed), backwards)
    assert sorted(sql("SELECT id, v FROM t")) == [(n, f"c {35 + n}") for n in range(5)]


def test_leftovers_of_dead_loads_are_dropped(url: str, warehouse: Destination, sql: Sql) -> None:
    shop = pipeline("shop", to=url)
    shop.load([{"a": 1}], table="t")
    staging = staging_schema("public")
    dead, alive = digest("load", "public", "dead"), digest("load", "public", "alive")
    left = [f"{owner}_00000000_{what}" for owner in (dead, alive) for what in ("0", "items")]
    sql(*(f'CREATE UNLOGGED TABLE {staging}."{name}" (x int)' for name in (*left, "of_somebody")))
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("SELECT pg_advisory_lock(%s)", [lock_number(alive)])
        shop.load([{"a": 2}], table="t")
        assert staging_tables(warehouse) == sorted([*left[2:], "of_somebody"])
    shop.load([{"a": 3}], table="t")
    assert staging_tables(warehouse) == ["of_somebody"]
    assert warehouse.row_counts("public")["t"] == 3


def test_a_load_without_rows_needs_no_staging(warehouse: Destination, sql: Sql) -> None:
    warehouse.commit(commit_of({}, T))
    assert dict(warehouse.row_counts("public")) == {"t": 0, "_loads": 1}
    assert sql("SELECT 1 FROM pg_namespace WHERE nspname LIKE '%staging'") == []


def test_one_load_id_twice_at_once(warehouse: Destination, sql: Sql, tmp_path: Path) -> None:
    commit = commit_of({"t": staged(tmp_path, T, [{"id": 1}, {"id": 2}])}, T)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: warehouse.commit(commit), range(4)))
    assert dict(warehouse.row_counts("public")) == {"t": 2, "_loads": 1}
    assert staging_tables(warehouse) == []


def test_the_longest_dataset(url: str, rows_of: RowsOf) -> None:
    shop = pipeline("shop", to=url, dataset="\u00e9" * 31)
    shop.load([{"a": 1}], table="t")
    assert rows_of(shop, "t") == [{"a": 1}]
    with pytest.raises(SchemaError, match="the name has 64 bytes, and PostgreSQL takes 63"):
        pipeline("shop", to=url, dataset="\u00e9" * 32).load([{"a": 1}], table="t")


# --- What stands there already ---------------------------------------------------------------------------


def test_catalog_that_changed_meanwhile(warehouse: Destination, sql: Sql, tmp_path: Path) -> None:
    sql("CREATE TABLE t (id bigint)", "CREATE TABLE other (id bigint)")
    seen = warehouse.catalog("public")
    commit = commit_of({"t": staged(tmp_path, T, [{"id": 1}])}, T, catalog=seen)
    sql("ALTER TABLE t ALTER id TYPE numeric")
    with pytest.raises(CommitConflict):
        warehouse.commit(commit)
    assert staging_tables(warehouse) == []
    commit = replace(commit, catalog=warehouse.catalog("public"))
    sql("ALTER TABLE other ADD x int")
    warehouse.commit(commit)
    assert sql("SELECT id, v FROM t") == [(Decimal(1), None)]


def test_generated_columns_are_left_alone(warehouse: Destination, sql: Sql, tmp_path: Path) -> None:
    sql(
        "CREATE TABLE t (id bigint, twice bigint GENERATED ALWAYS AS (id * 2) STORED, "
        "number int GENERATED ALWAYS AS IDENTITY, made text DEFAULT 'by default', serial bigserial)"
    )
    table = T.with_columns(*(Column(name, "bigint") for name in ("twice", "number", "serial")))
    files = staged(tmp_path, table, [{"id": 4, "v": "a", "twice": 1, "number": 9, "serial": None}])
    for keyed in ((), (KeyedWrite("t", ("id",), on_match="coalesce_latest"),)):
        warehouse.commit(commit_of({"t": files}, table, keyed=keyed, **({"chains": ()} if keyed else {})))
    rows = sql("SELECT id, twice, number, made, serial, v FROM t")
    assert rows == [(4, 8, 1, "by default", 1, "a")]


@pytest.mark.parametrize(
    ("column", "real", "values", "expected"),
    [
        (Column("c", "bigint"), "integer", [1, None], [1, None]),
        (Column("c", "bigint"), "numeric", [2**62], [Decimal(2**62)]),
        (Column("c", "bigint"), "double precision", [2**53], [2.0**53]),
        (Column("c", "bigint"), "text", [7], ["7"]),
        (Column("c", "double"), "bigint", [2.0, 1e15, None], [2, 10**15, None]),
        (Column("c", "double"), "numeric(10,2)", [0.129], [Decimal("0.13")]),
        (Column("c", "double"), "text", [0.1], ["0.1"]),
        (Column("c", "text"), "bigint", ["007"], [7]),
        (Column("c", "text"), "varchar(3)", ["abc"], ["abc"]),
        (Column("c", "text"), "uuid", [UUID], [UUID]),
        (Column("c", "text"), "timestamptz", ["2024-01-01"], ["2024-01-01 00:00:00+00"]),
        (Column("c", "text"), "jsonb", ['{"a":1}'], ['{"a": 1}']),
        (Column("c", "json"), "json", ['{"a":1}'], ['{"a": 1}']),
        (Column("c", "bool"), "text", [True], ["true"]),
        (Column("c", "binary"), "inet", [None], [None]),
        (Column("c", "bool"), "bigint", [None], [None]),
    ],
)  # fmt: skip
def test_a_column_changed_by_hand_takes_what_fits(
    warehouse: Destination, sql: Sql, tmp_path: Path, column: Column, real: str, values: Any, expected: Any
) -> None:
    sql(f"CREATE TABLE t (id bigint, c {real})")
    table = Table("t", {"id": Column("id", "bigint"), "c": column})
    files = staged(tmp_path, table, [{"id": n, "c": value} for n, value in enumerate(values)])
    warehouse.commit(commit_of({"t": files}, table))
    shown = "CAST(c AS text)" if isinstance(expected[0], str) else "c"
    rows = sql("SET TimeZone = 'UTC'", "SET DateStyle = 'ISO'", f"SELECT {shown} FROM t ORDER BY id")
    assert [value for (value,) in rows] == expected


@pytest.mark.parametrize(
    ("column", "real", "value", "shown"),
    [
        (Column("c", "bigint"), "integer", 2**31, "2147483648"),
        (Column("c", "bigint"), "double precision", 2**53 + 1, "9007199254740993"),
        (Column("c", "bigint"), "boolean", 1, "1"),
        (Column("c", "double"), "bigint", 1.5, "1.5"),
        (Column("c", "double"), "numeric(4,2)", 123.4, "123.4"),
        (Column("c", "text"), "bigint", "word", "word"),
        (Column("c", "text"), "varchar(3)", "abcd", "abcd"),
        (Column("c", "text"), "uuid", "word", "word"),
        (Column("c", "timestamp"), "date", "2024-01-01T10:00:00Z", "2024-01-01 10:00:00"),
        (Column("c", "json"), "bigint", '"x"', '"x"'),
    ],
)
def test_a_column_changed_by_hand_refuses_what_does_not(
    warehouse: Destination,
    sql: Sql,
    url: str,
    tmp_path: Path,
    column: Column,
    real: str,
    value: Any,
    shown: str,
) -> None:
    sql(f"CREATE TABLE t (id bigint, c {real})")
    table = Table("t", {"id": Column("id", "bigint"), "c": column})
    if column.data_type == "timestamp":
        import datetime

        value = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    rows = [{"id": n, "c": None} for n in range(3000)]
    rows[2500]["c"] = value
    with pytest.raises(SchemaError) as raised:
        warehouse.commit(commit_of({"t": staged(tmp_path, table, rows)}, table))
    real = warehouse.catalog("public")["t"].columns["c"]
    assert f"table t, column c: it is {real} in the destination, but" in str(raised.value)
    assert shown in str(raised.value)
    assert warehouse.row_counts("public") == {"t": 0}
    assert staging_tables(warehouse) == []


def test_retyped_columns_and_native_types(warehouse: Destination, sql: Sql, tmp_path: Path) -> None:
    sql("CREATE TABLE t (id bigint, n bigint)", "INSERT INTO t VALUES (1, 10)")
    table = Table(
        "t", {"id": Column("id", "bigint"), "n": Column("n", "double"), "new": Column("new", "text")}
    )
    files = staged(tmp_path, table, [{"id": 2, "n": 0.1, "new": "x"}])
    native: Any = {"double": "numeric", "text": "text"}
    schema = commit_of({}, table).schema
    assert warehouse.migration("public", schema, native)[:1] == [
        'ALTER TABLE "public"."t" ADD COLUMN "new" text'
    ]
    warehouse.commit(commit_of({"t": files}, table, retyped={"t": ["n"]}, native=native))
    assert sql("SELECT id, n, new FROM t ORDER BY id") == [(1, Decimal(10), None), (2, Decimal("0.1"), "x")]
    assert dict(warehouse.catalog("public")["t"].columns) == {"id": "bigint", "n": "numeric", "new": "text"}


# --- Rows with keys --------------------------------------------------------------------------------------

USERS = Table(
    "users",
    {
        "id": Column("id", "text"),
        "at": Column("at", "bigint"),
        "a": Column("a", "text"),
        "b": Column("b", "bigint"),
    },
)


@pytest.mark.parametrize(
    ("on_match", "expected"),
    [
        ("append", [("u", 1, "old", 1), ("u", 5, None, 5), ("w", 2, "w", None)]),
        ("replace", [("u", 5, None, 5), ("w", 2, "w", None)]),
        ("keep", [("u", 1, "old", 1), ("w", 2, "w", None)]),
        ("coalesce_latest", [("u", 5, "three", 5), ("w", 2, "w", None)]),
        ("coalesce_matched_only", [("u", 5, "three", 5)]),
    ],
)
def test_keyed_loads(warehouse: Destination, sql: Sql, tmp_path: Path, on_match: Any, expected: Any) -> None:
    sql(
        "CREATE TABLE users (id text, at bigint, a text, b bigint)",
        "INSERT INTO users VALUES ('u', 1, 'old', 1)",
    )
    rows = [
        {"id": "u", "at": 5, "a": None, "b": 4},
        {"id": "w", "at": 2, "a": "w", "b": None},
        {"id": "u", "at": 3, "a": "three", "b": 9},
        {"id": "u", "at": 5, "a": None, "b": 5},
    ]
    keyed = (KeyedWrite("users", ("id",), "at", on_match),)
    warehouse.commit(commit_of({"users": staged(tmp_path, USERS, rows)}, USERS, chains=(), keyed=keyed))
    assert sql('SELECT id, at, a, b FROM users ORDER BY id COLLATE "C", at') == expected


def test_links(warehouse: Destination, sql: Sql, tmp_path: Path) -> None:
    rules = Table("rules", {name: Column(name, "text") for name in ("k1", "v1", "k2", "v2")})
    mappings = Table(
        "mappings",
        {**{n: Column(n, "text") for n in ("kind", "value", "id")}, "at": Column("at", "timestamp")},
    )
    links = IdentityRules("rules", "mappings", (("k1", "v1"), ("k2", "v2")), "kind", "value", "id", "at")
    for pairs in (["a1 u1", "a2 u2"], ["u1 u2", "a3"]):
        rows = [
            dict(
                zip(
                    ("k1", "v1", "k2", "v2"),
                    (c for pair in words.split() for c in (pair[0], pair)),
                    strict=False,
                )
            )
            for words in pairs
        ]
        files = {"rules": staged(tmp_path, rules, rows)}
        warehouse.commit(commit_of(files, rules, mappings, links=links))
    stored = sql("SELECT value, id FROM mappings ORDER BY value")
    assert [value for value, _ in stored] == ["a1", "a2", "a3", "u1", "u2"]
    assert len({identity for value, identity in stored if value != "a3"}) == 1
    assert len({identity for _, identity in stored}) == 2


def test_records_keep_what_can_be_kept(warehouse: Destination, sql: Sql) -> None:
    commit = commit_of({}, T, load_id="a%s$1")
    warehouse.commit(replace(commit, records={"_loads": [{"load_id": "a%s$1"}, {"load_id": "x\0y"}]}))
    assert sorted(sql("SELECT load_id FROM _loads")) == [("a%s$1",), ("x\ufffdy",)]
    assert warehouse.has_load("public", "a%s$1", commit.metadata)
    assert LOADS.name in warehouse.catalog("public")


def test_counts_by_column(warehouse: Destination, sql: Sql) -> None:
    sql(
        "CREATE TABLE t (a text, b int, c text)",
        "INSERT INTO t VALUES ('x', 1, 'b'), ('x', 1, 'B'), ('y', 2, NULL)",
    )
    assert sorted(warehouse.count_by("public", "t", ("a", "b"), "c")) == [("x", 1, 2, "B"), ("y", 2, 1, None)]


# --- reading a table in parts ----------------------------------------------------------------------------


def test_rows_are_read_in_parts(url: str, sql: Sql) -> None:
    late = "CASE WHEN n > 20000 THEN 'x' || n END"
    sql(f"CREATE TABLE t AS SELECT n AS id, {late} AS v FROM generate_series(1, 40000) n")
    parts = list(open_destination(url).batches("public", "t"))
    assert [part.num_rows for part in parts] == [16384, 16384, 7232]
    rows = sorted((row["id"], row["v"]) for part in parts for row in part.to_pylist())
    assert rows == [(n, f"x{n}" if n > 20000 else None) for n in range(1, 40001)]


def test_a_table_without_rows_has_no_parts(url: str, sql: Sql) -> None:
    sql("CREATE TABLE t (id bigint)")
    assert list(open_destination(url).batches("public", "t")) == []
    with pytest.raises(UsageError, match="there is no table 'nope'"):
        next(open_destination(url).batches("public", "nope"))


def test_a_reader_that_stops_early_lets_go_of_the_table(url: str, sql: Sql) -> None:
    sql("CREATE TABLE t AS SELECT n AS id FROM generate_series(1, 40000) n")
    parts = open_destination(url).batches("public", "t")
    next(parts)
    assert isinstance(parts, Generator)
    parts.close()
    sql("SET lock_timeout = '5s'", "DROP TABLE t")

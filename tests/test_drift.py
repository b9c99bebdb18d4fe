"""Drift: a dataset as a load left it has none, and every change by hand is told, with what comes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime, timezone
from datetime import time as clock
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import trellis
from destinations.postgres_server import Server, database, postgres
from trellis.cli.app import run
from trellis.destinations.parquet.manifest import LiveTable, Manifests
from trellis.evolution.scalars.values import Wei
from trellis.pipelines.drift import drift
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import DATA_TYPES, Column, Schema, Table

__all__ = ["database", "postgres"]

Alter = Callable[[str, Mapping[str, str | None]], None]
"""Give columns of a table another type by hand, None takes them away; an unknown column is added."""

VALUES: Mapping[str, Any] = {
    "text": "a",
    "double": 1.5,
    "bool": True,
    "timestamp": datetime(2024, 1, 1, tzinfo=timezone.utc),
    "date": date(2024, 1, 1),
    "time": clock(1, 2, 3),
    "bigint": 1,
    "binary": b"a",
    "json": {"a": 1},
    "decimal": Decimal("1.5"),
    "wei": Wei(1),
}
EVERY = [
    *(Column(data_type, data_type) for data_type in DATA_TYPES),
    *(Column(f"int{bits}", "bigint", precision=bits) for bits in (8, 16, 32, 64)),
    *(Column(f"at{digits}", "timestamp", precision=digits) for digits in (0, 3, 6)),
    *(Column(f"local{digits}", "timestamp", precision=digits, timezone=False) for digits in (0, 3, 6)),
    Column("local", "timestamp", timezone=False),
    Column("clock", "time", precision=3),
    Column("short", "text", precision=40),
    Column("key", "binary", precision=16),
    Column("money", "decimal", precision=12, scale=2),
    Column("whole", "decimal", precision=12),
    Column("half", "decimal", scale=4),
    Column("must", "bigint", nullable=False),
    Column("primary", "text").with_hints(primary_key=True),
]


@pytest.fixture(params=["duckdb", "parquet", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if kind == "postgres":
        server: Server = request.getfixturevalue("postgres")
        return server.url(request.getfixturevalue("database"))
    return {"duckdb": f"duckdb:{tmp_path}/shop.duckdb", "parquet": f"parquet:{tmp_path}/lake"}[kind]


@pytest.fixture
def shop(url: str) -> Pipeline:
    return trellis.pipeline("shop", to=url)


@pytest.fixture
def alter(kind: str, request: pytest.FixtureRequest, tmp_path: Path, shop: Pipeline) -> Alter:
    def sql(table: str, columns: Mapping[str, str | None]) -> None:
        catalog = shop.destination.catalog(shop.dataset)
        statements = [] if table in catalog else [f'CREATE TABLE "{table}" (seq integer)']
        for name, type_ in columns.items():
            known = table in catalog and name in catalog[table].columns
            what = (
                f'DROP COLUMN "{name}"'
                if type_ is None
                else f'ALTER COLUMN "{name}" TYPE {type_}'
                if known
                else f'ADD COLUMN "{name}" {type_}'
            )
            statements.append(f'ALTER TABLE "{table}" {what}')
        if kind == "postgres":
            request.getfixturevalue("postgres").run(*statements, database=request.getfixturevalue("database"))
            return
        with duckdb.connect(f"{tmp_path}/shop.duckdb") as db:
            for statement in statements:
                db.execute(statement)

    def manifest(table: str, columns: Mapping[str, str | None]) -> None:
        arrow = {"varchar": "string", "integer": "int32"}
        manifests = Manifests(f"{tmp_path}/lake/_trellis/manifests")
        now = manifests.newest()
        live = now.tables.get(table, LiveTable())
        kept = {**live.columns, **{name: arrow.get(t, t) for name, t in columns.items() if t}}
        kept = {name: type_ for name, type_ in kept.items() if columns.get(name, "") is not None}
        tables = {**now.tables, table: replace(live, columns=kept)}
        assert manifests.add(replace(now, number=now.number + 1, tables=tables), str(tmp_path))

    return manifest if kind == "parquet" else sql


def told(pipe: Pipeline, schema: Schema | None = None) -> list[str]:
    return [difference.describe() for difference in drift(pipe, schema)]


def every_row() -> dict[str, Any]:
    return {c.name: 1 if c.name == "must" else VALUES[str(c.data_type)] for c in EVERY}


def test_every_kind_of_column_as_a_load_made_it(shop: Pipeline) -> None:
    assert drift(shop) == ()
    shop.load([{**every_row(), "lines": [{"sku": "a"}]}], table="t", columns=EVERY)
    assert told(shop) == []
    shop.load([{**every_row(), "bigint": "x", "new": 1, "more": [[1]]}], table="t")
    assert told(shop) == []
    assert told(shop, shop.schema) == []


def test_changes_by_hand(shop: Pipeline, alter: Alter, kind: str) -> None:
    row = {"id": 1, "note": "a", "price": 1.5, "lines": [{"sku": "a"}]}
    shop.load([row], table="orders")
    alter("orders", {"note": None, "extra": "varchar", "id": "varchar"})
    alter("plans", {})
    text = {"duckdb": "VARCHAR", "postgres": "character varying", "parquet": "string"}[kind]
    number = {"duckdb": "BIGINT", "postgres": "bigint", "parquet": "int64"}[kind]
    then = {
        "parquet": "fails; give it its old type, or load into another table",
        "duckdb": "casts values to VARCHAR, and fails if one does not fit",
        "postgres": "casts values to character varying, and fails if one does not fit",
    }[kind]
    assert told(shop) == [
        f"orders.id: it is {text}, the schema makes {number} of bigint; the next load {then}",
        "orders.note: it is not there; the next load adds it; rows that are there get NULL",
        "orders.extra: the schema does not know it; the next load leaves it alone; new rows get NULL",
        "plans: no stored schema knows it; the next load leaves it alone",
    ]
    if kind == "parquet":
        with pytest.raises(trellis.errors.SchemaError, match="column id: it is string in the destination"):
            shop.load([row], table="orders")
        return
    shop.load([{**row, "id": 2}], table="orders")
    rows = shop.destination.query(shop.dataset, "orders")
    assert sorted((r["id"], r["note"] or "", r["extra"] or "") for r in rows) == [
        ("1", "", ""),
        ("2", "a", ""),
    ]
    assert [difference.kind for difference in drift(shop)] == ["type", "unknown column", "unknown table"]


@pytest.mark.parametrize("kind", ["duckdb", "postgres"], indirect=True)
def test_the_next_load_does_what_is_told(shop: Pipeline, alter: Alter) -> None:
    """A column that came back, and one that nobody knows, in one load."""
    shop.load([{"id": 1, "note": "a"}], table="t")
    alter("t", {"note": None, "extra": "varchar"})
    shop.load([{"id": 2, "note": "b"}], table="t")
    rows = shop.destination.query(shop.dataset, "t")
    assert sorted((row["id"], row["note"], row["extra"]) for row in rows) == [(1, None, None), (2, "b", None)]
    assert [(difference.kind, difference.column) for difference in drift(shop)] == [
        ("unknown column", "extra")
    ]


@pytest.mark.parametrize("kind", ["duckdb", "postgres"], indirect=True)
def test_null_where_the_schema_takes_none_and_the_other_way(
    shop: Pipeline, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    shop.load([{"id": 1, "must": 2}], table="t", columns=[Column("must", "bigint", nullable=False)])
    changes = ["ALTER TABLE t ALTER COLUMN must DROP NOT NULL", "ALTER TABLE t ALTER COLUMN id SET NOT NULL"]
    if kind == "postgres":
        request.getfixturevalue("postgres").run(*changes, database=request.getfixturevalue("database"))
    else:
        with duckdb.connect(f"{tmp_path}/shop.duckdb") as db:
            for change in changes:
                db.execute(change)
    assert sorted(told(shop)) == [
        "t.id: it takes no NULL, the schema does; the next load fails if a row has no value for it",
        "t.must: it takes NULL, the schema does not; the next load leaves it so",
    ]
    with pytest.raises(trellis.errors.ContractError, match="id"):
        shop.load([{"must": 3}], table="t")


@pytest.mark.parametrize("kind", ["duckdb", "postgres"], indirect=True)
def test_tables_that_went_or_became_views(
    shop: Pipeline, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    shop.load([{"id": 1, "lines": [{"sku": "a"}]}], table="orders")
    shop.load([{"id": 1}], table="plans")
    changes = [
        "DROP TABLE orders__lines",
        "DROP TABLE plans",
        "CREATE VIEW plans AS SELECT 1 AS id",
        "CREATE VIEW report AS SELECT 1 AS id",
    ]
    if kind == "postgres":
        request.getfixturevalue("postgres").run(*changes, database=request.getfixturevalue("database"))
    else:
        with duckdb.connect(f"{tmp_path}/shop.duckdb") as db:
            for change in changes:
                db.execute(change)
    assert told(shop) == [
        "orders__lines: it is not there; the next load creates it, empty",
        "plans: it is a view; the next load fails; rename the view",
    ]
    with pytest.raises(trellis.errors.SchemaError, match="table plans: it is a view"):
        shop.load([{"id": 2}], table="orders")


@pytest.mark.parametrize("kind", ["duckdb"], indirect=True)
def test_names_that_differ_in_case_alone(shop: Pipeline, tmp_path: Path) -> None:
    shop.load([{"id": 1, "note": "a"}], table="orders")
    with duckdb.connect(f"{tmp_path}/shop.duckdb") as db:
        db.execute("ALTER TABLE orders RENAME COLUMN note TO NOTE")
    assert told(shop) == []
    with duckdb.connect(f"{tmp_path}/shop.duckdb") as db:
        db.execute("ALTER TABLE orders RENAME TO shelf")
        db.execute('ALTER TABLE shelf RENAME TO "Orders"')
    what = "it is called Orders, and names that differ in case alone are one"
    assert told(shop) == [f"orders: {what}; the next load fails; rename it"]
    with pytest.raises(trellis.errors.SchemaError, match="Orders and orders differ only in case"):
        shop.load([{"id": 1}], table="orders")


def test_what_another_schema_of_the_dataset_made_is_no_drift(url: str) -> None:
    shop, farm = trellis.pipeline("shop", to=url), trellis.pipeline("farm", to=url)
    shop.load([{"id": 1}], table="orders")
    farm.load([{"id": 1, "note": "a"}], table="orders")
    farm.load([{"id": 1}], table="plots")
    assert told(shop) == told(farm) == []


def test_a_hint_that_changes_a_type(shop: Pipeline, kind: str) -> None:
    shop.load([{"id": 1}], table="t")
    document = shop.schema.with_tables(shop.schema.tables["t"].with_columns(Column("id", "text")))
    word = {"duckdb": "VARCHAR", "postgres": "character varying", "parquet": "string"}[kind]
    (difference,) = drift(shop, document)
    assert (difference.kind, difference.column, difference.expected) == ("type", "id", word)


def test_a_type_that_the_destination_does_not_have(shop: Pipeline) -> None:
    shop.load([{"id": 1}], table="t")
    table = shop.schema.tables["t"].with_columns(Column("id", "bigint", precision=500))
    (difference,) = drift(shop, shop.schema.with_tables(table))
    assert (difference.kind, difference.column, difference.next_load) == ("type", "id", "fails")
    assert "column id: " in difference.what


def test_tables_that_never_saw_data_are_looked_at_in_a_given_schema_only(shop: Pipeline) -> None:
    shop.load([{"id": 1}], table="t")
    document = shop.schema.with_tables(Table("later", {"id": Column("id", "bigint")}))
    assert told(shop, document) == ["later: it is not there; the next load creates it, empty"]


# --- The command ----------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    trellis.pipeline("shop", to="duckdb:shop.duckdb").load([{"id": 1, "note": "a"}], table="orders")
    return tmp_path


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = run(["schema", "drift", *words])
    return code, "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines())


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ("--at", "duckdb:shop.duckdb")
    assert ran(capsys, *at, "--exit-code") == (0, "the tables are as the schema says")
    with duckdb.connect("shop.duckdb") as db:
        db.execute("ALTER TABLE orders DROP COLUMN note")
        db.execute("ALTER TABLE orders ADD COLUMN extra VARCHAR")
    code, out = ran(capsys, *at)
    assert code == 0
    assert (
        out
        == """\
  Table   Column  What is                      The next load
  orders  note    it is not there              adds it; rows that are there get NULL
  orders  extra   the schema does not know it  leaves it alone; new rows get NULL

2 differences"""
    )
    with duckdb.connect("shop.duckdb") as db:
        db.execute("ALTER TABLE orders ALTER id TYPE VARCHAR")
    code, out = ran(capsys, *at, "--exit-code", "--json")
    assert code == 1
    assert json.loads(out)["changes"] == []
    assert json.loads(out)["drift"][0] == {
        "kind": "type",
        "table": "orders",
        "column": "id",
        "what": "it is VARCHAR, the schema makes BIGINT of bigint",
        "next_load": "casts values to VARCHAR, and fails if one does not fit",
        "found": "VARCHAR",
        "expected": "BIGINT",
    }


def test_a_file_is_compared_with_the_tables_and_with_the_stored_schema(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ("--at", "duckdb:shop.duckdb")
    run(["schema", "export", *at, "--out", "shop.yaml"])
    capsys.readouterr()
    code, out = ran(capsys, "shop.yaml", *at, "--exit-code")
    assert code == 0
    assert out == ("the tables are as the schema says\n\nFrom the stored schema to shop.yaml\nno differences")
    text = (
        Path("shop.yaml")
        .read_text()
        .replace("      note:\n", "      Paid At:\n        data_type: date\n      note:\n")
    )
    Path("shop.yaml").write_text(text)
    code, out = ran(capsys, "shop.yaml", *at, "--exit-code", "--json")
    assert code == 1
    assert [(d["kind"], d["column"]) for d in json.loads(out)["drift"]] == [("missing column", "paid_at")]
    assert [change["text"] for change in json.loads(out)["changes"]] == ["orders.paid_at is new: date"]


def test_a_destination_without_a_schema(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "drift", "--at", "duckdb:none.duckdb"]) == 2
    assert "holds no schema yet" in capsys.readouterr().err

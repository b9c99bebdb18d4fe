"""Who chooses the naming convention: the user, the destination, the schema, in this order (dlt.md, 9)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import trellis
from destinations.postgres_server import Server, database, postgres
from trellis.cli.app import run
from trellis.destinations.duckdb.destination import DuckDB
from trellis.destinations.url import split_naming
from trellis.errors import SchemaError, UsageError
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.documents.document import from_yaml
from trellis.schema.model import Schema

__all__ = ["database", "postgres"]

RECORD = {"createdAt": 1}
NAMED = {"snake_case": "created_at", "direct": "createdAt", "sql_ci_v1": "createdat"}


def opened(file: Path, convention: str | None = None, **options: Any) -> Pipeline:
    option = f"?naming_convention={convention}" if convention else ""
    return trellis.pipeline("farm", to=f"duckdb:{file}{option}", **options)


def document(convention: str) -> Schema:
    return from_yaml(f"name: farm\nnormalizers: {{names: {convention}}}\n")


@pytest.mark.parametrize(
    ("configured", "destination", "in_schema", "chosen"),
    [
        (None, None, None, "snake_case"),
        (None, None, "direct", "direct"),
        (None, "sql_ci_v1", None, "sql_ci_v1"),
        (None, "sql_ci_v1", "direct", "sql_ci_v1"),
        ("direct", None, "sql_ci_v1", "direct"),
        ("direct", "sql_ci_v1", None, "direct"),
        ("snake_case", "sql_ci_v1", "direct", "snake_case"),
    ],
)
@pytest.mark.parametrize("way", ["load", "run"])
def test_seed_d021_configured_then_destination_then_schema(
    tmp_path: Path,
    way: str,
    configured: str | None,
    destination: str | None,
    in_schema: str | None,
    chosen: str,
) -> None:
    pipe = opened(tmp_path / "f.duckdb", destination, naming=configured)
    document_schema = document(in_schema) if in_schema else None
    if way == "load":
        pipe.load([RECORD], table="Orders", schema=document_schema)
    else:
        orders = trellis.resource([RECORD], name="Orders")
        pipe.run(trellis.source(name="farm", schema=document_schema)(lambda: orders)())
    table = "Orders" if chosen == "direct" else "orders"
    assert pipe.schema.normalizers["names"] == chosen
    assert next(iter(pipe.destination.catalog("main")[table].columns)) == NAMED[chosen]


@pytest.mark.parametrize("option", ["settings", "naming"])
def test_seed_d021_an_option_is_configuration(tmp_path: Path, option: str) -> None:
    options = {"settings": {"naming": "direct"}} if option == "settings" else {"naming": "direct"}
    pipe = opened(tmp_path / "f.duckdb", "sql_ci_v1", **options)
    pipe.load([RECORD], table="orders")
    assert "createdAt" in pipe.schema.tables["orders"].columns


def test_seed_d021_a_kind_of_destination_may_want_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DuckDB, "abilities", replace(DuckDB.abilities, naming="sql_cs_v1"))
    pipe = opened(tmp_path / "f.duckdb")
    pipe.load([RECORD], table="Orders")
    assert "createdAt" in pipe.destination.catalog("main")["Orders"].columns
    other = opened(tmp_path / "g.duckdb", "snake_case")
    other.load([RECORD], table="Orders")
    assert "created_at" in other.destination.catalog("main")["orders"].columns


def test_seed_d021_the_one_of_the_destination_is_not_part_of_where_it_is(tmp_path: Path) -> None:
    wanting = opened(tmp_path / "f.duckdb", "direct")
    wanting.load([RECORD], table="Orders")
    assert wanting.destination.url == f"duckdb:{tmp_path}/f.duckdb"
    plain = opened(tmp_path / "f.duckdb")
    plain.load([{"createdAt": 2}], table="Orders")
    assert [row["createdAt"] for row in plain.destination.query("main", "Orders")] == [1, 2]
    lake = trellis.pipeline("farm", to=f"parquet:{tmp_path}/lake?naming_convention=direct")
    lake.load([RECORD], table="Orders")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.duckdb", "lake"]
    assert "createdAt" in lake.destination.catalog("")["Orders"].columns


def test_seed_d021_on_postgres(postgres: Server, database: str) -> None:
    pipe = trellis.pipeline("farm", to=f"{postgres.url(database)}?naming_convention=direct", dataset="d")
    pipe.load([RECORD], table="Orders")
    assert "createdAt" in pipe.destination.catalog("d")["Orders"].columns


@pytest.mark.parametrize("who", ["configured", "destination"])
def test_seed_d021_n23_names_of_tables_with_data_are_frozen(tmp_path: Path, who: str) -> None:
    file = tmp_path / "f.duckdb"
    opened(file).load([RECORD], table="Orders")
    later = opened(file, naming="direct") if who == "configured" else opened(file, "direct")
    with pytest.raises(SchemaError, match="identifiers frozen: orders hold data under names by snake_case"):
        later.load([{"createdAt": 2}], table="Orders")
    assert opened(file).destination.catalog("main")["orders"].columns.keys() >= {"created_at"}
    assert opened(file).schema.normalizers["names"] == "snake_case"


def test_seed_d021_n23_unless_it_is_allowed(tmp_path: Path) -> None:
    file = tmp_path / "f.duckdb"
    opened(file).load([RECORD], table="orders")
    allowed = {"allow_identifier_change_on_table_with_data": True}
    opened(file, "direct", settings=allowed).load([{"createdAt": 2}], table="orders")
    rows = opened(file, "direct").destination.query("main", "orders")
    assert [(row["created_at"], row["createdAt"]) for row in rows] == [(1, None), (None, 2)]


def test_seed_d021_n23_and_free_before_there_is_data(tmp_path: Path) -> None:
    file = tmp_path / "f.duckdb"
    opened(file).save_schema(opened(file).schema)
    pipe = opened(file, "direct")
    pipe.load([RECORD], table="Orders")
    assert "createdAt" in pipe.destination.catalog("main")["Orders"].columns


def test_seed_d021_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.jsonl").write_text('{"createdAt": 1}\n')
    Path("trellis.yaml").write_text("to: duckdb:shop.duckdb?naming_convention=direct\n")
    assert run(["load", "orders.jsonl"]) == 0
    assert "shop.duckdb?" not in capsys.readouterr().out
    assert run(["schema", "show", "--at", "duckdb:shop.duckdb"]) == 0
    assert "createdAt" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("duckdb:f.duckdb?naming_convention=driect", "no naming convention 'driect': did you mean 'direct'"),
        ("duckdb:f.duckdb?naming_convention=", "naming_convention= names no convention"),
        ("parquet:lake?nameing=direct", "there is no option 'nameing' of a destination"),
    ],
)
def test_seed_d021_a_bad_one_is_told(url: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        trellis.pipeline("farm", to=url)


@pytest.mark.parametrize(
    ("url", "where", "naming"),
    [
        ("duckdb:what?.duckdb", "duckdb:what?.duckdb", None),
        ("postgres://h/d?sslmode=off", "postgres://h/d?sslmode=off", None),
        ("postgres://h/d?naming_convention=direct&sslmode=off", "postgres://h/d?sslmode=off", "direct"),
        ("postgres://h/d?sslmode=off&naming_convention=a.Up", "postgres://h/d?sslmode=off", "a.Up"),
    ],
)
def test_seed_d021_other_options_of_a_url_stay(url: str, where: str, naming: str | None) -> None:
    assert split_naming(url) == (where, naming)

"""Columns that get another type, tables that look otherwise than planned, and views."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from destinations.commits import Warehouse, table
from destinations.conftest import merging
from trellis.destinations.base import CatalogTable, CommitConflict, TableTreeWrite
from trellis.errors import SchemaError
from trellis.evolution.table_writes import KeyedWrite, OnMatch
from trellis.schema.model import Column, DataType, Schema

URLS = {"duckdb": "duckdb:{}/shop.duckdb", "parquet": "parquet:{}/lake"}
OLD = table("t", id="bigint", v="bigint")
APPEND, FILL = KeyedWrite("t"), KeyedWrite("t", ("id",), None, "coalesce_latest")
NOON = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)


@pytest.fixture
def warehouse(destination_url: str, tmp_path: Path) -> Warehouse:
    return Warehouse(destination_url, tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Warehouse:
    return Warehouse(URLS["duckdb"].format(tmp_path), tmp_path)


@pytest.fixture
def lake(tmp_path: Path) -> Warehouse:
    return Warehouse(URLS["parquet"].format(tmp_path), tmp_path)


def by_hand(file: Warehouse, *statements: str) -> None:
    with duckdb.connect(file.destination.url.partition(":")[2]) as db:
        for statement in statements:
            db.execute(statement)


# --- Other types -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "value", "expected"),
    [
        ("bigint", "double", 7, 7.0),
        ("bigint", "text", 7, "7"),
        ("bigint", "decimal", 7, 7),
        ("double", "text", 1.5, "1.5"),
        ("bool", "text", True, "true"),
        ("timestamp", "text", NOON, "2026-01-01 12:00:00+00"),
        ("text", "bigint", "12", 12),
        ("text", "timestamp", "2026-01-01T12:00:00Z", NOON),
        ("text", "json", '["x"]', '["x"]'),
    ],
)
def test_a_column_gets_another_type(
    warehouse: Warehouse, old: DataType, new: DataType, value: Any, expected: Any
) -> None:
    before, after = table("t", id="bigint", v=old), table("t", id="bigint", v=new)
    warehouse.commit(APPEND, [{"id": 1, "v": value}, {"id": 2, "v": None}], before)
    warehouse.commit(APPEND, [{"id": 3, "v": expected}], after, retyped={"t": ["v"]})
    assert warehouse.rows("t") == [(1, expected), (2, None), (3, expected)]
    type_ = warehouse.destination.catalog(warehouse.dataset)["t"].types["v"]
    assert type_ in ({"json", "text"} if new == "json" else {new})


@merging
@pytest.mark.parametrize(
    "on_match", ["replace", "keep", "coalesce_latest", "coalesce_matched_only", "append"]
)
def test_rows_are_merged_into_the_new_type(warehouse: Warehouse, on_match: OnMatch) -> None:
    warehouse.commit(APPEND, [{"id": 1, "v": 1}, {"id": 2, "v": 2}], OLD)
    load = KeyedWrite("t", ("id",), None, on_match)
    after = table("t", id="bigint", v="text")
    warehouse.commit(load, [{"id": 1, "v": "x"}, {"id": 3, "v": "y"}], after, retyped={"t": ["v"]})
    expected = {
        "keep": [(1, "1"), (2, "2"), (3, "y")],
        "append": [(1, "1"), (1, "x"), (2, "2"), (3, "y")],
        "coalesce_matched_only": [(1, "x"), (2, "2")],
    }.get(on_match, [(1, "x"), (2, "2"), (3, "y")])
    assert warehouse.rows("t") == expected


@pytest.mark.parametrize("files", [[], [[{"id": 9, "v": 9}]]])
def test_a_column_of_a_table_that_is_emptied(warehouse: Warehouse, files: Sequence[Any]) -> None:
    """What leaves need not fit."""
    warehouse.commit(APPEND, [{"id": 1, "v": "many"}], table("t", id="bigint", v="text"))
    staged = {"t": files} if files else {}
    warehouse.run([OLD], staged, chains=(TableTreeWrite("t", "replace"),), retyped={"t": ["v"]})
    assert warehouse.rows("t") == [(row["id"], row["v"]) for rows in files for row in rows]
    assert warehouse.destination.catalog(warehouse.dataset)["t"].types["v"] == "bigint"


@merging
def test_a_key_gets_another_type(warehouse: Warehouse) -> None:
    warehouse.commit(FILL, [{"id": 1, "v": 1}], OLD)
    after = table("t", id="text", v="bigint")
    warehouse.commit(FILL, [{"id": "1", "v": 2}, {"id": "x", "v": 3}], after, retyped={"t": ["id"]})
    assert warehouse.rows("t") == [("1", 2), ("x", 3)]


def test_a_value_does_not_fit(warehouse: Warehouse) -> None:
    warehouse.commit(APPEND, [{"id": 1, "v": "1"}, {"id": 2, "v": "many"}], table("t", id="bigint", v="text"))
    with pytest.raises(SchemaError, match=r"table t.*many.*nothing was loaded"):
        warehouse.commit(APPEND, [{"id": 3, "v": 3}], OLD, retyped={"t": ["v"]})
    assert warehouse.rows("t") == [(1, "1"), (2, "many")]


@pytest.mark.parametrize(
    ("kind", "real", "expected"), [("file", "VARCHAR", "BIGINT"), ("lake", "string", "int64")]
)
def test_the_value_is_named(request: pytest.FixtureRequest, kind: str, real: str, expected: str) -> None:
    one: Warehouse = request.getfixturevalue(kind)
    one.commit(APPEND, [{"id": 2, "v": "many"}], table("t", id="bigint", v="text"))
    message = (
        f"table t, column v: it is {real} in the destination, but {expected} in the schema, and 'many' does"
    )
    with pytest.raises(SchemaError, match=message):
        one.commit(APPEND, [{"id": 3, "v": 3}], OLD, retyped={"t": ["v"]})


def test_a_type_that_is_there_already(warehouse: Warehouse) -> None:
    warehouse.commit(APPEND, [{"id": 1, "v": 1}], OLD)
    new = OLD.with_columns(Column("w", "text"))
    warehouse.commit(APPEND, [{"id": 2, "v": 2, "w": "x"}], new, retyped={"t": ["v", "w"]})
    assert warehouse.rows("t") == [(1, 1, None), (2, 2, "x")]


def test_only_files_with_the_column_are_written_anew(lake: Warehouse) -> None:
    lake.commit(APPEND, [{"id": 1}], OLD)
    lake.commit(APPEND, [{"id": 2, "v": 2}], OLD)
    lake.run([table("t", id="bigint", v="double")], {}, retyped={"t": ["v"]})
    folder = Path(lake.destination.url.partition(":")[2], "t")
    assert sorted(path.name for path in folder.iterdir()) == ["run=load-0", "run=load-2"]
    (file,) = (folder / "run=load-2").iterdir()
    assert {field.name: str(field.type) for field in pq.read_schema(file)} == {"id": "int64", "v": "double"}
    assert lake.rows("t") == [(1, None), (2, 2.0)]


def test_the_type_is_not_changed_unasked(lake: Warehouse) -> None:
    lake.commit(APPEND, [{"id": 1, "v": 1}], OLD)
    with pytest.raises(SchemaError, match="table t, column v: it is int64 in the destination, but string"):
        lake.commit(APPEND, [{"id": 2, "v": "x"}], table("t", id="bigint", v="text"))


def test_own_names_of_types(file: Warehouse) -> None:
    now, later = table("t", at="timestamp", n="double"), table("t", at="timestamp", n="double", m="double")
    native: Any = {"double": "DECIMAL(18,4)", "timestamp": "TIMESTAMP"}
    statements = file.destination.migration("main", Schema("shop", {"t": now}), native)
    assert statements == ['CREATE TABLE "main"."t" ("at" TIMESTAMP, "n" DECIMAL(18,4))']
    file.commit(APPEND, [{"at": NOON, "n": 1.5}], now, native=native)
    file.commit(APPEND, [{"at": NOON, "n": 2.5, "m": 0.25}], later, native=native)
    looks = file.destination.catalog("main")["t"]
    assert looks.columns == {"at": "TIMESTAMP", "n": "DECIMAL(18,4)", "m": "DECIMAL(18,4)"}
    assert looks.types == {"at": "timestamp", "n": "decimal", "m": "decimal"}
    assert file.rows("t", "n", "m") == [(1.5, None), (2.5, 0.25)]


# --- A warehouse that was changed meanwhile --------------------------------------------------------------


def test_tables_look_as_planned(warehouse: Warehouse) -> None:
    warehouse.commit(APPEND, [{"id": 1}], OLD)
    planned = warehouse.destination.catalog(warehouse.dataset)
    warehouse.commit(APPEND, [{"id": 2}], OLD, catalog=planned)
    assert warehouse.rows("t", "id") == [(1,), (2,)]


@pytest.mark.parametrize("planned", [{"id": "bigint"}, {"id": "VARCHAR", "v": "VARCHAR"}, None])
def test_a_table_looks_otherwise(warehouse: Warehouse, planned: dict[str, str] | None) -> None:
    warehouse.commit(APPEND, [{"id": 1}], OLD)
    catalog = {} if planned is None else {"t": CatalogTable("t", planned)}
    with pytest.raises(CommitConflict):
        warehouse.commit(APPEND, [{"id": 2}], OLD, catalog=catalog)
    assert warehouse.rows("t", "id") == [(1,)]


def test_a_table_is_gone(warehouse: Warehouse) -> None:
    warehouse.run([], {})
    with pytest.raises(CommitConflict):
        warehouse.commit(APPEND, [{"id": 2}], OLD, catalog={"t": CatalogTable("t", {"id": "BIGINT"})})
    assert "t" not in warehouse.destination.catalog(warehouse.dataset)


def test_another_table_looks_otherwise(warehouse: Warehouse) -> None:
    """Only what the load touches has to be as it was."""
    other = table("other", id="bigint")
    warehouse.run([other], {"other": [[{"id": 1}]]}, keyed=(KeyedWrite("other"),))
    warehouse.run([OLD, other], {"t": [[{"id": 1}]]}, keyed=(APPEND,), catalog={})
    assert warehouse.rows("t", "id") == [(1,)]


def test_a_load_that_is_there_has_not_moved(warehouse: Warehouse) -> None:
    warehouse.commit(APPEND, [{"id": 1}], OLD, catalog={}, load_id="once")
    warehouse.commit(APPEND, [{"id": 1}], OLD, catalog={}, load_id="once")
    assert warehouse.rows("t", "id") == [(1,)]


def test_a_column_changed_by_hand_is_noticed(file: Warehouse) -> None:
    file.commit(APPEND, [{"id": 1, "v": 1}], OLD)
    planned = file.destination.catalog("main")
    by_hand(file, "ALTER TABLE t ALTER v TYPE VARCHAR")
    with pytest.raises(CommitConflict):
        file.commit(APPEND, [{"id": 2, "v": 2}], OLD, catalog=planned)
    file.commit(APPEND, [{"id": 2, "v": 2}], OLD, catalog=file.destination.catalog("main"))
    assert file.rows("t") == [(1, "1"), (2, "2")]


# --- What is there, in the words of a schema -------------------------------------------------------------


def test_types_that_are_read_back(file: Warehouse) -> None:
    types: dict[str, DataType | None] = {
        **dict.fromkeys(("TINYINT", "INTEGER", "BIGINT", "HUGEINT", "UBIGINT"), "bigint"),
        **dict.fromkeys(("DOUBLE", "FLOAT"), "double"),
        **dict.fromkeys(("DECIMAL(18,3)", "DECIMAL(38,0)"), "decimal"),
        **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_NS", "TIMESTAMP_MS"), "timestamp"),
        "VARCHAR": "text",
        "BOOLEAN": "bool",
        "DATE": "date",
        "TIME": "time",
        "BLOB": "binary",
        "JSON": "json",
        **dict.fromkeys(("UUID", "INTERVAL", "ENUM('a')", "VARCHAR[]", "DECIMAL(9,2)[]"), None),
        **dict.fromkeys(("STRUCT(a DECIMAL(3,1))", "MAP(VARCHAR, INTEGER)"), None),
    }
    by_hand(file, f"CREATE TABLE every ({', '.join(f'c{n} {name}' for n, name in enumerate(types))})")
    assert list(file.destination.catalog("main")["every"].types.values()) == list(types.values())


def test_types_of_files_that_are_read_back(lake: Warehouse) -> None:
    kinds: list[DataType] = [
        "text",
        "double",
        "bool",
        "timestamp",
        "date",
        "time",
        "bigint",
        "binary",
        "json",
    ]
    lake.run([table("t", **{kind: kind for kind in kinds}, amount="decimal")], {})
    types = lake.destination.catalog("")["t"].types
    assert types == {**{kind: kind for kind in kinds}, "json": "text", "amount": "decimal"}


def test_a_view_is_left_alone(file: Warehouse) -> None:
    by_hand(file, "CREATE TABLE real (id BIGINT, v BIGINT)", "CREATE VIEW t AS SELECT id, v FROM real")
    looks = file.destination.catalog("main")
    assert (looks["t"].is_view, looks["real"].is_view) == (True, False)
    assert file.destination.row_counts("main") == {"real": 0}
    for view_table in (OLD, OLD.with_columns(Column("w", "text"))):
        with pytest.raises(SchemaError, match="table t: it is a view in the destination, and a load needs"):
            file.commit(APPEND, [{"id": 1}], view_table)
        with pytest.raises(SchemaError, match="table t: it is a view"):
            file.destination.migration("main", Schema("shop", {"t": view_table}))
    assert file.destination.catalog("main") == looks


def test_a_view_over_a_table_that_grows(file: Warehouse) -> None:
    """It may be broken afterwards; loads and counts go on."""
    file.commit(APPEND, [{"id": 1, "v": 1}], OLD)
    by_hand(file, "CREATE VIEW shown AS SELECT * FROM t")
    file.commit(
        APPEND,
        [{"id": 2, "v": "x", "w": "y"}],
        table("t", id="bigint", v="text", w="text"),
        retyped={"t": ["v"]},
    )
    assert file.destination.row_counts("main")["t"] == 2
    assert file.rows("t") == [(1, "1", None), (2, "x", "y")]

"""Changes of a schema that a person makes: one commit in a database, and in a folder of files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from destinations.postgres_server import Server, database, postgres
from trellis.dialects import get_dialect
from trellis.errors import SchemaError, UsageError
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.pipelines.schema_versions import SchemaChanges, changes_of
from trellis.schema.model import Schema
from trellis.schema.renames import Renames
from trellis.warehouses.alterations import Alteration
from trellis.warehouses.migration_plan import MigrationPlan

__all__ = ["database", "postgres"]


def change(shop: Pipeline) -> Schema:
    """Rename, drop, give another type, and fill what was NULL."""
    before = shop.schema
    orders = before.tables["orders"]
    columns = {name: column for name, column in orders.columns.items() if name not in ("qty", "note")}
    columns["quantity"] = replace(orders.columns["qty"], name="quantity", data_type="text", nullable=False)
    after = before.with_tables(replace(orders, columns=columns))
    plan = MigrationPlan(
        shop.destination.abilities.warehouse,
        shop.dataset,
        before,
        after,
        Renames.of(["orders.qty=quantity"], before, after),
        {("orders", "quantity"): "none"},
    )
    return shop.save_schema(after, changes_of(plan, get_dialect(shop.dialect)))


def check(shop: Pipeline) -> None:
    shop.load([{"id": 1, "qty": 2, "note": "a"}, {"id": 2}], table="orders")
    saved = change(shop)
    assert saved.stored_version == 3
    rows = shop.destination.query(shop.dataset, "orders")
    assert [(row["id"], row["quantity"]) for row in rows] == [(1, "2"), (2, "none")]
    assert "note" not in rows[0] and "qty" not in rows[0]
    required = shop.destination.catalog(shop.dataset)["orders"].required
    assert required is None or "quantity" in required  # files do not say it


def test_duckdb_makes_all_changes_in_one_commit(tmp_path: Path) -> None:
    check(pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="inline"))


def test_a_dataset_may_be_called_like_its_database(tmp_path: Path) -> None:
    check(pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", dataset="shop", engine="inline"))


def test_postgres_makes_all_changes_in_one_commit(postgres: Server, database: str) -> None:
    check(pipeline("shop", postgres.url(database), dataset="sales", engine="inline"))


def test_parquet_makes_all_changes_in_one_commit(tmp_path: Path) -> None:
    lake = pipeline("shop", f"parquet:{tmp_path}/lake", engine="inline")
    check(lake)
    files = sorted(file for file in tmp_path.glob("lake/orders/**/*.parquet"))
    assert all({"id", "quantity"} <= {*pq.read_schema(file).names} for file in files)
    assert not any({"qty", "note"} & {*pq.read_schema(file).names} for file in files)
    lake.load([{"id": 3, "quantity": "4", "note": "b"}], table="orders")
    rows = lake.destination.query("", "orders")
    assert sorted((row["id"], row["quantity"], row.get("note")) for row in rows) == [
        (1, "2", None),
        (2, "none", None),
        (3, "4", "b"),
    ]


def test_tables_of_parquet_are_renamed_and_dropped(tmp_path: Path) -> None:
    lake = pipeline("shop", f"parquet:{tmp_path}/lake", engine="inline")
    lake.load([{"id": 1, "tags": ["a"]}], table="orders")
    lake.load([{"id": 1}], table="old")
    before = lake.schema
    renames = {"orders": "purchases"}
    kept = [
        replace(table, name=renames.get(table.name, table.name), parent=table.parent and "purchases")
        for table in before.tables.values()
        if table.name != "old"
    ]
    after = replace(before, tables={table.name: table for table in kept})
    renamed = Renames.of(["orders=purchases"], before, after)
    plan = MigrationPlan(lake.destination.abilities.warehouse, "", before, after, renamed)
    assert [(step.text, step.cost) for step in plan.steps] == [
        ("orders is renamed to purchases", "rewrite"),
        ("old is gone", "metadata"),
    ]
    lake.save_schema(after, changes_of(plan, get_dialect(lake.dialect)))
    assert {*lake.destination.catalog("")} >= {"purchases", "orders__tags"}
    assert not {"old", "orders"} & {*lake.destination.catalog("")}
    assert [row["id"] for row in lake.destination.query("", "purchases")] == [1]
    (file,) = tmp_path.glob("lake/purchases/**/*.parquet")
    assert "id" in pq.read_schema(file).names


def test_a_destination_that_alters_nothing_says_which_ones_do(tmp_path: Path) -> None:
    lake = pipeline("shop", f"parquet:{tmp_path}/lake", engine="inline")
    lake.load([{"id": 1, "note": "a"}], table="orders")
    lake.destination.abilities = replace(lake.destination.abilities, alters=False)
    with pytest.raises(UsageError) as refused:
        lake.save_schema(lake.schema, SchemaChanges((Alteration("drop column", "orders", "note"),)))
    assert str(refused.value) == (
        f"parquet:{tmp_path}/lake: in Parquet Trellis adds columns and gives them other types, and makes no "
        "other change, as it does in DuckDB, PostgreSQL, Delta Lake, Iceberg and Parquet; print the "
        "statements with `trellis schema plan --sql` and run them there"
    )


def test_parquet_refuses_not_null_where_rows_have_no_value(tmp_path: Path) -> None:
    lake = pipeline("shop", f"parquet:{tmp_path}/lake", engine="inline")
    lake.load([{"id": 1, "note": "a"}, {"id": 2}], table="orders")
    before = lake.schema
    orders = before.tables["orders"]
    after = before.with_tables(orders.with_columns(replace(orders.columns["note"], nullable=False)))
    plan = MigrationPlan(lake.destination.abilities.warehouse, "", before, after)
    with pytest.raises(SchemaError, match=r"it is to be NOT NULL, and rows have no value for it \(1\)"):
        lake.save_schema(after, changes_of(plan, get_dialect(lake.dialect)))
    assert lake.destination.row_counts("")["orders"] == 2

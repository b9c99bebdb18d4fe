"""Changes of a schema that a person makes: one commit in a database, and a refusal elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from destinations.postgres_server import Server, database, postgres
from trellis.dialects import get_dialect
from trellis.errors import UsageError
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.pipelines.schema_versions import SchemaChanges, changes_of
from trellis.schema.model import Column, Schema
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
    assert required is not None and "quantity" in required


def test_duckdb_makes_all_changes_in_one_commit(tmp_path: Path) -> None:
    check(pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="inline"))


def test_a_dataset_may_be_called_like_its_database(tmp_path: Path) -> None:
    check(pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", dataset="shop", engine="inline"))


def test_postgres_makes_all_changes_in_one_commit(postgres: Server, database: str) -> None:
    check(pipeline("shop", postgres.url(database), dataset="sales", engine="inline"))


def test_files_take_no_alterations(tmp_path: Path) -> None:
    lake = pipeline("shop", f"parquet:{tmp_path}/lake", engine="inline")
    lake.load([{"id": 1}], table="orders")
    changes = SchemaChanges((Alteration("drop column", "orders", "id"),))
    table = lake.schema.tables["orders"]
    after = lake.schema.with_tables(table.with_columns(Column("more", "text", nullable=True)))
    with pytest.raises(UsageError, match="in Parquet Trellis adds columns and gives them other types"):
        lake.save_schema(after, changes)

"""`schema plan` and `apply` on lakes: names, drops and NOT NULL of tables that are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

import trellis
from trellis.cli.output.migration_report import plan_dict
from trellis.destinations.iceberg.store import IcebergStore
from trellis.destinations.lake.delta import DeltaStore
from trellis.destinations.lake.store import TableAlteration, TableName
from trellis.dialects import get_dialect
from trellis.errors import ConflictError, SchemaError
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.pipelines.schema_versions import changes_of, save_schema
from trellis.schema.model import Column, Schema
from trellis.schema.renames import Renames
from trellis.warehouses.migration_plan import MigrationPlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[dict[str, Any]]


@pytest.fixture(params=["delta", "iceberg"])
def lake(request: pytest.FixtureRequest, root: Path) -> Pipeline:
    shop = pipeline("shop", f"{request.param}:{root}", engine="inline")
    shop.load([{"id": 1, "qty": 2, "note": "a"}, {"id": 2, "qty": 3}], table="orders")
    return shop


def edited(schema: Schema, table: str, *gone: str, **changes: dict[str, Any] | Column) -> Schema:
    """The schema with other columns in a table: new ones, and those that are there with other properties."""
    stored = schema.tables[table]
    columns = {name: column for name, column in stored.columns.items() if name not in gone}
    system_columns = {name: columns.pop(name) for name in [*columns] if name.startswith("_")}
    for name, change in changes.items():
        columns[name] = change if isinstance(change, Column) else replace(stored.columns[name], **change)
    return schema.with_tables(replace(stored, columns={**columns, **system_columns}))


def plan_of(shop: Pipeline, after: Schema, *renames: str, **fills: str) -> MigrationPlan:
    return MigrationPlan(
        shop.destination.abilities.warehouse,
        shop.dataset,
        shop.schema,
        after,
        Renames.of(renames, shop.schema, after),
        {("orders", column): value for column, value in fills.items()},
        prefixes=("_dlt_", "_trellis_"),
    )


def apply(shop: Pipeline, after: Schema, *renames: str, dry_run: bool = False, **fills: str) -> Schema:
    changes = changes_of(plan_of(shop, after, *renames, **fills), get_dialect(shop.dialect))
    return save_schema(shop, after, changes, dry_run=dry_run)


def rows_of(shop: Pipeline, *columns: str, table: str = "orders") -> list[tuple[Any, ...]]:
    rows = shop.destination.query(shop.dataset, table)
    return sorted(tuple(row[column] for column in columns) for row in rows)


def columns_of(shop: Pipeline, table: str = "orders") -> list[str]:
    return [name for name in shop.destination.catalog(shop.dataset)[table].columns if name[0] != "_"]


def with_purchases(schema: Schema) -> Schema:
    """The schema with another name of the table of orders."""
    tables = [replace(t, name="purchases") if t.name == "orders" else t for t in schema.tables.values()]
    return replace(schema, tables={table.name: table for table in tables})


def test_columns_are_renamed_dropped_and_made_not_null(lake: Pipeline) -> None:
    quantity = Column("quantity", "bigint", nullable=False)
    after = edited(lake.schema, "orders", "qty", "note", quantity=quantity)
    apply(lake, after, "orders.qty=quantity", dry_run=True)
    assert columns_of(lake) == ["id", "qty", "note"]
    assert apply(lake, after, "orders.qty=quantity").stored_version == 3
    assert rows_of(lake, "id", "quantity") == [(1, 2), (2, 3)]
    assert sorted(columns_of(lake)) == ["id", "quantity"]
    required = lake.destination.catalog(lake.dataset)["orders"].required
    assert required is not None and "quantity" in required and "id" not in required

    lake.load([{"id": 3, "quantity": 4}], table="orders")
    assert rows_of(lake, "id", "quantity") == [(1, 2), (2, 3), (3, 4)]


def test_not_null_is_refused_where_rows_have_no_value(lake: Pipeline) -> None:
    after = edited(lake.schema, "orders", note={"nullable": False})
    with pytest.raises(SchemaError) as refused:
        apply(lake, after, dry_run=True)
    assert str(refused.value) == (
        "table orders, column note: it is to be NOT NULL, and rows have no value for it (1); give them one "
        "with --fill orders.note=VALUE, or leave the column nullable; nothing was changed"
    )


def test_a_column_takes_null_again_and_the_others_keep_what_they_are(lake: Pipeline) -> None:
    apply(lake, edited(lake.schema, "orders", id={"nullable": False}, qty={"nullable": False}))
    apply(lake, edited(lake.schema, "orders", qty={"nullable": True}))
    required = lake.destination.catalog(lake.dataset)["orders"].required
    assert required is not None and [name for name in required if name[0] != "_"] == ["id"]


def test_tables_are_dropped(lake: Pipeline) -> None:
    lake.load([{"id": 1}], table="old")
    schema = lake.schema
    apply(lake, replace(schema, tables={n: t for n, t in schema.tables.items() if n != "old"}))
    assert "old" not in lake.destination.catalog(lake.dataset)


def test_a_change_that_was_killed_is_made_again(lake: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    quantity = Column("quantity", "bigint", nullable=True)
    after = edited(lake.schema, "orders", "qty", quantity=quantity, note={"data_type": "text"})
    store = lake.destination.store  # type: ignore[attr-defined]
    written = type(store).write_files

    def fail(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(store), "write_files", fail)
    with pytest.raises(KeyboardInterrupt):
        apply(lake, after, "orders.qty=quantity")
    monkeypatch.setattr(type(store), "write_files", written)
    assert "quantity" in columns_of(lake)
    assert "qty" in lake.schema.tables["orders"].columns
    assert apply(lake, after, "orders.qty=quantity").stored_version == 3
    assert rows_of(lake, "id", "quantity") == [(1, 2), (2, 3)]


def test_rows_that_come_while_a_table_is_written_anew_are_kept(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = pipeline("shop", f"delta:{root}", engine="inline")
    shop.load([{"id": 1, "qty": 2}], table="orders")
    scan = DeltaStore.scan

    def scan_slowly(store: DeltaStore, name: TableName, *args: Any) -> Any:
        rows = scan(store, name, *args)
        if name.table == "orders":
            monkeypatch.setattr(DeltaStore, "scan", scan)
            pipeline("shop", f"delta:{root}", engine="inline").load([{"id": 2, "qty": 3}], table="orders")
        return rows

    quantity = Column("quantity", "bigint", nullable=True)
    after = edited(shop.schema, "orders", "qty", quantity=quantity)
    monkeypatch.setattr(DeltaStore, "scan", scan_slowly)
    with pytest.raises(ConflictError, match="another load changed the schema meanwhile; plan it again"):
        apply(shop, after, "orders.qty=quantity")
    assert rows_of(shop, "id", "qty") == [(1, 2), (2, 3)]
    apply(shop, after, "orders.qty=quantity")
    assert rows_of(shop, "id", "quantity") == [(1, 2), (2, 3)]


def test_a_delta_table_is_renamed(root: Path) -> None:
    shop = pipeline("shop", f"delta:{root}", engine="inline")
    shop.load([{"id": 1}], table="orders")
    apply(shop, with_purchases(shop.schema), "orders=purchases")
    assert rows_of(shop, "id", table="purchases") == [(1,)]
    assert DeltaTable(root / "purchases").to_pyarrow_table(columns=["id"]).to_pylist() == [{"id": 1}]
    shop.load([{"id": 2}], table="purchases")
    assert rows_of(shop, "id", table="purchases") == [(1,), (2,)]


def test_an_iceberg_table_keeps_its_name(root: Path) -> None:
    shop = pipeline("shop", f"iceberg:{root}", engine="inline")
    shop.load([{"id": 1}], table="orders")
    with pytest.raises(
        SchemaError, match="a Hadoop catalog of Iceberg does not rename tables; load into a new"
    ):
        apply(shop, with_purchases(shop.schema), "orders=purchases", dry_run=True)


def test_a_plan_says_what_rewrites_a_delta_table(root: Path) -> None:
    shop = pipeline("shop", f"delta:{root}", engine="inline")
    shop.load([{"id": 1, "qty": 2}], table="orders")
    quantity = Column("quantity", "bigint", nullable=True)
    after = edited(shop.schema, "orders", "qty", quantity=quantity)
    steps = plan_dict(plan_of(shop, after, "orders.qty=quantity"))["steps"]
    assert [(step["change"], step["cost"], step["note"]) for step in steps] == [
        (
            "orders.qty is renamed to quantity",
            "rewrite",
            "only metadata in a table whose x-table-properties have delta.columnMapping.mode: name",
        )
    ]
    mapped = after.with_tables(
        after.tables["orders"].with_hints(**{"x-table-properties": {"delta.columnMapping.mode": "name"}})
    )
    steps = plan_dict(plan_of(shop, mapped, "orders.qty=quantity"))["steps"]
    assert [(step["cost"], step["statements"]) for step in steps] == [
        (
            "metadata",
            ["ALTER TABLE ``.`orders` SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"],
        ),
        ("metadata", ["ALTER TABLE ``.`orders` RENAME COLUMN `qty` TO `quantity`"]),
    ]


@pytest.mark.lake
def test_column_mapping_is_switched_on_by_the_schema(spark: SparkSession, root: Path) -> None:
    shop = pipeline("shop", f"delta:{root}")
    shop.load([{"id": 1, "qty": 2, "note": "a"}], table="orders")
    quantity = Column("quantity", "bigint", nullable=True)
    after = edited(shop.schema, "orders", "qty", "note", quantity=quantity)
    properties = {"x-table-properties": {"delta.columnMapping.mode": "name"}}
    after = after.with_tables(after.tables["orders"].with_hints(**properties))
    apply(shop, after, "orders.qty=quantity")
    shop.load([{"id": 2, "quantity": 3}], table="orders")
    assert rows_of(shop, "id", "quantity") == [(1, 2), (2, 3)]
    history = spark.sql(f"DESCRIBE HISTORY delta.`{root}/orders`").collect()
    assert [row["operation"] for row in reversed(history)] == [
        "CREATE TABLE",
        "WRITE",
        "SET TBLPROPERTIES",
        "RENAME COLUMN",
        "DROP COLUMNS",
        "WRITE",
    ]


@pytest.mark.lake
def test_columns_of_a_partitioned_delta_table_become_not_null(spark: SparkSession, root: Path) -> None:
    shop = pipeline("shop", f"delta:{root}")
    day = Column("day", "text").with_hints(partition=True)
    shop.load([{"day": "a", "id": 1}, {"day": "b", "id": 2}], table="orders", columns=[day])
    apply(shop, edited(shop.schema, "orders", id={"nullable": False}))
    required = shop.destination.catalog(shop.dataset)["orders"].required
    assert required is not None and "id" in required
    shop.load([{"day": "b", "id": 3}], table="orders")
    assert rows_of(shop, "day", "id") == [("a", 1), ("b", 2), ("b", 3)]
    assert sorted(partition["day"] for partition in DeltaTable(root / "orders").partitions()) == ["a", "b"]
    frame = spark.sql(f"SELECT day, id FROM delta.`{root}/orders` ORDER BY id")
    assert [tuple(row) for row in frame.collect()] == [("a", 1), ("b", 2), ("b", 3)]


@pytest.mark.lake
def test_a_delta_table_keeps_its_generated_columns(spark: SparkSession, root: Path) -> None:
    """Spark would write the rows anew as those of a table without them, and later loads leave NULL there."""
    system = "_dlt_load_id STRING, _dlt_id STRING"
    month = "month STRING GENERATED ALWAYS AS (substring(day, 1, 7))"
    spark.sql(f"CREATE TABLE delta.`{root}/orders` (id BIGINT, day STRING, {system}, {month}) USING DELTA")
    shop = pipeline("shop", f"delta:{root}")
    shop.load([{"id": 1, "day": "2026-01-02"}], table="orders")
    with pytest.raises(SchemaError) as refused:
        apply(shop, edited(shop.schema, "orders", id={"data_type": "text"}))
    assert str(refused.value) == (
        "table orders, column month: Delta computes its values, and would not after all rows were written "
        "anew; keep names and types of the columns, or load into a new table"
    )
    shop.load([{"id": 2, "day": "2026-02-03"}], table="orders")
    assert rows_of(shop, "id", "month") == [(1, "2026-01"), (2, "2026-02")]


@pytest.mark.lake
@pytest.mark.parametrize("scheme", ["delta", "iceberg"])
def test_values_go_where_there_were_none(spark: SparkSession, root: Path, scheme: str) -> None:
    shop = pipeline("shop", f"{scheme}:{root}")
    shop.load([{"id": 1, "note": "a"}, {"id": 2}], table="orders")
    apply(
        shop, edited(shop.schema, "orders", note={"nullable": False}, id={"data_type": "text"}), note="none"
    )
    assert rows_of(shop, "id", "note") == [("1", "a"), ("2", "none")]
    required = shop.destination.catalog(shop.dataset)["orders"].required
    assert required is not None and "note" in required and "_dlt_id" in required


@pytest.mark.lake
def test_a_name_of_an_earlier_column_is_free_again(spark: SparkSession, root: Path) -> None:
    """Iceberg maps names to columns: without a word the new column would have the values of the old one."""
    shop = pipeline("shop", f"iceberg:{root}")
    shop.load([{"id": 1, "qty": 2, "note": "a"}], table="orders")
    quantity = Column("quantity", "bigint", nullable=True)
    apply(shop, edited(shop.schema, "orders", "qty", "note", quantity=quantity), "orders.qty=quantity")
    shop.load([{"id": 2, "quantity": 3, "qty": 30, "note": "b"}], table="orders")
    expected = [(1, 2, None, None), (2, 3, 30, "b")]
    assert rows_of(shop, "id", "quantity", "qty", "note") == expected
    frame = trellis.read(f"iceberg:{root}", "orders").spark().orderBy("id")
    assert [tuple(row) for row in frame.select("id", "quantity", "qty", "note").collect()] == expected


@pytest.fixture
def catalog_url(spark: SparkSession, root: Path) -> Iterator[str]:
    name = "altered"
    spark.conf.set(f"spark.sql.catalog.{name}", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(f"spark.sql.catalog.{name}.type", "hadoop")
    spark.conf.set(f"spark.sql.catalog.{name}.warehouse", str(root))
    yield f"spark:{name}.shop"
    spark.conf.unset(f"spark.sql.catalog.{name}")


@pytest.mark.lake
def test_tables_of_a_catalog_are_altered_by_statements(catalog_url: str) -> None:
    shop = pipeline("shop", catalog_url)
    shop.load([{"id": 1, "qty": 2, "note": "a"}], table="orders")
    quantity = Column("quantity", "double", nullable=True)
    after = edited(shop.schema, "orders", "qty", "note", quantity=quantity)
    apply(shop, after, "orders.qty=quantity")
    assert rows_of(shop, "id", "quantity") == [(1, 2.0)]
    assert columns_of(shop) == ["id", "quantity"]
    required = edited(shop.schema, "orders", quantity={"nullable": False})
    with pytest.raises(SchemaError) as refused:
        apply(shop, required)
    assert str(refused.value) == (
        "orders.quantity: nullable was true, is false: Iceberg cannot make a column NOT NULL that is there; "
        "DuckDB, PostgreSQL and Delta Lake take it"
    )


@pytest.mark.lake
def test_numbers_come_into_rows_that_are_there(spark: SparkSession, root: Path) -> None:
    """Iceberg's own types do not take a text, in which Spark's statements have all values."""
    shop = pipeline("shop", f"iceberg:{root}", engine="inline")
    shop.load([{"id": 1, "qty": 2}, {"id": 2}], table="orders")
    after = edited(
        shop.schema, "orders", qty={"nullable": False}, size=Column("size", "bigint", nullable=False)
    )
    apply(shop, after, qty="7", size="5")
    assert rows_of(shop, "id", "qty", "size") == [(1, 2, 5), (2, 7, 5)]
    store: IcebergStore = shop.destination.store  # type: ignore[attr-defined]
    alteration = TableAlteration(types={"id": "STRING"}, values={"size": pa.scalar(6)})
    store.alter_table(TableName(shop.dataset, "orders"), alteration)
    assert rows_of(shop, "id", "size") == [("1", 6), ("2", 6)]
    assert shop.destination.catalog(shop.dataset)["orders"].columns["size"] == "BIGINT"

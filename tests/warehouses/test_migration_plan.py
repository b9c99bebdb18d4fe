"""From one schema to another as statements of each warehouse, with what they cost."""

from __future__ import annotations

import duckdb
import pytest
from sqlglot import ErrorLevel, parse

from trellis.errors import SchemaError
from trellis.schema.model import Column, Schema, Table
from trellis.schema.renames import Renames
from trellis.warehouses.catalog import WAREHOUSES
from trellis.warehouses.migration_plan import MigrationPlan, likely_renames

PARSERS = {"mssql": "tsql", "synapse": "tsql", "delta": "databricks", "iceberg": "spark"}


def table(name: str, *columns: Column, parent: str | None = None) -> Table:
    return Table(name, {column.name: column for column in columns}, parent=parent)


def shop(*tables: Table) -> Schema:
    return Schema("shop", {table.name: table for table in tables})


ID = Column("id", "bigint", nullable=True)
QTY = Column("qty", "bigint", nullable=True, precision=32)
NOTE = Column("note", "text", nullable=True)
BEFORE = shop(table("orders", ID, QTY, NOTE), table("old", ID))


def plan(warehouse: str, after: Schema, *renames: str, **fills: str) -> MigrationPlan:
    values = {("orders", column): value for column, value in fills.items()}
    return MigrationPlan(
        WAREHOUSES[warehouse], "shop", BEFORE, after, Renames.of(renames, BEFORE, after), values
    )


def steps(warehouse: str, after: Schema, *renames: str, **fills: str) -> list[tuple[object, ...]]:
    """Text, cost, and statements of each step but that of the table that goes."""
    return [
        (step.text, step.cost, step.statements)
        for step in plan(warehouse, after, *renames, **fills).steps
        if step.table != "old"
    ]


OTHER = shop(table("orders", ID, Column("qty", "text", nullable=True), NOTE), table("old", ID))


@pytest.mark.parametrize(
    ("warehouse", "cost", "statements"),
    [
        (
            "duckdb",
            "rewrite",
            ('ALTER TABLE "shop"."orders" ALTER COLUMN "qty" TYPE VARCHAR USING CAST("qty" AS VARCHAR)',),
        ),
        ("clickhouse", "rewrite", ("ALTER TABLE `shop`.`orders` MODIFY COLUMN `qty` String",)),
        (
            "bigquery",
            "rewrite",
            (
                "ALTER TABLE `shop`.`orders` ADD COLUMN `qty__retyped` STRING",
                "UPDATE `shop`.`orders` SET `qty__retyped` = CAST(`qty` AS STRING) WHERE `qty` IS NOT NULL",
                "ALTER TABLE `shop`.`orders` DROP COLUMN `qty`",
                "ALTER TABLE `shop`.`orders` RENAME COLUMN `qty__retyped` TO `qty`",
            ),
        ),
        ("athena", "impossible", ()),
    ],
)
def test_another_type(warehouse: str, cost: str, statements: tuple[str, ...]) -> None:
    ((_, step_cost, step_statements),) = steps(warehouse, OTHER)
    assert (step_cost, step_statements) == (cost, statements)


def test_a_larger_type_touches_no_row_where_the_warehouse_can() -> None:
    larger = shop(table("orders", ID, Column("qty", "bigint", nullable=True), NOTE), table("old", ID))
    assert steps("iceberg", larger) == [
        (
            "orders.qty: precision was 32, is not set",
            "metadata",
            ("ALTER TABLE `shop`.`orders` ALTER COLUMN `qty` TYPE BIGINT",),
        )
    ]


RENAMED = shop(
    table("purchases", ID, Column("quantity", "bigint", nullable=True, precision=32), NOTE),
    table("old", ID),
)


@pytest.mark.parametrize(
    ("warehouse", "statements"),
    [
        (
            "postgres",
            [
                'ALTER TABLE "shop"."orders" RENAME TO "purchases"',
                'ALTER TABLE "shop"."purchases" RENAME COLUMN "qty" TO "quantity"',
            ],
        ),
        (
            "snowflake",
            [
                'ALTER TABLE "shop"."orders" RENAME TO "shop"."purchases"',
                'ALTER TABLE "shop"."purchases" RENAME COLUMN "qty" TO "quantity"',
            ],
        ),
        (
            "mssql",
            [
                "EXEC sp_rename N'[shop].[orders]', N'purchases'",
                "EXEC sp_rename N'[shop].[purchases].[qty]', N'quantity', N'COLUMN'",
            ],
        ),
    ],
)
def test_renames(warehouse: str, statements: list[str]) -> None:
    renames = plan(warehouse, RENAMED, "orders=purchases", "orders.qty=quantity").steps
    assert [step.text for step in renames] == [
        "orders is renamed to purchases",
        "purchases.qty is renamed to quantity",
    ]
    assert [statement for step in renames for statement in step.statements] == statements
    assert all(step.breaking for step in renames)


def test_what_may_have_been_renamed_is_proposed() -> None:
    after = shop(table("orders", ID, Column("quantity", "bigint", nullable=True), NOTE), table("old", ID))
    assert likely_renames(plan("duckdb", after)) == ("orders.qty=quantity",)
    assert likely_renames(plan("duckdb", after, "orders.qty=quantity")) == ()


@pytest.mark.parametrize(
    ("rename", "message"),
    [
        ("orders.qt=quantity", "there is no stored column of orders 'qt': did you mean 'qty'?"),
        ("orders.qty=quantiti", "there is no column of orders 'quantiti'"),
        ("order.qty=quantity", "there is no stored table 'order': did you mean 'orders'?"),
        ("orders.qty", "write TABLE.COLUMN=NAME or TABLE=NAME"),
    ],
)
def test_wrong_names(rename: str, message: str) -> None:
    with pytest.raises(SchemaError, match=f"--rename {rename}.*{message}".replace("?", r"\?")):
        plan("duckdb", BEFORE, rename)


REQUIRED = shop(
    table("orders", ID, Column("qty", "bigint", nullable=False, precision=32), NOTE), table("old", ID)
)


def test_not_null_with_a_backfill() -> None:
    assert steps("postgres", REQUIRED, qty="0") == [
        (
            "orders.qty: nullable was true, is false",
            "rewrite",
            (
                'UPDATE "shop"."orders" SET "qty" = CAST(\'0\' AS integer) WHERE "qty" IS NULL',
                'ALTER TABLE "shop"."orders" ALTER COLUMN "qty" SET NOT NULL',
            ),
        )
    ]
    (step,) = plan("postgres", REQUIRED).steps
    assert (step.cost, step.note) == ("metadata", "fails if a row has NULL; give these a value with --fill")
    (step,) = plan("bigquery", REQUIRED).steps
    assert (step.cost, step.note) == ("impossible", "BigQuery cannot make a column NOT NULL that is there")


def test_a_new_required_column() -> None:
    after = shop(table("orders", ID, QTY, NOTE, Column("paid", "bool", nullable=False)), table("old", ID))
    (step,) = plan("postgres", after, paid="false").steps
    assert (step.breaking, step.backfill, step.statements) == (
        True,
        True,
        (
            'ALTER TABLE "shop"."orders" ADD COLUMN "paid" boolean',
            'UPDATE "shop"."orders" SET "paid" = CAST(\'false\' AS boolean) WHERE "paid" IS NULL',
            'ALTER TABLE "shop"."orders" ALTER COLUMN "paid" SET NOT NULL',
        ),
    )


def test_another_order() -> None:
    after = shop(table("orders", NOTE, ID, QTY), table("old", ID))
    assert steps("databricks", after) == [
        (
            "orders: its columns get another order",
            "metadata",
            ("ALTER TABLE `shop`.`orders` ALTER COLUMN `note` FIRST",),
        )
    ]
    (step,) = plan("duckdb", after).steps
    assert (step.statements, step.note) == ((), "no column of DuckDB is moved: the table keeps its order")


def test_what_goes_and_what_comes() -> None:
    after = shop(table("orders", ID, NOTE), table("new", ID))
    assert [(step.text, step.breaking, step.statements) for step in plan("duckdb", after).steps] == [
        ("old is gone", True, ('DROP TABLE "shop"."old"',)),
        ("orders.qty is gone", True, ('ALTER TABLE "shop"."orders" DROP COLUMN "qty"',)),
        ("new is new, with 1 column", False, ('CREATE TABLE "shop"."new" ("id" BIGINT)',)),
    ]


ALL = shop(
    table(
        "purchases",
        NOTE,
        Column("id", "text", nullable=True),
        Column("quantity", "bigint", nullable=False, precision=32),
        Column("paid", "bool", nullable=True),
    )
)


@pytest.mark.parametrize("warehouse", [name for name in WAREHOUSES if name != "parquet"])
def test_a_parser_of_each_warehouse_takes_the_statements(warehouse: str) -> None:
    migration = plan(warehouse, ALL, "orders=purchases", "orders.qty=quantity", qty="0")
    for step in migration.steps:
        for statement in step.statements:
            parse(statement, read=PARSERS.get(warehouse, warehouse), error_level=ErrorLevel.RAISE)


def test_duckdb_runs_the_statements() -> None:
    migration = plan("duckdb", ALL, "orders=purchases", "orders.qty=quantity")
    with duckdb.connect() as db:
        db.execute("CREATE SCHEMA shop")
        db.execute("CREATE TABLE shop.orders (id BIGINT, qty INTEGER, note VARCHAR)")
        db.execute("CREATE TABLE shop.old (id BIGINT)")
        db.execute("INSERT INTO shop.orders VALUES (1, 2, 'a')")
        for step in migration.steps:
            for statement in step.statements:
                db.execute(statement)
        assert db.execute("DESCRIBE shop.purchases").fetchall() == [
            ("id", "VARCHAR", "YES", None, None, None),
            ("quantity", "INTEGER", "NO", None, None, None),
            ("note", "VARCHAR", "YES", None, None, None),
            ("paid", "BOOLEAN", "YES", None, None, None),
        ]
        assert db.execute("SELECT * FROM shop.purchases").fetchall() == [("1", 2, "a", None)]


def test_of_several_columns_that_go_the_most_alike_is_a_likely_rename():
    names = ("org__url", "actor__login", "actor__url"), ("actor__name", "organization__url")
    before, after = (
        Schema("s", {"t": Table("t", {name: Column(name, "text") for name in some})}) for some in names
    )
    assert likely_renames(MigrationPlan(WAREHOUSES["duckdb"], "main", before, after)) == (
        "t.org__url=organization__url",
        "t.actor__login=actor__name",
    )

"""The types and statements of every warehouse: their exact text, that parsers and servers take them, and that
they are the words of dlt itself."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlglot import ErrorLevel, exp, parse_one

import trellis
from destinations.postgres_server import Server, database, postgres
from trellis.destinations.parquet.types import type_name
from trellis.dialects.dlt.system_tables import new_schema
from trellis.dialects.dlt.warehouses import WAREHOUSES, statements, warehouse_of
from trellis.errors import SchemaError, UsageError
from trellis.schema.model import DATA_TYPES, Column, Schema, Table
from trellis.schema.version import bump

__all__ = ["database", "postgres"]

PARSERS = {
    "duckdb": "duckdb",
    "postgres": "postgres",
    "redshift": "redshift",
    "snowflake": "snowflake",
    "bigquery": "bigquery",
    "databricks": "databricks",
    "clickhouse": "clickhouse",
    "mssql": "tsql",
    "synapse": "tsql",
    "athena": "athena",
    "delta": "databricks",
    "iceberg": "spark",
}
WIDTHS: list[Column] = [
    *(Column(data_type, data_type) for data_type in DATA_TYPES),
    *(Column(f"int{bits}", "bigint", precision=bits) for bits in (8, 16, 32, 64)),
    *(Column(f"at{digits}", "timestamp", precision=digits) for digits in (0, 3, 6)),
    *(Column(f"local{digits}", "timestamp", precision=digits, timezone=False) for digits in (0, 3, 6)),
    Column("local", "timestamp", timezone=False),
    Column("clock", "time", precision=3),
    Column("short", "text", precision=40),
    Column("key", "binary", precision=16),
    Column("money", "decimal", precision=12, scale=2),
    Column("count", "decimal", precision=30, scale=0),
    Column("fine", "decimal", precision=20, scale=12),
    Column("half", "decimal", scale=4),
    Column("coin", "wei", precision=20, scale=2),
]
"""Every type, and every type that has a precision or zone with one."""

ORDERS = Table(
    "orders",
    {
        column.name: column
        for column in (
            Column("id", "bigint", nullable=False).with_hints(primary_key=True),
            Column("shop", "text", precision=20).with_hints(cluster=True),
            Column("at", "timestamp").with_hints(partition=True, sort=True),
            Column("price", "decimal", precision=12, scale=2),
            Column("paid", "bool"),
            Column("extra", "json"),
            Column("_dlt_id", "text", nullable=False).with_hints(unique=True, row_key=True),
            Column("never_typed"),
        )
    },
)


def schema_of(*tables: Table, naming: str = "snake_case") -> Schema:
    schema = new_schema("shop")
    return replace(schema, tables={t.name: t for t in tables}, normalizers={"names": naming})


def made(warehouse: str, before: Schema, after: Schema) -> list[str]:
    return statements(warehouse_of(warehouse), "shop", before, after)


def created(warehouse: str, *tables: Table, naming: str = "snake_case") -> list[str]:
    """The statements for tables in a dataset that is there already."""
    stored = bump(schema_of(Table("old", {"a": Column("a", "text")}), naming=naming))
    return made(warehouse, stored, stored.with_tables(*tables))


def added(warehouse: str, *columns: Column, table: str = "orders") -> list[str]:
    stored = bump(schema_of(Table(table, {"a": Column("a", "text")})))
    return made(warehouse, stored, stored.with_tables(stored.tables[table].with_columns(*columns)))


def parsed(warehouse: str, statement: str) -> exp.Expression:
    tree = parse_one(statement, dialect=PARSERS[warehouse], error_level=ErrorLevel.RAISE)
    assert not list(tree.find_all(exp.Command)), statement
    return tree


def one_line(text: str) -> str:
    return " ".join(text.split())


# --- New tables -----------------------------------------------------------------------------------------

CREATED = {
    "duckdb": """CREATE TABLE "shop"."orders" ("id" BIGINT NOT NULL, "shop" VARCHAR,
        "at" TIMESTAMP WITH TIME ZONE, "price" DECIMAL(12,2), "paid" BOOLEAN, "extra" JSON,
        "_dlt_id" VARCHAR NOT NULL)""",
    "postgres": """CREATE TABLE "shop"."orders" ("id" bigint NOT NULL, "shop" varchar(20),
        "at" timestamp with time zone, "price" numeric(12,2), "paid" boolean, "extra" jsonb,
        "_dlt_id" varchar NOT NULL UNIQUE)""",
    "redshift": """CREATE TABLE "shop"."orders" ("id" bigint NOT NULL, "shop" varchar(20), "at" timestamptz,
        "price" numeric(12,2), "paid" boolean, "extra" super, "_dlt_id" varchar(max) NOT NULL)
        DISTSTYLE KEY DISTKEY ("shop") SORTKEY ("at")""",
    "snowflake": """CREATE TABLE "SHOP"."ORDERS" ("ID" NUMBER(19,0) NOT NULL, "SHOP" VARCHAR(20),
        "AT" TIMESTAMP_LTZ, "PRICE" NUMBER(12,2), "PAID" BOOLEAN, "EXTRA" VARIANT,
        "_DLT_ID" VARCHAR NOT NULL) CLUSTER BY ("SHOP")""",
    "bigquery": """CREATE TABLE `shop`.`orders` (`id` INT64 NOT NULL, `shop` STRING(20), `at` TIMESTAMP,
        `price` NUMERIC(12,2), `paid` BOOL, `extra` JSON, `_dlt_id` STRING NOT NULL)
        PARTITION BY DATE(`at`) CLUSTER BY `shop`""",
    "databricks": """CREATE TABLE `shop`.`orders` (`id` BIGINT NOT NULL, `shop` STRING, `at` TIMESTAMP,
        `price` DECIMAL(12,2), `paid` BOOLEAN, `extra` STRING, `_dlt_id` STRING NOT NULL)
        USING DELTA PARTITIONED BY (`at`)""",
    "clickhouse": """CREATE TABLE `shop`.`orders` (`id` Int64, `shop` Nullable(String),
        `at` Nullable(DateTime64(6,'UTC')), `price` Nullable(Decimal(12,2)), `paid` Nullable(Bool),
        `extra` Nullable(String), `_dlt_id` String) ENGINE = MergeTree ORDER BY (`id`)""",
    "mssql": """CREATE TABLE [shop].[orders] ([id] bigint NOT NULL, [shop] nvarchar(20), [at] datetimeoffset,
        [price] decimal(12,2), [paid] bit, [extra] json, [_dlt_id] nvarchar(max) NOT NULL)""",
    "synapse": """CREATE TABLE [shop].[orders] ([id] bigint NOT NULL, [shop] nvarchar(20),
        [at] datetimeoffset, [price] decimal(12,2), [paid] bit, [extra] nvarchar(max),
        [_dlt_id] nvarchar(max) NOT NULL) WITH (HEAP)""",
    "athena": """CREATE EXTERNAL TABLE `shop`.`orders` (`id` bigint, `shop` string, `at` timestamp,
        `price` decimal(12,2), `paid` boolean, `extra` string, `_dlt_id` string) STORED AS PARQUET""",
    "parquet": """"shop"."orders" ("id" int64 NOT NULL, "shop" string, "at" timestamp[us, tz=UTC],
        "price" decimal128(12, 2), "paid" bool, "extra" string, "_dlt_id" string NOT NULL)""",
    "delta": """CREATE TABLE `shop`.`orders` (`id` BIGINT NOT NULL, `shop` STRING, `at` TIMESTAMP,
        `price` DECIMAL(12,2), `paid` BOOLEAN, `extra` STRING, `_dlt_id` STRING NOT NULL)
        USING DELTA PARTITIONED BY (`at`)""",
    "iceberg": """CREATE TABLE `shop`.`orders` (`id` BIGINT NOT NULL, `shop` STRING, `at` TIMESTAMP,
        `price` DECIMAL(12,2), `paid` BOOLEAN, `extra` STRING, `_dlt_id` STRING NOT NULL)
        USING ICEBERG PARTITIONED BY (`at`)""",
}


@pytest.mark.parametrize("warehouse", WAREHOUSES)
def test_a_new_table(warehouse: str) -> None:
    assert created(warehouse, ORDERS) == [one_line(CREATED[warehouse])]


@pytest.mark.parametrize("warehouse", PARSERS)
def test_a_parser_finds_every_column_of_every_type(warehouse: str) -> None:
    table = Table("t", {column.name: column for column in WIDTHS})
    (statement,) = created(warehouse, table)
    tree = parsed(warehouse, statement)
    names = [definition.name for definition in tree.find_all(exp.ColumnDef, bfs=False)]
    assert [name.lower() for name in names] == [column.name for column in WIDTHS]
    assert all(isinstance(definition.kind, exp.DataType) for definition in tree.find_all(exp.ColumnDef))


def test_a_new_dataset_gets_all_tables_and_its_schema_first() -> None:
    start = new_schema("shop")
    statements = made("snowflake", start, start.with_tables(ORDERS))
    assert statements[0] == 'CREATE SCHEMA IF NOT EXISTS "SHOP"'
    assert [statement.split(" (")[0] for statement in statements[1:]] == [
        'CREATE TABLE "SHOP"."_DLT_VERSION"',
        'CREATE TABLE "SHOP"."_DLT_LOADS"',
        'CREATE TABLE "SHOP"."ORDERS"',
    ]


SCHEMAS = {
    "duckdb": 'CREATE SCHEMA IF NOT EXISTS "shop"',
    "bigquery": "CREATE SCHEMA IF NOT EXISTS `shop`",
    "clickhouse": "CREATE DATABASE IF NOT EXISTS `shop`",
    "mssql": "IF SCHEMA_ID(N'shop') IS NULL EXEC(N'CREATE SCHEMA [shop]')",
    "athena": "CREATE SCHEMA IF NOT EXISTS `shop`",
}


@pytest.mark.parametrize("warehouse", SCHEMAS)
def test_a_new_dataset(warehouse: str) -> None:
    assert made(warehouse, new_schema("shop"), schema_of(ORDERS))[0] == SCHEMAS[warehouse]


def test_files_need_no_dataset() -> None:
    assert made("parquet", new_schema("shop"), schema_of(ORDERS)) == [one_line(CREATED["parquet"])]


# --- New columns ----------------------------------------------------------------------------------------

ADDED = {
    "duckdb": [
        'ALTER TABLE "shop"."orders" ADD COLUMN "b" BIGINT',
        'ALTER TABLE "shop"."orders" ALTER COLUMN "b" SET NOT NULL',
        'ALTER TABLE "shop"."orders" ADD COLUMN "c" TIME',
    ],
    "postgres": [
        'ALTER TABLE "shop"."orders" ADD COLUMN "b" bigint NOT NULL, ADD COLUMN "c" time',
    ],
    "redshift": [
        (
            "-- column orders.b: only a new table can have it NOT NULL\n"
            'ALTER TABLE "shop"."orders" ADD COLUMN "b" bigint'
        ),
        'ALTER TABLE "shop"."orders" ADD COLUMN "c" time',
    ],
    "snowflake": ['ALTER TABLE "SHOP"."ORDERS" ADD COLUMN "B" NUMBER(19,0) NOT NULL, "C" TIME'],
    "bigquery": [
        (
            "-- column orders.b: only a new table can have it NOT NULL\n"
            "ALTER TABLE `shop`.`orders` ADD COLUMN `b` INT64, ADD COLUMN `c` TIME"
        ),
    ],
    "databricks": [
        (
            "-- column orders.b: only a new table can have it NOT NULL\n"
            "ALTER TABLE `shop`.`orders` ADD COLUMNS (`b` BIGINT, `c` STRING)"
        ),
    ],
    "clickhouse": ["ALTER TABLE `shop`.`orders` ADD COLUMN `b` Int64, ADD COLUMN `c` Nullable(String)"],
    "mssql": ["ALTER TABLE [shop].[orders] ADD [b] bigint NOT NULL, [c] time"],
    "synapse": ["ALTER TABLE [shop].[orders] ADD [b] bigint NOT NULL, [c] time"],
    "athena": ["ALTER TABLE `shop`.`orders` ADD COLUMNS (`b` bigint, `c` string)"],
    "parquet": ['"shop"."orders" + ("b" int64 NOT NULL, "c" time64[us])'],
    "delta": [
        (
            "-- column orders.b: only a new table can have it NOT NULL\n"
            "ALTER TABLE `shop`.`orders` ADD COLUMNS (`b` BIGINT, `c` STRING)"
        ),
    ],
    "iceberg": [
        (
            "-- column orders.b: only a new table can have it NOT NULL\n"
            "ALTER TABLE `shop`.`orders` ADD COLUMNS (`b` BIGINT, `c` TIME)"
        ),
    ],
}


@pytest.mark.parametrize("warehouse", WAREHOUSES)
def test_new_columns(warehouse: str) -> None:
    statements = added(warehouse, Column("b", "bigint", nullable=False), Column("c", "time"))
    assert statements == ADDED[warehouse]
    if warehouse in PARSERS:
        for statement in statements:
            parsed(warehouse, statement)


def test_nothing_is_dropped_retyped_or_made_twice() -> None:
    stored = bump(schema_of(ORDERS))
    less = replace(ORDERS, columns={"id": Column("id", "text")})
    for warehouse in WAREHOUSES:
        assert made(warehouse, stored, stored) == []
        assert made(warehouse, stored, stored.with_tables(less)) == []


def test_a_declared_column_is_added_once_it_has_a_type() -> None:
    stored = bump(schema_of(ORDERS))
    after = stored.with_tables(ORDERS.with_columns(Column("never_typed", "date")))
    assert made("postgres", stored, after) == ['ALTER TABLE "shop"."orders" ADD COLUMN "never_typed" date']


# --- Hints ----------------------------------------------------------------------------------------------


def test_snowflake_clusters_anew() -> None:
    assert added("snowflake", Column("b", "date").with_hints(cluster=True)) == [
        'ALTER TABLE "SHOP"."ORDERS" ADD COLUMN "B" DATE',
        'ALTER TABLE "SHOP"."ORDERS" CLUSTER BY ("B")',
    ]


@pytest.mark.parametrize("warehouse", ["redshift", "bigquery", "delta", "clickhouse"])
def test_a_hint_for_new_tables_only_is_told_of(warehouse: str) -> None:
    hints = dict.fromkeys(("cluster", "partition", "primary_key"), True)
    (statement,) = added(warehouse, Column("b", "date").with_hints(**hints))
    assert "only a new table takes the hint" in statement
    parsed(warehouse, statement)


def test_bigquery_partitions_by_one_column() -> None:
    by = {name: Column(name, "date").with_hints(partition=True) for name in ("a", "b")}
    with pytest.raises(SchemaError, match="table t: BigQuery partitions by one column, not by a and b"):
        created("bigquery", Table("t", by))


@pytest.mark.parametrize(
    ("data_type", "clause"),
    [
        ("date", " PARTITION BY `a`"),
        ("timestamp", " PARTITION BY DATE(`a`)"),
        ("bigint", " PARTITION BY RANGE_BUCKET(`a`, GENERATE_ARRAY(-172800000, 691200000, 86400))"),
        ("text", ""),
    ],
)
def test_bigquery_partitions(data_type: Any, clause: str) -> None:
    (statement,) = created("bigquery", Table("t", {"a": Column("a", data_type).with_hints(partition=True)}))
    assert statement.partition(")" if data_type != "text" else "STRING)")[2] == clause
    assert ("no partitions by text" in statement) == (data_type == "text")
    parsed("bigquery", statement)


def test_one_column_distributes_and_many_sort() -> None:
    columns = {n: Column(n, "date").with_hints(cluster=True, sort=True) for n in ("a", "b")}
    (statement,) = created("redshift", Table("t", columns))
    assert statement == (
        "-- table t: rows are distributed by one column, a\n"
        'CREATE TABLE "shop"."t" ("a" date, "b" date) DISTSTYLE KEY DISTKEY ("a") SORTKEY ("a", "b")'
    )
    parsed("redshift", statement)


@pytest.mark.parametrize(
    ("warehouse", "ends"),
    [
        ("databricks", "(`a` DATE, `b` TINYINT) USING ICEBERG PARTITIONED BY (`a`)"),
        ("athena", "(`a` date, `b` int) PARTITIONED BY (`a`) TBLPROPERTIES ('table_type' = 'ICEBERG')"),
        ("snowflake", '("A" DATE, "B" NUMBER(19,0))'),
    ],
)
def test_the_format_of_a_table_is_that_of_its_nested_tables(warehouse: str, ends: str) -> None:
    root = Table("t", {"x": Column("x", "date")}).with_hints(table_format="iceberg")
    columns = {
        "a": Column("a", "date").with_hints(partition=True),
        "b": Column("b", "bigint", precision=8),
    }
    statement = created(warehouse, root, Table("t__n", columns, parent="t"))[1]
    assert statement.endswith(ends)
    parsed(warehouse, statement)


# --- Names ----------------------------------------------------------------------------------------------

LONG = "order__" + "customer_billing_address_line_" * 5


def test_long_names_are_shortened() -> None:
    (statement,) = created("postgres", Table(LONG, {"a": Column("a", "date")}))
    name = parsed("postgres", statement).find(exp.Table).name
    assert len(name) == 63
    assert name.startswith("order__customer_billing_addr") and name.endswith("_billing_address_line_")
    assert f'"{LONG}"' in created("bigquery", Table(LONG, {"a": Column("a", "date")}))[0].replace("`", '"')


@pytest.mark.parametrize(
    ("warehouse", "naming", "name"),
    [
        ("snowflake", "snake_case", '"AB"'),
        ("snowflake", "sql_cs_v1", '"aB"'),
        ("redshift", "sql_cs_v1", '"ab"'),
        ("postgres", "sql_cs_v1", '"aB"'),
        ("duckdb", "sql_cs_v1", '"aB"'),
        ("athena", "sql_cs_v1", "`ab`"),
        ("bigquery", "direct", "`aB`"),
    ],
)
def test_the_case_of_names(warehouse: str, naming: str, name: str) -> None:
    raw = "aB" if naming != "snake_case" else "ab"
    (statement,) = created(warehouse, Table("t", {raw: Column(raw, "date")}), naming=naming)
    assert f"({name} " in statement


@pytest.mark.parametrize("warehouse", ["duckdb", "redshift", "databricks", "mssql", "athena"])
def test_names_that_become_one(warehouse: str) -> None:
    columns = {name: Column(name, "date") for name in ("Foo", "foo")}
    with pytest.raises(SchemaError, match="table t: columns Foo and foo are one in "):
        created(warehouse, Table("t", columns), naming="sql_cs_v1")
    assert len(created("postgres", Table("t", columns), naming="sql_cs_v1")) == 1


@pytest.mark.parametrize(
    ("warehouse", "quoted"),
    [
        ("duckdb", '"a""]`\\b"'),
        ("bigquery", '`a"]\\`\\\\b`'),
        ("mssql", '[a"]]`\\b]'),
        ("delta", '`a"]``\\b`'),
    ],
)
def test_odd_names_are_quoted(warehouse: str, quoted: str) -> None:
    name = 'a"]`\\b'
    (statement,) = created(warehouse, Table("t", {name: Column(name, "date")}), naming="direct")
    assert f"({quoted} " in statement


# --- Types ----------------------------------------------------------------------------------------------


def native(warehouse: str, column: Column) -> str:
    return warehouse_of(warehouse).type_of(column, "t")


@pytest.mark.parametrize(
    ("warehouse", "aware", "naive"),
    [
        ("duckdb", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS"),
        ("snowflake", "TIMESTAMP_LTZ(9)", "TIMESTAMP_NTZ(9)"),
        ("redshift", "timestamptz", "timestamp"),
        ("bigquery", "TIMESTAMP", "TIMESTAMP"),
        ("databricks", "TIMESTAMP", "TIMESTAMP_NTZ"),
        ("clickhouse", "DateTime64(6,'UTC')", "DateTime64(6)"),
        ("mssql", "datetimeoffset(7)", "datetime2(7)"),
        ("parquet", "timestamp[ns, tz=UTC]", "timestamp[ns]"),
    ],
)
def test_nanoseconds(warehouse: str, aware: str, naive: str) -> None:
    assert native(warehouse, Column("a", "timestamp", precision=9)) == aware
    assert native(warehouse, Column("a", "timestamp", precision=9, timezone=False)) == naive


def test_a_cut_precision_is_told_of() -> None:
    (statement,) = created("mssql", Table("t", {"a": Column("a", "timestamp", precision=9)}))
    assert statement == (
        "-- column t.a: SQL Server has precision 7, not 9\nCREATE TABLE [shop].[t] ([a] datetimeoffset(7))"
    )
    parsed("mssql", statement)


@pytest.mark.parametrize("timezone", [True, False])
def test_postgres_has_no_nanoseconds(timezone: bool) -> None:
    column = Column("a", "timestamp", precision=7, timezone=timezone)
    with pytest.raises(SchemaError, match=r"column t\.a: PostgreSQL has no timestamp of precision 7; 6 is"):
        created("postgres", Table("t", {"a": column}))


@pytest.mark.parametrize("warehouse", WAREHOUSES)
def test_an_integer_wider_than_any_type(warehouse: str) -> None:
    widest = 128 if warehouse == "duckdb" else 64
    native(warehouse, Column("a", "bigint", precision=widest))
    with pytest.raises(SchemaError, match=f"has no bigint of precision {widest + 1}; {widest} is the most"):
        native(warehouse, Column("a", "bigint", precision=widest + 1))


@pytest.mark.parametrize("warehouse", WAREHOUSES)
def test_a_decimal_without_a_scale_has_scale_nothing_and_says_so(warehouse: str) -> None:
    type_name = native(warehouse, Column("a", "decimal", precision=12))
    assert type_name.replace(" ", "").endswith("(12,0)")
    assert created(warehouse, Table("t", {"a": Column("a", "decimal", precision=12)}))[0].startswith(
        "-- column t.a: precision 12 without a scale means scale 0\n"
    )


@pytest.mark.parametrize(
    ("warehouse", "precision", "scale", "type_"),
    [
        ("bigquery", 29, 0, "NUMERIC(29,0)"),
        ("bigquery", 30, 0, "BIGNUMERIC(30,0)"),
        ("bigquery", 38, 9, "NUMERIC(38,9)"),
        ("bigquery", 38, 5, "BIGNUMERIC(38,5)"),
        ("bigquery", 39, 9, "BIGNUMERIC(39,9)"),
        ("bigquery", 20, 10, "BIGNUMERIC(20,10)"),
        ("postgres", 200, 2, "numeric(200,2)"),
        ("clickhouse", 76, 2, "Decimal(76,2)"),
        ("delta", 39, 2, "STRING"),
        ("iceberg", 39, 2, "STRING"),
        ("parquet", 39, 2, "decimal256(39, 2)"),
    ],
)
def test_wide_decimals(warehouse: str, precision: int, scale: int, type_: str) -> None:
    assert native(warehouse, Column("a", "decimal", precision=precision, scale=scale)) == type_


@pytest.mark.parametrize("warehouse", ["duckdb", "redshift", "snowflake", "databricks", "mssql", "athena"])
def test_a_decimal_wider_than_any_type(warehouse: str) -> None:
    with pytest.raises(SchemaError, match=r"column t\.a: .* has no decimal of precision 39 and scale 2; 38"):
        native(warehouse, Column("a", "decimal", precision=39, scale=2))


@pytest.mark.parametrize(
    ("warehouse", "column", "type_"),
    [
        ("mssql", Column("a", "text", precision=4001), "nvarchar(max)"),
        ("mssql", Column("a", "binary", precision=8001), "varbinary(max)"),
        ("redshift", Column("a", "text", precision=65536), "varchar(max)"),
        ("parquet", Column("a", "time", precision=0), "time32[ms]"),
        ("iceberg", Column("a", "bigint", precision=8), "INT"),
        ("delta", Column("a", "bigint", precision=8), "TINYINT"),
    ],
)
def test_types_at_the_limits(warehouse: str, column: Column, type_: str) -> None:
    assert native(warehouse, column) == type_


# --- dlt's own words ------------------------------------------------------------------------------------

DLT = ("duckdb", "postgres", "redshift", "snowflake", "bigquery", "databricks", "clickhouse", "mssql")
UNLIKE = {("bigquery", "half"): "BIGNUMERIC(38,4)"}
"""BigQuery refuses what dlt says here: a NUMERIC has 29 digits before the point."""


def by_dlt(warehouse: str, column: Column) -> str:
    factory = import_module(f"dlt.destinations.impl.{warehouse}.factory")
    mapper = getattr(factory, warehouse)().capabilities().get_type_mapper()
    keys = ("name", "data_type", "precision", "scale", "timezone")
    hints = {key: value for key in keys if (value := getattr(column, key)) is not None}
    return str(mapper.to_destination_type(hints, {"name": "t", "columns": {column.name: hints}}))


def same(warehouse: str, type_: str) -> str:
    """A type as the parser of the warehouse understands it: aliases are one."""
    tree = exp.DataType.build(type_.replace(" (", "("), dialect=PARSERS[warehouse])
    return tree.sql(dialect=PARSERS[warehouse]).upper().replace(" ", "").replace("WITHOUTTIMEZONE", "")


@pytest.mark.parametrize("column", WIDTHS, ids=lambda column: column.name)
@pytest.mark.parametrize("warehouse", [*DLT, "synapse", "athena"])
def test_types_are_those_of_dlt(warehouse: str, column: Column) -> None:
    pytest.importorskip("dlt")
    expected = UNLIKE.get((warehouse, column.name)) or by_dlt(warehouse, column)
    assert same(warehouse, native(warehouse, column)) == same(warehouse, expected)


# --- The destinations that there are --------------------------------------------------------------------

UNLIKE_DLT = {"wei": "decimal128(38, 0)", "clock": "time64[us]", "key": "binary"}
"""Where files of the Parquet destination are not like section 16."""


@pytest.mark.parametrize("column", WIDTHS, ids=lambda column: column.name)
def test_files_have_the_same_types(column: Column) -> None:
    assert type_name(column) == (UNLIKE_DLT.get(column.name) or native("parquet", column))


NEXT = [*WIDTHS, Column("must", "bigint", nullable=False), Column("wide", "bigint", precision=128)]


def test_duckdb_takes_the_statements(tmp_path: Path) -> None:
    start = new_schema("shop")
    first = bump(start.with_tables(ORDERS))
    table = Table("orders", {**ORDERS.columns, **{column.name: column for column in NEXT}})
    with duckdb.connect(str(tmp_path / "plots.duckdb")) as db:
        for statement in [*made("duckdb", start, first), *made("duckdb", first, first.with_tables(table))]:
            db.execute(statement)
        types = dict(db.execute("SELECT column_name, data_type FROM information_schema.columns").fetchall())
    assert types["wide"] == "HUGEINT"
    assert {c.name: types[c.name] for c in WIDTHS} == {c.name: native("duckdb", c) for c in WIDTHS}


def test_postgres_takes_the_statements(postgres: Server, database: str) -> None:
    start = new_schema("shop")
    first = bump(start.with_tables(ORDERS))
    table = Table("orders", {**ORDERS.columns, **{column.name: column for column in NEXT[:-1]}})
    statements = [*made("postgres", start, first), *made("postgres", first, first.with_tables(table))]
    postgres.run(*statements, database=database)
    types = dict(
        postgres.run(
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
            "WHERE attrelid = 'shop.orders'::regclass AND attnum > 0",
            database=database,
        )
    )
    assert types["wei"] == "numeric(156,78)"
    assert {c.name: same("postgres", types[c.name]) for c in WIDTHS} == {
        c.name: same("postgres", native("postgres", c)) for c in WIDTHS
    }


# --- The option -----------------------------------------------------------------------------------------


def pipeline(path: Path, **settings: Any) -> trellis.Pipeline:
    return trellis.pipeline("shop", to=f"duckdb:{path}/shop.duckdb", settings=settings)


def test_a_plan_shows_the_statements_of_a_warehouse(tmp_path: Path) -> None:
    rows = [{"id": 1, "tags": ["a"]}]
    plain = pipeline(tmp_path).plan(rows, table="orders")
    report = pipeline(tmp_path, warehouse="snowflake").plan(rows, table="orders")
    assert plain.ddl is None
    assert report.ddl is not None and report.ddl[0] == "snowflake"
    assert report.ddl[1][-1].startswith('CREATE TABLE "MAIN"."ORDERS__TAGS" ("VALUE" VARCHAR, ')
    assert report.schema.stored_hash == plain.schema.stored_hash
    assert report.statements == plain.statements

    assert pipeline(tmp_path, warehouse="bigquery").load(rows, table="orders").ddl is None
    later = pipeline(tmp_path, warehouse="bigquery").plan([{"id": 2, "note": "x"}], table="orders")
    assert later.ddl == ("bigquery", ("ALTER TABLE `main`.`orders` ADD COLUMN `note` STRING",))
    assert pipeline(tmp_path, warehouse="duckdb").plan(rows, table="orders").ddl is None


def test_an_unknown_warehouse(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no warehouse 'Snowflak': did you mean 'snowflake'"):
        pipeline(tmp_path, warehouse="Snowflak").plan([{"id": 1}], table="orders")


@pytest.mark.parametrize("warehouse", WAREHOUSES)
def test_every_warehouse_has_a_type_for_every_data_type(warehouse: str) -> None:
    assert all(native(warehouse, Column("a", data_type)) for data_type in DATA_TYPES)

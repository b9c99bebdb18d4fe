"""The statements each warehouse gets: their exact text, and that a parser of its language takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import ErrorLevel, exp, parse_one

from trellis.dialects.rudderstack.identifiers.names import Names
from trellis.dialects.rudderstack.providers import (
    NEUTRAL,
    PROVIDERS,
    Neutral,
    Provider,
    provider_of,
)
from trellis.dialects.rudderstack.warehouse.ddl import add_columns, create_schema, create_table, widen

PARSERS = {
    "POSTGRES": "postgres",
    "RS": "redshift",
    "SNOWFLAKE": "snowflake",
    "SNOWPIPE_STREAMING": "snowflake",
    "BQ": "bigquery",
    "BQSTREAM_ALL_EVENTS": "bigquery",
    "DELTALAKE": "databricks",
    "CLICKHOUSE": "clickhouse",
    "MSSQL": "tsql",
    "AZURE_SYNAPSE": "tsql",
    "S3_DATALAKE": "hive",
    "GCS_DATALAKE": "hive",
    "AZURE_DATALAKE": "hive",
}
TAG = "0b5d8f0e-5a51-4a0f-9d5f-7c1f6a3b2c1d"
COLUMNS: list[tuple[str, Neutral]] = [
    ("id", "string"),
    ("received_at", "datetime"),
    ("event", "string"),
    ("price", "float"),
    ("qty", "int"),
    ("paid", "boolean"),
    ("extra", "json"),
]


def columns(
    warehouse: str, neutral_columns: Iterable[tuple[str, Neutral]] = COLUMNS
) -> list[tuple[str, Neutral]]:
    names = Names(provider_of(warehouse))
    return [(names.standard(name), neutral) for name, neutral in neutral_columns]


def parsed(warehouse: str, statement: str) -> exp.Expression:
    tree = parse_one(statement, dialect=PARSERS[warehouse], error_level=ErrorLevel.RAISE)
    assert not list(tree.find_all(exp.Command)), statement
    return tree


def declared(tree: exp.Expression) -> list[str]:
    return [column.name for column in tree.find_all(exp.ColumnDef, bfs=False)]


# --- New tables -----------------------------------------------------------------------------------------

CREATED = {
    "POSTGRES": """CREATE TABLE IF NOT EXISTS "shop"."tracks" ("id" text, "received_at" timestamptz,
        "event" text, "price" numeric, "qty" bigint, "paid" boolean, "extra" jsonb)""",
    "RS": """CREATE TABLE IF NOT EXISTS "shop"."tracks" ("id" varchar(65535), "received_at" timestamp,
        "event" varchar(65535), "price" double precision, "qty" bigint, "paid" boolean, "extra" super)
        DISTSTYLE KEY DISTKEY ("id") SORTKEY ("received_at")""",
    "SNOWFLAKE": """CREATE TABLE IF NOT EXISTS "SHOP"."TRACKS" ("ID" varchar, "RECEIVED_AT" timestamp_tz,
        "EVENT" varchar, "PRICE" double precision, "QTY" number, "PAID" boolean, "EXTRA" variant)""",
    "BQ": """CREATE TABLE IF NOT EXISTS `shop`.`tracks` (`id` STRING, `received_at` TIMESTAMP, `event` STRING,
        `price` FLOAT64, `qty` INTEGER, `paid` BOOLEAN, `extra` STRING) PARTITION BY _PARTITIONDATE""",
    "DELTALAKE": """CREATE TABLE IF NOT EXISTS `shop`.`tracks` (`id` STRING, `received_at` TIMESTAMP,
        `event` STRING, `price` DOUBLE, `qty` BIGINT, `paid` BOOLEAN, `extra` STRING,
        `event_date` DATE GENERATED ALWAYS AS (CAST(`received_at` AS DATE)))
        USING DELTA PARTITIONED BY (`event_date`)""",
    "CLICKHOUSE": """CREATE TABLE IF NOT EXISTS `shop`.`tracks` (`id` String, `received_at` DateTime,
        `event` LowCardinality(String), `price` Nullable(Float64), `qty` Nullable(Int64),
        `paid` Nullable(UInt8), `extra` Nullable(String))
        ENGINE = ReplacingMergeTree PARTITION BY toDate(`received_at`) ORDER BY (`received_at`, `id`)""",
    "MSSQL": """IF OBJECT_ID(N'[shop].[tracks]', N'U') IS NULL CREATE TABLE [shop].[tracks]
        ([id] nvarchar(512), [received_at] datetimeoffset, [event] nvarchar(512), [price] decimal(28,10),
        [qty] bigint, [paid] bit, [extra] nvarchar(512))""",
    "AZURE_SYNAPSE": """IF OBJECT_ID(N'[shop].[tracks]', N'U') IS NULL CREATE TABLE [shop].[tracks]
        ([id] varchar(512), [received_at] datetimeoffset, [event] varchar(512), [price] decimal(28,10),
        [qty] bigint, [paid] bit, [extra] varchar(512))""",
    "S3_DATALAKE": """CREATE EXTERNAL TABLE IF NOT EXISTS `shop`.`tracks` (`id` varchar(65535),
        `received_at` timestamp, `event` varchar(65535), `price` double, `qty` bigint, `paid` boolean,
        `extra` varchar(65535)) STORED AS PARQUET""",
}


@pytest.mark.parametrize("warehouse", CREATED)
def test_create_table(warehouse: str) -> None:
    table, dataset = Names(provider_of(warehouse)).standard_table("tracks"), "shop"
    if provider_of(warehouse).case == "upper":
        dataset = dataset.upper()
    statement = create_table(provider_of(warehouse), dataset, table, columns(warehouse))
    assert statement == " ".join(CREATED[warehouse].split())


@pytest.mark.parametrize(
    ("warehouse", "twin"),
    [
        ("SNOWPIPE_STREAMING", "SNOWFLAKE"),
        ("BQSTREAM_ALL_EVENTS", "BQ"),
        ("GCS_DATALAKE", "S3_DATALAKE"),
        ("AZURE_DATALAKE", "S3_DATALAKE"),
    ],
)
def test_warehouses_of_one_language(warehouse: str, twin: str) -> None:
    one, other = (create_table(provider_of(name), "s", "t", COLUMNS) for name in (warehouse, twin))
    assert one == other


@pytest.mark.parametrize("warehouse", PROVIDERS)
def test_a_new_table_parses(warehouse: str) -> None:
    tree = parsed(warehouse, create_table(provider_of(warehouse), "shop", "tracks", columns(warehouse)))
    create = tree.find(exp.Create)
    assert create is not None and create.kind == "TABLE"
    table = create.find(exp.Table)
    assert table is not None and (table.db, table.name) == ("shop", "tracks")
    day = ["event_date"] if warehouse == "DELTALAKE" else []
    assert declared(create) == [name for name, _ in columns(warehouse)] + day


SCHEMAS = {
    "POSTGRES": 'CREATE SCHEMA IF NOT EXISTS "my_shop"',
    "RS": 'CREATE SCHEMA IF NOT EXISTS "my_shop"',
    "SNOWFLAKE": 'CREATE SCHEMA IF NOT EXISTS "my_shop"',
    "BQ": "CREATE SCHEMA IF NOT EXISTS `my_shop`",
    "DELTALAKE": "CREATE SCHEMA IF NOT EXISTS `my_shop`",
    "CLICKHOUSE": "CREATE DATABASE IF NOT EXISTS `my_shop`",
    "MSSQL": "IF SCHEMA_ID(N'my_shop') IS NULL EXEC(N'CREATE SCHEMA [my_shop]')",
    "AZURE_SYNAPSE": "IF SCHEMA_ID(N'my_shop') IS NULL EXEC(N'CREATE SCHEMA [my_shop]')",
    "S3_DATALAKE": "CREATE SCHEMA IF NOT EXISTS `my_shop`",
}


@pytest.mark.parametrize("warehouse", SCHEMAS)
def test_create_schema(warehouse: str) -> None:
    statement = create_schema(provider_of(warehouse), "my_shop")
    assert statement == SCHEMAS[warehouse]
    parsed(warehouse, statement)
    parsed(warehouse, statement.partition("EXEC(N'")[2].removesuffix("')") or statement)


def test_redshift_sorts_by_what_is_there() -> None:
    redshift = provider_of("RS")
    assert (
        create_table(redshift, "s", "t", [("a", "int")]) == 'CREATE TABLE IF NOT EXISTS "s"."t" ("a" bigint)'
    )
    assert create_table(redshift, "s", "t", [("received_at", "datetime")]).endswith(
        '("received_at" timestamp) SORTKEY ("received_at")'
    )


def test_delta_has_a_day_only_with_a_time() -> None:
    delta = provider_of("DELTALAKE")
    assert create_table(delta, "s", "t", [("a", "int")]).endswith("(`a` BIGINT) USING DELTA")
    taken: list[tuple[str, Neutral]] = [("received_at", "datetime"), ("event_date", "string")]
    assert create_table(delta, "s", "t", taken).endswith("`event_date` STRING) USING DELTA")


def test_clickhouse_users_are_merged() -> None:
    statement = create_table(
        provider_of("CLICKHOUSE"),
        "shop",
        "users",
        [("id", "string"), ("received_at", "datetime"), ("event", "string"), ("age", "int")],
    )
    assert statement == (
        "CREATE TABLE IF NOT EXISTS `shop`.`users` (`id` String,"
        " `received_at` DateTime,"
        " `event` SimpleAggregateFunction(anyLast, Nullable(String)),"
        " `age` SimpleAggregateFunction(anyLast, Nullable(Int64)))"
        " ENGINE = AggregatingMergeTree PARTITION BY toDate(`received_at`) ORDER BY (`id`)"
    )
    parsed("CLICKHOUSE", statement)


def test_clickhouse_keeps_different_discards_of_one_moment() -> None:
    names = ("row_id", "table_name", "column_name", "column_value", "reason")
    discards: list[tuple[str, Neutral]] = [(name, "string") for name in names]
    statement = create_table(
        provider_of("CLICKHOUSE"), "shop", "rudder_discards", [*discards, ("received_at", "datetime")]
    )
    assert statement.endswith(
        " `reason` Nullable(String), `received_at` DateTime) ENGINE = ReplacingMergeTree"
        " PARTITION BY toDate(`received_at`)"
        " ORDER BY (`received_at`, `row_id`, `column_name`, `table_name`)"
    )
    parsed("CLICKHOUSE", statement)


def test_clickhouse_replaces_no_rows_without_a_key() -> None:
    statement = create_table(provider_of("CLICKHOUSE"), "s", "t", [("received_at", "datetime"), ("a", "int")])
    assert statement.endswith(
        "(`received_at` Nullable(DateTime), `a` Nullable(Int64)) ENGINE = MergeTree ORDER BY tuple()"
    )
    parsed("CLICKHOUSE", statement)


def test_clickhouse_events_that_are_no_text() -> None:
    (statement,) = add_columns(
        provider_of("CLICKHOUSE"),
        "s",
        "tracks",
        [("event_text", "int"), ("event", "text"), ("events", "string")],
    )
    assert statement == (
        "ALTER TABLE `s`.`tracks` ADD COLUMN IF NOT EXISTS `event_text` Nullable(Int64),"
        " ADD COLUMN IF NOT EXISTS `event` LowCardinality(String),"
        " ADD COLUMN IF NOT EXISTS `events` Nullable(String)"
    )


# --- New columns ----------------------------------------------------------------------------------------

ADDED = {
    "POSTGRES": [
        'ALTER TABLE "s"."t" ADD COLUMN IF NOT EXISTS "a" text, ADD COLUMN IF NOT EXISTS "b" bigint',
    ],
    "RS": [
        'ALTER TABLE "s"."t" ADD COLUMN "a" varchar(65535)',
        'ALTER TABLE "s"."t" ADD COLUMN "b" bigint',
    ],
    "SNOWFLAKE": ['ALTER TABLE "s"."t" ADD COLUMN IF NOT EXISTS "a" varchar, IF NOT EXISTS "b" number'],
    "BQ": ["ALTER TABLE `s`.`t` ADD COLUMN IF NOT EXISTS `a` STRING, ADD COLUMN IF NOT EXISTS `b` INTEGER"],
    "DELTALAKE": ["ALTER TABLE `s`.`t` ADD COLUMNS (`a` STRING, `b` BIGINT)"],
    "CLICKHOUSE": [
        """ALTER TABLE `s`.`t` ADD COLUMN IF NOT EXISTS `a` Nullable(String),
        ADD COLUMN IF NOT EXISTS `b` Nullable(Int64)"""
    ],
    "MSSQL": ["ALTER TABLE [s].[t] ADD [a] nvarchar(512), [b] bigint"],
    "AZURE_SYNAPSE": ["ALTER TABLE [s].[t] ADD [a] varchar(512), [b] bigint"],
    "S3_DATALAKE": ["ALTER TABLE `s`.`t` ADD COLUMNS (`a` varchar(65535), `b` bigint)"],
}


@pytest.mark.parametrize("warehouse", ADDED)
def test_add_columns(warehouse: str) -> None:
    statements = add_columns(provider_of(warehouse), "s", "t", [("a", "string"), ("b", "int")])
    assert statements == [" ".join(statement.split()) for statement in ADDED[warehouse]]


def test_clickhouse_users_get_merged_columns() -> None:
    (statement,) = add_columns(provider_of("CLICKHOUSE"), "s", "users", [("plan", "string")])
    assert statement.endswith(
        " ADD COLUMN IF NOT EXISTS `plan` SimpleAggregateFunction(anyLast, Nullable(String))"
    )


@pytest.mark.parametrize("warehouse", PROVIDERS)
def test_a_hundred_columns_at_once(warehouse: str) -> None:
    new_columns: list[tuple[str, Neutral]] = [(f"c{i}", NEUTRAL[i % len(NEUTRAL)]) for i in range(250)]
    statements = add_columns(provider_of(warehouse), "s", "t", new_columns)
    assert len(statements) == (250 if warehouse == "RS" else 3)
    assert [name for statement in statements for name in declared(parsed(warehouse, statement))] == [
        n for n, _ in new_columns
    ]
    assert add_columns(provider_of(warehouse), "s", "t", []) == []


# --- String to text -------------------------------------------------------------------------------------


def test_redshift_widens_by_a_copy() -> None:
    statements = widen(provider_of("RS"), "s", "t", ["note"], TAG)
    assert statements == [
        f'ALTER TABLE "s"."t" ADD COLUMN "note-staging-{TAG}" varchar(65535)',
        f'UPDATE "s"."t" SET "note-staging-{TAG}" = CAST("note" AS varchar(65535)) WHERE "note" IS NOT NULL',
        f'ALTER TABLE "s"."t" RENAME COLUMN "note" TO "note-deprecated-{TAG}"',
        f'ALTER TABLE "s"."t" RENAME COLUMN "note-staging-{TAG}" TO "note"',
        f'ALTER TABLE "s"."t" DROP COLUMN "note-deprecated-{TAG}"',
    ]
    for statement in statements:
        parsed("RS", statement)


def test_names_for_the_moment_are_cut_before_their_tag() -> None:
    add, _, rename, *_ = widen(provider_of("RS"), "s", "t", ["n" * 127], TAG)
    assert add.split('"')[5] == "n" * 82 + f"-staging-{TAG}"
    assert rename.split('"')[7] == "n" * 79 + f"-deprecated-{TAG}"
    assert len(add.split('"')[5]) == len(rename.split('"')[7]) == 127


@pytest.mark.parametrize("warehouse", PROVIDERS)
def test_who_widens(warehouse: str) -> None:
    statements = widen(provider_of(warehouse), "s", "t", ["a", "b"], TAG)
    if provider_of(warehouse).lake:
        assert statements == [
            "ALTER TABLE `s`.`t` CHANGE COLUMN `a` `a` varchar(65535)",
            "ALTER TABLE `s`.`t` CHANGE COLUMN `b` `b` varchar(65535)",
        ]
    else:
        assert len(statements) == (10 if warehouse == "RS" else 0)
    for statement in statements:
        parsed(warehouse, statement)


# --- Names that need quotes -----------------------------------------------------------------------------

warehouses = st.sampled_from(sorted(PROVIDERS)).map(provider_of)
odd_names = st.lists(
    st.text("a$\\`\"[]'{} -", min_size=1, max_size=8).map(lambda text: f"x{text}x"),
    min_size=2,
    max_size=5,
    unique=True,
)


@given(warehouses, odd_names)
def test_names_come_back_as_they_are(provider: Provider, names: Sequence[str]) -> None:
    table, *rest = names
    new_columns: list[tuple[str, Neutral]] = [(name, "string") for name in rest]
    for statement in (
        create_table(provider, "s", table, new_columns),
        *add_columns(provider, "s", table, new_columns),
    ):
        tree = parsed(provider.name, statement)
        assert {node.name for node in tree.find_all(exp.Table)} == {table}
    created = parsed(provider.name, create_table(provider, "s", table, new_columns))
    assert declared(created) == rest
    added = add_columns(provider, "s", table, new_columns)
    assert [name for sql in added for name in declared(parsed(provider.name, sql))] == rest


def test_quotes_of_each() -> None:
    odd: list[tuple[str, Neutral]] = [("a\"b`c]d'e\\f", "int")]
    quoted = {
        "POSTGRES": '"a""b`c]d\'e\\f"',
        "BQ": "`a\"b\\`c]d'e\\\\f`",
        "CLICKHOUSE": "`a\"b\\`c]d'e\\\\f`",
        "DELTALAKE": "`a\"b``c]d'e\\f`",
        "MSSQL": "[a\"b`c]]d'e\\f]",
    }
    for warehouse, name in quoted.items():
        assert f" {name} " in add_columns(provider_of(warehouse), "s", "t", odd)[0].replace("(", " ")
    assert create_table(provider_of("MSSQL"), "s", "t'", odd).startswith("IF OBJECT_ID(N'[s].[t'']', N'U') ")
    assert create_schema(provider_of("MSSQL"), "o'x").endswith("EXEC(N'CREATE SCHEMA [o''x]')")

"""Databases that keep the rows themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from trellis.warehouses import reserved_words
from trellis.warehouses.identifiers import BACKSLASHED_BACKTICKS, BRACKETS, Identifiers
from trellis.warehouses.types import (
    UNLIMITED,
    NativeType,
    NumberType,
    floats,
    integers,
    native_types,
    with_precision,
)
from trellis.warehouses.warehouse import NUMBERS_TO_LARGER, Alterations, Clause, Syntax, Warehouse, larger

_COMMENT_ON_TABLE: Final = "COMMENT ON TABLE {table} IS {text}"
_COMMENT_ON_COLUMN: Final = "COMMENT ON COLUMN {table}.{column} IS {text}"
_SET_TYPE: Final = "ALTER COLUMN {column} TYPE {type} USING CAST({column} AS {type})"

DUCKDB: Final = Warehouse(
    "duckdb",
    "DuckDB",
    Identifiers(65536),
    native_types(
        *("VARCHAR", floats("FLOAT", "DOUBLE"), "BOOLEAN"),
        NativeType(
            "BIGINT", (*integers("TINYINT", "SMALLINT", "INTEGER", "BIGINT").variants, (128, "HUGEINT"))
        ),
        with_precision("TIMESTAMP WITH TIME ZONE", 9),
        *("DATE", "TIME", "BLOB", "JSON"),
    ),
    NativeType("TIMESTAMP", ((0, "TIMESTAMP_S"), (3, "TIMESTAMP_MS"), (6, "TIMESTAMP"), (9, "TIMESTAMP_NS"))),
    (NumberType("DECIMAL({},{})"),),
    second_digits=(6, 9),
    aliases={"bigint": ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")},
    syntax=Syntax(
        adds_several=False,
        adds_required=False,
        set_type=_SET_TYPE,
        comment_on_table=_COMMENT_ON_TABLE,
        comment_on_column=_COMMENT_ON_COLUMN,
        # A transaction that has updated rows cannot set NOT NULL.
        fill_nulls="ALTER TABLE {table} ALTER COLUMN {column} TYPE {type} USING coalesce({column}, {value})",
    ),
    alterations=Alterations("rewrite"),
    transactional_ddl=True,
)
POSTGRES: Final = Warehouse(
    "postgres",
    "PostgreSQL",
    Identifiers(63, "bytes", case_sensitive=True, reserved_words=reserved_words.POSTGRES),
    native_types(
        *(with_precision("varchar({})", 10_485_760), floats("real", "double precision"), "boolean"),
        integers("smallint", "integer", "bigint"),
        with_precision("timestamp({}) with time zone", 6, "timestamp with time zone"),
        *("date", with_precision("time({})", 6), "bytea", "jsonb"),
    ),
    with_precision("timestamp({}) without time zone", 6, "timestamp without time zone"),
    (NumberType("numeric({},{})", 1000, 1000, 1000, free_scale=True),),
    wei=(156, 78),  # 256 bits, before the point and behind it
    aliases={
        "bigint": ("int2", "int4", "int8"),
        "double": ("float4", "float8"),
        "text": ("text", "bpchar"),
        "timestamp": ("timestamp", "timestamptz"),
        "json": ("json",),
        "bool": ("bool",),
    },
    max_columns=1600,
    syntax=Syntax(
        constraints=(("unique", "UNIQUE"),),
        set_type=_SET_TYPE,
        comment_on_table=_COMMENT_ON_TABLE,
        comment_on_column=_COMMENT_ON_COLUMN,
    ),
    alterations=Alterations("rewrite", larger("text", "decimal", "timestamp", "time")),
    transactional_ddl=True,
)
REDSHIFT: Final = Warehouse(
    "redshift",
    "Redshift",
    Identifiers(127, folds="lower", reserved_words=reserved_words.REDSHIFT),
    native_types(
        NativeType("varchar(max)", ((65535, "varchar({})"), (UNLIMITED, "varchar(max)"))),
        *("double precision", "boolean", integers("smallint", "integer", "bigint"), "timestamptz"),
        *("date", "time", with_precision("varbinary({})", 1_024_000), "super"),
    ),
    NativeType("timestamp"),
    (NumberType("numeric({},{})"),),
    not_null="new tables",
    max_columns=1600,
    syntax=Syntax(
        clauses=(
            Clause("cluster", "DISTSTYLE KEY DISTKEY ({})", "", 1, "rows are distributed by one column, {}"),
            Clause("sort", "SORTKEY ({})"),
        ),
        added="ADD COLUMN {column}",
        adds_several=False,
        set_not_null="",
        drop_not_null="",
    ),
    alterations=Alterations("impossible", larger("text"), drop_not_null="impossible"),
    transactional_ddl=True,
)
SNOWFLAKE: Final = Warehouse(
    "snowflake",
    "Snowflake",
    Identifiers(255, folds="upper", case_sensitive=True, reserved_words=reserved_words.SNOWFLAKE),
    native_types(
        *(with_precision("VARCHAR({})", 134_217_728), "FLOAT", "BOOLEAN", integers("NUMBER(19,0)")),
        *(with_precision("TIMESTAMP_LTZ({})", 9), "DATE", with_precision("TIME({})", 9), "BINARY", "VARIANT"),
    ),
    with_precision("TIMESTAMP_NTZ({})", 9),
    (NumberType("NUMBER({},{})"),),
    second_digits=(9, 9),
    syntax=Syntax(
        clauses=(Clause("cluster", "CLUSTER BY ({})", alterable=True),),
        add="ALTER TABLE {table} ADD COLUMN {columns}",
        added="{if_missing}{column}",
        set_type="ALTER COLUMN {column} SET DATA TYPE {type}",
        rename_table="ALTER TABLE {table} RENAME TO {qualified}",
        escaped_literals=True,
    ),
    alterations=Alterations("impossible", larger("text", "decimal")),
)
BIGQUERY: Final = Warehouse(
    "bigquery",
    "BigQuery",
    Identifiers(
        300, case_sensitive=True, quotes=BACKSLASHED_BACKTICKS, reserved_words=reserved_words.BIGQUERY
    ),
    native_types(
        *(
            with_precision("STRING({})", UNLIMITED),
            "FLOAT64",
            "BOOL",
            integers("INT64"),
            "TIMESTAMP",
            "DATE",
            "TIME",
        ),
        *(with_precision("BYTES({})", UNLIMITED), "JSON", "BIGNUMERIC"),
    ),
    NativeType("TIMESTAMP"),
    (NumberType("NUMERIC({},{})", scale=9, integer_digits=29), NumberType("BIGNUMERIC({},{})", precision=76)),
    not_null="new tables",
    max_columns=10_000,
    syntax=Syntax(
        clauses=(
            Clause("partition", "PARTITION BY {}", limit=1),
            Clause("cluster", "CLUSTER BY {}", "", 4, "clustered by the first 4 columns"),
        ),
        set_type="ALTER COLUMN {column} SET DATA TYPE {type}",
        set_not_null="",
        escaped_literals=True,
    ),
    alterations=Alterations("impossible", larger("text", "binary", "decimal") | NUMBERS_TO_LARGER),
)
CLICKHOUSE: Final = Warehouse(
    "clickhouse",
    "ClickHouse",
    Identifiers(255, case_sensitive=True, quotes=BACKSLASHED_BACKTICKS),
    native_types(
        *("String", "Float64", "Bool", integers("Int8", "Int16", "Int32", "Int64")),
        with_precision("DateTime64({},'UTC')", 6, "DateTime64(6,'UTC')", reduces=True),
        *("Date", "String", "String", "String"),
    ),
    with_precision("DateTime64({})", 6, "DateTime64(6)", reduces=True),
    (NumberType("Decimal({},{})", 76, 76, 76),),
    wei=(76, 0),
    syntax=Syntax(
        create_schema="CREATE DATABASE IF NOT EXISTS {schema}",
        clauses=(
            Clause("engine", "ENGINE = {}", default="ENGINE = MergeTree"),
            Clause("partition", "PARTITION BY {}"),
            Clause("sort", "ORDER BY ({})", default="ORDER BY tuple()", takes_null=False),
        ),
        optional="Nullable({type})",
        required="{type}",
        set_type="MODIFY COLUMN {column} {type}",
        rename_table="RENAME TABLE {table} TO {qualified}",
        set_not_null="ALTER TABLE {table} MODIFY COLUMN {column} {type}",
        drop_not_null="ALTER TABLE {table} MODIFY COLUMN {column} Nullable({type})",
        move_column="ALTER TABLE {table} MODIFY COLUMN {column} {type} {place}",
        escaped_literals=True,
    ),
    alterations=Alterations("rewrite", drop_not_null="rewrite"),
)
SQL_SERVER: Final = Warehouse(
    "mssql",
    "SQL Server",
    Identifiers(128, quotes=BRACKETS, reserved_words=reserved_words.SQL_SERVER),
    native_types(
        NativeType("nvarchar(max)", ((4000, "nvarchar({})"), (UNLIMITED, "nvarchar(max)"))),
        *("float", "bit", integers("tinyint", "smallint", "int", "bigint")),
        *(
            with_precision("datetimeoffset({})", 7, reduces=True),
            "date",
            with_precision("time({})", 7, reduces=True),
        ),
        *(NativeType("varbinary(max)", ((8000, "varbinary({})"), (UNLIMITED, "varbinary(max)"))), "json"),
    ),
    with_precision("datetime2({})", 7, reduces=True),
    (NumberType("decimal({},{})"),),
    second_digits=(7, 7),
    max_columns=1024,
    syntax=Syntax(
        # CREATE SCHEMA must be alone in its batch.
        create_schema="IF SCHEMA_ID({literal}) IS NULL EXEC({statement})",
        create_table="CREATE TABLE {table} ({columns})",
        guard="IF OBJECT_ID({literal}, N'U') IS NULL ",
        add="ALTER TABLE {table} ADD {columns}",
        added="{column}",
        set_type="ALTER COLUMN {column} {type}",
        rename_table="EXEC sp_rename {table_literal}, {name_literal}",
        rename_column="EXEC sp_rename {column_literal}, {name_literal}, N'COLUMN'",
        set_not_null="ALTER TABLE {table} ALTER COLUMN {column} {type} NOT NULL",
        drop_not_null="ALTER TABLE {table} ALTER COLUMN {column} {type} NULL",
    ),
    alterations=Alterations("rewrite", larger("text", "binary")),
    transactional_ddl=True,
)
SYNAPSE: Final = replace(
    SQL_SERVER,
    name="synapse",
    title="Synapse",
    types={**SQL_SERVER.types, "json": NativeType("nvarchar(max)")},
    syntax=replace(SQL_SERVER.syntax, clauses=(Clause("index", "WITH ({})"),)),
    transactional_ddl=False,
)

"""What each warehouse calls the types of a schema, and what it does with names and hints (dlt.md, 15, 16).

Data only: nothing else asks a warehouse for its name, it reads the fields of its `Warehouse`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from trellis.dialects.dlt.native import ANY, Number, Warehouse, Words
from trellis.errors import UsageError, nearest
from trellis.schema.model import DataType


def _types(
    text: str | Words,
    double: str | Words,
    bool_: str | Words,
    bigint: str | Words,
    date: str | Words,
    time: str | Words,
    binary: str | Words,
    json: str | Words,
    wei: str | Words,
) -> Mapping[DataType, Words]:
    names: tuple[DataType, ...]
    names = ("text", "double", "bool", "bigint", "date", "time", "binary", "json", "wei")
    said = (text, double, bool_, bigint, date, time, binary, json, wei)
    words = (each if isinstance(each, Words) else Words(each) for each in said)
    return MappingProxyType(dict(zip(names, words, strict=True)))


def _integers(*words: str) -> Words:
    """The last word is that of 64 bits, the one before it that of 32, and so on."""
    widths = (8, 16, 32, 64)[-len(words) :]
    return Words(words[-1], tuple(zip(widths, words, strict=True)))


def _digits(word: str, most: int, cuts: bool = False, plain: str = "") -> Words:
    return Words(plain or word.replace("({})", ""), ((most, word),), cuts)


_DUCKDB = Warehouse(
    "duckdb",
    "DuckDB",
    _types(
        *("VARCHAR", "DOUBLE", "BOOLEAN"),
        Words("BIGINT", (*_integers("TINYINT", "SMALLINT", "INTEGER", "BIGINT").steps, (128, "HUGEINT"))),
        *("DATE", "TIME", "BLOB", "JSON", "DECIMAL(38,0)"),
    ),
    Words("TIMESTAMP WITH TIME ZONE"),
    Words("TIMESTAMP", ((0, "TIMESTAMP_S"), (3, "TIMESTAMP_MS"), (6, "TIMESTAMP"), (9, "TIMESTAMP_NS"))),
    (Number("DECIMAL({},{})"),),
    max_name=65536,
)
_POSTGRES = Warehouse(
    "postgres",
    "PostgreSQL",
    _types(
        *(_digits("varchar({})", 10_485_760), "double precision", "boolean"),
        *(_integers("smallint", "integer", "bigint"), "date", _digits("time({})", 6), "bytea", "jsonb"),
        "numeric(156,78)",
    ),
    _digits("timestamp({}) with time zone", 6, plain="timestamp with time zone"),
    _digits("timestamp({}) without time zone", 6, plain="timestamp without time zone"),
    (Number("numeric({},{})", 1000, 1000, 1000),),
    max_name=63,
    case_sensitive=True,
)
_REDSHIFT = Warehouse(
    "redshift",
    "Redshift",
    _types(
        Words("varchar(max)", ((65535, "varchar({})"), (ANY, "varchar(max)"))),
        *("double precision", "boolean", _integers("smallint", "integer", "bigint"), "date", "time"),
        *(_digits("varbinary({})", 1_024_000), "super", "numeric(38,0)"),
    ),
    Words("timestamptz"),
    Words("timestamp"),
    (Number("numeric({},{})"),),
    max_name=127,
    folds="lower",
    requires="new tables",
)
_SNOWFLAKE = Warehouse(
    "snowflake",
    "Snowflake",
    _types(
        *(_digits("VARCHAR({})", 134_217_728), "FLOAT", "BOOLEAN"),
        Words("NUMBER(19,0)", ((64, "NUMBER(19,0)"),)),
        *("DATE", _digits("TIME({})", 9), "BINARY", "VARIANT", "NUMBER(38,0)"),
    ),
    _digits("TIMESTAMP_LTZ({})", 9),
    _digits("TIMESTAMP_NTZ({})", 9),
    (Number("NUMBER({},{})"),),
    max_name=255,
    folds="upper",
    case_sensitive=True,
)
_BIGQUERY = Warehouse(
    "bigquery",
    "BigQuery",
    _types(
        *(_digits("STRING({})", ANY), "FLOAT64", "BOOL", Words("INT64", ((64, "INT64"),)), "DATE", "TIME"),
        *(_digits("BYTES({})", ANY), "JSON", "BIGNUMERIC"),
    ),
    Words("TIMESTAMP"),
    Words("TIMESTAMP"),
    (Number("NUMERIC({},{})", scale=9, whole=29), Number("BIGNUMERIC({},{})", digits=76)),
    max_name=300,
    case_sensitive=True,
    requires="new tables",
)
_DATABRICKS = Warehouse(
    "databricks",
    "Databricks",
    _types(
        *("STRING", "DOUBLE", "BOOLEAN"),
        _integers("TINYINT", "SMALLINT", "INT", "BIGINT"),
        *("DATE", "STRING", "BINARY", "STRING", "DECIMAL(38,0)"),
    ),
    Words("TIMESTAMP"),
    Words("TIMESTAMP_NTZ"),
    (Number("DECIMAL({},{})"),),
    max_name=255,
    folds="lower",
    requires="new tables",
)
_DATABRICKS_ICEBERG = replace(_DATABRICKS, name="databricks-iceberg")
_DATABRICKS = replace(_DATABRICKS, formats=MappingProxyType({"iceberg": _DATABRICKS_ICEBERG}))
_CLICKHOUSE = Warehouse(
    "clickhouse",
    "ClickHouse",
    _types(
        *("String", "Float64", "Bool", _integers("Int8", "Int16", "Int32", "Int64"), "Date", "String"),
        *("String", "String", "Decimal(76,0)"),
    ),
    _digits("DateTime64({},'UTC')", 6, cuts=True, plain="DateTime64(6,'UTC')"),
    _digits("DateTime64({})", 6, cuts=True, plain="DateTime64(6)"),
    (Number("Decimal({},{})", 76, 76, 76),),
    max_name=255,
    case_sensitive=True,
)
_SQL_SERVER = Warehouse(
    "mssql",
    "SQL Server",
    _types(
        Words("nvarchar(max)", ((4000, "nvarchar({})"), (ANY, "nvarchar(max)"))),
        *("float", "bit"),
        _integers("tinyint", "smallint", "int", "bigint"),
        *("date", _digits("time({})", 7, cuts=True)),
        Words("varbinary(max)", ((8000, "varbinary({})"), (ANY, "varbinary(max)"))),
        *("json", "decimal(38,0)"),
    ),
    _digits("datetimeoffset({})", 7, cuts=True),
    _digits("datetime2({})", 7, cuts=True),
    (Number("decimal({},{})"),),
    max_name=128,
)
_SYNAPSE = replace(
    _SQL_SERVER,
    name="synapse",
    called="Synapse",
    types=MappingProxyType({**_SQL_SERVER.types, "json": Words("nvarchar(max)")}),
)
_ATHENA = Warehouse(
    "athena",
    "Athena",
    _types(
        *("string", "double", "boolean"),
        _integers("tinyint", "smallint", "int", "bigint"),
        *("date", "string", "binary", "string", "decimal(38,0)"),
    ),
    Words("timestamp"),
    Words("timestamp"),
    (Number("decimal({},{})"),),
    max_name=255,
    folds="lower",
    requires="never",
)
_ATHENA_ICEBERG = replace(
    _ATHENA,
    name="athena-iceberg",
    types=MappingProxyType({**_ATHENA.types, "bigint": _integers("int", "bigint")}),
)
_ATHENA = replace(_ATHENA, formats=MappingProxyType({"iceberg": _ATHENA_ICEBERG}))
_PARQUET = Warehouse(
    "parquet",
    "Parquet",
    _types(
        *("string", "double", "bool", _integers("int8", "int16", "int32", "int64"), "date32[day]"),
        Words("time64[us]", ((3, "time32[ms]"), (6, "time64[us]"), (9, "time64[ns]"))),
        Words("binary", ((ANY, "fixed_size_binary[{}]"),)),
        *("string", "decimal256(76, 0)"),
    ),
    Words(
        "timestamp[us, tz=UTC]",
        ((3, "timestamp[ms, tz=UTC]"), (6, "timestamp[us, tz=UTC]"), (9, "timestamp[ns, tz=UTC]")),
    ),
    Words("timestamp[us]", ((3, "timestamp[ms]"), (6, "timestamp[us]"), (9, "timestamp[ns]"))),
    (Number("decimal128({}, {})"), Number("decimal256({}, {})", 76, 76, 76)),
    max_name=65536,
    case_sensitive=True,
)
_DELTA = replace(
    _DATABRICKS,
    name="delta",
    called="Delta Lake",
    types=MappingProxyType({**_DATABRICKS.types, "wei": Words("STRING")}),
    numbers=(Number("DECIMAL({},{})"), Number("STRING", ANY, ANY, ANY)),
    folds="",
    formats=MappingProxyType({}),
)
_ICEBERG = replace(
    _DELTA,
    name="iceberg",
    called="Iceberg",
    types=MappingProxyType({**_DELTA.types, "bigint": _integers("INT", "BIGINT"), "time": Words("TIME")}),
)

_ALL: Final = (
    *(_DUCKDB, _POSTGRES, _REDSHIFT, _SNOWFLAKE, _BIGQUERY, _DATABRICKS, _CLICKHOUSE, _SQL_SERVER),
    *(_SYNAPSE, _ATHENA, _PARQUET, _DELTA, _ICEBERG),
)
WAREHOUSES: Mapping[str, Warehouse] = MappingProxyType({each.name: each for each in _ALL})


def warehouse_of(name: str) -> Warehouse:
    """The warehouse of this name. Raises UsageError.

    >>> warehouse_of("snowflake").types["json"].plain
    'VARIANT'
    >>> warehouse_of("SnowFlak")
    Traceback (most recent call last):
    ...
    trellis.errors.UsageError: there is no warehouse 'SnowFlak': did you mean 'snowflake'?
    """
    if name not in WAREHOUSES:
        raise UsageError(f"there is no warehouse {name!r}{nearest(name.lower(), WAREHOUSES)}")
    return WAREHOUSES[name]

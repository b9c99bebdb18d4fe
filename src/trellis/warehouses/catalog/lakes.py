"""Formats of files, and engines over files that others may read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from trellis.warehouses import reserved_words
from trellis.warehouses.identifiers import BACKTICKS, Identifiers
from trellis.warehouses.types import UNLIMITED, NativeType, NumberType, floats, integers, native_types
from trellis.warehouses.warehouse import NUMBERS_TO_LARGER, Alterations, Clause, Syntax, Warehouse, larger

_SET_NOT_NULL: Final = "ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL"
_COMMENTS: Final[dict[str, Any]] = {
    "comment_on_table": "COMMENT ON TABLE {table} IS {text}",
    "comment_on_column": "ALTER TABLE {table} ALTER COLUMN {column} COMMENT {text}",
    "no_comment": "''",
}
_PARTITIONED: Final = Clause("partition", "PARTITIONED BY ({})")

DATABRICKS_ICEBERG: Final = Warehouse(
    "databricks-iceberg",
    "Databricks",
    Identifiers(255, folds="lower", quotes=BACKTICKS, reserved_words=reserved_words.DATABRICKS),
    native_types(
        *("STRING", "DOUBLE", "BOOLEAN", integers("TINYINT", "SMALLINT", "INT", "BIGINT"), "TIMESTAMP"),
        *("DATE", "STRING", "BINARY", "STRING"),
    ),
    NativeType("TIMESTAMP_NTZ"),
    (NumberType("DECIMAL({},{})"),),
    not_null="new tables",
    syntax=Syntax(
        clauses=(Clause("", default="USING ICEBERG"), _PARTITIONED),
        add="ALTER TABLE {table} ADD COLUMNS ({columns})",
        added="{column}",
        rename_table="ALTER TABLE {table} RENAME TO {qualified}",
        set_properties="ALTER TABLE {table} SET TBLPROPERTIES ({properties})",
        set_not_null="",
        move_column="ALTER TABLE {table} ALTER COLUMN {column} {place}",
        escaped_literals=True,
    ),
    alterations=Alterations("impossible", larger("bigint", "double", "decimal")),
)
DATABRICKS: Final = replace(
    DATABRICKS_ICEBERG,
    name="databricks",
    syntax=replace(DATABRICKS_ICEBERG.syntax, clauses=(Clause("", default="USING DELTA"), _PARTITIONED)),
    alterations=Alterations("impossible", larger("bigint", "double", "decimal") | NUMBERS_TO_LARGER),
    formats={"iceberg": DATABRICKS_ICEBERG},
)
DELTA: Final = replace(
    DATABRICKS,
    name="delta",
    title="Delta Lake",
    identifiers=replace(DATABRICKS.identifiers, folds=""),
    types={**DATABRICKS.types, "wei": NativeType("STRING")},
    numbers=(
        NumberType("DECIMAL({},{})"),
        NumberType("STRING", UNLIMITED, UNLIMITED, UNLIMITED, free_scale=True),
    ),
    syntax=replace(DATABRICKS.syntax, set_not_null=_SET_NOT_NULL, move_column="", **_COMMENTS),
    # Delta Lake drops NOT NULL without touching a row; Trellis writes them anew unless Spark has the table.
    alterations=replace(
        DATABRICKS.alterations,
        set_not_null="rewrite",
        drop_not_null="rewrite",
        rename="rewrite",
        mapping_property="delta.columnMapping.mode",
    ),
    formats={},
)
ICEBERG: Final = replace(
    DELTA,
    name="iceberg",
    title="Iceberg",
    types={**DELTA.types, "bigint": integers("INT", "BIGINT"), "time": NativeType("TIME")},
    syntax=replace(DATABRICKS_ICEBERG.syntax, set_not_null=_SET_NOT_NULL, move_column="", **_COMMENTS),
    alterations=DATABRICKS_ICEBERG.alterations,
)
ATHENA_ICEBERG: Final = Warehouse(
    "athena-iceberg",
    "Athena",
    Identifiers(255, folds="lower", quotes=BACKTICKS, reserved_words=reserved_words.ATHENA),
    native_types(
        *("string", "double", "boolean", integers("int", "bigint"), "timestamp"),
        *("date", "string", "binary", "string"),
    ),
    NativeType("timestamp"),
    (NumberType("decimal({},{})"),),
    not_null="never",
    syntax=Syntax(
        clauses=(_PARTITIONED, Clause("", default="TBLPROPERTIES ('table_type' = 'ICEBERG')")),
        add="ALTER TABLE {table} ADD COLUMNS ({columns})",
        added="{column}",
        set_type="CHANGE COLUMN {column} {column} {type}",
        rename_table="",
        rename_column="ALTER TABLE {table} CHANGE COLUMN {column} {name} {type}",
        set_not_null="",
        drop_not_null="",
    ),
    alterations=Alterations("impossible", larger("bigint", "double", "decimal")),
)
ATHENA: Final = replace(
    ATHENA_ICEBERG,
    name="athena",
    types={**ATHENA_ICEBERG.types, "bigint": integers("tinyint", "smallint", "int", "bigint")},
    syntax=replace(
        ATHENA_ICEBERG.syntax,
        create_table="CREATE EXTERNAL TABLE {if_missing}{table} ({columns})",
        clauses=(Clause("", default="STORED AS PARQUET"),),
        rename_column="",
        drop_column="",
    ),
    alterations=Alterations("impossible", larger("text", "bigint")),
    formats={"iceberg": ATHENA_ICEBERG},
)
PARQUET: Final = Warehouse(
    "parquet",
    "Parquet",
    Identifiers(65536),
    native_types(
        *("string", floats("float", "double"), "bool", integers("int8", "int16", "int32", "int64")),
        NativeType(
            "timestamp[us, tz=UTC]",
            ((3, "timestamp[ms, tz=UTC]"), (6, "timestamp[us, tz=UTC]"), (9, "timestamp[ns, tz=UTC]")),
        ),
        *(
            "date32[day]",
            NativeType("time64[us]", ((6, "time64[us]"), (9, "time64[ns]"))),
            "binary",
            "string",
        ),
    ),
    NativeType("timestamp[us]", ((3, "timestamp[ms]"), (6, "timestamp[us]"), (9, "timestamp[ns]"))),
    (NumberType("decimal128({}, {})"), NumberType("decimal256({}, {})", 76, 76, 76)),
    second_digits=(9, 9),
    syntax=Syntax(
        # Files take no statements; these name the columns of a file.
        create_schema="",
        create_table="{table} ({columns})",
        add="{table} + ({columns})",
        added="{column}",
        rename_table="{table} -> {name}",
        drop_table="- {table}",
        rename_column="{table} + ({column} -> {name})",
        drop_column="{table} - ({column})",
        set_not_null="{table} + ({column} NOT NULL)",
        drop_not_null="{table} - ({column} NOT NULL)",
        fill_nulls="{table} + ({column} = {value})",
    ),
    alterations=Alterations("rewrite", rename_table="rewrite", rename="rewrite"),
)

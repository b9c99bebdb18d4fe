"""Documents of other programs: their exact text, and that the libraries of these programs take them."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any

import duckdb
import fastavro
import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator
from pyiceberg.schema import Schema as IcebergSchema
from sqlglot import ErrorLevel, parse

from exchange.shop import ORDERS, SHOP, SMALL
from trellis.engine.arrow.types import arrow_type
from trellis.exchange.catalog import format_of
from trellis.exchange.export import documents_of
from trellis.schema.documents.yaml_text import read as read_yaml
from trellis.schema.model import Column, Schema, Table
from trellis.schema.value_rules import RULES
from trellis.warehouses.catalog import WAREHOUSES

LIST_OF_INT32 = {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}
PARSERS = {"mssql": "tsql", "synapse": "tsql", "delta": "databricks", "iceberg": "spark"}


def written(name: str, schema: Schema = SMALL) -> Any:
    """The only document of a schema."""
    (document,) = documents_of(schema, format_of(name)).values()
    return document


def orders(name: str) -> Any:
    return written(name, replace(SHOP, tables={"orders": ORDERS}))


def test_each_table_has_a_document_where_one_holds_no_more() -> None:
    assert [*documents_of(SHOP, format_of("avro"))] == ["orders.avsc", "orders__items.avsc"]
    assert [*documents_of(SHOP, format_of("dbml"))] == ["shop.dbml"]


# --- JSON Schema -----------------------------------------------------------------------------------------


def test_json_schema() -> None:
    assert json.loads(written("json-schema")) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "t",
        "description": "What was bought",
        "type": "object",
        "properties": {
            "id": {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
            "note": {"type": ["string", "null"], "maxLength": 40, "description": "A wish"},
            "tags": {
                "type": ["array", "null"],
                "items": {"type": ["integer", "null"], "minimum": -(2**31), "maximum": 2**31 - 1},
            },
        },
        "required": ["id"],
    }


def test_a_validator_takes_rows_that_fit() -> None:
    document = json.loads(orders("json-schema"))
    Draft202012Validator.check_schema(document)
    validator = Draft202012Validator(document)
    row = {"id": 1, "price": 2.5, "_dlt_id": "x", "at": "2024-02-29T10:00:00Z", "doc": [1, "a"], "tags": [1]}
    assert [*validator.iter_errors(row)] == []
    wrong = {**row, "qty": 2**31, "note": "x" * 41, "tags": ["a"], "id": None}
    assert sorted(".".join(map(str, error.path)) for error in validator.iter_errors(wrong)) == [
        "id",
        "note",
        "qty",
        "tags.0",
    ]


def test_a_contract_that_freezes_columns_closes_the_object() -> None:
    table = SMALL.tables["t"].with_hints(schema_contract={"columns": "freeze"})
    assert json.loads(written("json-schema", SMALL.with_tables(table)))["additionalProperties"] is False


# --- Spark -----------------------------------------------------------------------------------------------


def test_struct_type() -> None:
    assert json.loads(written("spark")) == {
        "type": "struct",
        "fields": [
            {"name": "id", "type": "long", "nullable": False, "metadata": {}},
            {"name": "note", "type": "string", "nullable": True, "metadata": {"comment": "A wish"}},
            {
                "name": "tags",
                "type": {"type": "array", "elementType": "integer", "containsNull": True},
                "nullable": True,
                "metadata": {},
            },
        ],
    }


def test_spark_ddl() -> None:
    assert written("spark-ddl") == (
        "`id` BIGINT NOT NULL,\n`note` STRING COMMENT 'A wish',\n`tags` ARRAY<INT>\n"
    )


@pytest.mark.spark
def test_spark_reads_both_as_the_same_type(spark: Any) -> None:
    from pyspark.sql.types import StructType

    struct = StructType.fromJson(json.loads(orders("spark")))
    parsed = StructType.fromDDL(orders("spark-ddl"))
    assert parsed == struct
    assert struct["price"].dataType.simpleString() == "decimal(10,2)"
    assert spark.createDataFrame([], struct).schema["at"].dataType.typeName() == "timestamp"


# --- Avro ------------------------------------------------------------------------------------------------


def test_avro() -> None:
    assert json.loads(written("avro")) == {
        "type": "record",
        "name": "t",
        "namespace": "shop",
        "doc": "What was bought",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "note", "type": ["null", "string"], "default": None, "doc": "A wish"},
            {
                "name": "tags",
                "type": ["null", {"type": "array", "items": ["null", "int"]}],
                "default": None,
            },
        ],
    }


def test_fastavro_writes_and_reads_rows() -> None:
    schema = fastavro.parse_schema(json.loads(orders("avro")))
    row = {
        "id": 1,
        "note": "gift",
        "price": Decimal("2.50"),
        "at": datetime(2024, 2, 29, 10, tzinfo=timezone.utc),
        "local_at": datetime(2024, 2, 29, 10),
        "day": date(2024, 2, 29),
        "clock": time(10, 0),
        "qty": 3,
        "ratio": 0.5,
        "paid": True,
        "raw": b"\x00",
        "doc": "{}",
        "tags": [1, None],
        "gas": Decimal(10**20),
        "_dlt_id": "x",
    }
    file = io.BytesIO()
    fastavro.writer(file, schema, [row])
    file.seek(0)
    assert [*fastavro.reader(file)] == [row]


# --- Arrow and Iceberg -----------------------------------------------------------------------------------


def test_arrow_reads_the_types_of_staged_files() -> None:
    fields = pa.ipc.open_stream(orders("arrow")).schema
    assert {field.name: field.type for field in fields} == {
        column.name: arrow_type(column) for column in ORDERS.complete_columns
    }
    assert [field.name for field in fields if not field.nullable] == ["id", "price", "_dlt_id"]
    assert fields.metadata == {b"description": b"What was bought"}


def test_iceberg() -> None:
    schema = IcebergSchema.model_validate_json(orders("iceberg"))
    assert [str(field) for field in schema.fields] == [
        "1: id: required long",
        "2: note: optional string (What the customer's wish is)",
        "3: price: required decimal(10, 2)",
        "4: at: optional timestamptz",
        "5: local_at: optional timestamp",
        "6: day: optional date",
        "7: clock: optional time",
        "8: qty: optional int",
        "9: ratio: optional float",
        "10: paid: optional boolean",
        "11: raw: optional binary",
        "12: doc: optional string",
        "13: tags: optional list<int>",
        "14: gas: optional decimal(38, 0)",
        "15: _dlt_id: required string",
    ]
    assert schema.identifier_field_ids == [1]


# --- SQL -------------------------------------------------------------------------------------------------


def test_duckdb_runs_its_statements() -> None:
    with duckdb.connect() as db:
        db.execute(written("sql:duckdb", SHOP))
        types = dict(
            db.execute(
                "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'orders'"
            ).fetchall()
        )
    assert types["price"] == "DECIMAL(10,2)"
    assert (types["at"], types["local_at"]) == ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP")


@pytest.mark.parametrize("warehouse", [name for name in WAREHOUSES if name != "parquet"])
def test_a_parser_of_each_warehouse_takes_its_statements(warehouse: str) -> None:
    statements = written(f"sql:{warehouse}", SHOP).split(";\n")
    assert len(statements) == 4 and statements[-1] == ""
    for statement in statements[:3]:
        assert parse(statement, read=PARSERS.get(warehouse, warehouse), error_level=ErrorLevel.RAISE)


# --- Tools ------------------------------------------------------------------------------------------------


def test_dbt() -> None:
    assert written("dbt", SHOP.with_tables(replace(ORDERS, columns=dict([*ORDERS.columns.items()][:3])))) == (
        """\
version: 2
sources:
- name: shop
  tables:
  - name: orders
    description: What was bought
    columns:
    - name: id
      data_type: bigint
      data_tests:
      - not_null
    - name: note
      data_type: text(40)
      description: What the customer's wish is
    - name: price
      data_type: decimal(10,2)
      data_tests:
      - not_null
  - name: orders__items
    columns:
    - name: unit price
      data_type: double
    - name: _dlt_parent_id
      data_type: text
      data_tests:
      - not_null
"""
    )


def test_dbt_tests_the_link_to_the_parent() -> None:
    assert written("dbt", SHOP).endswith(
        """\
      data_tests:
      - not_null
      - relationships:
          to: source('shop', 'orders')
          field: _dlt_id
"""
    )


def test_odcs() -> None:
    assert written("odcs") == (
        """\
apiVersion: v3.0.2
kind: DataContract
id: shop
name: shop
version: '1'
status: active
schema:
- name: t
  logicalType: object
  physicalType: table
  description: What was bought
  properties:
  - name: id
    logicalType: integer
    physicalType: bigint
    required: true
    primaryKey: true
    primaryKeyPosition: 1
  - name: note
    logicalType: string
    physicalType: text(40)
    description: A wish
    logicalTypeOptions:
      maxLength: 40
  - name: tags
    logicalType: object
    physicalType: json
"""
    )


def test_mermaid() -> None:
    small = replace(ORDERS, columns=dict([*ORDERS.columns.items()][:2]))
    keyed = replace(small, columns={**small.columns, "_dlt_id": ORDERS.columns["_dlt_id"]})
    assert written("mermaid", SHOP.with_tables(keyed)) == (
        """\
erDiagram
    "orders" {
        bigint id PK "required"
        text note "What the customer's wish is"
        text _dlt_id UK "required"
    }
    "orders__items" {
        double unit_price
        text _dlt_parent_id FK "required"
    }
    "orders" ||--o{ "orders__items" : "_dlt_parent_id"
"""
    )


def test_dbml() -> None:
    small = replace(ORDERS, columns=dict([*ORDERS.columns.items()][:3]))
    keyed = replace(small, columns={**small.columns, "_dlt_id": ORDERS.columns["_dlt_id"]})
    assert written("dbml", SHOP.with_tables(keyed)) == (
        """\
Table "orders" {
  "id" bigint [pk, not null]
  "note" text(40) [note: 'What the customer\\'s wish is']
  "price" decimal(10,2) [not null]
  "_dlt_id" text [not null, unique]
  Note: 'What was bought'
}
Table "orders__items" {
  "unit price" double
  "_dlt_parent_id" text [not null]
}
Ref: "orders__items"."_dlt_parent_id" > "orders"."_dlt_id"
"""
    )


# --- Value rules -----------------------------------------------------------------------------------------

RULED = Schema(
    "shop",
    {
        "t": Table(
            "t",
            {
                "qty": Column("qty", "bigint").with_hints(**{RULES: {"minimum": 0, "maximum": 9}}),
                "kind": Column("kind", "bigint").with_hints(**{RULES: {"accepted_values": [1, 2]}}),
                "day": Column("day", "date").with_hints(**{RULES: {"minimum": "2024-01-01"}}),
                "state": Column("state", "text").with_hints(
                    **{RULES: {"accepted_values": ["new"], "pattern": "^n", "not_null": True}}
                ),
            },
        )
    },
)


def test_dbt_tests_the_rules() -> None:
    columns = read_yaml(written("dbt", RULED), "dbt")[0]["sources"][0]["tables"][0]["columns"]
    assert {column["name"]: column["data_tests"] for column in columns} == {
        "qty": [{"dbt_utils.accepted_range": {"min_value": 0, "max_value": 9}}],
        "kind": [{"accepted_values": {"values": [1, 2], "quote": False}}],
        "day": [{"dbt_utils.accepted_range": {"min_value": "'2024-01-01'"}}],
        "state": [
            "not_null",
            {"accepted_values": {"values": ["new"]}},
            {"dbt_expectations.expect_column_values_to_match_regex": {"regex": "^n"}},
        ],
    }


def test_odcs_says_the_rules_and_reads_them_back() -> None:
    document = read_yaml(written("odcs", RULED), "odcs")[0]
    properties = {column["name"]: column for column in document["schema"][0]["properties"]}
    assert properties["qty"]["logicalTypeOptions"] == {"minimum": 0, "maximum": 9}
    assert properties["state"]["logicalTypeOptions"] == {"pattern": "^n"}
    assert properties["state"]["quality"] == [
        {"type": "library", "rule": "nullCheck", "mustBe": 0},
        {"type": "library", "rule": "validValues", "validValues": ["new"]},
    ]
    read = format_of("odcs").read
    assert read is not None
    table = read(document, "shop").schema.tables["t"]
    assert {name: table.columns[name].hint(RULES) for name in RULED.tables["t"].columns} == {
        name: column.hint(RULES) for name, column in RULED.tables["t"].columns.items()
    }

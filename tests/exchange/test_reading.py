"""Documents of other programs as tables under a contract, and what of them a schema does not say."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from exchange.shop import ORDERS, SHOP
from trellis.errors import SchemaError
from trellis.exchange.catalog import format_of, formats, recognized_format
from trellis.exchange.export import documents_of, user_tables
from trellis.exchange.losses import losses_of
from trellis.schema.documents.schema_format import Reading
from trellis.schema.documents.yaml_text import read
from trellis.schema.model import Column, Schema, Table
from trellis.schema.value_rules import RULES

READABLE = [
    name for name, known in formats().items() if known.read and known.parse is None and not known.bookkeeping
]
FROZEN = {"columns": "freeze", "data_type": "freeze"}


def read_as(name: str, document: Any) -> Reading:
    reader = format_of(name).read
    assert reader is not None
    return reader(document, "shop")


def columns(schema: Schema, table: str) -> dict[str, str]:
    return {
        column.name: f"{column.data_type}{'' if column.precision is None else f'({column.precision})'}"
        f"{' required' if column.required else ''}"
        for column in schema.tables[table].columns.values()
    }


@pytest.mark.parametrize("name", READABLE)
def test_what_is_not_lost_comes_back(name: str) -> None:
    """Each column without a loss is read as it was written."""
    target = format_of(name)
    schema = replace(SHOP, tables={"orders": ORDERS})
    lost = {loss.column for loss in losses_of(schema, target)}
    (document,) = documents_of(schema, target).values()
    assert isinstance(document, str)
    reading = read_as(name, read(document, name)[0])
    read_tables = user_tables(reading.schema).tables.values()
    (table,) = (table for table in read_tables if not table.nested)
    for column in ORDERS.complete_columns:
        if column.name in lost or column.name == "tags":
            continue
        restored = table.columns[target.rename_column(column.name)]
        expected = replace(column, hints={})
        assert replace(restored, hints={}, name=column.name) == expected, column.name


@pytest.mark.parametrize("name", READABLE)
def test_a_document_shows_its_format(name: str) -> None:
    target = format_of(name)
    (document,) = documents_of(replace(SHOP, tables={"orders": ORDERS}), target).values()
    assert isinstance(document, str)
    recognized = recognized_format(read(document, name)[0])
    assert recognized is None or recognized.name == name


# --- JSON Schema -----------------------------------------------------------------------------------------

CUSTOMER = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "customers",
    "description": "Who buys",
    "type": "object",
    "required": ["id", "address"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "integer", "minimum": 0, "maximum": 100},
        "name": {"type": ["string", "null"], "maxLength": 80, "pattern": "^[A-Z]"},
        "born": {"type": "string", "format": "date"},
        "seen": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
        "address": {"$ref": "#/definitions/address"},
        "orders": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
        "scores": {"type": "array", "items": {"type": "number"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "code": {"type": ["string", "integer"]},
        "choice": {"oneOf": [{"type": "object"}, {"type": "array"}]},
        "friend": {"$ref": "#/definitions/person"},
        "state": {"enum": ["new", "old"]},
    },
    "definitions": {
        "address": {
            "type": "object",
            "required": ["street"],
            "properties": {"street": {"type": "string"}, "geo": {"properties": {"lat": {"type": "number"}}}},
        },
        "person": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "friend": {"$ref": "#/definitions/person"}},
        },
    },
}


def test_json_schema() -> None:
    reading = read_as("json-schema", CUSTOMER)
    assert columns(reading.schema, "customers") == {
        "id": "bigint(8) required",
        "name": "text(80)",
        "born": "date",
        "seen": "timestamp",
        "address__street": "text required",
        "address__geo__lat": "double",
        "labels": "json",
        "code": "text",
        "choice": "json",
        "friend__name": "text",
        "friend__friend": "json",
        "state": "text",
    }
    assert columns(reading.schema, "customers__orders") == {"sku": "text"}
    assert columns(reading.schema, "customers__scores") == {"value": "double"}
    assert reading.schema.tables["customers__orders"].parent == "customers"
    assert reading.schema.tables["customers"].description == "Who buys"
    assert reading.schema.tables["customers"].hints["schema_contract"] == {**FROZEN, "values": "freeze"}
    customers = reading.schema.tables["customers"].columns
    assert {name: column.hint(RULES) for name, column in customers.items() if column.hint(RULES)} == {
        "id": {"minimum": 0, "maximum": 100},
        "name": {"pattern": "^[A-Z]"},
        "state": {"accepted_values": ["new", "old"]},
    }
    assert [(loss.column, loss.what, loss.reason) for loss in reading.losses] == [
        ("code", "the types string, integer", "a column has one type"),
        ("choice", "oneOf", "a column has one type"),
        ("friend__friend", "what is below it", "the schema contains itself"),
    ]


def test_rules_that_json_schema_says_come_back() -> None:
    rules: dict[str, Any] = {
        "qty": {"minimum": 0, "maximum": 9},
        "state": {"accepted_values": ["new", "old"], "pattern": "^[a-z]+$", "not_null": True},
    }
    columns: dict[str, Column] = {
        "qty": Column("qty", "bigint", nullable=True).with_hints(**{RULES: rules["qty"]}),
        "state": Column("state", "text", nullable=True).with_hints(**{RULES: rules["state"]}),
    }
    (document,) = documents_of(Schema("s", {"t": Table("t", columns)}), format_of("json-schema")).values()
    assert isinstance(document, str)
    assert json.loads(document)["properties"] == {
        "qty": {"type": ["integer", "null"], "minimum": 0, "maximum": 9},
        "state": {"type": "string", "enum": ["new", "old"], "pattern": "^[a-z]+$"},
    }
    table = read_as("json-schema", json.loads(document)).schema.tables["t"]
    assert table.columns["qty"].hint(RULES) == rules["qty"]
    assert table.columns["state"].required


def test_an_open_object_takes_other_columns() -> None:
    reading = read_as("json-schema", {"type": "object", "properties": {"a": {"type": "string"}}})
    assert reading.schema.tables["shop"].hints["schema_contract"] == {"data_type": "freeze"}


# --- Avro, StructType, ODCS --------------------------------------------------------------------------------


def test_avro() -> None:
    place = {"type": "record", "name": "Place", "fields": [{"name": "lat", "type": "double"}]}
    reading = read_as(
        "avro",
        {
            "type": "record",
            "name": "Ride",
            "namespace": "com.acme",
            "doc": "A way",
            "fields": [
                {"name": "id", "type": "long"},
                {"name": "start", "type": place},
                {"name": "end", "type": ["null", "Place"]},
                {"name": "stops", "type": {"type": "array", "items": "Place"}},
                {"name": "fare", "type": ["int", "string"]},
                {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["a"]}},
                {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}, "doc": "When"},
            ],
        },
    )
    assert columns(reading.schema, "Ride") == {
        "id": "bigint required",
        "start__lat": "double required",
        "end__lat": "double",
        "fare": "json",
        "kind": "text required",
        "at": "timestamp(3) required",
    }
    assert columns(reading.schema, "Ride__stops") == {"lat": "double required"}
    assert reading.schema.tables["Ride"].columns["at"].description == "When"
    assert reading.schema.tables["Ride"].hints["schema_contract"] == FROZEN
    assert [(loss.column, loss.what) for loss in reading.losses] == [
        ("fare", "a union"),
        ("kind", "its symbols"),
    ]


def test_struct_type() -> None:
    point = {"type": "struct", "fields": [{"name": "lat", "type": "float", "nullable": True, "metadata": {}}]}
    reading = read_as(
        "spark",
        {
            "type": "struct",
            "fields": [
                {"name": "id", "type": "integer", "nullable": False, "metadata": {"comment": "Number"}},
                {"name": "geo", "type": point, "nullable": True, "metadata": {}},
                {
                    "name": "codes",
                    "type": {"type": "array", "elementType": "string", "containsNull": False},
                    "nullable": True,
                    "metadata": {},
                },
                {"name": "sum", "type": "decimal(12,3)", "nullable": True, "metadata": {}},
            ],
        },
    )
    assert columns(reading.schema, "shop") == {
        "id": "bigint(32) required",
        "geo__lat": "double(24)",
        "sum": "decimal(12)",
    }
    assert columns(reading.schema, "shop__codes") == {"value": "text required"}
    assert reading.schema.tables["shop"].columns["id"].description == "Number"


def test_a_type_that_spark_does_not_have() -> None:
    with pytest.raises(
        SchemaError, match="field a: 'interval' is not a type of Spark that a column can have"
    ):
        read_as("spark", {"type": "struct", "fields": [{"name": "a", "type": "interval"}]})


def test_odcs() -> None:
    reading = read_as(
        "odcs",
        {
            "apiVersion": "v3.0.2",
            "kind": "DataContract",
            "description": {"purpose": "Sales"},
            "schema": [
                {
                    "name": "orders",
                    "logicalType": "object",
                    "quality": [{"rule": "rowCount"}],
                    "properties": [
                        {"name": "id", "logicalType": "integer", "primaryKey": True},
                        {
                            "name": "day",
                            "logicalType": "date",
                            "logicalTypeOptions": {"format": "yyyy-MM-dd"},
                        },
                        {
                            "name": "code",
                            "logicalType": "string",
                            "physicalType": "VARCHAR(9)",
                            "logicalTypeOptions": {"maxLength": 9, "pattern": "^A", "minLength": 2},
                            "quality": [
                                {"rule": "validValues", "validValues": ["A1", "A2"]},
                                {"rule": "nullCheck", "mustBe": 0},
                                {"rule": "duplicateCount", "mustBeLessThan": 1},
                            ],
                        },
                        {
                            "name": "items",
                            "logicalType": "array",
                            "items": {
                                "logicalType": "object",
                                "properties": [{"name": "sku", "logicalType": "string", "required": True}],
                            },
                        },
                    ],
                }
            ],
        },
    )
    assert columns(reading.schema, "orders") == {"id": "bigint required", "day": "date", "code": "text(9)"}
    assert columns(reading.schema, "orders__items") == {"sku": "text required"}
    assert reading.schema.tables["orders"].columns_with("primary_key") == ("id",)
    assert reading.schema.description == "Sales"
    assert reading.schema.tables["orders"].hints["schema_contract"] == {**FROZEN, "values": "freeze"}
    assert reading.schema.tables["orders"].columns["code"].hint(RULES) == {
        "accepted_values": ["A1", "A2"],
        "pattern": "^A",
        "not_null": True,
    }
    assert [(loss.column, loss.what) for loss in reading.losses] == [
        (None, "quality"),
        ("code", "minLength"),
        ("code", "quality"),
    ]


def test_losses_are_named_with_their_reason() -> None:
    losses = losses_of(SHOP, format_of("avro"))
    assert [(loss.table, loss.column, loss.what, loss.reason) for loss in losses] == [
        ("orders", "id", "primary key", "Avro has no primary keys"),
        ("orders", "note", "its size (40)", "Avro has no sizes of text"),
        ("orders", "at", "partition", "Avro has no partitions"),
        ("orders", "qty", "its size (32)", "Avro has no sizes of bigint"),
        ("orders", "doc", "its type, string there", "Avro has no json"),
        ("orders", "gas", "its type, decimal there", "Avro has no wei"),
        ("orders", "_dlt_id", "unique", "Avro has no unique columns"),
        ("orders__items", None, "nested in orders", "Avro does not say which table rows are nested in"),
        ("orders__items", "unit price", "its name, unit_price there", "Avro has no such names"),
    ]


def test_a_column_without_a_type_is_lost() -> None:
    table = replace(ORDERS, columns={"later": Column("later", nullable=True)})
    (loss,) = losses_of(Schema("shop", {"orders": table}), format_of("dbml"))
    assert (loss.column, loss.what, loss.reason) == ("later", "the column", "its type is not known yet")

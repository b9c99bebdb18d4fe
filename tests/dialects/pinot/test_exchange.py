"""Schemas of other languages in Pinot's, and back."""

from __future__ import annotations

import json
from dataclasses import replace

from exchange.shop import ORDERS, SHOP
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.exchange import PINOT
from trellis.exchange.losses import losses_of
from trellis.schema.model import Column, Schema, Table

ONE = Schema(
    "shop",
    {
        "t__l": Table(
            "t__l",
            {
                "id": Column("id", "bigint", nullable=False).with_hints(primary_key=True),
                "note": Column("note", "text", nullable=True, precision=40),
                "at": Column("at", "timestamp", nullable=True),
                "day": Column("day", "date", nullable=True),
                "qty": Column("qty", "bigint", nullable=True, precision=16),
                "sum": Column("sum", "decimal", nullable=True, precision=10, scale=2),
            },
        )
    },
)


def test_a_table_as_a_schema_of_pinot() -> None:
    document = PINOT.write(ONE)
    assert json.loads(document) == {
        "schemaName": "t_l",
        "enableColumnBasedNullHandling": True,
        "dimensionFieldSpecs": [
            {"name": "id", "dataType": "LONG", "fieldType": "DIMENSION", "notNull": True},
            {"name": "note", "dataType": "STRING", "fieldType": "DIMENSION", "maxLength": 40},
            {"name": "qty", "dataType": "INT", "fieldType": "DIMENSION"},
            {"name": "sum", "dataType": "BIG_DECIMAL", "fieldType": "DIMENSION"},
        ],
        "dateTimeFieldSpecs": [
            {
                "name": "at",
                "dataType": "TIMESTAMP",
                "fieldType": "DATE_TIME",
                "format": "TIMESTAMP",
                "granularity": "1:MILLISECONDS",
            },
            {
                "name": "day",
                "dataType": "STRING",
                "fieldType": "DATE_TIME",
                "format": "SIMPLE_DATE_FORMAT|yyyy-MM-dd",
                "granularity": "1:DAYS",
            },
        ],
        "primaryKeyColumns": ["id"],
    }


def test_pinots_rules_find_no_fault() -> None:
    document = PINOT.write(replace(SHOP, tables={"orders": ORDERS}))
    assert isinstance(document, str)
    read_schema(document)


def test_losses() -> None:
    assert [(loss.column, loss.what, loss.reason) for loss in losses_of(ONE, PINOT)] == [
        (None, "its name, t_l there", "Pinot has no such names"),
        ("at", "its type, milliseconds there", "Pinot has no timestamp"),
        ("day", "its type, STRING there", "Pinot has no date"),
        ("qty", "its size (16)", "Pinot has no sizes of bigint"),
        ("sum", "its type, BIG_DECIMAL there", "Pinot has no decimal"),
        ("sum", "its size (10, 2)", "Pinot has no sizes of decimal"),
    ]


def test_what_pinot_says_beyond_columns_is_named() -> None:
    document = {
        "schemaName": "rides",
        "dimensionFieldSpecs": [{"name": "city", "dataType": "STRING", "defaultNullValue": "?"}],
        "metricFieldSpecs": [{"name": "fare", "dataType": "DOUBLE", "transformFunction": "plus(a, b)"}],
    }
    assert PINOT.read is not None
    reading = PINOT.read(document, "rides.json")
    assert [column.name for column in reading.schema.tables["rides"].columns.values()] == ["city", "fare"]
    assert [(loss.column, loss.what) for loss in reading.losses] == [
        ("city", "defaultNullValue"),
        ("fare", "transformFunction plus(a, b)"),
        ("fare", "that it is a metric"),
    ]

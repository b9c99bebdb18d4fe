"""Schemas of other languages as those that RudderStack keeps of a warehouse, and back."""

from __future__ import annotations

import json

import pytest

from exchange.shop import SHOP
from trellis.dialects.rudderstack.exchange.warehouse_schema import RUDDERSTACK
from trellis.errors import SchemaError


def test_tables_as_a_schema_of_a_warehouse() -> None:
    document = json.loads(RUDDERSTACK.write(SHOP))
    assert document["orders"] == {
        "id": "int",
        "note": "string",
        "price": "float",
        "at": "datetime",
        "local_at": "datetime",
        "day": "datetime",
        "clock": "string",
        "qty": "int",
        "ratio": "float",
        "paid": "boolean",
        "raw": "string",
        "doc": "json",
        "tags": "json",
        "gas": "float",
        "_dlt_id": "string",
    }
    assert document["orders__items"] == {"unit price": "float", "_dlt_parent_id": "string"}


def test_it_is_read_back() -> None:
    assert RUDDERSTACK.read is not None
    tables = RUDDERSTACK.read({"tracks": {"id": "string", "sent_at": "datetime"}}, "shop").schema.tables
    assert {column.name: column.data_type for column in tables["tracks"].columns.values()} == {
        "id": "text",
        "sent_at": "timestamp",
    }
    with pytest.raises(
        SchemaError, match=r"shop: tracks\.id has no type 'strin' in RudderStack: did you mean"
    ):
        RUDDERSTACK.read({"tracks": {"id": "strin"}}, "shop")

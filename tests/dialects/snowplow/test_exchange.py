"""Schemas of other languages as those of an Iglu registry, and back."""

from __future__ import annotations

import json

from exchange.shop import SMALL
from trellis.dialects.snowplow.exchange import SNOWPLOW
from trellis.exchange.catalog import recognized_format


def test_a_table_as_a_schema_of_a_registry() -> None:
    document = json.loads(SNOWPLOW.write(SMALL))
    assert document["self"] == {"vendor": "shop", "name": "t", "format": "jsonschema", "version": "1-0-0"}
    assert document["additionalProperties"] is False
    assert document["properties"]["note"] == {
        "type": ["string", "null"],
        "maxLength": 40,
        "description": "A wish",
    }
    assert document["required"] == ["id"]


def test_it_is_read_back() -> None:
    document = json.loads(SNOWPLOW.write(SMALL))
    assert recognized_format(document) is SNOWPLOW
    assert SNOWPLOW.read is not None
    schema = SNOWPLOW.read(document, "any").schema
    assert [*schema.tables] == ["t", "t__tags"]
    assert schema.tables["t"].hints["schema_contract"] == {"data_type": "freeze", "columns": "freeze"}
    assert schema.tables["t"].columns["id"].required

"""Group D, end to end: settings of a schema and the columns that come of them."""

from __future__ import annotations

import time
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from dialects.dlt.conformance.warehouse import Warehouse
from trellis.errors import SchemaError
from trellis.schema.model import Schema, Settings

UTC = timezone.utc
DEFAULT = ("iso_timestamp",)


def ruled(**settings: Any) -> Schema:
    return Schema("given", settings=Settings(**settings))


def test_d01_only_date_times_are_detected(warehouse: Warehouse) -> None:
    warehouse.load({"a": "2024-05-06T01:02:03Z", "b": "2024-05-06", "c": "12:30:01"})
    assert warehouse.columns() == {"a": "timestamp", "b": "text", "c": "text"}
    assert warehouse.rows() == [
        {"a": datetime(2024, 5, 6, 1, 2, 3, tzinfo=UTC), "b": "2024-05-06", "c": "12:30:01"}
    ]


def test_d02_spellings_of_a_timestamp(warehouse: Warehouse) -> None:
    warehouse.load({"a": "2024-05-06 07:08", "b": "20240506T070809Z", "c": "2024/05/06 10:11"})
    assert warehouse.rows() == [
        {
            "a": datetime(2024, 5, 6, 7, 8, tzinfo=UTC),
            "b": datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC),
            "c": datetime(2024, 5, 6, 10, 11, tzinfo=UTC),
        }
    ]


def test_d03_what_is_none(warehouse: Warehouse) -> None:
    words = (" 2024-05-06T07:08:09Z", "2024-05-06T25:00:00Z", "2024-5-6T7:8:9", "P1D", "1700000000")
    record = dict(zip("abcde", words, strict=True))
    warehouse.load(record)
    assert set(warehouse.columns().values()) == {"text"}
    assert warehouse.rows() == [record]


def test_d04_dates(warehouse: Warehouse) -> None:
    words = ("2024", "2024-05", "2024-W10", "2024-130", "13")
    warehouse.load(dict(zip("abcde", words, strict=True)), schema=ruled(detections=("iso_date",)))
    assert list(warehouse.columns().values()) == ["date", "date", "date", "date", "text"]
    assert warehouse.rows() == [
        {
            "a": date(2024, 1, 1),
            "b": date(2024, 5, 1),
            "c": date(2024, 3, 4),
            "d": date(2024, 5, 9),
            "e": "13",
        }
    ]


def test_d05_seconds_near_now(warehouse: Warehouse) -> None:
    now = int(time.time())
    record = {"a": now, "b": now - 2 * 365 * 86_400, "c": True, "d": str(now)}
    warehouse.load(record, schema=ruled(detections=("timestamp",)))
    assert list(warehouse.columns().values()) == ["timestamp", "bigint", "bool", "text"]
    assert warehouse.values("a") == [datetime.fromtimestamp(now, UTC)]


def test_d06_large_integers(warehouse: Warehouse) -> None:
    document = ruled(detections=("large_integer",))
    warehouse.load({"a": 2**63 - 1, "b": 2**63, "c": 2**255}, schema=document)
    assert list(warehouse.columns().values()) == ["bigint", "wei", "text"]
    assert warehouse.rows() == [{"a": 2**63 - 1, "b": Decimal(2**63), "c": str(2**255)}]


def test_d07_without_detectors(warehouse: Warehouse) -> None:
    warehouse.load({"a": "2024-05-06T01:02:03Z"}, schema=ruled(detections=()))
    warehouse.load({"b": "2024-05-06T01:02:03Z"})
    assert warehouse.columns() == {"a": "text", "b": "text"}
    assert warehouse.schema.settings.detections == ()


def test_d08_preferred_types(warehouse: Warehouse) -> None:
    document = ruled(preferred_types={"re:timestamp": "timestamp"})
    warehouse.load({"my_timestamp": "2024-01-01", "ts": 5}, schema=document)
    assert warehouse.columns() == {"my_timestamp": "timestamp", "ts": "bigint"}
    assert warehouse.values("my_timestamp") == [datetime(2024, 1, 1, tzinfo=UTC)]


def test_d09_the_first_preferred_type_counts(warehouse: Warehouse) -> None:
    types = {"re:_timestamp$": "bigint", "re:timestamp": "timestamp"}
    warehouse.load({"my_timestamp": "17", "timestamp_of": 17}, schema=ruled(preferred_types=types))
    assert warehouse.columns() == {"my_timestamp": "bigint", "timestamp_of": "timestamp"}
    assert warehouse.values("my_timestamp") == [17]


def test_d10_default_hints(warehouse: Warehouse) -> None:
    hints = {"partition": ("re:_timestamp$",), "not_null": ("createdAt",)}
    warehouse.load({"evt_timestamp": 1, "createdAt": 2, "x": 3}, schema=ruled(default_hints=hints))
    columns = warehouse.schema.tables["t"].columns
    assert [(c.nullable, dict(c.hints)) for c in columns.values()][:3] == [
        (True, {"partition": True}),
        (False, {}),
        (True, {}),
    ]
    assert columns["_dlt_id"].nullable is False


def test_d11_rules_are_added_to_those_there_are(warehouse: Warehouse) -> None:
    first, second = ({"unique": (rule,)} for rule in ("re:^CamelCase$", "CamelCase"))
    warehouse.load({"a": 1}, schema=ruled(default_hints=first))
    warehouse.load({"a": 1}, schema=ruled(default_hints=second))
    warehouse.load({"CamelCase": 1}, schema=ruled(default_hints={"unique": ("re:Camel.*",)}))
    rules = (warehouse.schema.settings.default_hints or {})["unique"]
    assert rules == ("_dlt_id", "re:^camel_case$", "re:Camel.*")
    assert warehouse.schema.tables["t"].columns["camel_case"].hint("unique")


@pytest.mark.parametrize("rule", ["re:[", "*a"])
def test_d12_rules_that_are_none(warehouse: Warehouse, rule: Any) -> None:
    with pytest.raises(SchemaError, match="rule"):
        warehouse.load({"a": 1}, schema=ruled(preferred_types={rule: "text"}))
    with pytest.raises(SchemaError, match="rule"):
        warehouse.load({"a": 1}, schema=ruled(default_hints={"unique": (rule,)}))
    assert warehouse.tables == set()

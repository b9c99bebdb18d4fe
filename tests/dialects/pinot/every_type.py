"""A table with a column of every type, rows for it, and how the broker writes each value."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta, timezone
from typing import Any

START = 1_700_000_000_000
SMALLEST = 1.4e-45
SINGLE = ("INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "BOOLEAN", "TIMESTAMP", "STRING", "JSON", "BYTES")
SEVERAL = ("INT", "LONG", "FLOAT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "STRING")
MAPS = ("STRING", "INT", "LONG", "FLOAT", "DOUBLE")
VALUES: dict[str, tuple[Any, ...]] = {
    "INT": (2147483647, -2147483648, 0, 7, -1),
    "LONG": (9223372036854775807, -9223372036854775808, 0, 5, 3_000_000_000),
    "FLOAT": (7.9, 3.4028235e38, SMALLEST, 0.1, "-Infinity", 16777216.0),
    "DOUBLE": (1.7976931348623157e308, 5e-324, 0.1, 5.0, "Infinity", -1e100),
    "BIG_DECIMAL": ("123456789012345678901234567890.123", "0", "-1000", "7.9", "0.000000000000000001"),
    "BOOLEAN": (True, False),
    "TIMESTAMP": (START + 123, START, 253_402_300_799_999, -11_000_000_000_000),
    "STRING": ("plain", "ünïcödé 日本 😀", "", "null", 'a "quoted", \\ and a\nline', "x" * 512),
    "JSON": ('{"a":1,"b":[true,null]}', '{"日本":"😀"}', '"text"', "[1,2.5]"),
    "BYTES": ("00ff", "", "cafe", "deadbeef" * 40),
}
"""As a record says them; a TIMESTAMP in milliseconds, BYTES in hex digits."""


def schema(name: str) -> dict[str, Any]:
    """Nulls are told from defaults in every column."""
    dimensions = [{"name": f"one_{data_type.lower()}", "dataType": data_type} for data_type in SINGLE]
    dimensions += [
        {"name": f"many_{data_type.lower()}", "dataType": data_type, "singleValueField": False}
        for data_type in SEVERAL
    ]
    return {
        "schemaName": name,
        "enableColumnBasedNullHandling": True,
        "dimensionFieldSpecs": [{"name": "id", "dataType": "INT"}, *dimensions],
        "metricFieldSpecs": [{"name": "amount", "dataType": "DOUBLE"}],
        "dateTimeFieldSpecs": [
            {"name": "at", "dataType": "TIMESTAMP", "format": "TIMESTAMP", "granularity": "1:MILLISECONDS"}
        ],
        "complexFieldSpecs": [_map(f"map_{data_type.lower()}", data_type) for data_type in MAPS],
    }


def _map(name: str, value: str) -> dict[str, Any]:
    children = {
        "key": {"name": "key", "dataType": "STRING", "fieldType": "DIMENSION"},
        "value": {"name": "value", "dataType": value, "fieldType": "DIMENSION"},
    }
    return {"name": name, "dataType": "MAP", "fieldType": "COMPLEX", "childFieldSpecs": children}


def records(count: int, seed: int = 7) -> list[dict[str, Any]]:
    """Every value comes up; about one in six is null."""
    chosen = random.Random(seed)
    records = []
    for number in range(count):
        row: dict[str, Any] = {"id": number, "at": START + number, "amount": chosen.random()}
        for data_type in SINGLE:
            known = VALUES[data_type]
            row[f"one_{data_type.lower()}"] = known[number % len(known)] if chosen.random() > 0.16 else None
        for data_type in SEVERAL:
            several = [chosen.choice(VALUES[data_type]) for _ in range(chosen.randint(1, 5))]
            row[f"many_{data_type.lower()}"] = several if chosen.random() > 0.16 else None
        for data_type in MAPS:
            # Pinot does not convert the values of a map: text stays text, and a number of JSON has 64 bits.
            known = [
                value
                for value in VALUES[data_type]
                if data_type == "STRING" or (not isinstance(value, str) and value != SMALLEST)
            ]
            pairs = {f"key é {at}": chosen.choice(known) for at in range(chosen.randint(1, 3))}
            row[f"map_{data_type.lower()}"] = pairs if chosen.random() > 0.16 else None
        records.append(row)
    return records


def answered(record: dict[str, Any]) -> dict[str, Any]:
    """The record as the broker's JSON has it."""
    return {name: _answered(name, value) for name, value in record.items()}


def _answered(name: str, value: Any) -> Any:
    if value is None or isinstance(value, dict):
        return value
    if isinstance(value, list):
        return [_answered(name, member) for member in value]
    return moment(value) if name == "at" or name.endswith("_timestamp") else value


def moment(millis: int) -> str:
    """A TIMESTAMP as the broker writes it."""
    when = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=millis)
    fraction = f"{millis % 1000:03}".rstrip("0") or "0"
    return f"{when:%Y-%m-%d %H:%M:%S}.{fraction}"


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)

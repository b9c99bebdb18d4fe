"""What the tests of events share: an event, and the rows it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Final, Literal

from trellis.dialects.rudderstack.events.cells import (
    ArrayText,
    Cell,
    JsonText,
    LongText,
    SpaceText,
    utf16_length,
)
from trellis.dialects.rudderstack.events.router import EventRouter
from trellis.dialects.rudderstack.events.timestamps import to_text
from trellis.dialects.rudderstack.options import Options
from trellis.dialects.rudderstack.providers import Neutral, Provider
from trellis.evolution.dialect.transforms import Routed
from trellis.evolution.record_outcome import LostValue

NOW = datetime(2024, 2, 29, 12, 0, tzinfo=timezone.utc)
RECEIVED = "2024-02-29T10:00:05.000Z"

DEFAULT_COLUMNS = ("id", "sent_at", "timestamp", "received_at", "original_timestamp")
"""The columns that every row of an event has, if the event has nothing but an id."""


def event(kind: str, **fields: Any) -> dict[str, Any]:
    """An event with an id and a time of receipt."""
    return {"type": kind, "messageId": "m", "receivedAt": RECEIVED, **fields}


def routed(payload: Mapping[str, Any], provider: str = "RS", **options: Any) -> Routed:
    return EventRouter(Options.of({"provider": provider, **options}), NOW)(payload, "events.jsonl:1")


def rows(payload: Mapping[str, Any], provider: str = "RS", **options: Any) -> dict[str, dict[str, Any]]:
    """The rows by table; no event gives two of one table."""
    routed_rows = routed(payload, provider, **options).rows
    by_table = {table: dict(row) for table, row in routed_rows}
    assert len(by_table) == len(routed_rows)
    return by_table


def own(payload: Mapping[str, Any], provider: str = "RS", **options: Any) -> dict[str, Any]:
    """The last row, without the columns that every event has."""
    row = list(rows(payload, provider, **options).values())[-1]
    return {name: value for name, value in row.items() if name.lower() not in DEFAULT_COLUMNS}


def lost(payload: Mapping[str, Any], provider: str = "RS", **options: Any) -> list[LostValue]:
    return routed(payload, provider, **options).lost


def reasons(payload: Mapping[str, Any], provider: str = "RS", **options: Any) -> dict[str, str]:
    """The first word of the reason by path."""
    return {loss.path: loss.reason.partition(":")[0] for loss in lost(payload, provider, **options)}


def types(row: Mapping[str, Any], provider: str = "RS") -> dict[str, str]:
    warehouse = Options(provider=provider).warehouse
    return {name: neutral_type(value, warehouse) for name, value in row.items()}


def texts(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its times as text."""
    return {n: to_text(value) if isinstance(value, datetime) else value for n, value in row.items()}


def neutral_type(cell: Cell, provider: Provider) -> Neutral | Literal["array"]:
    """The neutral type of a cell; `array` is a string that a JSON column takes as JSON."""
    type_ = _NEUTRAL_TYPES[cell.__class__]
    if provider.text_beyond is None or type_ not in ("string", "array"):
        return type_
    return "text" if utf16_length(str(cell)) > provider.text_beyond else type_


_NEUTRAL_TYPES: Final[Mapping[type, Neutral | Literal["array"]]] = {
    int: "int",
    float: "float",
    bool: "boolean",
    datetime: "datetime",
    str: "string",
    SpaceText: "string",
    ArrayText: "array",
    JsonText: "json",
    LongText: "text",
}

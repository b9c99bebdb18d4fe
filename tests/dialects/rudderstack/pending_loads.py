"""Loads of events into warehouses of every kind, and loads of any events."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from hypothesis import strategies as st

from packages.commits import DUCKDB, PARQUET, Case, Load


def event(kind: str, number: int, **fields: Any) -> dict[str, Any]:
    at = datetime(2024, 2, 29, 10, 0, number, tzinfo=timezone.utc).isoformat()
    return {"type": kind, "messageId": f"m{number}", "userId": "u", "receivedAt": at, **fields}


EVENTS = [
    event("identify", 1, traits={"plan": "free", "age": 3}),
    event("track", 2, event="Order Paid", properties={"total": 1.5, "coupon": "x"}),
    event("track", 3, event="Order Paid", properties={"total": "no number"}),
    event("page", 4, properties={"path": "/"}),
]
LATER_EVENTS = [event("track", 5, event="Order Paid", properties={"total": 2, "tax": True})]


def events(rows: Any = EVENTS) -> Load:
    return lambda pipeline: pipeline.load(rows)


def stream(provider: str, *before: Load, to: str = DUCKDB, **settings: Any) -> Case:
    return Case(events(LATER_EVENTS), before, "rudderstack", {"provider": provider, **settings}, to)


CASES = {
    "append": stream("BQ"),
    "merge": stream("RS", events()),
    "postgres": stream("POSTGRES", events()),
    "lake": stream("S3_DATALAKE", events(), to=PARQUET),
    "identities": stream("SNOWFLAKE", events(), identity_resolution=True),
    "discards": Case(events(EVENTS), (events(),), "rudderstack", {"provider": "RS"}),
}

names = st.sampled_from(["id", "qty", "Größe", "Order Total", "nested", "x"])
properties = st.dictionaries(names, st.integers(-5, 5) | st.text(max_size=3) | st.booleans(), max_size=3)
event_lists = st.lists(
    st.builds(
        lambda kind, number, fields: event(
            kind, number, event="Order Paid", properties=fields, traits=fields
        ),
        st.sampled_from(["track", "identify", "page"]),
        st.integers(0, 9),
        properties,
    ),
    max_size=3,
)
LOADS = st.builds(
    lambda provider, before, rows: replace(stream(provider, *map(events, before)), load=events(rows)),
    st.sampled_from(["RS", "BQ", "SNOWFLAKE", "POSTGRES"]),
    st.lists(event_lists, max_size=1),
    event_lists,
)

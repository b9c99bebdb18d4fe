"""A PostgreSQL that RudderStack filled, with times of short zones, ids of two types and a table of as many
columns as there can be: loading into it changes no type and no value that is there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any

import psycopg
import pytest

from destinations.postgres_server import Server
from dialects.rudderstack.conformance.loading import Event, event, identify, moment, track
from dialects.rudderstack.warehouse_service import Row, WarehouseService
from trellis.pipelines.pipeline import Pipeline

NAMESPACE = "web_shop"
NOW = datetime(2024, 2, 29, 11, tzinfo=timezone.utc)
PARTS, PROPERTIES = 8, 199
"""With eight standard columns that is 1,600, the most a table of PostgreSQL has."""

PAID = datetime(2024, 2, 29, 10, tzinfo=timezone.utc)
CONTEXT = {"context_ip": "10.0.0.1", "context_passed_ip": "10.0.0.1", "context_library_name": "js"}
ORDER = {"event": "order_completed", "event_text": "Order Completed"}
FULL_CONTEXT = {"context": {"ip": "10.0.0.1", "library": {"name": "js"}}}


def times(at: int) -> Row:
    return dict.fromkeys(("received_at", "sent_at", "timestamp", "original_timestamp"), moment(at))


def wide_event(part: int) -> tuple[Event, list[tuple[str, Row]]]:
    properties = {f"p{part}_{number}": number for number in range(PROPERTIES)}
    row = {"id": f"w{part}", **times(20 + part), "event": "wide", "event_text": "Wide"}
    staged = [("tracks", row), ("wide", {**row, **properties})]
    return track(f"w{part}", "Wide", 20 + part, **properties), staged


def ordered(id: str, at: int, user: Any, **properties: Any) -> Event:
    fields = {"userId": user, "anonymousId": "a1", **FULL_CONTEXT}
    return {**track(id, "Order Completed", at, **properties), **fields}


def staged_order(id: str, at: int, user: Any, **properties: Any) -> list[tuple[str, Row]]:
    row = {"id": id, "anonymous_id": "a1", "user_id": user, **times(at), **CONTEXT, **ORDER}
    return [("tracks", row), ("order_completed", {**row, **properties})]


def staged_user(user: Any, at: int, **traits: Any) -> list[tuple[str, Row]]:
    return [
        ("identifies", {"id": f"{user}/{at}", "user_id": user, **times(at), **traits}),
        ("users", {"id": user, **times(at), **traits}),
    ]


FIRST: list[tuple[Event, list[tuple[str, Row]]]] = [
    (
        ordered(
            "t1", 1, 12, price=9.5, paidAt="2024-02-29 10:00:00+00", items=[{"n": 1}], code="a", gift=True
        ),
        staged_order("t1", 1, 12, price=9.5, paid_at=PAID, items='[{"n":1}]', code="a", gift=True),
    ),
    (
        identify(12, 2, plan="gold", age=30, signedUpAt="2024-02-28T09:00+05"),
        staged_user(12, 2, plan="gold", age=30, signed_up_at=datetime(2024, 2, 28, 4, tzinfo=timezone.utc)),
    ),
    (
        {**event("page", "p1", 3, name="Home", properties={"url": "/"}), "userId": 12},
        [("pages", {"id": "p1", "user_id": 12, **times(3), "name": "Home", "url": "/"})],
    ),
    *map(wide_event, range(PARTS // 2)),
]
SECOND: list[tuple[Event, list[tuple[str, Row]]]] = [
    (
        ordered("t2", 4, "9f2c", price=7, paidAt="soon", code=789, gift="yes", items=5),
        staged_order("t2", 4, "9f2c", price=7, paid_at="soon", code=789, gift="yes", items=5),
    ),
    (identify("9f2c", 5, plan="free"), staged_user("9f2c", 5, plan="free")),
    (identify(12, 6, plan="pro", city="Bern"), staged_user(12, 6, plan="pro", city="Bern")),
    *map(wide_event, range(PARTS // 2, PARTS)),
]


@pytest.fixture
def url(postgres: Server, database: str) -> str:
    url = postgres.url(database)
    service = WarehouseService(url, NAMESPACE, NOW)
    for batch in (FIRST, SECOND):
        service.upload([staged for _, rows in batch for staged in rows])
    return url


@pytest.fixture
def pipeline(url: str) -> Pipeline:
    settings = {"users_anonymous_id": "latest"}
    return Pipeline("web_shop", url, NAMESPACE, dialect="rudderstack", settings=settings)


def types(url: str) -> dict[str, dict[str, str]]:
    """The columns of every table that is not Trellis's."""
    query = (
        "SELECT table_name, column_name, data_type FROM information_schema.columns "
        f"WHERE table_schema = '{NAMESPACE}' AND table_name NOT LIKE '\\_trellis%'"
    )
    tables: dict[str, dict[str, str]] = {}
    with psycopg.connect(url) as db:
        for table, column, type_ in db.execute(query.encode()):
            tables.setdefault(table, {})[column] = type_
    return tables


def rows(url: str, table: str) -> list[dict[str, Any]]:
    """All rows without the time of their load, and without what is NULL."""
    query = f"SELECT jsonb_strip_nulls(to_jsonb(t) - 'uuid_ts') FROM {NAMESPACE}.{table} t"
    with psycopg.connect(url) as db:
        db.execute("SET TimeZone = 'UTC'")
        stored: list[dict[str, Any]] = [row for (row,) in db.execute(query.encode())]
    return sorted(stored, key=lambda row: json.dumps(row, sort_keys=True))


def row(url: str, table: str, id: Any) -> dict[str, Any]:
    (stored,) = (row for row in rows(url, table) if row["id"] == id)
    return {name: value for name, value in stored.items() if not name.endswith(("_at", "timestamp"))}


def discarded(rows: Iterable[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Discards as row, table, column, and the types of the column and the value."""
    names = ("row_id", "table_name", "column_name")
    reason = re.compile("incompatible schema conversion from (.+) to (.+)")
    return sorted((*(row[name] for name in names), *reason.fullmatch(row["reason"]).groups()) for row in rows)


def test_the_warehouse_is_one_of_rudderstack(url: str) -> None:
    """What the tests below stand on, as RudderStack has it."""
    assert {table: len(columns) for table, columns in types(url).items()} == {
        "tracks": 13, "order_completed": 18, "identifies": 11, "users": 10, "pages": 9, "wide": 1600,
        "rudder_discards": 7,
    }  # fmt: skip
    assert types(url)["order_completed"]["user_id"] == types(url)["users"]["id"] == "bigint"
    assert row(url, "order_completed", "t2") == {
        "id": "t2", "anonymous_id": "a1", **CONTEXT, **ORDER, "price": 7, "code": "789", "items": "5",
    }  # fmt: skip
    assert row(url, "users", 12) == {"id": 12, "plan": "pro", "age": 30, "city": "Bern"}
    assert discarded(rows(url, "rudder_discards")) == [
        ("9f2c", "users", "id", "int", "string"),
        ("9f2c/5", "identifies", "user_id", "int", "string"),
        ("t2", "order_completed", "gift", "boolean", "string"),
        ("t2", "order_completed", "paid_at", "datetime", "string"),
        ("t2", "order_completed", "user_id", "int", "string"),
        ("t2", "tracks", "user_id", "int", "string"),
    ]


def test_loading_the_same_events_changes_nothing(url: str, pipeline: Pipeline) -> None:
    """The hours around the switch are loaded by both."""
    types_before = types(url)
    before = {table: rows(url, table) for table in types_before}
    for batch in (FIRST, SECOND):
        report = pipeline.load([event for event, _ in batch])
        assert (report.rows.loaded, report.failures, report.changes) == (len(batch), (), ())
    assert types(url) == types_before
    assert {table: rows(url, table) for table in types_before} == before


def test_new_events_go_into_the_types_that_are_there(url: str, pipeline: Pipeline) -> None:
    types_before = types(url)
    before = {table: rows(url, table) for table in types_before}
    report = pipeline.load(
        [
            ordered("t3", 40, 12, price=5, paidAt="2024-03-01 08:30:00.5+00", gift=False),
            ordered("t4", 41, "1b4e", price="free", paidAt="2024-03-01T10:00+02"),
            identify("1b4e", 42, plan="free"),
            identify(12, 43, age=31),
            track("w9", "Wide", 44, p0_0=5, p7_198=6),
        ]
    )
    assert (report.changes, report.failures) == ((), ())
    assert types(url) == types_before
    order = {"anonymous_id": "a1", **CONTEXT, **ORDER}
    assert row(url, "order_completed", "t3") == {
        "id": "t3", "user_id": 12, **order, "price": 5, "gift": False
    }  # fmt: skip
    assert row(url, "order_completed", "t4") == {"id": "t4", **order}
    paid = {row["id"]: row.get("paid_at") for row in rows(url, "order_completed")}
    assert paid == {
        "t1": "2024-02-29T10:00:00+00:00",
        "t2": None,
        "t3": "2024-03-01T08:30:00.5+00:00",
        "t4": "2024-03-01T08:00:00+00:00",
    }
    assert row(url, "users", 12) == {"id": 12, "plan": "pro", "age": 31, "city": "Bern"}
    assert [row["id"] for row in rows(url, "users")] == [12]
    assert row(url, "wide", "w9") == {
        "id": "w9",
        "event": "wide",
        "event_text": "Wide",
        "p0_0": 5,
        "p7_198": 6,
    }
    assert discarded(row for row in rows(url, "rudder_discards") if row not in before["rudder_discards"]) == [
        ("1b4e", "users", "id", "int", "string"),
        ("1b4e/42", "identifies", "user_id", "int", "string"),
        ("t4", "order_completed", "price", "float", "string"),
        ("t4", "order_completed", "user_id", "int", "string"),
        ("t4", "tracks", "user_id", "int", "string"),
    ]
    untouched = ("pages", "wide", "order_completed", "tracks", "identifies", "rudder_discards")
    assert [row for table in untouched for row in before[table] if row not in rows(url, table)] == []


def test_a_column_beyond_the_most_fails_the_wide_table_alone(url: str, pipeline: Pipeline) -> None:
    before = rows(url, "wide")
    report = pipeline.load([track("w9", "Wide", 44, another=1), ordered("t3", 45, 12, price=5)])
    (failure,) = report.failures
    assert (failure.name, failure.rows) == ("wide", 1)
    assert failure.error.startswith("table wide: it would have 1,601 columns, and 1,600 is the most; set")
    assert rows(url, "wide") == before
    assert row(url, "order_completed", "t3")["price"] == 5

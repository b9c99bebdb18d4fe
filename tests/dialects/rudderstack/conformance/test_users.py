"""Users: one row each, of what their identify events said last."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.rudderstack.conformance.loading import INT_STRING, Opens, Shop, identify, moment, track


def user(shop: Shop, id: Any = "u") -> dict[str, Any]:
    """The row of a user, without times other than that of receipt."""
    row = shop.row("users", id)
    return {
        name: value
        for name, value in row.items()
        if name not in ("sent_at", "timestamp", "original_timestamp", "uuid_ts")
    }


def test_c76_r06_r28_r32_the_latest_of_every_column_stays(shop: Shop) -> None:
    shop.load(identify("u", 1, plan="a", city="b"))
    shop.load(identify("u", 2, plan="c"))
    assert user(shop) == {"id": "u", "received_at": moment(2), "plan": "c", "city": "b"}
    assert len(shop.rows("identifies", "id")) == 2


def test_in_one_load_it_is_the_same(shop: Shop) -> None:
    shop.load(
        identify("u", 3, plan="c"), identify("v", 1, city="x"), identify("u", 2, plan="b", city="y"),
        identify("u", 3, plan="d"),
    )  # fmt: skip
    assert user(shop) == {"id": "u", "received_at": moment(3), "plan": "d", "city": "y"}
    assert user(shop, "v") == {"id": "v", "received_at": moment(1), "city": "x"}


def test_loads_that_come_too_late_fill_gaps_alone(shop: Shop) -> None:
    shop.load(identify("u", 5, plan="new"))
    shop.load(identify("u", 1, plan="old", city="x"))
    shop.load(identify("u", 3, plan="mid", city="y", age=35))
    row = user(shop)
    assert row["received_at"] == moment(5)
    assert (row["plan"], row["age"]) == ("new", 35)


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1)], ids=str)
def test_any_order_within_a_load_gives_one_row(shop: Shop, order: tuple[int, ...]) -> None:
    traits = {1: {"plan": "a", "city": "x"}, 2: {"age": 5}, 3: {"plan": "c"}}
    shop.load(*(identify("u", at, **traits[at]) for at in order))
    assert user(shop) == {"id": "u", "received_at": moment(3), "plan": "c", "city": "x", "age": 5}


def test_r32_the_latest_event_alone(open_shop: Opens) -> None:
    shop = open_shop("RS", users_merge="latest_row")
    shop.load(identify("u", 1, plan="a", city="b"), identify("u", 3, plan="c"), identify("u", 2, age=5))
    assert user(shop) == {"id": "u", "received_at": moment(3), "plan": "c"}
    shop.load(identify("u", 4, city="z"))
    assert user(shop) == {"id": "u", "received_at": moment(4), "city": "z"}


def test_r32_the_latest_event_alone_in_whatever_order_loads_come(open_shop: Opens) -> None:
    shop = open_shop("RS", users_merge="latest_row")
    shop.load(identify("u", 5, plan="new"))
    shop.load(identify("u", 1, plan="old", city="x"))
    assert user(shop) == {"id": "u", "received_at": moment(5), "plan": "new"}


def test_r17_r31_r33_columns_of_users(open_shop: Opens) -> None:
    shop = open_shop("RS")
    event = {
        **identify("u", 1, plan="a"),
        "anonymousId": "a1",
        "channel": "web",
        "context": {"ip": "0.0.0.0"},
    }
    shop.load(event, {**identify("u", 2, plan="b"), "anonymousId": "a2"})
    users, identifies = shop.types("users"), shop.types("identifies")
    assert {*identifies} - {*users} == {"user_id", "anonymous_id", "channel"}
    assert {*users} <= {*identifies}
    assert {name: identifies[name] for name in users} == users
    assert shop.sql(
        "SELECT user_id, list_sort(list(anonymous_id)) FROM identifies GROUP BY user_id"
    ) == [("u", ["a1", "a2"])]  # fmt: skip


def test_r06_the_latest_anonymous_id_for_those_who_want_it(open_shop: Opens) -> None:
    shop = open_shop("RS", users_anonymous_id="latest")
    for at in (1, 2):
        shop.load({**identify("u", at), "anonymousId": f"a{at}", "channel": "web"})
    assert user(shop) == {"id": "u", "received_at": moment(2), "anonymous_id": "a2", "channel": "web"}


def test_columns_that_only_one_of_both_has(shop: Shop) -> None:
    """What users have by hand, identifies get; what identifies have, users get."""
    shop.load(identify("u", 1, plan="a"))
    shop.sql(
        "ALTER TABLE users ADD COLUMN score DOUBLE", "ALTER TABLE users ADD COLUMN odd INTEGER[]",
        "ALTER TABLE identifies ADD COLUMN region VARCHAR",
        "UPDATE users SET score = 0.5, odd = [1]",
    )  # fmt: skip
    shop.load(identify("u", 2, plan="b"))
    assert shop.types("identifies")["score"] == "DOUBLE"
    assert "odd" not in shop.types("identifies")
    assert shop.types("users")["region"] == "VARCHAR"
    assert user(shop) == {"id": "u", "received_at": moment(2), "plan": "b", "score": 0.5, "odd": [1]}
    shop.load(identify("u", 3, score=2, region="x"))
    assert (user(shop)["score"], user(shop)["region"]) == (2.0, "x")
    assert shop.row("identifies", "u/3")["score"] == 2.0


def test_identifies_without_users_leave_users_alone(open_shop: Opens) -> None:
    shop = open_shop("RS")
    shop.load(identify("u", 1, plan="a"))
    open_shop("RS", skipUsersTable=True).load(identify("u", 2, plan="b", city="x"))
    assert user(shop) == {"id": "u", "received_at": moment(1), "plan": "a"}
    assert "city" not in shop.types("users")


def test_c39_ids_that_are_numbers(shop: Shop) -> None:
    shop.load(identify(12, 1, plan="a"))
    shop.load(identify(12, 2, plan="b"), identify(13.0, 2), identify("x", 2, age=5), identify(" ", 2))
    assert shop.types("users")["id"] == shop.types("identifies")["user_id"] == "BIGINT"
    assert dict(shop.rows("users", "id", "plan")) == {12: "b", 13: None}
    assert {row[:4] for row in shop.discards} == {
        ("x/2", "identifies", "user_id", "x"), ("x", "users", "id", "x"),
        (" /2", "identifies", "user_id", " "),
    }  # fmt: skip
    assert shop.lost == []


def anonymous(at: int, **traits: Any) -> dict[str, Any]:
    return {**identify("", at, id=f"a{at}", **traits), "anonymousId": "a"}


def test_users_have_the_types_of_identifies(shop: Shop) -> None:
    shop.load(anonymous(1, age="n/a", zip=8000), identify("u", 2, age=30, zip="CH-8000"))
    users, identifies = shop.types("users"), shop.types("identifies")
    assert (users["age"], users["zip"]) == (identifies["age"], identifies["zip"]) == ("VARCHAR", "BIGINT")
    assert user(shop) == {"id": "u", "received_at": moment(2), "age": "30"}
    assert [row[:4] for row in shop.discards] == [
        ("u", "users", "zip", "CH-8000"),
        ("u/2", "identifies", "zip", "CH-8000"),
    ]


def test_users_follow_identifies_of_earlier_loads(shop: Shop) -> None:
    shop.load(anonymous(1, age="n/a"))
    shop.load(identify("u", 2, age=30))
    assert user(shop) == {"id": "u", "received_at": moment(2), "age": "30"}


@pytest.mark.parametrize(("table", "other"), [("users", "identifies"), ("identifies", "users")])
def test_a_column_added_by_hand_counts_for_both(shop: Shop, table: str, other: str) -> None:
    shop.load(identify("u", 1))
    shop.sql(f"ALTER TABLE {table} ADD COLUMN score DOUBLE", "SELECT 1")
    shop.load(identify("u", 2, score=2))
    assert shop.types(other)["score"] == "DOUBLE"
    assert (user(shop)["score"], shop.row("identifies", "u/2")["score"]) == (2.0, 2.0)


def test_users_are_retyped_on_their_own(shop: Shop) -> None:
    shop.load(identify("u", 1, age=35, zip=8000))
    shop.sql("ALTER TABLE users ALTER zip TYPE VARCHAR")
    shop.load(identify("u", 2, age="x", zip="CH-8000"))
    assert user(shop)["zip"] == "CH-8000"
    assert shop.values("identifies", "zip") == [8000, None]
    assert [row[:4] for row in shop.discards] == [
        ("u", "users", "age", "x"),
        ("u/2", "identifies", "age", "x"),
        ("u/2", "identifies", "zip", "CH-8000"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("provider", "table", "rows"),
    [
        pytest.param("BQ", "users", [("u", "b", "x")], id="R29-BQ"),
        ("SNOWFLAKE", "USERS", [("u", "b", "x")]),
        ("MSSQL", "users", [("u", "b", "x")]),
        ("CLICKHOUSE", "users", [("u", "b", "x")]),
        ("S3_DATALAKE", "users", [("u", "a", "x"), ("u", "b", None)]),
    ],
)
def test_users_by_warehouse(open_shop: Opens, provider: str, table: str, rows: Any) -> None:
    shop = open_shop(provider)
    shop.load(identify("u", 1, tier="a", city="x"))
    shop.load(identify("u", 2, tier="b"))
    names = ("id", "tier", "city")
    assert shop.rows(table, *(name.upper() if table.isupper() else name for name in names)) == rows


@pytest.mark.parametrize("provider", ["SNOWPIPE_STREAMING", "BQSTREAM_ALL_EVENTS"])
def test_c40_streams_have_no_users(open_shop: Opens, provider: str) -> None:
    shop = open_shop(provider)
    shop.load(identify("u", 1), track("1"))
    assert {name.lower() for name in shop.tables} == {"identifies", "tracks", "sale", "rudder_discards"}


def test_r35_r36_skipping_users_by_event(shop: Shop) -> None:
    """R37: under the name of the warehouse."""
    skips = {"options": {"skipUsersTable": True}}
    shop.load(
        {**identify("u", 1), "integrations": {"RS": skips}},
        {**identify("v", 1), "integrations": {"DELTALAKE": skips}},
        {**identify("w", 1), "integrations": {"RS": {"options": {"skipUsersTable": "yes"}}}},
    )
    assert shop.values("users", "id") == ["v", "w"]
    assert shop.values("identifies", "user_id") == ["u", "v", "w"]


MIXED = (identify(12, 1, id="m1", plan="a"), identify("uuid", 2, id="m2", plan="b"))


@pytest.mark.parametrize("provider", ["POSTGRES", "SNOWFLAKE", "CLICKHOUSE"])
@pytest.mark.parametrize("loads", [(MIXED,), (MIXED[:1], MIXED[1:]), (MIXED, MIXED)], ids=len)
def test_a_user_whose_id_does_not_fit_has_no_row(
    provider: str, loads: tuple[tuple[dict[str, Any], ...], ...], open_shop: Opens
) -> None:
    shop = open_shop(provider)
    for events in loads:
        shop.load(*events)
    users, identifies, *columns = ("users", "identifies", "id", "user_id", "plan")
    if provider == "SNOWFLAKE":
        users, identifies, *columns = (name.upper() for name in (users, identifies, *columns))
    id_, user_id, plan = columns
    assert shop.rows(users, id_, plan) == [(12, "a")]
    assert shop.rows(identifies, id_, user_id, plan) == [("m1", 12, "a"), ("m2", None, "b")]
    assert shop.discards == [
        ("m2", identifies, user_id, "uuid", INT_STRING),
        ("uuid", users, id_, "uuid", INT_STRING),
    ]


def test_a_lake_appends_a_user_whose_id_does_not_fit(open_shop: Opens) -> None:
    shop = open_shop("S3_DATALAKE")
    shop.load(*MIXED)
    assert shop.rows("users", "id", "plan") == [(12, "a"), (None, "b")]

"""`trellis discards`: what did not fit, counted; and back into the rows once it does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

SHOP = ("--dialect", "rudderstack", "--option", "provider=RS", "--to", "duckdb:shop.duckdb")
AT = ("--at", "duckdb:shop.duckdb")
NO_PLACE = "without a place yet; widen the contract or the column first"
INT_STRING = "incompatible schema conversion from int to string"

Sql = Callable[..., list[tuple[Any, ...]]]


def track(id: Any, event: str = "Sale", /, **properties: Any) -> str:
    payload = {"type": "track", "messageId": id, "event": event, "receivedAt": "2024-02-29T10:00:00Z"}
    return json.dumps({**payload, "properties": properties})


def identify(user: Any, id: str, /, **traits: Any) -> str:
    payload = {"type": "identify", "messageId": id, "userId": user, "receivedAt": "2024-02-29T10:00:00Z"}
    return json.dumps({**payload, "traits": traits})


@pytest.fixture
def load(trellis, lines) -> Callable[..., None]:
    """Load events into the shop."""

    def loaded(*events: str, options: tuple[str, ...] = ()) -> None:
        ran = trellis("load", lines("events.jsonl", *events), *SHOP, *options)
        assert (ran.code, ran.err) == (0, "")

    return loaded


@pytest.fixture
def sql(folder: Path) -> Sql:
    def asked(*statements: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(folder / "shop.duckdb")) as db:
            for statement in statements:
                rows = db.execute(statement).fetchall()
            return rows

    return asked


@pytest.fixture
def shop(load) -> None:
    load(track("1", price=5, day="2024-02-29", code="a"))
    load(
        track("2", price="NA", day="soon", code=7),
        track("3", price="12", day="2024-03-01"),
        track("4", "Other", price=1.5),
        track("5", price=2.5, id="mine"),
    )


def test_discards_are_counted_by_column_and_reason(trellis, shop):
    ran = trellis("discards", "list", *AT)
    assert (ran.code, ran.err) == (0, "")
    assert [line.split("  ")[-1].strip() for line in ran.out.splitlines()][1:] == [
        "rudder_discards", "rudder_discards", "_trellis_discards", "_trellis_discards",
    ]  # fmt: skip
    assert "2  sale" in ran.out and "'12'" in ran.out


def test_the_counts_as_json(trellis, shop):
    listing = trellis("discards", "list", *AT, "--json").json
    assert [*listing] == ["discards"]
    assert listing["discards"][0] == {
        "kept_in": "rudder_discards",
        "table": "sale",
        "column": "price",
        "reason": INT_STRING,
        "count": 2,
        "example": "12",
    }
    assert [(entry["kept_in"], entry["column"], entry["example"]) for entry in listing["discards"][1:]] == [
        ("rudder_discards", "day", "soon"),
        ("_trellis_discards", "id", "mine"),
        ("_trellis_discards", "price", "2.5"),
    ]


def test_values_go_back_once_their_column_takes_them(trellis, shop, sql):
    sql("ALTER TABLE sale ALTER price TYPE VARCHAR")
    before = sql("SELECT id, code, day, received_at, uuid_ts FROM sale ORDER BY id")
    ran = trellis("discards", "replay", *AT)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "2 values put back\n\n".rstrip() + ran.out[len("2 values put back") :]
    assert "1 value left in the discards" in ran.out
    assert sql("SELECT id, price FROM sale ORDER BY id") == [
        ("1", "5"), ("2", "NA"), ("3", "12"), ("5", "2"),
    ]  # fmt: skip
    assert sql("SELECT id, code, day, received_at, uuid_ts FROM sale ORDER BY id") == before
    assert sql("SELECT row_id, column_name, column_value FROM rudder_discards") == [("2", "day", "soon")]
    assert trellis("discards", "replay", *AT).out == f"1 value left in the discards\n  1 {NO_PLACE}"


def test_the_replay_as_json(trellis, shop, sql):
    sql("ALTER TABLE sale ALTER price TYPE VARCHAR", "ALTER TABLE sale ALTER day TYPE VARCHAR")
    done = trellis("discards", "replay", *AT, "--json").json
    assert done["load_id"].startswith("replay-")
    del done["load_id"]
    assert done == {
        "restored": [
            {"table": "sale", "column": "price", "count": 2},
            {"table": "sale", "column": "day", "count": 1},
        ],
        "rows": [],
        "left": 0,
        "left_without_row": 0,
    }
    again = trellis("discards", "replay", *AT, "--json").json
    assert again == {"load_id": None, "restored": [], "rows": [], "left": 0, "left_without_row": 0}
    assert trellis("discards", "replay", *AT).out == "no discards are left"
    assert [entry["kept_in"] for entry in trellis("discards", "list", *AT, "--json").json["discards"]] == [
        "_trellis_discards", "_trellis_discards",
    ]  # fmt: skip


def test_a_value_repaired_by_hand_stays(trellis, shop, sql):
    sql("ALTER TABLE sale ALTER price TYPE VARCHAR", "UPDATE sale SET price = 'mine' WHERE id = '2'")
    done = trellis("discards", "replay", *AT, "--json").json
    assert done["restored"] == [{"table": "sale", "column": "price", "count": 1}]
    assert dict(sql("SELECT id, price FROM sale"))["2"] == "mine"
    assert dict(sql("SELECT id, price FROM sale"))["3"] == "12"
    assert done["left"] == 2


def test_the_row_of_a_value_may_be_gone(trellis, shop, sql):
    sql("ALTER TABLE sale ALTER price TYPE VARCHAR", "DELETE FROM sale WHERE id = '2'")
    done = trellis("discards", "replay", *AT, "--json").json
    assert done["restored"] == [{"table": "sale", "column": "price", "count": 1}]
    assert sql("SELECT id, price FROM sale ORDER BY id") == [("1", "5"), ("3", "12"), ("5", "2")]


def test_the_table_or_the_column_may_be_gone(trellis, shop, sql):
    sql("ALTER TABLE sale DROP COLUMN price")
    assert trellis("discards", "replay", *AT).out == f"3 values left in the discards\n  3 {NO_PLACE}"
    sql("DROP TABLE sale")
    assert trellis("discards", "replay", *AT).out == f"3 values left in the discards\n  3 {NO_PLACE}"


def test_the_values_of_one_table(trellis, load, sql):
    load(track("1", "A", n=1), track("2", "B", n=1))
    load(track("3", "A", n="x"), track("4", "B", n="x"))
    sql("ALTER TABLE a ALTER n TYPE VARCHAR", "ALTER TABLE b ALTER n TYPE VARCHAR")
    assert "1 value left" in trellis("discards", "replay", *AT, "--table", "b").out
    assert (sql("SELECT n FROM a ORDER BY id"), sql("SELECT n FROM b ORDER BY id")) == (
        [("1",), (None,)], [("1",), ("x",)],
    )  # fmt: skip


def test_values_of_every_kind(trellis, load, sql):
    kinds = {
        "fraction": (1, 0.5, "DOUBLE", 0.5),
        "beyond": (1, 2**63, "VARCHAR", str(2**63)),
        "word": (True, "yes", "VARCHAR", "yes"),
        "number": (True, 5, "BIGINT", 5),
        "no_day": ("2024-02-29", "2024-13-01", "VARCHAR", "2024-13-01"),
        "list": (1, [1, {"a": "b"}], "VARCHAR", '[1,{"a":"b"}]'),
        "flag": (1, True, "VARCHAR", "true"),
        "day": (1, "2024-03-01", "VARCHAR", "2024-03-01T00:00:00.000Z"),
    }
    options = ("--option", "discard_truncated=true")
    load(track("1", **{name: kind[0] for name, kind in kinds.items()}), options=options)
    load(track("2", **{name: kind[1] for name, kind in kinds.items()}), options=options)
    columns = ", ".join(kinds)
    assert sql(f"SELECT {columns} FROM sale WHERE id = '2'") == [(None,) * len(kinds)]
    sql(*(f"ALTER TABLE sale ALTER {name} TYPE {kind[2]}" for name, kind in kinds.items()))
    assert trellis("discards", "replay", *AT, "--json").json["left"] == 0
    assert sql(f"SELECT {columns} FROM sale WHERE id = '2'") == [tuple(kind[3] for kind in kinds.values())]


def test_a_time_that_came_for_a_number(trellis, load, sql):
    load(track("1", x=1))
    load(track("2", x="2024-03-01T10:00:00Z"))
    sql("ALTER TABLE sale ALTER x TYPE TIMESTAMPTZ USING NULL")
    assert trellis("discards", "replay", *AT, "--json").json["left"] == 0
    assert sql("SELECT epoch(x) FROM sale WHERE id = '2'") == [(1709287200.0,)]


def test_users_and_ids_that_are_numbers(trellis, load, sql):
    load(identify(12, "m1", age=35))
    load(identify(12, "m2", age="old"), identify(13, "m3", age="young"))
    sql("ALTER TABLE users ALTER age TYPE VARCHAR")
    done = trellis("discards", "replay", *AT, "--json").json
    assert done["restored"] == [{"table": "users", "column": "age", "count": 1}]
    assert sql("SELECT id, age FROM users ORDER BY id") == [(12, "35"), (13, "young")]
    assert done["left"] == 3


def test_rows_that_share_an_id_stay_as_they_are(trellis, load, sql):
    append = ("--mode", "append")
    load(track("1", price=5), track("2", price=6))
    load(track("1", price="NA", code="x"), options=append)
    load(track("1", price=7, code="y"), options=append)
    sql("ALTER TABLE sale ALTER price TYPE VARCHAR")
    before = sql("SELECT id, price, code FROM sale WHERE price IS NOT NULL ORDER BY ALL")
    assert trellis("discards", "replay", *AT).code == 0
    after = sql("SELECT id, price, code FROM sale ORDER BY ALL")
    assert len(after) == 4
    assert {*before} < {*after}
    assert {*after} - {*before} <= {("1", None, "x"), ("1", "NA", "x")}


def test_a_replay_is_a_load_that_is_recorded(trellis, shop, sql):
    sql("ALTER TABLE sale ALTER price TYPE VARCHAR")
    load_id = trellis("discards", "replay", *AT, "--json").json["load_id"]
    assert sql("SELECT load_id FROM _trellis_loads ORDER BY inserted_at DESC LIMIT 1") == [(load_id,)]


def test_nothing_was_discarded(trellis, load):
    load(track("1", price=5))
    assert trellis("discards", "list", *AT).out == "no value was discarded"
    assert trellis("discards", "replay", *AT).out == "no discards are left"


def test_truncated_values_are_a_figure_of_their_own(trellis: Any, lines: Any) -> None:
    lines("1.jsonl", track("1", price=5))
    lines("2.jsonl", track("2", price=1.9), track("3", price="NA"), track("4", price=2.5))
    load = ("--dialect", "rudderstack", "--to", "duckdb:shop.duckdb")
    trellis("load", "1.jsonl", *load)
    ran = trellis("load", "2.jsonl", *load)
    assert (
        "1 value discarded; see tables rudder_discards and _trellis_discards for source position and reason\n"
        "  1  incompatible schema conversion from int to string\n\n"
        "2 values truncated; see table _trellis_discards for source position and reason\n"
        "  2  truncated to an integer\n"
    ) in ran.out
    lines("3.jsonl", track("5", price=1.9))
    report = trellis("load", "3.jsonl", *load, "--json").json
    assert report["discards"] == {"count": 0, "by_reason": {}}
    assert report["truncated"] == {"count": 1, "by_reason": {"truncated to an integer": 1}}

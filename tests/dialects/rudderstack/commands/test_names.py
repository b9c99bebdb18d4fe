"""`trellis names`, and the rest of the command line where events are loaded."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import pytest

RUDDER = ("--to", "duckdb:shop.duckdb", "--dialect", "rudderstack")


def event(kind: str, id: str, **fields: Any) -> str:
    return json.dumps({"type": kind, "messageId": id, "receivedAt": "2024-02-29T10:00:00Z", **fields})


def track(id: str, name: str = "Add to Cart", **properties: Any) -> str:
    return event("track", id, event=name, properties=properties)


# --- Names -----------------------------------------------------------------------------------------------


def test_names_of_events_and_properties(trellis):
    ran = trellis("names", "Add to Cart", "Users", "日本", "--property", "seatNo", "--property", "meal.type")
    assert (ran.code, ran.err) == (0, "")
    rows = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in ran.out.splitlines()]
    assert rows == [
        ["Warehouse", "Kind", "Given", "Name", "Column event", "Shared with"],
        ["POSTGRES", "event", "'Add to Cart'", "add_to_cart", "'add_to_cart'"],
        ["POSTGRES", "event", "'Users'", "_users", "'users'"],
        ["POSTGRES", "event", "'日本'", "(left out)", "''"],
        ["POSTGRES", "property", "'seatNo'", "seat_no"],
        ["POSTGRES", "property", "'meal.type'", "meal_type"],
    ]


def test_names_that_come_out_the_same_are_marked(trellis):
    listing = trellis(
        "names", "Add to Cart", "add_to_cart", "Other", "--property", "Add to Cart", "--json"
    ).json
    assert [*listing] == ["names"]
    assert listing["names"][0] == {
        "provider": "POSTGRES",
        "kind": "event",
        "raw": "Add to Cart",
        "name": "add_to_cart",
        "event": "add_to_cart",
        "reserved": False,
        "shared_with": ["add_to_cart"],
    }
    assert [entry["shared_with"] for entry in listing["names"]] == [["add_to_cart"], ["Add to Cart"], [], []]
    assert listing["names"][3]["event"] is None


def test_properties_that_are_left_out(trellis):
    ran = trellis("names", "--property", "sentAt", "--property", "sent.by")
    assert [line.split("  ")[-1].strip() for line in ran.out.splitlines()[1:]] == [
        "sent_at (reserved, left out)", "sent_by",
    ]  # fmt: skip


def test_names_in_every_warehouse(trellis):
    listing = trellis("names", "order", "--property", "order", "--all", "--json").json["names"]
    names = {(value["provider"], value["kind"]): value["name"] for value in listing}
    assert len(names) == 26
    assert names["SNOWFLAKE", "event"] == names["SNOWFLAKE", "property"] == "_ORDER"
    assert names["CLICKHOUSE", "property"] == "order"
    assert names["RS", "property"] == "_order"


def test_names_follow_the_options(trellis, lines):
    split = ("--option", "underscoreDivideNumbers=true", "--option", "provider=SNOWFLAKE")
    assert trellis("names", "userID2FA", *split, "--json").json["names"][0]["name"] == "USER_ID_2_FA"
    lines("trellis.yaml", "dialect: rudderstack", "options: {provider: BQ}")
    (listing,) = trellis("names", "Groups", "--json").json["names"]
    assert (listing["provider"], listing["name"]) == ("BQ", "__groups")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ((), "missing names: give events, such as 'Add to Cart', or keys with --property"),
        (
            ("X", "--option", "provider=SNOWFLAK"),
            "there is no warehouse 'SNOWFLAK': did you mean 'SNOWFLAKE'?",
        ),
        (
            ("X", "--option", "provder=RS"),
            "dialect rudderstack has no option 'provder': did you mean 'provider'?",
        ),
        (("X", "--option", "provider"), "--option 'provider': write NAME=VALUE"),
    ],
)
def test_names_that_cannot_be_told(trellis, argv, message):
    ran = trellis("names", *argv)
    assert ran.code == 2
    assert message in ran.err
    assert ran.out == ""


# --- Loads and plans -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--table", "t"), "the dialect rudderstack names the tables itself; leave --table out"),
        (("--key", "id"), "keys: tables of events have theirs from the dialect rudderstack"),
        (("--merge-key", "id"), "merge keys: tables of events have theirs from the dialect rudderstack"),
        (("--mode", "merge", "--strategy", "upsert"), "a merge strategy: tables of events have theirs"),
        (("--option", "provider=REDSHIFT"), "option provider: there is no warehouse 'REDSHIFT'"),
        (("--option", "skipUserTable=true"), "there is no option 'skipUserTable': did you mean 'skip"),
        (("--option", "max_nesting=1"), "there is no option 'max_nesting'"),
        (("--option", "skipUsersTable=perhaps"), "option skipUsersTable takes true or false, not 'perhaps'"),
        (("--option", "max_events=few"), "option max_events takes a whole number of 0 or more, not 'few'"),
        (("--dialect", "rudderstak"), "there is no dialect 'rudderstak': did you mean 'rudderstack'?"),
    ],
)
def test_what_a_load_of_events_does_not_take(trellis, lines, folder, argv, message):
    ran = trellis("load", lines("e.jsonl", track("1")), *RUDDER, *argv)
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 0
    assert not (folder / "shop.duckdb").exists()


def test_options_of_another_dialect(trellis, lines):
    ran = trellis("load", lines("e.jsonl", track("1")), "--option", "provider=RS")
    assert ran.code == 2
    assert "there is no option 'provider'" in ran.err


def test_a_load_tells_its_tables(trellis, lines):
    lines("e.jsonl", track("1", price=5), event("identify", "2", userId="u"), event("nope", "3"), "{")
    ran = trellis("load", "e.jsonl", *RUDDER, "--option", "provider=RS")
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[:3] for line in ran.out.splitlines() if "table," in line] == [
        ["tracks", "1", "table,"],
        ["add_to_cart", "1", "table,"],
        ["identifies", "1", "table,"],
        ["users", "1", "table,"],
        ["rudder_discards", "0", "table,"],
    ]
    assert "2 rows rejected; see table _trellis_rejects for source position and reason" in ran.out
    assert "rows in 4 = loaded 2 + rejected 2 + dropped 0" in ran.out
    lines("later.jsonl", track("4", price="NA", coupon=1))
    ran = trellis("load", "later.jsonl", *RUDDER)
    assert "+  add_to_cart.coupon is new: bigint" in ran.out
    assert "1 value discarded; see table rudder_discards for source position and reason" in ran.out
    assert "1  incompatible schema conversion from int to string" in ran.out


def test_names_that_are_shared_are_told(trellis, lines):
    lines("e.jsonl", track("1", price=5), track("2", "add-to-cart", Price=6, **{"a.b": 1, "a_b": 2}))
    ran = trellis("load", "e.jsonl", *RUDDER)
    assert "table add_to_cart is shared by 'Add to Cart', 'add-to-cart'" in ran.out
    assert "column price of table add_to_cart is shared by 'properties.Price', 'properties.price'" in ran.out
    assert "column a_b of table add_to_cart is shared by 'properties.a.b', 'properties.a_b'" in ran.out


def test_a_plan_shows_what_the_warehouse_would_get(trellis, lines, folder):
    lines("e.jsonl", track("1", price=5))
    ran = trellis("plan", "e.jsonl", *RUDDER, "--option", "provider=SNOWFLAKE")
    assert (ran.code, ran.err) == (0, "")
    text = " ".join(ran.out.split())
    assert 'CREATE TABLE "main"."ADD_TO_CART" ("ID" VARCHAR,' in text
    assert "As SNOWFLAKE would get it" in text
    assert '"PRICE" number, "UUID_TS" timestamp_tz)' in text
    assert not (folder / "shop.duckdb").exists()


def test_a_plan_as_json(trellis, lines):
    lines("e.jsonl", track("1", price=5))
    lines("later.jsonl", track("2", price=5, coupon="x"), event("page", "3"))
    assert trellis("load", "e.jsonl", *RUDDER, "--option", "provider=BQ").code == 0
    report = trellis("plan", "later.jsonl", *RUDDER, "--json").json
    assert report["dialect"] == "rudderstack"
    assert report["rows"] == {"in": 2, "loaded": 2, "rejected": 0, "dropped": 0}
    assert report["changes"][0] == "add_to_cart.coupon is new: text"
    assert [*report["ddl"]] == ["BQ"]
    added, result = report["ddl"]["BQ"]
    assert "add_to_cart" in added and "coupon" in added and "STRING" in added
    assert "pages" in result and "PARTITION BY" in result.upper()
    assert [table["name"] for table in report["tables"]] == ["tracks", "add_to_cart", "pages"]
    again = trellis("plan", "e.jsonl", *RUDDER, "--json").json
    assert (again["ddl"], again["statements"], again["changes"]) == ({"BQ": []}, [], [])


def test_the_provider_and_dialect_from_the_settings(trellis, lines):
    lines("trellis.yaml", "to: duckdb:shop.duckdb", "dialect: rudderstack", "options: {provider: SNOWFLAKE}")
    assert trellis("load", lines("e.jsonl", track("1", price=5))).code == 0
    with duckdb.connect("shop.duckdb") as db:
        assert db.execute('SELECT PRICE FROM "ADD_TO_CART"').fetchall() == [(5,)]
    shown = trellis("schema", "show")
    assert shown.code == 0
    assert "ADD_TO_CART" in shown.out
    ran = trellis("load", "e.jsonl", "--option", "provider=RS")
    assert ran.code == 2
    assert "option provider=RS: the names of schema shop follow SNOWFLAKE" in ran.err


def test_the_dataset_is_named_after_the_source(trellis, lines):
    lines("e.jsonl", track("1"))
    ran = trellis("load", "e.jsonl", *RUDDER, "--option", "source_name=My Shop v2", "--json")
    assert ran.json["dataset"] == "my_shop_v2"
    ran = trellis(
        "load", "e.jsonl", *RUDDER, "--option", "source_name=My Shop v2", "--dataset", "d", "--json"
    )
    assert ran.json["dataset"] == "d"


def test_the_schema_of_events_is_shown_and_has_a_history(trellis, lines):
    lines("e.jsonl", track("1", price=5))
    lines("later.jsonl", track("2", price=5, coupon="x"))
    for file in ("e.jsonl", "later.jsonl"):
        assert trellis("load", file, *RUDDER, "--option", "provider=RS").code == 0
    at = ("--at", "duckdb:shop.duckdb")
    assert trellis("schema", "show", *at, "--json").json["x-rudderstack"] == {"provider": "RS"}
    versions = trellis("schema", "history", *at, "--json").json["versions"]
    assert [version["changes"] for version in versions][1] == ["add_to_cart.coupon is new: text"]
    assert trellis("schema", "export", *at, "--out", "s.yaml").code == 0
    assert trellis("schema", "lint", "s.yaml").code == 0
    assert trellis("schema", "diff", "s.yaml", *at, "--exit-code").code == 0

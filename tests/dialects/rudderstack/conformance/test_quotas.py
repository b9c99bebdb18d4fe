"""Bounds on tables and columns: what is over them is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dialects.rudderstack.conformance.loading import Opens, Shop, event, identify, track


def over(shop: Shop, table: str, id: str) -> Any:
    """The content of the overflow column."""
    overflow = shop.row(table, id).get("rudder_overflow")
    return None if overflow is None else json.loads(overflow)


# --- Allow-lists -----------------------------------------------------------------------------------------


def test_events_that_are_allowed(open_shop: Opens) -> None:
    shop = open_shop("RS", events="Add to Cart, Order Completed")
    shop.load(
        track("1", "add to cart", price=5),
        track("2", "Product Viewed", price=5, product={"name": "x", "tags": [1]}, none=None, blank=""),
        track("3", "Product Viewed"),
        event("page", "4", properties={"url": "x"}),
    )
    assert shop.tables == {"tracks", "add_to_cart", "pages", "rudder_discards"}
    assert over(shop, "tracks", "1") is None
    assert over(shop, "tracks", "2") == {"price": 5, "product": {"name": "x", "tags": [1]}}
    assert over(shop, "tracks", "3") is None
    assert shop.row("tracks", "2")["event_text"] == "Product Viewed"
    assert shop.types("tracks")["rudder_overflow"] == "JSON"
    assert shop.lost == shop.discards == []


def test_properties_that_are_allowed(open_shop: Opens) -> None:
    shop = open_shop("RS", properties=["price", "product.name"])
    shop.load(
        track("1", price=5, Price2=6, product={"name": {"de": "x"}, "sku": 1}, list=[{"a": 1}]),
        {**identify("u", plan="gold"), "context": {"ip": "0.0.0.0", "os": {"name": "x"}}},
    )
    types = shop.types("sale")
    assert {"price", "product_name_de", "rudder_overflow"} <= {*types}
    assert not {"price2", "product_sku", "list"} & {*types}
    assert over(shop, "sale", "1") == {"Price2": 6, "product": {"sku": 1}, "list": [{"a": 1}]}
    assert over(shop, "identifies", "u/0") == over(shop, "users", "u") == {"plan": "gold"}
    assert "context_os_name" in shop.types("users")


def test_another_name_for_the_overflow(open_shop: Opens) -> None:
    shop = open_shop("SNOWFLAKE", properties="a", overflow="the rest")
    shop.load(track("1", a=1, b=2, the_rest="mine"))
    sale = shop.row("SALE", "1", of="ID")
    assert [name for name in shop.types("SALE") if "REST" in name] == ["THE REST"] or "THE_REST" in sale
    assert "mine" in str(sale) or any("mine" in str(row) for row in shop.lost)


# --- Quotas ----------------------------------------------------------------------------------------------


def test_the_first_events_get_tables(open_shop: Opens) -> None:
    shop = open_shop("RS", max_events=2)
    shop.load(
        track("1", "A", x=1), track("2", "B", x=2), track("3", "C", x=3, y="z"), track("4", "A", x=4),
        identify("u", 1), event("page", "5"), event("group", "6", groupId="g"),
    )  # fmt: skip
    assert shop.tables == {
        "tracks", "a", "b", "identifies", "users", "pages", "groups", "rudder_discards",
    }  # fmt: skip
    assert over(shop, "tracks", "3") == {"x": 3, "y": "z"}
    shop.load(track("7", "C", x=7), track("8", "B", x=8), track("9", "D", x=9))
    assert shop.values("b", "id") == ["2", "8"]
    assert (over(shop, "tracks", "7"), over(shop, "tracks", "9")) == ({"x": 7}, {"x": 9})
    assert shop.lost == []
    more = open_shop("RS", max_events=3)
    more.load(track("10", "C", x=10))
    assert more.rows("c", "id", "x") == [("10", 10)]


def test_the_first_properties_get_columns(open_shop: Opens) -> None:
    shop = open_shop("RS", max_properties=2)
    shop.load(
        {**track("1", a=1, b="x"), "context": {"os": {"name": "x", "version": 1}}, "userId": "u"},
        track("2", b="y", c=2, d={"e": [1], "f": None}),
        track("3", a=3),
    )
    types = shop.types("sale")
    assert {"a", "b", "context_os_name", "context_os_version", "user_id"} <= {*types}
    assert not {"c", "d_e"} & {*types}
    assert shop.rows("sale", "id", "a", "b") == [("1", 1, "x"), ("2", None, "y"), ("3", 3, None)]
    assert over(shop, "sale", "2") == {"c": 2, "d_e": "[1]"}
    assert over(shop, "sale", "1") is None
    shop.load(track("4", c=4, a=4), track("5", a="x", c=5))
    assert (over(shop, "sale", "4"), over(shop, "sale", "5")) == ({"c": 4}, {"c": 5})
    assert [row[:4] for row in shop.discards] == [("5", "sale", "a", "x")]
    assert shop.lost == []


def test_no_room_at_all(open_shop: Opens) -> None:
    shop = open_shop("RS", max_events=0, max_properties=0)
    shop.load(track("1", "A", x=1), identify("u", 1, age=5, plan="a"), identify("u", 2, age=6))
    assert shop.tables == {"tracks", "identifies", "users", "rudder_discards"}
    assert over(shop, "tracks", "1") == {"x": 1}
    assert over(shop, "identifies", "u/1") == {"age": 5, "plan": "a"}
    assert over(shop, "users", "u") == {"age": 6}


def test_an_allow_list_and_a_quota_together(open_shop: Opens) -> None:
    shop = open_shop("RS", properties="a,b,c", max_properties=1)
    shop.load(track("1", a=1), track("2", b=2, c="2024-02-29", z=True))
    assert over(shop, "sale", "2") == {"b": 2, "c": "2024-02-29T00:00:00.000Z", "z": True}


@pytest.mark.parametrize("settings", [{"events": "A"}, {"max_events": 0}], ids=["allowed", "quota"])
def test_what_tracks_would_hold_is_kept_where_tracks_are_skipped(open_shop: Opens, settings: Any) -> None:
    shop = open_shop("RS", skipTracksTable=True, **settings)
    report = shop.load(track("1", "Other", price=5))
    assert report.rows.read == 1
    assert any('"price":5' in str(row) for row in shop.lost)


def test_values_of_any_kind_in_the_overflow(open_shop: Opens) -> None:
    shop = open_shop("RS", max_properties=0)
    values = {"f": 0.5, "b": False, "s": 'a"b\x00', "sp": " ", "i": 2**70}
    shop.load(track("1", **values, t="2024-02-29", l=[[1], {"k": None}], o={"p": {"q": 1}}))
    assert over(shop, "sale", "1") == {
        **values, "t": "2024-02-29T00:00:00.000Z", "l": '[[1],{"k":null}]', "o_p_q": 1,
    }  # fmt: skip
    assert shop.discards == []


def test_the_overflow_of_an_old_column_of_another_type(open_shop: Opens) -> None:
    shop = open_shop("RS", max_properties=0)
    shop.sql("CREATE TABLE sale (id VARCHAR, received_at TIMESTAMPTZ, rudder_overflow BIGINT)")
    shop.load(track("1", a=1))
    assert [row[:4] for row in shop.discards] == [("1", "sale", "rudder_overflow", '{"a":1}')]

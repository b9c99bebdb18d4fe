"""What becomes of values that no column of their own takes, and in which order columns come."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest

from dialects.rudderstack.conformance.exploding import (
    DEFAULT_COLUMNS,
    NOW,
    event,
    lost,
    own,
    reasons,
    routed,
    rows,
)
from trellis.dialects.rudderstack.events import flatten
from trellis.dialects.rudderstack.events.cells import ArrayText, JsonText, SpaceText, json_text, scalar_text
from trellis.dialects.rudderstack.events.router import EventRouter
from trellis.dialects.rudderstack.options import Options
from trellis.evolution.dialect.transforms import Routed
from trellis.evolution.record_outcome import LostValue


def track(**properties: Any) -> dict[str, Any]:
    return event("track", event="e", properties=properties)


def user(record: dict[str, Any], provider: str = "RS", **options: Any) -> dict[str, Any]:
    """The columns that the user brought."""
    row = own(record, provider, **options)
    return {name: value for name, value in row.items() if name.lower() not in ("event", "event_text")}


# --- Order -----------------------------------------------------------------------------------------------


def test_standard_columns_come_first_then_the_context_then_the_user_s() -> None:
    record = event(
        "track",
        event="Sale",
        anonymousId="a",
        userId="u",
        channel="web",
        request_ip="203.0.113.9",
        context={"page": {"url": "/"}, "ip": "203.0.113.9", "locale": "en"},
        properties={"z": 1, "order": {"id": 2}, "a": 3},
    )
    tables = rows(record)
    standard = [
        "id",
        "anonymous_id",
        "user_id",
        "sent_at",
        "timestamp",
        "received_at",
        "original_timestamp",
        "channel",
        "context_ip",
        "context_request_ip",
        "context_passed_ip",
        "event",
        "event_text",
        "context_locale",
        "context_page_url",
    ]
    assert list(tables["tracks"]) == standard
    assert list(tables["sale"]) == [*standard, "z", "a", "order_id"]


def test_columns_come_in_the_order_of_their_keys_whatever_was_seen_before() -> None:
    explode = EventRouter(Options(), NOW)
    record = track(b=1, aB=2, c=3, a_b=4, d=5)
    first = explode(record, "1").rows[1][1]
    assert list(first)[-4:] == ["b", "a_b", "c", "d"]
    assert list(explode(record, "1").rows[1][1]) == list(first)
    explode(track(a_B=1), "2")
    assert explode(record, "1").rows[1][1] == first
    assert list(explode(track(b=1, a_b=4, c=3), "3").rows[1][1])[-3:] == ["b", "a_b", "c"]


# --- Collisions ------------------------------------------------------------------------------------------


def test_of_keys_with_one_column_the_last_in_the_order_of_their_bytes_wins() -> None:
    for properties in ({"a_b": 1, "aB": 2}, {"aB": 2, "a_b": 1}):
        record = track(**properties)
        assert user(record) == {"a_b": 1}
        assert lost(record) == [
            LostValue("e", "a_b", "properties.aB", 2, "collision: properties.a_b has the same column")
        ]


def test_nested_keys_come_where_the_key_around_them_does() -> None:
    record = track(a={"b": 1}, a_b=2, A={"b": 3})
    assert user(record) == {"a_b": 2}
    assert reasons(record) == {"properties.a.b": "collision", "properties.A.b": "collision"}


def test_a_blank_value_overwrites_nothing() -> None:
    record = track(aB=1, a_b="", a__b=None, a_B=[])
    assert user(record) == {"a_b": 1}
    assert lost(record) == []


def test_equal_values_are_not_lost() -> None:
    assert lost(track(aB=5, a_b=5.0)) == []
    assert reasons(track(aB=1, a_b=True)) == {"properties.aB": "collision"}


def test_the_context_wins() -> None:
    record = {
        **track(context_locale="x", contextPage={"url": "y"}, context_other=1),
        "context": {"locale": "en"},
    }
    assert user(record) == {"context_locale": "en", "context_page_url": "y", "context_other": 1}
    assert lost(record) == [
        LostValue(
            "e",
            "context_locale",
            "properties.context_locale",
            "x",
            "collision: the context has the same column",
        )
    ]


def test_names_that_are_cut_may_collide() -> None:
    long = "p" * 63
    record = track(**{f"{long}a": 1, f"{long}b": 2})
    assert user(record, "POSTGRES") == {long: 2}
    assert user(record, "BQ") == {f"{long}a": 1, f"{long}b": 2}


def test_a_key_whose_column_is_disputed_later_on() -> None:
    explode = EventRouter(Options(), NOW)
    explode(track(aB=1), "1")
    routed = explode(track(x=0, aB=1, a_b=2), "2")
    assert routed.rows[1][1]["a_b"] == 2
    assert [lost_value.path for lost_value in routed.lost] == ["properties.aB"]
    assert explode(track(aB=1), "3").rows[1][1]["a_b"] == 1


def test_a_tree_that_remembers_too_much_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flatten, "MAX_KEYS", 10)
    explode = EventRouter(Options(), NOW)
    for number in range(30):
        row = explode(track(**{f"k{number}": 1, "aB": 1, "a_b": {"c": number}, "ab": 1, "a_B": 3}), "1").rows[
            1
        ][1]
        assert (row[f"k{number}"], row["a_b"], row["a_b_c"]) == (1, 3, number)
    assert explode._transformers["track"].user_tree.learned <= 20


# --- Lost values ---


def test_reserved_columns() -> None:
    record = track(id="z", Timestamp="t", event="x", eventText="y", recordId=1)
    assert lost(record) == [
        LostValue("e", column, f"properties.{key}", value, f"reserved: RudderStack sets {column} itself")
        for key, column, value in (
            ("id", "id", "z"),
            ("Timestamp", "timestamp", "t"),
            ("event", "event", "x"),
            ("eventText", "event_text", "y"),
            ("recordId", "record_id", 1),
        )
    ]


def test_a_reserved_column_that_holds_the_same_value_loses_none() -> None:
    record = event("identify", userId="u", traits={"userId": "u", "id": "m"})
    assert lost(record) == []
    record = event("page", context={"ip": "203.0.113.9", "request_ip": "x", "passedIp": "y"})
    assert reasons(record) == {"context.request_ip": "reserved", "context.passedIp": "reserved"}


def test_an_address_that_is_an_array() -> None:
    record = event("page", context={"ip": ["203.0.113.9"], "a": 1}, request_ip="203.0.113.8")
    assert own(record) == {"context_request_ip": "203.0.113.8", "context_a": 1}
    assert [(lost_value.path, lost_value.value) for lost_value in lost(record)] == [
        ("context.ip", ["203.0.113.9"])
    ]
    record = event("page", context={"ip": {"v4": "203.0.113.9"}})
    assert (own(record), lost(record)) == ({"context_ip_v4": "203.0.113.9"}, [])


def test_reserved_names_are_those_of_the_type() -> None:
    record = {"name": "n", "groupId": "g", "previousId": "p", "event": "e"}
    kept = {
        kind: set(own(event(kind, traits=record, properties=record)))
        for kind in ("identify", "page", "group", "alias")
    }
    assert kept == {
        "identify": {"name", "group_id", "previous_id", "event"},
        "page": {"name", "group_id", "previous_id", "event"},
        "group": {"name", "previous_id", "event"},
        "alias": {"name", "group_id", "event"},
    }


@pytest.mark.parametrize("value", ["x", 5, [1], True])
def test_sections_that_are_no_objects(value: Any) -> None:
    record = event("track", event="e", properties=value, userProperties=value)
    assert own(record) == {"event": "e", "event_text": "e"}
    assert lost(record) == [
        LostValue("e", "", name, value, f"not an object: {name} must be one to become columns")
        for name in ("properties", "userProperties")
    ]
    record = event("identify", traits=value, context={"traits": value})
    assert reasons(record, allowUsersContextTraits=True) == {"traits": "not an object"}


@pytest.mark.parametrize("value", [None, "", [], [""], {}])
def test_blank_sections_are_not_lost(value: Any) -> None:
    record = event("track", event="e", properties=value, userProperties=value, foo=value, traits=value)
    assert lost(record) == []


def test_keys_without_a_name() -> None:
    record = track(**{"": 1, "\u65e5\u672c": 2, "!": {"?": 3}, "ok": {"!": 4}})
    assert user(record) == {"ok": 4}
    assert [(lost_value.path, lost_value.column, lost_value.value) for lost_value in lost(record)] == [
        ("properties.", "", 1),
        ("properties.\u65e5\u672c", "", 2),
        ("properties.!.?", "", 3),
    ]
    assert set(reasons(record).values()) == {"no name"}


def test_what_sdks_and_the_server_send_at_the_top_is_not_lost() -> None:
    sent = {
        "anonymousId": "a",
        "channel": "web",
        "context": {"traits": {"plan": "pro"}},
        "integrations": {"All": True},
        "originalTimestamp": "2024-02-29T10:00:01.000Z",
        "sentAt": "2024-02-29T10:00:04.000Z",
        "timestamp": "2024-02-29T10:00:02.000Z",
        "request_ip": "203.0.113.9",
        "rudderId": "r",
        "userId": "u",
        "writeKey": "w",
        "traits": {"plan": "pro"},
    }
    properties = {"name": "Cart", "category": "c"}
    assert lost(event("page", name="Cart", category="c", properties=properties, **sent)) == []
    assert lost(event("screen", event="Cart", name="Cart", properties=properties, **sent)) == []
    assert lost(event("track", event="e", properties={"a": 1}, **sent)) == []
    assert lost(event("alias", previousId="p", **sent)) == []
    assert lost(event("group", groupId="g", **sent)) == []


def test_sections_of_other_types_are_lost() -> None:
    sections = {"properties": {"p": 1}, "traits": {"t": 1}, "userProperties": {"u": 1}}
    actual = {
        kind: set(reasons(event(kind, event="e", recordId="r", **sections)))
        for kind in ("track", "identify", "page", "group", "extract")
    }
    assert actual == {
        "track": {"traits", "recordId"},
        "identify": {"properties", "event", "recordId"},
        "page": {"traits", "userProperties", "event", "recordId"},
        "group": {"properties", "userProperties", "event", "recordId"},
        "extract": {"traits", "userProperties"},
    }
    assert lost(event("page", foo=1))[0].reason == "top level: only properties and context become columns"


def test_events_that_give_no_row() -> None:
    record = event("track", properties={"a": 1}, foo=2)
    assert routed(record, skipTracksTable=True) == Routed(
        [],
        [
            LostValue(
                "",
                "",
                "",
                record,
                "no table: the table tracks is skipped, and the event has no table of its own",
            )
        ],
    )
    record = event("merge", mergeProperties=[])
    assert routed(record, "POSTGRES") == Routed(
        [], [LostValue("", "", "", record, "no table: identities are not resolved here")]
    )


# --- Allow-lists and quotas ------------------------------------------------------------------------------


def test_events_outside_the_allow_list_keep_their_properties_in_tracks() -> None:
    record = event("track", event="Big Sale", properties={"a": {"b": [1.0], "c": None}, "id": 5, "no": ""})
    for allowed in ("Add to Cart", ["add_to_cart", "Sale"]):
        tables = rows(record, events=allowed)
        assert list(tables) == ["tracks"]
        overflow = tables["tracks"]["rudder_overflow"]
        assert (overflow, type(overflow)) == ('{"a":{"b":[1],"c":null},"id":5}', JsonText)
        assert lost(record, events=allowed) == []
    for allowed in ("Big Sale", "big_sale", ["bigSale"]):
        assert list(rows(record, events=allowed)) == ["tracks", "big_sale"]
    assert rows(record, "SNOWFLAKE", events="x", overflow="rest")["TRACKS"]["REST"] == overflow


def test_user_properties_win_in_the_overflow_too() -> None:
    record = event("track", event="e", properties={"a": 1, "b": 2}, userProperties={"a": 3})
    assert rows(record, events="x")["tracks"]["rudder_overflow"] == '{"a":3,"b":2}'
    assert reasons(record, events="x") == {"properties.a": "collision"}


def test_without_tracks_an_event_outside_the_allow_list_has_no_place() -> None:
    record = event("track", event="e", properties={"a": 1})
    assert [lost_value.value for lost_value in lost(record, events="x", skipTracksTable=True)] == [record]
    also = {"identity_resolution": True, "events": "x", "skipTracksTable": True}
    routed_rows = routed({**record, "userId": "u"}, "BQ", **also)
    assert [table for table, _ in routed_rows.rows] == ["rudder_identity_merge_rules"]
    assert [(lost_value.path, lost_value.reason.partition(":")[0]) for lost_value in routed_rows.lost] == [
        ("properties", "not allowed")
    ]


def test_properties_outside_the_allow_list_go_to_the_overflow_of_their_row() -> None:
    properties = {
        "product": {"name": "Mask", "price": 5.0},
        "tags": ["a"],
        "when": "2024-02-29",
        "none": None,
    }
    record = track(**properties)
    for allowed in ("product.name, tags", ["productName", "tags"]):
        assert user(record, properties=allowed) == {
            "product_name": "Mask",
            "tags": '["a"]',
            "rudder_overflow": '{"product":{"price":5},"when":"2024-02-29"}',
        }
    assert user(record, properties="product") == {
        "product_name": "Mask",
        "product_price": 5,
        "rudder_overflow": '{"tags":["a"],"when":"2024-02-29"}',
    }
    assert lost(record, properties="product") == []


def test_the_allow_list_is_not_for_the_context() -> None:
    record = event("identify", userId="u", traits={"a": 1}, context={"locale": "en"})
    tables = rows(record, properties="b")
    for table in ("identifies", "users"):
        assert tables[table]["context_locale"] == "en"
        assert tables[table]["rudder_overflow"] == '{"a":1}'
    assert "rudder_overflow" not in rows(record, properties="a")["identifies"]


def test_refused_keys_without_a_name_or_with_a_reserved_one_are_kept() -> None:
    record = event("track", event="e", properties={"\u65e5": 1, "id": 2, "a": 3})
    assert user(record, properties="a") == {"a": 3, "rudder_overflow": '{"id":2,"\u65e5":1}'}
    assert lost(record, properties="a") == []


def test_sections_may_collide_in_the_overflow() -> None:
    record = event(
        "track", event="e", properties={"a": 1, "b": {"c": 1}, "d": 1}, userProperties={"a": {"x": 2}, "b": 2}
    )
    assert user(record, properties="z") == {"rudder_overflow": '{"a":{"x":2},"b":2,"d":1}'}
    assert {lost_value.path: lost_value.value for lost_value in lost(record, properties="z")} == {
        "a": 1,
        "b": {"c": 1},
    }


def test_the_overflow_column_is_nobody_s() -> None:
    record = track(rudder_overflow="mine")
    assert user(record) == {"rudder_overflow": "mine"}
    assert user(record, properties="rudder_overflow") == {}
    assert reasons(record, max_properties=5) == {"properties.rudder_overflow": "reserved"}


def test_tables_that_a_quota_closed() -> None:
    record = event("track", event="Big Sale", properties={"a": 1})
    routed_rows = EventRouter(Options(max_events=1), NOW, closed={"big_sale"})(record, "1")
    assert [table for table, _ in routed_rows.rows] == ["tracks"]
    assert routed_rows.rows[0][1]["rudder_overflow"] == '{"a":1}'


# --- Values ----------------------------------------------------------------------------------------------


def test_python_s_own_values() -> None:
    record = track(
        decimal=Decimal("5.00"),
        fraction=Decimal("5.5"),
        day=date(2024, 2, 29),
        moment=datetime(2024, 2, 29, 1, 2, 3, 4567),
        pair=(1, "a"),
        mapping=MappingProxyType({"a": Decimal("1.0")}),
        times=[date(2024, 2, 29)],
        other=b"x",
    )
    assert user(record) == {
        "decimal": 5,
        "fraction": 5.5,
        "day": datetime(2024, 2, 29, tzinfo=timezone.utc),
        "moment": datetime(2024, 2, 29, 1, 2, 3, 4000, tzinfo=timezone.utc),
        "pair": '[1,"a"]',
        "mapping_a": 1,
        "times": '["2024-02-29T00:00:00.000Z"]',
        "other": "b'x'",
    }
    record = {**track(), "properties": MappingProxyType({"a": 1}), "context": MappingProxyType({"b": 2})}
    assert user(record) == {"context_b": 2, "a": 1}


def test_white_space_has_a_class_of_its_own() -> None:
    row = user({**track(a="  ", b="\u00a0", c=" x "), "userId": " "})
    assert {name: type(value) for name, value in row.items()} == {
        "user_id": SpaceText,
        "a": SpaceText,
        "b": SpaceText,
        "c": str,
    }


def test_depth_has_no_limit() -> None:
    deep: Any = 1
    for _ in range(990):
        deep = {"a": deep}
    (name,) = user(track(x=deep), "AZURE_DATALAKE")
    assert name == "_".join(["x", *["a"] * 990])
    array: Any = []
    text = "[]"
    for _ in range(990):
        array, text = [array, 1], f"[{text},1]"
    assert user(track(x=array)) == {"x": text}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            {"b": 1, "a": 2, "B": 3, "\u00e9": 4, "\uffff": 5, "\U0001f600": 6},
            '{"B":3,"a":2,"b":1,"\u00e9":4,"\uffff":5,"\U0001f600":6}',
        ),
        (
            [1.0, -1.0, -0.0, 1e16, 1e20, 1e21, 1.5e300, 0.1],
            "[1,-1,0,10000000000000000,100000000000000000000,1e+21,1.5e+300,0.1]",
        ),
        (["1.0", "e+", "<&>\u2028"], '["1.0","e+","<&>\u2028"]'),
        ([float("nan"), float("inf"), 1.0], "[null,null,1]"),
        ({1: 2.0}, '{"1":2}'),
        ([True, False, None, {}, []], "[true,false,null,{},[]]"),
        ([2**64, "\ud800"], '[18446744073709551616,"\\ud800"]'),
        ([10**5000], f"[1{'0' * 5000}]"),
        ({"a": {"b": [{"d": 2**64, "c": []}, 2.0]}}, '{"a":{"b":[{"c":[],"d":18446744073709551616},2]}}'),
    ],
)
def test_json_text(value: Any, text: str) -> None:
    assert json_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "x"),
        (5.0, "5"),
        (5.5, "5.5"),
        (2**70, "1180591620717411303424"),
        (False, "false"),
        (datetime(2024, 2, 29), "2024-02-29T00:00:00.000Z"),
        (None, ""),
        ({}, ""),
        ([], ""),
    ],
)
def test_scalar_text(value: Any, text: str) -> None:
    assert scalar_text(value) == text


def test_the_event_is_left_as_it_was() -> None:
    record = track(a={"b": [1.0]}, aB=1, a_b=2)
    record["context"] = {"traits": {"0": "j", "1": "o"}, "ip": ["x"]}
    before = json.dumps(record)
    rows(record, properties="z", source_id="s", storeFullEvent=True)
    assert json.dumps(record) == before


def test_arrays_are_never_spread() -> None:
    row = user(track(items=[{"b": 1, "a": 2}], nested=[[]], pair=["", ""]))
    assert row == {"items": '[{"a":2,"b":1}]', "pair": '["",""]'}
    assert type(row["items"]) is ArrayText


def test_default_is_what_every_row_has() -> None:
    assert tuple(rows(event("page"))["pages"]) == DEFAULT_COLUMNS

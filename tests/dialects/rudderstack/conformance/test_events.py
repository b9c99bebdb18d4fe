"""Events by type: which rows they give, and what is in them."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from dialects.rudderstack.conformance.exploding import (
    DEFAULT_COLUMNS,
    NOW,
    RECEIVED,
    event,
    neutral_type,
    own,
    reasons,
    routed,
    rows,
    texts,
    types,
)
from trellis.dialects.rudderstack.events.cells import ArrayText, JsonText, LongText
from trellis.dialects.rudderstack.events.router import EventRouter
from trellis.dialects.rudderstack.options import Options
from trellis.dialects.rudderstack.providers import provider_of
from trellis.evolution.record_outcome import Rejected

SEED_TIMES = {
    "receivedAt": "2020-04-26T07:00:45.558Z",
    "sentAt": "2020-04-26T07:00:45.124Z",
    "originalTimestamp": "2020-04-26T07:00:43.400Z",
}
SEED = {
    "messageId": "4d5a7681-e596-40ea-a81c-bf69f9b297f1",
    "anonymousId": "59b703e3-467a-4a1d-9fe6-da27ed319619",
    "context": {"ip": "0.0.0.0", "app": {"version": "1.2.3"}, "screen": {"density": 2}},
    **SEED_TIMES,
}
SEED_ROW = {
    "id": "4d5a7681-e596-40ea-a81c-bf69f9b297f1",
    "anonymous_id": "59b703e3-467a-4a1d-9fe6-da27ed319619",
    "sent_at": "2020-04-26T07:00:45.124Z",
    "timestamp": "2020-04-26T07:00:43.834Z",
    "received_at": "2020-04-26T07:00:45.558Z",
    "original_timestamp": "2020-04-26T07:00:43.400Z",
    "context_ip": "0.0.0.0",
    "context_passed_ip": "0.0.0.0",
    "context_app_version": "1.2.3",
    "context_screen_density": 2,
}
ADD_TO_CART = {
    "type": "track",
    "event": "Add to Cart",
    "properties": {
        "price": 5,
        "currency": "USD",
        "product_id": "P12345",
        "product_name": "N95 Mask",
        "added_at": "2020-05-19 14:39:22",
    },
    **SEED,
}


# --- Track -----------------------------------------------------------------------------------------------


def test_r38_r40_r41_r42_add_to_cart() -> None:
    tables = rows(ADD_TO_CART)
    assert list(tables) == ["tracks", "add_to_cart"]
    tracks = {**SEED_ROW, "event": "add_to_cart", "event_text": "Add to Cart"}
    assert texts(tables["tracks"]) == tracks
    assert texts(tables["add_to_cart"]) == {
        **tracks,
        "price": 5,
        "currency": "USD",
        "product_id": "P12345",
        "product_name": "N95 Mask",
        "added_at": "2020-05-19T14:39:22.000Z",
    }
    assert {n: t for n, t in types(tables["add_to_cart"]).items() if n not in tracks} == {
        "price": "int",
        "currency": "string",
        "product_id": "string",
        "product_name": "string",
        "added_at": "datetime",
    }


def test_r38_a_later_add_to_cart_has_the_types_of_its_values() -> None:
    later = {**ADD_TO_CART["properties"], "price": "NA", "product_id": 789, "added_at": "4 December 2020"}
    row = rows({**ADD_TO_CART, "properties": later})["add_to_cart"]
    assert (row["price"], row["product_id"], row["added_at"]) == ("NA", 789, "4 December 2020")


def test_c29_r08_properties_are_in_the_event_s_table_alone() -> None:
    track = event(
        "track",
        event="Seat Reserved",
        properties={
            "seatNo": "14C",
            "fare": 99.5,
            "extras": {"mealType": "veg", "bags": [1, 2]},
            "id": "z",
            "Received_At": "x",
            "empty": {},
            "none": None,
            "blank": "",
            "one": [""],
        },
    )
    tables = rows(track)
    assert set(tables["tracks"]) == {*DEFAULT_COLUMNS, "event", "event_text"}
    row = tables["seat_reserved"]
    assert {name: row[name] for name in row if name not in tables["tracks"]} == {
        "seat_no": "14C",
        "fare": 99.5,
        "extras_meal_type": "veg",
        "extras_bags": "[1,2]",
    }
    kinds = types(row)
    assert (kinds["fare"], kinds["extras_bags"]) == ("float", "array")
    assert row["id"] == "m"
    assert reasons(track) == {"properties.id": "reserved", "properties.Received_At": "reserved"}


def test_c30_r27_what_stands_at_the_top_is_no_column() -> None:
    track = event("track", event="Sale", foo="x", category="c")
    assert own(track) == {"event": "sale", "event_text": "Sale"}
    assert reasons(track) == {"foo": "top level", "category": "top level"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(None, {}, id="C31-missing"),
        pytest.param("", {}, id="C31-empty"),
        pytest.param(5, {"event_text": 5}, id="C32-a-number"),
        pytest.param("\u65e5\u672c", {"event_text": "\u65e5\u672c"}, id="C33-no-ascii-letter"),
        ("  ", {"event_text": "  "}),
        ({"a": 1}, {}),
    ],
)
def test_an_event_without_a_name_has_only_tracks(name: Any, text: dict[str, Any]) -> None:
    track = event("track", event=name, properties={"a": 1})
    assert list(rows(track)) == ["tracks"]
    assert own(track) == text
    assert reasons(track)["properties"] == "no event table"


def test_c34_digits_first() -> None:
    track = event("track", event="2nd Try", properties={"2fa": True})
    assert rows(track)["_2nd_try"]["_2fa"] is True


def test_c35_user_properties_win() -> None:
    track = event("track", event="e", properties={"a": 1, "b": 1}, userProperties={"a": 2})
    assert own(track) == {"event": "e", "event_text": "e", "a": 2, "b": 1}
    assert reasons(track) == {"properties.a": "collision"}


def test_c36_r36_r39_tracks_skipped_for_one_destination() -> None:
    track = event("track", event="Sale", integrations={"SNOWFLAKE": {"options": {"skipTracksTable": True}}})
    assert list(rows(track, "RS")) == ["tracks", "sale"]
    assert list(rows(track, "SNOWFLAKE")) == ["SALE"]
    assert list(rows(event("track", event="Sale"), skipTracksTable=True)) == ["sale"]


def test_r07_tracks_has_no_property() -> None:
    assert set(rows(ADD_TO_CART)["tracks"]) == {*SEED_ROW, "event", "event_text"}


def test_r23_r24_event_text_is_as_sent_and_event_is_the_table() -> None:
    tables = rows(event("track", event="orderID"))
    assert (tables["tracks"]["event"], tables["tracks"]["event_text"]) == ("order_id", "orderID")
    assert "order_id" in tables


def test_the_text_of_an_event_has_the_type_of_its_value() -> None:
    row = own(event("track", event="2024-02-29"))
    assert row["event"] == "_2024_02_29"
    assert row["event_text"] == datetime(2024, 2, 29, tzinfo=timezone.utc)


# --- Names in events -------------------------------------------------------------------------------------


def test_c16_blendo() -> None:
    track = event("track", event=" Big Event! ", properties={"Price (USD)": 1})
    row = rows(track, useBlendoCasing=True)["big_event_"]
    assert (row["event"], row["price__usd_"]) == ("big event!", 1)
    integrations = {"RS": {"options": {"useBlendoCasing": True}}}
    assert list(rows({**track, "integrations": integrations})) == ["tracks", "big_event_"]


@pytest.mark.parametrize(
    ("provider", "key", "column"),
    [
        pytest.param("RS", "order", "_order", id="C17-rs"),
        pytest.param("SNOWFLAKE", "order", "_ORDER", id="C17-snowflake"),
        pytest.param("CLICKHOUSE", "order", "order", id="C17-clickhouse"),
        pytest.param("MSSQL", "key", "_key", id="C19-mssql"),
        pytest.param("POSTGRES", "key", "key", id="C19-postgres"),
        pytest.param("S3_DATALAKE", "date", "_date", id="C19-date-lake"),
        pytest.param("BQ", "date", "date", id="C19-date-bq"),
        pytest.param("POSTGRES", "p" * 70, "p" * 63, id="C21-postgres"),
        pytest.param("BQ", "p" * 70, "p" * 70, id="C21-bq"),
        pytest.param("RS", "p" * 130, "p" * 127, id="C21-rs"),
        pytest.param("S3_DATALAKE", "p" * 130, "p" * 130, id="C21-lake"),
        pytest.param("RS", "mealType", "meal_type", id="R25-camel-case"),
    ],
)
def test_the_column_of_a_property(provider: str, key: str, column: str) -> None:
    assert own(event("track", event="e", properties={key: "v"}), provider)[column] == "v"


def test_c18_timestamp_is_escaped_on_one_lake() -> None:
    assert "_timestamp" in rows(event("page"), "S3_DATALAKE")["pages"]
    for provider in ("RS", "BQ", "GCS_DATALAKE", "POSTGRES"):
        assert "timestamp" in rows(event("page"), provider)["pages"]


def test_c20_escaping_skipped() -> None:
    track = event("track", event="Select", properties={"order": 1})
    assert rows(track, "POSTGRES", skipReservedKeywordsEscaping=True)["select"]["order"] == 1
    integrations = {"POSTGRES": {"options": {"skipReservedKeywordsEscaping": True}}}
    assert rows({**track, "integrations": integrations}, "POSTGRES")["select"]["order"] == 1
    assert rows(track, "POSTGRES")["_select"]["_order"] == 1


@pytest.mark.parametrize("skipped", [True, False])
def test_c22_an_event_called_users(skipped: bool) -> None:
    tables = rows(event("track", event="Users"), skipReservedKeywordsEscaping=skipped)
    assert tables["_users"]["event"] == "users"


def test_c23_an_event_called_groups() -> None:
    track = event("track", event="Groups")
    assert list(rows(track, "POSTGRES")) == ["tracks", "_groups"]
    assert list(rows(track, "POSTGRES", skipReservedKeywordsEscaping=True)) == ["tracks", "groups"]


def test_c24_group_calls_on_bigquery() -> None:
    assert list(rows(event("group"), "BQ")) == ["_groups"]
    assert list(rows(event("group"), "RS")) == ["groups"]


# --- Identify --------------------------------------------------------------------------------------------

IDENTIFY = event(
    "identify",
    userId="u",
    traits={"planName": "pro", "userId": "s", "id": "t"},
    userProperties={"planName": "old", "up": 1},
    context={"traits": {"planName": "ctx"}},
)


def test_c37_traits() -> None:
    tables = rows(IDENTIFY)
    assert list(tables) == ["identifies", "users"]
    row = tables["identifies"]
    assert (row["id"], row["user_id"], tables["users"]["id"]) == ("m", "u", "u")
    traits = {"plan_name": "pro", "up": 1, "context_traits_plan_name": "ctx"}
    assert {name: row[name] for name in row if name not in (*DEFAULT_COLUMNS, "user_id")} == traits
    assert {name: tables["users"][name] for name in traits} == traits
    assert reasons(IDENTIFY) == {
        "traits.userId": "reserved",
        "traits.id": "reserved",
        "userProperties.planName": "collision",
    }


def test_c38_traits_of_the_context() -> None:
    identify = {**IDENTIFY, "context": {"traits": {"planName": "ctx", "nick": "n"}}}
    for options in ({"allowUsersContextTraits": True}, {"legacy": True}):
        row = rows(identify, **options)["identifies"]
        assert (row["nick"], row["plan_name"], row["context_traits_nick"]) == ("n", "pro", "n")
    assert "nick" not in rows(identify)["identifies"]


def test_c39_user_ids() -> None:
    assert list(rows(event("identify", userId="  "))) == ["identifies"]
    assert own(event("identify", userId="  ")) == {"user_id": "  "}
    tables = rows(event("identify", userId=12))
    assert (tables["identifies"]["user_id"], tables["users"]["id"]) == (12, 12)
    for blank in ("", None, [], {}, [1]):
        assert list(rows(event("identify", userId=blank))) == ["identifies"]


def test_c40_r35_users_skipped() -> None:
    integrations = {"RS": {"options": {"skipUsersTable": True}}}
    assert list(rows({**IDENTIFY, "integrations": integrations})) == ["identifies"]
    assert list(rows(IDENTIFY, skipUsersTable=True)) == ["identifies"]
    assert list(rows(IDENTIFY, "SNOWPIPE_STREAMING")) == ["IDENTIFIES"]
    assert list(rows({**IDENTIFY, "integrations": integrations}, "POSTGRES")) == ["identifies", "users"]


def test_c41_users_of_a_lake() -> None:
    tables = rows(event("identify", userId="u"), "S3_DATALAKE")
    assert set(tables["users"]) == {"id", "received_at"}
    assert set(tables["identifies"]) == {
        "id",
        "user_id",
        "sent_at",
        "_timestamp",
        "received_at",
        "original_timestamp",
    }


def test_r05_r15_r28_r30_r31_the_seed_s_identify() -> None:
    traits = {"email": "alex@company.com", "first_name": "Alex", "last_name": "Keener", "age": 35}
    tables = rows({"type": "identify", "userId": "userId", "traits": traits, **SEED})
    assert list(tables) == ["identifies", "users"]
    assert texts(tables["identifies"]) == {**SEED_ROW, "user_id": "userId", **traits}
    users = {**SEED_ROW, **traits, "id": "userId"}
    del users["anonymous_id"]
    assert texts(tables["users"]) == users
    assert types(tables["users"])["age"] == "int"


def test_r06_r33_anonymous_ids_are_in_identifies() -> None:
    identify = event("identify", userId="u", anonymousId="a")
    tables = rows(identify)
    assert (tables["identifies"]["anonymous_id"], tables["identifies"]["user_id"]) == ("a", "u")
    assert "anonymous_id" not in tables["users"]
    assert rows(identify, users_anonymous_id="latest")["users"]["anonymous_id"] == "a"


# --- Page, screen, group, alias --------------------------------------------------------------------------


def test_c42_r44_names_of_pages() -> None:
    properties = {"name": "in", "category": "c"}
    for kind in ("page", "screen"):
        payload = event(kind, name="Cart", properties=properties, category="top")
        assert own(payload) == {"name": "Cart", "category": "c"}
        assert own(event(kind, properties=properties)) == {"name": "in", "category": "c"}
        assert own(event(kind, properties={"category": "c"})) == {"category": "c"}
        assert reasons(payload) == {"properties.name": "reserved", "category": "top level"}
        assert reasons(event(kind, name="in", category="c", event="in", properties=properties)) == {}


def test_r09_r10_r13_r43_pages_and_screens() -> None:
    properties = {
        "path": "/cart",
        "title": "Shopping Cart",
        "url": "https://rudderstack.com",
        "category": "Cart",
    }
    for kind, table in (("page", "pages"), ("screen", "screens")):
        tables = rows({"type": kind, "name": "Cart Viewed", "properties": properties, **SEED})
        assert list(tables) == [table]
        assert texts(tables[table]) == {**SEED_ROW, "name": "Cart Viewed", **properties}


def test_c43_r11_r46_groups() -> None:
    group = event("group", groupId="g", traits={"plan": {"tier": "a"}, "groupId": "x"})
    assert own(group) == {"group_id": "g", "plan_tier": "a"}
    assert rows(group)["groups"]["id"] == "m"
    assert reasons(group) == {"traits.groupId": "reserved"}


def test_r45_the_seed_s_group() -> None:
    traits = {"email": "alex@keener.com", "first_name": "Alex", "last_name": "Keener", "age": 35}
    tables = rows({"type": "group", "groupId": "groupId", "traits": traits, **SEED})
    assert texts(tables["groups"]) == {**SEED_ROW, "group_id": "groupId", **traits}


def test_c44_r12_r47_aliases() -> None:
    alias = event("alias", userId="9bb5d4c2", previousId="e6ab2c5e", traits={"a": 1})
    assert own(alias) == {"user_id": "9bb5d4c2", "previous_id": "e6ab2c5e", "a": 1}
    assert list(rows(alias)) == ["aliases"]


def test_r04_r17_each_type_has_its_table() -> None:
    fields = {"event": "Sale", "userId": "u"}
    ids = {
        table: row["id"]
        for kind in ("identify", "track", "page", "screen", "group", "alias")
        for table, row in rows(event(kind, **fields)).items()
    }
    assert ids == {
        "identifies": "m",
        "users": "u",
        "tracks": "m",
        "sale": "m",
        "pages": "m",
        "screens": "m",
        "groups": "m",
        "aliases": "m",
    }


@pytest.mark.parametrize("kind", ["track", "Track", "TRACK"])
def test_types_are_written_in_any_case(kind: str) -> None:
    assert list(rows(event(kind, event="e"))) == ["tracks", "e"]


# --- Context ---------------------------------------------------------------------------------------------


def test_c45_text_that_came_as_an_object_of_its_characters() -> None:
    spelled = {"0": "j", "1": "o", "2": "e"}
    assert own(event("page", context={"traits": spelled})) == {"context_traits": "joe"}
    assert own(event("page", context={"traits": {"1": "j", "3": "e", "2": "o"}})) == {"context_traits": "joe"}
    group = event("group", traits=spelled)
    assert own(group) == {}
    assert reasons(group) == {"traits": "not an object"}
    for other in ({"0": "jo"}, {"0": "j", "2": "e"}, {"2": "j"}, {"0": 1}, {"0": "j", "a": "b"}):
        assert "context_traits" not in own(event("page", context={"traits": other}))
    identify = event("identify", context={"traits": spelled})
    assert own(identify, allowUsersContextTraits=True) == {"context_traits": "joe"}


def test_c46_keys_of_one_column() -> None:
    page = event("page", context={"tyPe": 1, "ty_Pe": 2, "ty_pe": 3})
    assert own(page) == {"context_ty_pe": 3}
    assert reasons(page) == {"context.tyPe": "collision", "context.ty_Pe": "collision"}


def test_c47_addresses() -> None:
    row = own(event("page", context={"ip": ""}, request_ip="203.0.113.9"))
    assert row == {"context_ip": "203.0.113.9", "context_request_ip": "203.0.113.9"}
    both = own(event("page", context={"ip": "198.51.100.1"}, request_ip="203.0.113.9"))
    assert both == {
        "context_ip": "198.51.100.1",
        "context_request_ip": "203.0.113.9",
        "context_passed_ip": "198.51.100.1",
    }


@pytest.mark.parametrize("value", [{}, ["x"], [], "", None, {"a": 1}])
def test_c48_ids_that_are_no_text(value: Any) -> None:
    assert own(event("page", anonymousId=value)) == {}
    loss_reasons = reasons(event("page", anonymousId=value))
    assert loss_reasons == ({"anonymousId": "not plain"} if value in (["x"], {"a": 1}) else {})


def test_r14_r16_r48_the_context_is_flattened_with_its_types() -> None:
    row = own(event("page", context={"app": {"version": "1.2.3"}, "screen": {"density": 2}}))
    assert row == {"context_app_version": "1.2.3", "context_screen_density": 2}
    assert {name: types(row)[name] for name in row} == {
        "context_app_version": "string",
        "context_screen_density": "int",
    }
    track = event("track", event="e", properties={"product": {"name": "iPhone", "version": 11}})
    assert own(track) == {"event": "e", "event_text": "e", "product_name": "iPhone", "product_version": 11}


def test_the_context_gains_source_and_destination() -> None:
    about = {"source_id": "s", "source_type": "HTTP", "destination_id": "d", "destination_type": "RS"}
    page = event("page", context={"a": 1})
    gained = {f"context_{name}": value for name, value in about.items()}
    assert own(page, **about) == {"context_a": 1, **gained}
    assert own(event("page", context=None), **about) == gained
    assert own(page, **about, populate_src_dest_info=False) == {"context_a": 1}
    assert page["context"] == {"a": 1}


# --- Depth, records of cloud sources ---------------------------------------------------------------------


def test_c49_depth_of_cloud_sources() -> None:
    track = event("track", event="e", properties={"a": {"b": {"c": {"d": {"e": 1}, "f": {}}}}})
    row = own(track, source_category="cloud")
    assert (row["a_b_c_d"], type(row["a_b_c_d"]), row["a_b_c_f"]) == ('{"e":1}', ArrayText, "{}")
    assert own(track, source_category="webhook")["a_b_c_d_e"] == 1
    deep = event("page", context={"a": {"b": {"c": {"d": {"e": 1}}}}})
    assert own(deep, source_category="cloud") == {"context_a_b_c_d": '{"e":1}'}


@pytest.mark.parametrize("category", ["cloud", "singer-protocol"])
def test_c50_records(category: str) -> None:
    track = event("track", event="e", recordId=77, context={"sources": {"version": 1}})
    tables = rows(track, source_category=category)
    assert (tables["e"]["id"], "record_id" in tables["e"]) == (77, False)
    assert (tables["tracks"]["id"], tables["tracks"]["record_id"]) == ("m", "77")
    for missing in (None, "", {}, [1]):
        with pytest.raises(Rejected, match="recordId cannot be empty for cloud sources events"):
            rows({**track, "recordId": missing}, source_category=category)
    assert rows(track)["e"]["id"] == "m"
    assert reasons(track) == {"recordId": "top level"}
    assert reasons(track, source_category=category) == {}
    unversioned = {**track, "context": {"sources": {"version": ""}}}
    assert rows(unversioned, source_category=category)["e"]["id"] == "m"


def test_c51_extracts() -> None:
    extract = event(
        "extract",
        event="Invoice Lines",
        recordId="r",
        userId="u",
        properties={"id": 1, "timestamp": "t", "a": 5},
    )
    tables = rows(extract)
    assert list(tables) == ["invoice_lines"]
    assert texts(tables["invoice_lines"]) == {
        "id": "r",
        "received_at": RECEIVED,
        "event": "Invoice Lines",
        "timestamp": "t",
        "a": 5,
    }
    assert reasons(extract) == {"properties.id": "reserved"}


# --- JSON paths ------------------------------------------------------------------------------------------


def test_c52_paths_of_properties() -> None:
    properties = {"a": {"b": {"k": 1}, "z": 2}, "c": [1, 2]}
    row = own(event("track", event="e", properties=properties), "POSTGRES", jsonPaths="a.b, c")
    assert row == {"event": "e", "event_text": "e", "a_b": '{"k":1}', "a_z": 2, "c": "[1,2]"}
    assert types(row, "POSTGRES") | {"event": "", "event_text": ""} == {
        "event": "",
        "event_text": "",
        "a_b": "json",
        "a_z": "int",
        "c": "json",
    }
    page = own(event("page", properties=properties), "POSTGRES", jsonPaths="a.b, c")
    assert page == {"a_b_k": 1, "a_z": 2, "c": "[1,2]"}
    assert type(page["c"]) is ArrayText


def test_c53_full_paths() -> None:
    track = event("track", event="e", properties={"a": {"x": 1}}, context={"traits": {"0": "j", "1": "o"}})
    paths = "track.properties.a,track.context.traits"
    row = own(track, "POSTGRES", jsonPaths=paths)
    assert (row["a"], row["context_traits"]) == ('{"x":1}', '{"0":"j","1":"o"}')
    assert {type(row["a"]), type(row["context_traits"])} == {JsonText}
    row = own(track, "BQ", jsonPaths=paths)
    assert (row["a"], type(row["a"])) == ('{"x":1}', ArrayText)
    row = own(track, "MSSQL", jsonPaths=paths)
    assert (row["a_x"], row["context_traits"]) == (1, "jo")


def test_c54_paths_for_every_warehouse() -> None:
    integrations = {"DATA_WAREHOUSE": {"options": {"jsonPaths": ["track.properties.a"]}}}
    track = event("track", event="e", properties={"a": {"x": 1}}, integrations=integrations)
    assert own(track, "POSTGRES")["a"] == '{"x":1}'
    assert own(track, "DELTALAKE")["a_x"] == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        (5.0, "5"),
        (5.5, "5.5"),
        ("x", '"x"'),
        ("2024-02-29", '"2024-02-29"'),
        (" ", '" "'),
        (True, "true"),
        ({}, "{}"),
        ([None], "[null]"),
        ({"b": 1.0, "a": "<\u00e9>"}, '{"a":"<\u00e9>","b":1}'),
    ],
)
def test_any_value_of_a_path_is_json(value: Any, text: str) -> None:
    row = own(event("track", event="e", properties={"a": value}), "POSTGRES", jsonPaths="a")
    assert (row["a"], type(row["a"])) == (text, JsonText)


@pytest.mark.parametrize("value", [None, "", [], [""]])
def test_a_blank_value_of_a_path_is_none(value: Any) -> None:
    assert "a" not in own(event("track", event="e", properties={"a": value}), "POSTGRES", jsonPaths="a")


# --- Columns that are set for all ------------------------------------------------------------------------


def test_c55_the_time_of_the_load_is_nobody_s_column() -> None:
    track = event("track", event="e", properties={"uuid_ts": "x", "loaded_at": "x"})
    assert set(own(track, "BQ")) == {"event", "event_text"}
    assert reasons(track, "BQ") == {"properties.uuid_ts": "reserved", "properties.loaded_at": "reserved"}
    assert own(track, "SNOWFLAKE")["LOADED_AT"] == "x"
    assert reasons(track, "SNOWFLAKE") == {"properties.uuid_ts": "reserved"}


def test_c56_the_full_event() -> None:
    page = event("page", properties={"b": 1.0, "a": "<&>"})
    text = f'{{"messageId":"m","properties":{{"a":"<&>","b":1}},"receivedAt":"{RECEIVED}","type":"page"}}'
    for provider, kind in (("POSTGRES", JsonText), ("RS", LongText), ("BQ", ArrayText), ("MSSQL", ArrayText)):
        full = own(page, provider, storeFullEvent=True)["rudder_event"]
        assert (full, type(full)) == (text, kind)
    assert neutral_type(LongText("short"), provider_of("RS")) == "text"
    for payload in (
        event("track", event="e"),
        event("identify", userId="u"),
        event("extract", event="e", recordId=1),
    ):
        tables = rows(payload, storeFullEvent=True)
        assert [name for name, row in tables.items() if "rudder_event" in row] in (
            ["tracks"],
            ["identifies", "users"],
            [],
        )
        assert list(tables)[-1] in ("e", "users")
    for kind in ("screen", "group", "alias"):
        assert "rudder_event" in own(event(kind), storeFullEvent=True)


# --- Events that are turned away -------------------------------------------------------------------------


def rejected(payload: Any, provider: str = "RS", **options: Any) -> str:
    with pytest.raises(Rejected) as caught:
        rows(payload, provider, **options)
    return str(caught.value)


def test_c57_unknown_types_and_contexts() -> None:
    assert rejected(event("foo")) == 'Unknown event type: "foo"'
    assert rejected({"messageId": "m"}) == 'Unknown event type: ""'
    assert rejected(event("page", context="x")) == "context is not a map"
    assert rejected(event("page", context=[])) == "context is not a map"
    assert list(rows(event("page", context=None))) == ["pages"]


def test_c58_too_many_columns() -> None:
    """Seven columns of the event's own, `uuid_ts`, and the properties."""
    fits = {f"p{number}": number for number in range(1592)}
    track = event("track", event="e", properties=fits)
    assert len(rows(track, "POSTGRES")["e"]) == 1599
    track["properties"] = {**fits, "more": 1}
    text = "transformer: Too many columns outputted from the event"
    assert rejected(track, "POSTGRES") == f"postgres {text}"
    assert rejected(track, "SNOWFLAKE") == f"snowflake {text}"
    assert len(rows({**track, "channel": "sources"}, "POSTGRES")["e"]) == 1601
    assert len(rows(track, "GCS_DATALAKE")["e"]) == 1600
    track["properties"] = fits
    assert rejected(track, "BQ") == f"bq {text}"
    assert rejected(event("page"), max_columns=5) == f"rs {text}"


RULES = "RUDDER_IDENTITY_MERGE_RULES"


def rule(payload: Any, **options: Any) -> dict[str, Any]:
    tables = rows(payload, "SNOWFLAKE", identity_resolution=True, **options)
    return {name.lower().removeprefix("merge_property_"): value for name, value in tables[RULES].items()}


def test_c59_rules_of_identities() -> None:
    page = event("page", anonymousId="an", userId="u")
    assert list(rows(page, "SNOWFLAKE", identity_resolution=True)) == ["PAGES", RULES]
    assert rule(page) == {"1_type": "anonymous_id", "1_value": "an", "2_type": "user_id", "2_value": "u"}
    assert list(rows(page, "POSTGRES", identity_resolution=True)) == ["pages"]
    assert list(rows(page, "SNOWFLAKE")) == ["PAGES"]


def test_rules_of_other_events() -> None:
    half = {"1_type": "user_id", "1_value": "12"}
    assert rule(event("group", userId=12)) == half
    assert rule(event("page", anonymousId="an")) == {"1_type": "anonymous_id", "1_value": "an"}
    assert rule(event("alias", userId="n", previousId="o")) == {
        "1_type": "user_id",
        "1_value": "n",
        "2_type": "user_id",
        "2_value": "o",
    }
    assert rule(event("alias", userId=12, anonymousId="an")) == half
    order = list(rows(event("identify", userId="u"), "SNOWFLAKE", identity_resolution=True))
    assert order == ["IDENTIFIES", RULES, "USERS"]
    for none in (event("page"), event("track", event="", userId="u"), event("alias", previousId="o")):
        assert RULES not in rows(none, "SNOWFLAKE", identity_resolution=True)


def test_c60_merge_events() -> None:
    pairs = [{"type": "email", "value": "a@b.c"}, {"type": "mobile", "value": 12}]
    merge = event("merge", mergeProperties=pairs)
    assert rule(merge) == {"1_type": "email", "1_value": "a@b.c", "2_type": "mobile", "2_value": "12"}
    assert rows(merge, "POSTGRES", identity_resolution=True) == {}
    missing = "either or both identifiers missing in mergeProperties"
    for few in (None, [], pairs[:1], [*pairs, *pairs]):
        assert rejected({**merge, "mergeProperties": few}, "BQ", identity_resolution=True) == missing
    wrong = "mergeProperties contains null values for expected inputs"
    for bad in (
        "x",
        {},
        [pairs[0], None],
        [pairs[0], {"type": "mobile"}],
        [{"type": "", "value": "v"}, pairs[0]],
    ):
        assert rejected({**merge, "mergeProperties": bad}, "BQ", identity_resolution=True) == wrong


def test_c61_ids_that_are_missing() -> None:
    page = event("page", messageId="")
    first = rows(page)["pages"]["id"]
    assert first.startswith("auto-") and len(first) == len("auto-") + 36
    assert rows({**page, "messageId": None})["pages"]["id"] == first
    for blank in ("  ", [], {}, ["x"]):
        assert rows({**page, "messageId": blank})["pages"]["id"] == first
    assert rows({**page, "receivedAt": "garbage"})["pages"]["received_at"] == NOW


def test_an_id_depends_on_the_place_and_the_load() -> None:
    later = NOW.replace(microsecond=1)
    ids = [
        EventRouter(Options(), now)(event("page", messageId=""), position).rows[0][1]["id"]
        for now, position in ((NOW, "1"), (NOW, "2"), (later, "1"), (NOW, "1"))
    ]
    assert ids[0] == ids[3]
    assert len(set(ids)) == 3


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (
            {"recordId": "r"},
            "cannot create event table with empty event name, event name is missing in the payload",
        ),
        (
            {"recordId": "r", "event": " "},
            "cannot create event table with empty event name, event name is missing in the payload",
        ),
        ({"recordId": "r", "event": "\u65e5"}, "Table name cannot be empty."),
        ({"event": "e"}, "recordId cannot be empty for cloud sources events"),
        ({"event": "e", "recordId": ["r"]}, "recordId cannot be empty for cloud sources events"),
    ],
)
def test_extracts_that_are_turned_away(fields: dict[str, Any], reason: str) -> None:
    assert rejected(event("extract", **fields)) == reason


# --- Types -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind", "cell"),
    [
        pytest.param(5, "int", 5, id="C62-int"),
        pytest.param(5.0, "int", 5, id="C62-no-fraction"),
        pytest.param(1e3, "int", 1000, id="C62-exponent"),
        pytest.param(5.5, "float", 5.5, id="C62-float"),
        pytest.param("5", "string", "5", id="C62-digits"),
        pytest.param(True, "boolean", True, id="C62-true"),
        pytest.param("true", "string", "true", id="C62-word"),
        pytest.param("2024-02-29", "datetime", datetime(2024, 2, 29, tzinfo=timezone.utc), id="C63-day"),
        pytest.param("2024/02/29", "string", "2024/02/29", id="C65-slashes"),
        pytest.param("s" * 513, "text", "s" * 513, id="C66-more-than-512"),
        pytest.param("s" * 512, "string", "s" * 512, id="C66-not-more-than-512"),
        pytest.param("\U0001f600" * 257, "text", "\U0001f600" * 257, id="C66-units-not-letters"),
        pytest.param(["s" * 511], "text", f'["{"s" * 511}"]', id="C66-an-array"),
        (2**70, "int", 2**70),
        (-0.0, "int", 0),
        (0, "int", 0),
        (False, "boolean", False),
        ("  ", "string", "  "),
        ([None], "array", "[null]"),
        ([5.0, 1e21, {"b": None, "a": [1e3]}], "array", '[5,1e+21,{"a":[1000],"b":null}]'),
        ([2**70], "array", "[1180591620717411303424]"),
        (["2024-02-29"], "array", '["2024-02-29"]'),
    ],
)
def test_types(value: Any, kind: str, cell: Any) -> None:
    row = own(event("track", event="e", properties={"a": value}))
    assert (row["a"], types(row)["a"]) == (cell, kind)
    assert row["a"].__class__ is not float or value.__class__ is float


def test_c66_on_bigquery_it_is_a_string() -> None:
    row = own(event("track", event="e", properties={"a": "s" * 513}), "BQ")
    assert types(row, "BQ")["a"] == "string"


def test_r26_standard_columns_are_nobody_else_s() -> None:
    properties = {"anonymousId": "x", "context_ip": "x", "channel": "x", "event_text": "x", "record_id": "x"}
    track = event("track", event="e", properties={**properties, "_timestamp": "kept", "name": "kept"})
    assert own(track) == {"event": "e", "event_text": "e", "_timestamp": "kept", "name": "kept"}
    assert reasons(track) == {f"properties.{name}": "reserved" for name in properties}


def test_routed_rows_come_in_order() -> None:
    assert [table for table, _ in routed(event("track", event="e")).rows] == ["tracks", "e"]

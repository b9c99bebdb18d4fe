"""What options do to the tables."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from dialects.rudderstack.conformance.loading import Opens, Shop, event, identify, moment, track
from trellis.errors import UsageError

ZONED = "TIMESTAMP WITH TIME ZONE"


def type_of(shop: Shop, table: str, column: str) -> str | None:
    return shop.types(table).get(column)


def test_c62_c63_r48_types_of_first_values(shop: Shop) -> None:
    values: dict[str, Any] = {
        "int": 5, "whole": 5.0, "float": 5.5, "text": "5", "flag": True, "word": "true", "day": "2024-02-29",
        "list": [1], "moment": "2020-02-11 04:56:55.175116",
    }  # fmt: skip
    shop.load({**track("1", **{f"x_{k}": v for k, v in values.items()}), "context": {
        "app": {"version": "1.2.3"}, "screen": {"density": 2}, "ip": "0.0.0.0",
    }})  # fmt: skip
    types = shop.types("sale")
    assert {name: types[f"x_{name}"] for name in values} == {
        "int": "BIGINT", "whole": "BIGINT", "float": "DOUBLE", "text": "VARCHAR", "flag": "BOOLEAN",
        "word": "VARCHAR", "day": ZONED, "list": "VARCHAR", "moment": ZONED,
    }  # fmt: skip
    assert (types["context_app_version"], types["context_screen_density"]) == ("VARCHAR", "BIGINT")


@pytest.mark.parametrize(
    ("provider", "native"), [("POSTGRES", "JSON"), ("RS", "JSON"), ("BQ", "VARCHAR"), ("MSSQL", None)]
)
def test_c52_c53_json_paths(open_shop: Opens, provider: str, native: str | None) -> None:
    shop = open_shop(provider, jsonPaths="a.b, track.context.traits, c")
    sale = track("1", a={"b": {"k": 1}, "z": 2}, c=[1, 2])
    shop.load({**sale, "context": {"traits": {"name": "x"}}}, event("page", "2", properties={"c": {"d": 1}}))
    types = shop.types("sale")
    if native is None:
        assert types["a_b_k"] == "BIGINT" and types["context_traits_name"] == "VARCHAR"
        return
    assert [types.get(name) for name in ("a_b", "a_z", "c", "context_traits")] == [
        native, "BIGINT", native, native,
    ]  # fmt: skip
    row = shop.row("sale", "1")
    assert (row["a_b"], row["c"], row["context_traits"]) == ('{"k":1}', "[1,2]", '{"name":"x"}')
    assert type_of(shop, "pages", "c_d") == "BIGINT"


@pytest.mark.parametrize(("provider", "applies"), [("POSTGRES", True), ("DELTALAKE", False)])
def test_c54_r36_paths_that_an_event_brings(open_shop: Opens, provider: str, applies: bool) -> None:
    shop = open_shop(provider)
    paths = {"DATA_WAREHOUSE": {"options": {"jsonPaths": ["track.properties.a"]}}}
    shop.load({**track("1", a={"b": 1}), "integrations": paths})
    assert type_of(shop, "sale", "a" if applies else "a_b") == ("JSON" if applies else "BIGINT")


def test_json_columns_that_exist_as_something_else(open_shop: Opens) -> None:
    """An existing column keeps its type."""
    shop = open_shop("RS")
    shop.load(track("1", a="text", n=1))
    open_shop("RS", jsonPaths="a,n").load(track("2", a={"b": 1}, n={"b": 1}))
    assert shop.rows("sale", "id", "a", "n") == [("1", "text", 1), ("2", '{"b":1}', None)]
    assert shop.discards == [("2", "sale", "n", '{"b":1}', "incompatible schema conversion from int to json")]


@pytest.mark.parametrize(
    ("provider", "native", "declared"),
    [("POSTGRES", "JSON", "jsonb"), ("RS", "VARCHAR", "varchar(65535)"), ("BQ", "VARCHAR", "STRING")],
)
def test_c56_the_full_event(open_shop: Opens, provider: str, native: str, declared: str) -> None:
    shop = open_shop(provider, storeFullEvent=True)
    page = event("page", "1", properties={"a": "<&>"})
    plan = shop.pipeline.plan([page])
    if plan.ddl is not None:
        assert any(
            f"rudder_event{quote} {declared}" in statement for statement in plan.ddl[1] for quote in '"`'
        )
    shop.load(page, track("2"), identify("u"))
    assert type_of(shop, "pages", "rudder_event") == native
    (text,) = shop.values("pages", "rudder_event")
    assert '"properties":{"a":"<&>"}' in text
    assert shop.values("tracks", "rudder_event")[0].startswith('{"event":"Sale"')
    assert shop.values("users", "rudder_event") == shop.values("identifies", "rudder_event")
    assert "rudder_event" not in shop.types("sale")


def test_users_of_a_lake_have_no_full_event(open_shop: Opens) -> None:
    shop = open_shop("S3_DATALAKE", storeFullEvent=True)
    shop.load(identify("u"))
    assert "rudder_event" in shop.types("identifies")
    assert "rudder_event" not in shop.types("users")


def test_c66_a_long_string_is_text_on_redshift(open_shop: Opens) -> None:
    events = [track("1", short="x" * 512, long="é" * 513)]
    for provider, native in (("RS", True), ("BQ", None)):
        shop = open_shop(provider, file=provider)
        shop.load(*events)
        columns = shop.pipeline.schema.tables["sale"].columns
        assert columns["short"].hints.get("x-long") is None
        assert columns["long"].hints.get("x-long") is native


def test_names_by_options(open_shop: Opens) -> None:
    payload = track("1", "userID2FA", userID2FA=1)
    for number, (settings, table) in enumerate(
        (
            ({}, "user_id2_fa"),
            ({"underscoreDivideNumbers": True}, "user_id_2_fa"),
            ({"legacy": True}, "user_id_2_fa"),
            ({"useBlendoCasing": True}, "userid2fa"),
        )
    ):
        shop = open_shop("RS", file=str(number), **settings)
        shop.load(payload)
        assert shop.values(table, table) == [1]
        assert shop.values("tracks", "event") == [table]


def test_c17_c20_c24_r56_r58_reserved_words_by_warehouse(open_shop: Opens) -> None:
    events = [track("1", "Select", order=1), event("group", "g", groupId="x"), track("2", "Groups")]
    expected = {
        "RS": {"_select": "_order", "groups": "group_id", "_groups": "id"},
        "BQ": {"_select": "_order", "_groups": "group_id", "__groups": "id"},
        "CLICKHOUSE": {"select": "order", "groups": "group_id", "_groups": "id"},
    }
    for provider, tables in expected.items():
        shop = open_shop(provider, file=provider)
        shop.load(*events)
        assert shop.tables == {"tracks", "rudder_discards", *tables}
        for table, column in tables.items():
            assert type_of(shop, table, column) is not None


def test_c38_c40_r35_r39_r37_skips_and_traits(open_shop: Opens) -> None:
    shop = open_shop("DELTALAKE", skipUsersTable=True, skipTracksTable=True, allowUsersContextTraits=True)
    shop.load({**identify("u"), "context": {"traits": {"nick": "x"}}}, track("1"))
    assert shop.tables == {"identifies", "sale", "rudder_discards"}
    row = shop.row("identifies", "u/0")
    assert (row["nick"], row["context_traits_nick"]) == ("x", "x")


def test_c41_c55_users_of_a_lake(open_shop: Opens) -> None:
    shop = open_shop("S3_DATALAKE")
    shop.load({**identify("u"), "context": {"ip": "0.0.0.0"}})
    assert list(shop.types("users")) == [
        "id", "received_at", "context_ip", "context_passed_ip", "uuid_ts",
    ]  # fmt: skip
    assert "_timestamp" in shop.types("identifies")


def test_a_trait_timestamp_is_one_of_users_on_s3_datalake(open_shop: Opens, tmp_path: Path) -> None:
    """There `timestamp` is a word, so the standard column is `_timestamp`, which is not reserved; and users
    of a lake have no standard column of the name."""
    events = [
        identify("u", 1, timestamp="x"),
        identify("v", 2, _timestamp="2020-01-01T00:00:00Z"),
        identify("w", 3, timestamp=7, plan="a"),
        identify("z", 4, plan="b"),
    ]
    lines = tmp_path / "events.jsonl"
    lines.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    shop = open_shop("S3_DATALAKE")
    shop.load(str(lines))
    assert shop.rows("users", "id", "_timestamp", "plan") == [
        ("u", None, None),
        ("v", datetime(2020, 1, 1, tzinfo=timezone.utc), None),
        ("w", None, "a"),
        ("z", None, "b"),
    ]
    assert shop.rows("identifies", "id", "_timestamp") == [
        ("u/1", moment(1)), ("v/2", moment(2)), ("w/3", moment(3)), ("z/4", moment(4)),
    ]  # fmt: skip
    reason = "incompatible schema conversion from datetime to"
    assert shop.discards == [
        ("u", "users", "_timestamp", "x", f"{reason} string"),
        ("w", "users", "_timestamp", "7", f"{reason} int"),
    ]
    assert shop.lost == [
        ("identifies", "_timestamp", "traits._timestamp", "2020-01-01T00:00:00Z", "reserved"),
        ("identifies", "_timestamp", "traits.timestamp", "7", "reserved"),
        ("identifies", "_timestamp", "traits.timestamp", "x", "reserved"),
    ]
    records = open_shop("S3_DATALAKE", file="records")
    records.load(*events)
    assert records.content() == shop.content()


def test_source_and_destination_in_the_context(open_shop: Opens) -> None:
    endpoints = {"source_id": "s1", "source_type": "web", "destination_id": "d1", "destination_type": "RS"}
    shop = open_shop("RS", **endpoints)
    shop.load(track("1"))
    row = shop.row("sale", "1")
    assert {name: row[f"context_{name}"] for name in endpoints} == endpoints
    other = open_shop("RS", file="other", populate_src_dest_info=False, **endpoints)
    other.load(track("1"))
    assert "context_source_id" not in other.types("sale")


def test_r54_r55_the_six_formats_alone(open_shop: Opens) -> None:
    shop = open_shop("RS", strict_timestamps=True)
    shop.load(track("1", a="2009-05-19 14:39:22", b="2009-05-19 14:39", c="2019-09-26"))
    assert [type_of(shop, "sale", name) for name in "abc"] == [ZONED, "VARCHAR", ZONED]


def test_c50_c51_cloud_sources(open_shop: Opens) -> None:
    shop = open_shop("RS", source_category="cloud")
    sources = {"context": {"sources": {"version": 1}}}
    shop.load(
        {**track("m1", a={"b": {"c": {"d": {"e": 1}}}}), **sources, "recordId": 77},
        event("extract", "m2", event="Invoice Lines", recordId="r1", userId="u", properties={"n": 1}),
    )
    assert shop.rows("sale", "id", "a_b_c_d") == [(77, '{"e":1}')]
    assert shop.rows("tracks", "id", "record_id") == [("m1", "77")]
    assert shop.rows("invoice_lines", "id", "event", "n") == [("r1", "Invoice Lines", 1)]
    assert "user_id" not in shop.types("invoice_lines")
    report = shop.load({**track("m3"), **sources}, max_rejected=1)
    assert report.rows.rejected == 1
    assert shop.rejects == [(1, "recordId cannot be empty for cloud sources events")]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"provider": "REDSHFT"}, r"option provider: there is no warehouse 'REDSHFT'"),
        ({"provider": "snowflake"}, r"there is no warehouse 'snowflake': did you mean 'SNOWFLAKE'\?"),
        ({"skipUserTable": True}, r"no option 'skipUserTable': did you mean 'skipUsersTable'\?"),
        ({"skipUsersTable": "maybe"}, r"option skipUsersTable takes true or false, not 'maybe'"),
        ({"max_events": -1}, r"option max_events takes a whole number of 0 or more"),
        ({"skipUsersTable": True, "skip_users_table": True}, r"is given twice"),
        ({"widen": "all"}, r"option widen takes .* or int_to_float, not 'all'"),
    ],
)
def test_options_that_are_wrong(shop: Shop, settings: dict[str, Any], message: str) -> None:
    shop.settings = settings
    with pytest.raises(UsageError, match=message):
        shop.load(track("1"))
    assert not shop.path.exists()

"""Lines of enriched events and self-describing JSON, as events with entities or as bad rows."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from dialects.snowplow.enriched import ENVELOPE, enriched_line, event_id, vessel_call
from trellis.dialects.snowplow.enriched.bad_event import BadEvent
from trellis.dialects.snowplow.enriched.fields import ATOMIC_FIELDS, FIELDS
from trellis.dialects.snowplow.enriched.line import atomic_values, split_line
from trellis.dialects.snowplow.events.event import JsonPaths, enriched_event, json_event
from trellis.dialects.snowplow.events.router import EventRouter, EventRules, read_record


def bad_reason(line: str | bytes) -> str:
    with pytest.raises(BadEvent) as caught:
        EventRouter(EventRules(), {})(read_record(line.encode() if isinstance(line, str) else line), "")
    return str(caught.value)


def test_the_places_of_fields() -> None:
    places = {field.name: place for place, field in enumerate(FIELDS, 1)}
    names = (
        *("etl_tstamp", "collector_tstamp", "event_id", "contexts", "unstruct_event"),
        *("derived_contexts", "event_fingerprint", "true_tstamp"),
    )
    assert [places[name] for name in names] == [3, 4, 7, 53, 59, 123, 130, 131]
    assert len(ATOMIC_FIELDS) == 128


def test_values_have_the_types_of_their_columns() -> None:
    line = enriched_line(
        7,
        app_id="web",
        txn_id="-12",
        geo_latitude="4.5e1",
        br_cookies="1",
        tr_total="12.5",
        etl_tstamp="2031-04-05T06:00:01Z",
    )
    assert atomic_values(split_line(line.encode())) == {
        "app_id": "web",
        "etl_tstamp": datetime(2031, 4, 5, 6, 0, 1, tzinfo=timezone.utc),
        "collector_tstamp": datetime(2031, 4, 5, 6, 0, 0, 123000, timezone.utc),
        "event_id": event_id(7),
        "txn_id": -12,
        "v_collector": "ssc-3.2",
        "v_etl": "enrich-5.0",
        "geo_latitude": 45.0,
        "br_cookies": True,
        "tr_total": Decimal("12.50"),
    }


def test_an_event_has_the_entities_of_its_three_fields() -> None:
    derived = {"schema": f"{ENVELOPE}contexts/jsonschema/1-0-0", "data": [vessel_call("1-0-1", berth="C")]}
    line = enriched_line(
        1,
        vessel_call("1-0-0", berth="A"),
        [vessel_call("1-1-0", berth="B")],
        derived_contexts=json.dumps(derived),
    )
    event = enriched_event(split_line(line.encode()))
    assert [(str(entity.key.version), entity.data, entity.kind) for entity in event.entities] == [
        ("1-1-0", {"berth": "B"}, "CONTEXT"),
        ("1-0-0", {"berth": "A"}, "SELF_DESCRIBING_EVENT"),
        ("1-0-1", {"berth": "C"}, "CONTEXT"),
    ]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"event_id": "x"}, "event_id is 'x', not a UUID"),
        ({"event_id": ""}, "event_id is empty"),
        ({"collector_tstamp": ""}, "collector_tstamp is empty"),
        (
            {"collector_tstamp": "0000-01-01 00:00:00"},
            "collector_tstamp is '0000-01-01 00:00:00', not a time such as 2031-04-05 06:00:00.123",
        ),
        ({"txn_id": "2147483648"}, "txn_id is '2147483648', not an integer of 32 bits"),
        ({"txn_id": "1_0"}, "txn_id is '1_0', not an integer of 32 bits"),
        ({"geo_latitude": "1e400"}, "geo_latitude is '1e400', not a number"),
        ({"geo_latitude": "NaN"}, "geo_latitude is 'NaN', not a number"),
        ({"tr_total": "1e400"}, "tr_total is '1e400', not an amount below 10^16"),
        ({"br_cookies": "true"}, "br_cookies is 'true', not 0 or 1"),
        ({"txn_id": "x", "v_etl": ""}, "txn_id is 'x', not an integer of 32 bits; v_etl is empty"),
        (
            {"derived_contexts": "{"},
            "derived_contexts: not JSON: Expecting property name enclosed in double quotes: line 1",
        ),
        (
            {"derived_contexts": "[]"},
            'derived_contexts: data that describes itself is {"schema": "iglu:...", "data": ...}',
        ),
        (
            {"unstruct_event": json.dumps(vessel_call("1-0-0"))},
            (
                "unstruct_event holds iglu:org.harbor/vessel_call/jsonschema/1-0-0; expected "
                "iglu:com.snowplowanalytics.snowplow/unstruct_event/jsonschema"
            ),
        ),
        (
            {"derived_contexts": json.dumps({"schema": f"{ENVELOPE}contexts/jsonschema/1-0-0", "data": {}})},
            "derived_contexts: data is not a list of entities",
        ),
        (
            {
                "derived_contexts": json.dumps(
                    {
                        "schema": f"{ENVELOPE}contexts/jsonschema/1-0-0",
                        "data": [{"schema": "iglu:a/b/c/01-0-0", "data": 1}],
                    }
                )
            },
            "derived_contexts/0: '01-0-0' is not a version",
        ),
    ],
)
def test_a_bad_field_is_named(fields: dict[str, str], reason: str) -> None:
    assert bad_reason(enriched_line(1, **fields)).startswith(f"loader_parsing_error: {reason}")


def test_years_9999_and_milliseconds_are_times() -> None:
    values = atomic_values(split_line(enriched_line(1, true_tstamp="9999-12-31 23:59:59.999").encode()))
    assert values["true_tstamp"] == datetime(9999, 12, 31, 23, 59, 59, 999000, timezone.utc)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            enriched_line(1) + "\t",
            "the line has 132 fields; expected the 131 of an enriched event, between tabs",
        ),
        (
            enriched_line(1).removesuffix("\t"),
            "the line has 130 fields; expected the 131 of an enriched event, between tabs",
        ),
        (b"\xff" + enriched_line(1).encode(), "not UTF-8: byte 0xff at column 1"),
        ('{"data": {}}', "the JSON has no schema; expected an enriched event, or schema and data"),
        ('{"schema": NaN}', "not JSON: NaN is not JSON"),
        ("{" * 100_000, "not JSON: Expecting property name"),
        ('{"schema": ' + "[" * 100_000, "the JSON is nested too deep to be read"),
    ],
)
def test_a_line_that_is_no_event(line: str | bytes, reason: str) -> None:
    assert bad_reason(line).startswith(f"loader_parsing_error: {reason}")


def test_self_describing_json_has_id_and_time_where_the_user_says() -> None:
    document = {**vessel_call("1-0-0", berth="A"), "meta": {"id": "e-1", "at": "2031-04-05T06:00:00Z"}}
    event = json_event(document, JsonPaths(("meta", "id"), ("meta", "at")))
    assert (event.id, event.collected_at) == ("e-1", datetime(2031, 4, 5, 6, tzinfo=timezone.utc))
    assert event.atomic is None
    assert [entity.data for entity in event.entities] == [{"berth": "A"}]


@pytest.mark.parametrize(
    ("meta", "reason"),
    [
        ({"at": "2031-04-05T06:00:00Z"}, "meta.id is not a text: an event has an id there"),
        ({"id": "e-1", "at": "now"}, "meta.at is not a time such as 2031-04-05T06:00:00.123Z"),
    ],
)
def test_self_describing_json_without_id_or_time(meta: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadEvent, match=reason):
        json_event({**vessel_call("1-0-0"), "meta": meta}, JsonPaths(("meta", "id"), ("meta", "at")))


def test_events_before_the_earliest_are_bad() -> None:
    router = EventRouter(EventRules(earliest=datetime(2031, 4, 5, 7, tzinfo=timezone.utc)), {})
    with pytest.raises(BadEvent, match=r"^generic_error: collector_tstamp is 2031-04-05 06:00:00, before"):
        router(split_line(enriched_line(1).encode()), "")


def test_an_event_waits_for_schemas_that_are_not_known_yet() -> None:
    line = enriched_line(1, vessel_call("1-0-0"), [vessel_call("1-1-0"), vessel_call("1-0-0")])
    routed = EventRouter(EventRules(), {})(split_line(line.encode()), "")
    assert routed.rows == []
    assert routed.references == (
        "iglu:org.harbor/vessel_call/jsonschema/1-1-0",
        "iglu:org.harbor/vessel_call/jsonschema/1-0-0",
    )

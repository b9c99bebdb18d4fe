"""Copies of events in a load: dropped, and events that share an id get new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from destinations.postgres_server import Server, database, postgres
from dialects.snowplow.enriched import enriched_line, event_id, vessel_call, write_registry
from dialects.snowplow.shredder.test_wide import CONTEXTS, load, pipeline
from trellis.dialects.snowplow.runs.event_store import Arrival, EventStore, open_event_store
from trellis.errors import DestinationError, UsageError

__all__ = ["database", "postgres"]

TABLE = "org_harbor_vessel_call_1"
DUPLICATE = "com_snowplowanalytics_snowplow_duplicate_1"
CALL = [vessel_call("1-0-0", berth="A")]
EVENTS = [
    enriched_line(1, contexts=CALL, event_fingerprint="f", etl_tstamp="2031-04-05 06:00:02", app_id="later"),
    enriched_line(1, contexts=CALL, event_fingerprint="f", etl_tstamp="2031-04-05 06:00:01", app_id="first"),
    enriched_line(2, contexts=CALL, event_fingerprint="f"),
    enriched_line(2, contexts=CALL, event_fingerprint="g"),
    enriched_line(3, contexts=CALL),
]


def rows(sink: Any, table: str) -> list[dict[str, Any]]:
    table_rows: list[dict[str, Any]] = sink.destination.query("atomic", table)
    return table_rows


@pytest.mark.parametrize("to", ["duckdb:shop.duckdb", "parquet:lake"])
def test_r84_copies_in_a_load(tmp_path: Path, to: str) -> None:
    sink, registry = pipeline(tmp_path, to), write_registry(tmp_path)
    report = load(sink, tmp_path, EVENTS, registry, layout="model", dedup="all")
    assert (report.rows.read, report.rows.loaded, report.rows.dropped) == (5, 4, 1)
    assert report.balanced
    assert report.notes == ("2 events shared their ids with others and got new ones",)
    events = rows(sink, "events")
    assert sorted(row["app_id"] or "" for row in events) == ["", "", "", "first"]
    ids = {row["event_id"] for row in events}
    assert {event_id(1), event_id(3)} < ids
    assert len(ids) == 4
    assert event_id(2) not in ids
    assert {row["root_id"] for row in rows(sink, TABLE)} == ids
    contexts = {row["root_id"]: row["original_event_id"] for row in rows(sink, DUPLICATE)}
    assert contexts == dict.fromkeys(ids - {event_id(1), event_id(3)}, event_id(2))
    assert [name for name in sink.destination.catalog("atomic")["events"].columns if name[0] == "_"] == []
    again = load(sink, tmp_path, [enriched_line(4, contexts=CALL)], registry, layout="model")
    assert (again.rows.loaded, again.changes) == (1, ())


def test_r84_copies_in_a_load_of_wide_rows(tmp_path: Path) -> None:
    sink, registry = pipeline(tmp_path), write_registry(tmp_path)
    report = load(sink, tmp_path, EVENTS, registry, dedup="all")
    assert (report.rows.loaded, report.rows.dropped) == (4, 1)
    original = [{"original_event_id": event_id(2)}]
    pairs = [(row[f"contexts_{DUPLICATE}"], row[CONTEXTS][0]["berth"]) for row in rows(sink, "events")]
    assert sorted(pairs, key=str) == [(None, "A"), (None, "A"), (original, "A"), (original, "A")]


def test_natural_leaves_ids_as_they_are(tmp_path: Path) -> None:
    sink, registry = pipeline(tmp_path), write_registry(tmp_path)
    report = load(sink, tmp_path, EVENTS, registry, layout="model", dedup="natural")
    assert (report.rows.loaded, report.rows.dropped) == (4, 1)
    assert sorted(row["event_id"] for row in rows(sink, "events")) == list(map(event_id, (1, 2, 2, 3)))


def test_r85_copies_of_events_of_earlier_loads(tmp_path: Path) -> None:
    sink, registry = pipeline(tmp_path), write_registry(tmp_path)
    options = {"layout": "model", "dedup": "natural", "dedup_store": f"{tmp_path}/events.db"}
    first = [enriched_line(1, event_fingerprint="f", etl_tstamp="2031-04-05 06:00:00")]
    later = [enriched_line(1, event_fingerprint="f", etl_tstamp="2031-04-05 07:00:00"), enriched_line(2)]
    assert load(sink, tmp_path, first, registry, **options).rows.loaded == 1
    report = load(sink, tmp_path, later, registry, **options)
    assert (report.rows.loaded, report.rows.dropped) == (1, 1)
    assert sorted(row["event_id"] for row in rows(sink, "events")) == [event_id(1), event_id(2)]


def test_options_that_do_not_exist(tmp_path: Path) -> None:
    sink, registry = pipeline(tmp_path), write_registry(tmp_path)
    with pytest.raises(UsageError, match="option dedup: there is no 'some'"):
        load(sink, tmp_path, EVENTS, registry, layout="model", dedup="some")
    with pytest.raises(UsageError, match="option dedup_store is for option dedup, which is none"):
        load(sink, tmp_path, EVENTS, registry, layout="model", dedup_store="x.db")


def test_r85_stores_tell_copies_from_events_of_a_run_that_is_repeated(
    tmp_path: Path, postgres: Server, database: str
) -> None:
    stores: list[EventStore] = [
        open_event_store(f"{tmp_path}/events.db"),
        open_event_store(postgres.url(database)),
    ]
    for store in stores:
        arrivals = [Arrival("a/1", event_id(1), "f"), Arrival("a/2", event_id(2), "\x00")]
        assert store.claim(arrivals, "first") == set()
        assert store.claim(arrivals, "first") == set()
        assert store.claim([*arrivals, Arrival("b/3", event_id(1), "g")], "second") == {"a/1", "a/2"}
        assert store.claim([Arrival("b/3", event_id(1), "g")], "second") == set()
    with pytest.raises(DestinationError, match="the store of events cannot be used"):
        open_event_store("postgresql://nobody@127.0.0.1:1/none").claim([], "first")
    with pytest.raises(DestinationError, match="the store of events cannot be used"):
        open_event_store(f"{tmp_path}/no/such/events.db").claim([], "first")

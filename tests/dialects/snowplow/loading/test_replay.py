"""Events that failed, in a table beside events, and loaded once their schemas are there or mended."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest

import trellis
from dialects.snowplow.enriched import (
    VESSEL_CALL,
    enriched_line,
    event_id,
    vessel_call,
    write_registry,
    write_run,
)
from dialects.snowplow.families import document, text
from dialects.snowplow.loading.runs import REPLAY_INLINE, TABLE, columns, load, loader, rows, shred
from trellis.dialects.snowplow.commands.tables import open_replayer
from trellis.dialects.snowplow.runs.loading.replay import ReplayReport
from trellis.dialects.snowplow.runs.warehouses.base import RunWarehouse
from trellis.dialects.snowplow.runs.warehouses.locator import open_warehouse
from trellis.dialects.snowplow.runs.warehouses.sql import SqlWarehouse
from trellis.errors import UsageError

FAILED = "SELECT number, reason, schema, pointer FROM atomic.failed_events ORDER BY number"


def replay(warehouse: RunWarehouse, registry: str, reason: str = "", schema: str = "") -> ReplayReport:
    replayer = open_replayer(loader(warehouse, registry), registry, REPLAY_INLINE)
    return replayer.replay(reason, schema)


def test_failed_events_are_rows_with_reason_schema_and_pointer(
    warehouse: SqlWarehouse, tmp_path: Path
) -> None:
    registry = write_registry(tmp_path, "1-0-0")
    lines = [
        enriched_line(1, vessel_call("1-0-0", berth="A")),
        "no event",
        enriched_line(2, vessel_call("1-1-0", berth="B", draughtM=1)),
        enriched_line(3, vessel_call("1-0-0", berth="x" * 13), page_url="u" * 5000),
    ]
    run = shred(tmp_path, warehouse, registry, lines)
    report = load(warehouse, registry, run)
    assert (report.rows, report.failed) == ({TABLE: 1, "events": 1}, 3)
    assert warehouse.execute(FAILED) == [
        (1, "loader_iglu_error", f"{VESSEL_CALL}1-1-0", None),
        (2, "loader_parsing_error", None, None),
        (3, "schema_violations", f"{VESSEL_CALL}1-0-0", "/berth"),
    ]
    kept = warehouse.execute(
        "SELECT base, line, message, replayed_at FROM atomic.failed_events WHERE number = 3"
    )
    [(base, line, message, replayed_at)] = kept
    assert (base, line, replayed_at) == (f"{run}/", lines[3], None)
    assert message.startswith(f"{VESSEL_CALL}1-0-0: /berth maxLength: ")


def test_a_value_that_its_type_does_not_take_is_named_by_its_place(
    warehouse: SqlWarehouse, tmp_path: Path
) -> None:
    registry = write_registry(tmp_path, documents=[document("1-0-0", {"draft size": {"type": "integer"}})])
    line = enriched_line(1, vessel_call("1-0-0", **{"draft size": 2**63}))
    load(warehouse, registry, shred(tmp_path, warehouse, registry, [line], format="parquet"))
    assert warehouse.execute("SELECT reason, schema, pointer, message FROM atomic.failed_events") == [
        (
            "loader_runtime_error",
            f"{VESSEL_CALL}1-0-0",
            "/draft size",
            f"{VESSEL_CALL}1-0-0: /draft size type: '9223372036854775808' is not an integer of 64 bits",
        )
    ]


def test_events_are_replayed_once_their_schema_is_published(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path, "1-0-0")
    lines = [
        enriched_line(1, vessel_call("1-0-0", berth="A")),
        enriched_line(2, vessel_call("1-1-0", berth="B", draughtM=1.5)),
        enriched_line(3, vessel_call("1-1-0", berth="C" * 13)),
    ]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    registry = write_registry(tmp_path)
    report = replay(warehouse, registry)
    assert (report.tried, report.loaded, dict(report.failed)) == (2, 1, {"schema_violations": 1})
    assert columns(warehouse) == ["berth", "arrived_at", "draught_m"]
    assert warehouse.execute(f"SELECT berth, draught_m FROM atomic.{TABLE} ORDER BY 1") == [
        ("A", None),
        ("B", 1.5),
    ]
    assert warehouse.execute("SELECT count(*) FROM atomic.events") == [(2,)]
    assert warehouse.execute(FAILED) == [
        (1, "loader_iglu_error", f"{VESSEL_CALL}1-1-0", None),
        (2, "schema_violations", f"{VESSEL_CALL}1-1-0", "/berth"),
    ]
    done = warehouse.execute("SELECT replayed_at IS NULL FROM atomic.failed_events ORDER BY number")
    assert done == [(False,), (True,)]
    again = replay(warehouse, registry)
    assert (again.tried, again.loaded) == (1, 0)
    assert warehouse.execute("SELECT count(*) FROM atomic.events") == [(2,)]


def test_events_are_replayed_once_their_schema_is_mended(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path, documents=[document("1-0-0", {"agent": text(2)})])
    line = enriched_line(1, vessel_call("1-0-0", agent="long"))
    load(warehouse, registry, shred(tmp_path, warehouse, registry, [line, line]))
    registry = write_registry(tmp_path, documents=[document("1-0-0", {"agent": text(4)})])
    report = replay(warehouse, registry, "schema_violations", f"{VESSEL_CALL}1-0-0")
    assert (report.tried, report.loaded) == (2, 2)
    assert warehouse.execute(f"SELECT agent FROM atomic.{TABLE}") == [("long",), ("long",)]
    assert replay(warehouse, registry).tried == 0


def test_only_events_of_a_reason_are_replayed(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path, "1-0-0")
    lines = ["no event", enriched_line(2, vessel_call("1-1-0", berth="B"))]
    run = shred(tmp_path, warehouse, registry, lines)
    load(warehouse, registry, run)
    registry = write_registry(tmp_path)
    assert replay(warehouse, registry, "loader_parsing_error").to_dict() == {
        "tried": 1,
        "loaded": 0,
        "failed": {"loader_parsing_error": 1},
        "tables": [],
        "statements": [],
    }
    assert warehouse.execute("SELECT base, count_good FROM atomic.manifest") == [(f"{run}/", 0)]
    assert replay(warehouse, registry, schema=f"{VESSEL_CALL}1-1-0").loaded == 1


def test_events_that_trellis_load_rejected_are_replayed_once(any_url: str, tmp_path: Path) -> None:
    lines = [
        enriched_line(1, vessel_call("1-0-0", berth="A")),
        enriched_line(2, vessel_call("1-1-0", berth="B", draughtM=1.5)),
        "no event",
    ]
    sink = trellis.pipeline("shop", any_url, dataset="atomic", dialect="snowplow", engine="inline")
    registry = write_registry(tmp_path, "1-0-0")
    report = sink.load(str(write_run(tmp_path, lines)), schema=registry, max_rejected="100%")
    assert (report.rows.loaded, report.rows.rejected) == (1, 2)
    registry = write_registry(tmp_path)
    warehouse = open_warehouse(any_url)
    for tried, loaded in ((2, 1), (1, 0)):
        replayed = replay(warehouse, registry)
        assert (replayed.tried, replayed.loaded) == (tried, loaded)
    assert rows(warehouse, "failed_events", "number", "reason", "schema") == [
        (1, "loader_iglu_error", f"{VESSEL_CALL}1-1-0"),
        (2, "loader_parsing_error", None),
    ]
    assert rows(warehouse, TABLE, "berth", "draught_m") == [("A", None), ("B", 1.5)]
    assert rows(warehouse, "events", "event_id") == [(event_id(1),), (event_id(2),)]
    warehouse.close()


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
def test_two_replays_at_once_load_events_once(url: str, warehouse: SqlWarehouse, tmp_path: Path) -> None:
    """DuckDB lets one process alone open its file."""
    registry = write_registry(tmp_path, "1-0-0")
    lines = [enriched_line(number, vessel_call("1-1-0", berth="B")) for number in range(5)]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    registry = write_registry(tmp_path)
    refusals: list[str] = []

    def run() -> None:
        other = open_warehouse(url)
        assert isinstance(other, SqlWarehouse)
        try:
            replay(other, registry)
        except UsageError as error:
            refusals.append(str(error))
        finally:
            other.close()

    threads = [Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warehouse.execute("SELECT count(*) FROM atomic.events") == [(5,)]
    assert all("another replay loaded some of these events meanwhile" in refusal for refusal in refusals)

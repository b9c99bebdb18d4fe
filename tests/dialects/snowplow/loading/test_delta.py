"""Runs into Delta tables: one commit for each table, the manifest last."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialects.snowplow.enriched import VESSEL_CALL, enriched_line, event_id, vessel_call, write_registry
from dialects.snowplow.families import document
from dialects.snowplow.loading.runs import REPLAY_INLINE, TABLE, load, loader, rows, shred
from trellis.destinations.lake.delta import DeltaStore
from trellis.dialects.snowplow.commands.tables import open_replayer
from trellis.dialects.snowplow.runs.loading.replay import ReplayReport
from trellis.dialects.snowplow.runs.loading.retries import Retries
from trellis.dialects.snowplow.runs.warehouses.delta import DeltaCommit, DeltaWarehouse
from trellis.errors import DestinationError

pytest.importorskip("deltalake")


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[DeltaWarehouse]:
    warehouse = DeltaWarehouse(str(tmp_path / "lake"))
    yield warehouse
    warehouse.close()


def test_columns_are_widened_and_older_rows_stay(warehouse: DeltaWarehouse, tmp_path: Path) -> None:
    small, large = ({"type": "integer", "maximum": limit} for limit in (10, 40_000))
    registry = write_registry(tmp_path, documents=[document("1-0-0", {"a": small}, ["a"])])
    load(
        warehouse,
        registry,
        shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", a=7))]),
    )
    registry = write_registry(
        tmp_path, documents=[document("1-0-0", {"a": small}, ["a"]), document("1-0-1", {"a": large})]
    )
    lines = [enriched_line(2, vessel_call("1-0-1", a=40_000)), enriched_line(3, vessel_call("1-0-1"))]
    report = load(warehouse, registry, shred(tmp_path, warehouse, registry, lines), verification="definition")
    assert [*report.statements][:2] == [
        f"ALTER TABLE atomic.{TABLE} ALTER COLUMN `a` TYPE INT",
        f"ALTER TABLE atomic.{TABLE} ALTER COLUMN `a` DROP NOT NULL",
    ]
    assert rows(warehouse, TABLE, "a") == [(40_000,), (7,), (None,)]


def test_values_that_do_not_fit_and_failed_events_are_kept_beside(
    warehouse: DeltaWarehouse, tmp_path: Path
) -> None:
    registry = write_registry(tmp_path)
    lines = [enriched_line(1, vessel_call("1-2-1", berth="K7", tugCount="many")), "no event"]
    run = shred(tmp_path, warehouse, registry, lines, settings={"validate": "false"})
    report = load(warehouse, registry, run)
    assert (report.discards, report.failed) == (1, 1)
    assert rows(warehouse, "_trellis_discards", "column_name", "value", "row") == [
        ("tug_count", "many", event_id(1))
    ]
    assert rows(warehouse, "failed_events", "reason", "line") == [("loader_parsing_error", "no event")]
    assert rows(warehouse, "manifest", "base", "count_good") == [(f"{run}/", 1)]


@pytest.mark.parametrize("method", ["write_files", "create_table", "add_columns", "describe"])
def test_r91_b26_a_load_that_ends_between_two_tables_is_finished_once(
    warehouse: DeltaWarehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Whichever call to the tables is the last one."""
    first_registry = write_registry(tmp_path, "1-0-0")
    lines = [enriched_line(1, vessel_call("1-0-0", berth="A")), "no event"]
    load(warehouse, first_registry, shred(tmp_path, warehouse, first_registry, lines))
    registry = write_registry(tmp_path)
    lines = [enriched_line(2, vessel_call("1-2-1", berth="B")), "no event"]
    run = shred(tmp_path, warehouse, registry, lines)
    real = getattr(DeltaStore, method)
    for last in range(8):
        calls = 0

        def fail(store: DeltaStore, *arguments: Any, last: int = last, **options: Any) -> Any:
            nonlocal calls
            if calls == last:
                raise DestinationError("killed")
            calls += 1
            return real(store, *arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(DeltaStore, method, fail)
            try:
                load(warehouse, registry, run)
            except DestinationError:
                continue
        break
    assert load(warehouse, registry, run).state == "already loaded"
    assert rows(warehouse, TABLE, "berth") == [("A",), ("B",)]
    for table in ("events", "failed_events", "manifest"):
        assert len(rows(warehouse, table, *warehouse.tables("atomic")[table].names[:1])) == 2
    assert warehouse.tables("atomic")[TABLE].comment == f"{VESSEL_CALL}1-2-1"


def test_b24_two_loaders_of_one_run_load_it_once(
    warehouse: DeltaWarehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = write_registry(tmp_path)
    run = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    other, write = DeltaWarehouse(warehouse.store.root), DeltaCommit.write

    def write_after_the_other(commit: DeltaCommit) -> None:
        monkeypatch.setattr(DeltaCommit, "write", write)
        assert load(other, registry, run).state == "loaded"
        write(commit)

    monkeypatch.setattr(DeltaCommit, "write", write_after_the_other)
    report = load(warehouse, registry, run, retries=Retries((0.0,), lambda _: None))
    assert (report.state, report.attempts) == ("already loaded", 2)
    assert rows(warehouse, TABLE, "berth") == [("A",)]
    assert rows(warehouse, "manifest", "count_good") == [(1,)]


def replay(warehouse: DeltaWarehouse, registry: str) -> ReplayReport:
    replayer = open_replayer(loader(warehouse, registry), registry, REPLAY_INLINE)
    return replayer.replay()


def failed_run(warehouse: DeltaWarehouse, folder: Path) -> str:
    """Load events that fail but for one; the registry under which one of the others is good."""
    registry = write_registry(folder, "1-0-0")
    lines = [
        enriched_line(1, vessel_call("1-0-0", berth="A")),
        enriched_line(2, vessel_call("1-1-0", berth="B", draughtM=1.5)),
        enriched_line(3, vessel_call("1-1-0", berth="C" * 13)),
    ]
    load(warehouse, registry, shred(folder, warehouse, registry, lines))
    return write_registry(folder)


def test_failed_events_are_replayed_once(warehouse: DeltaWarehouse, tmp_path: Path) -> None:
    registry = failed_run(warehouse, tmp_path)
    report = replay(warehouse, registry)
    assert (report.tried, report.loaded, dict(report.failed)) == (2, 1, {"schema_violations": 1})
    assert rows(warehouse, TABLE, "berth", "draught_m") == [("A", None), ("B", 1.5)]
    names = ("number", "reason", "pointer", "schema")
    assert rows(warehouse, "failed_events", *names) == [
        (1, "loader_iglu_error", None, f"{VESSEL_CALL}1-1-0"),
        (2, "schema_violations", "/berth", f"{VESSEL_CALL}1-1-0"),
    ]
    times = rows(warehouse, "failed_events", "number", "replayed_at")
    assert [time is None for _, time in times] == [False, True]
    again = replay(warehouse, registry)
    assert (again.tried, again.loaded) == (1, 0)
    assert len(rows(warehouse, "events", "event_id")) == 2


@pytest.mark.parametrize("method", ["write_files", "create_table", "add_columns", "describe", "update_rows"])
def test_a_replay_that_ends_between_two_tables_is_finished_once(
    warehouse: DeltaWarehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Whichever call to the tables is the last one."""
    registry = failed_run(warehouse, tmp_path)
    real = getattr(DeltaStore, method)
    for last in range(8):
        calls = 0

        def fail(store: DeltaStore, *arguments: Any, last: int = last, **options: Any) -> Any:
            nonlocal calls
            if calls == last:
                raise DestinationError("killed")
            calls += 1
            return real(store, *arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(DeltaStore, method, fail)
            try:
                replay(warehouse, registry)
            except DestinationError:
                continue
        break
    replay(warehouse, registry)
    assert rows(warehouse, TABLE, "berth") == [("A",), ("B",)]
    assert len(rows(warehouse, "events", "event_id")) == 2
    assert [number for number, time in rows(warehouse, "failed_events", "number", "replayed_at") if time] == [
        1
    ]

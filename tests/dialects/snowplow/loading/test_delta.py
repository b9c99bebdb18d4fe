"""Runs into Delta tables: one commit for each table, the manifest last."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialects.snowplow.enriched import (
    ORDER,
    VESSEL_CALL,
    enriched_line,
    event_id,
    vessel_call,
    write_registry,
)
from dialects.snowplow.families import document, text
from dialects.snowplow.loading.runs import DATA, TABLE, columns, load, loader, shred
from trellis.destinations.lake.delta import DeltaStore
from trellis.destinations.lake.store import TableName
from trellis.dialects.snowplow.commands.tables import open_replayer
from trellis.dialects.snowplow.runs.loading.inspection import TableInspector
from trellis.dialects.snowplow.runs.loading.replay import ReplayReport
from trellis.dialects.snowplow.runs.loading.retries import Retries
from trellis.dialects.snowplow.runs.warehouses.delta import DeltaCommit, DeltaWarehouse
from trellis.errors import DestinationError, SchemaError

pytest.importorskip("deltalake")


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[DeltaWarehouse]:
    warehouse = DeltaWarehouse(str(tmp_path / "lake"))
    yield warehouse
    warehouse.close()


def rows(warehouse: DeltaWarehouse, table: str, *names: str) -> list[tuple[Any, ...]]:
    scanned = warehouse.store.scan(TableName("atomic", table), list(names)).read_all().to_pylist()
    return sorted((tuple(row[name] for name in names) for row in scanned), key=str)


@pytest.mark.parametrize("format", ["csv", "parquet", "orc"])
def test_seed_s50_tables_grow_with_each_run(warehouse: DeltaWarehouse, tmp_path: Path, format: str) -> None:
    versions = ORDER.split()
    for number, version in enumerate(versions):
        registry = write_registry(tmp_path, " ".join(versions[: number + 1]))
        line = enriched_line(number, vessel_call(version, berth=version, **DATA[version]), app_id="web")
        report = load(warehouse, registry, shred(tmp_path, warehouse, registry, [line], format=format))
        assert (report.state, report.rows) == ("loaded", {TABLE: 1, "events": 1})
        assert warehouse.tables("atomic")[TABLE].comment == f"{VESSEL_CALL}{version}"
    assert columns(warehouse) == ["berth", "arrived_at", "draught_m", "agent", "pilot", "cargo", "tug_count"]
    assert rows(warehouse, TABLE, "berth", "draught_m", "agent", "pilot", "cargo", "tug_count") == [
        ("1-0-0", None, None, None, None, None),
        ("1-0-1", None, None, None, "\\N", None),
        ("1-1-0", 1.5, None, None, None, None),
        ("1-2-0", None, "a\\N", True, None, None),
        ("1-2-1", None, None, None, None, 2),
    ]
    times = {berth: str(time) for berth, time in rows(warehouse, TABLE, "berth", "arrived_at")}
    assert times["1-0-0"] == "2024-03-09 03:06:07+00:00"
    assert rows(warehouse, "events", "event_id", "app_id")[0] == (event_id(0), "web")
    assert None not in rows(warehouse, "events", "load_tstamp")
    older = tmp_path / "out/run=2031-04-05-00-00-00"
    assert load(warehouse, registry, older).state == "already loaded"
    inspector = TableInspector(warehouse, loader(warehouse, registry).registry, "atomic")
    assert [(status.table, status.state) for status in inspector.inspect()] == [(TABLE, "current")]


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


def test_seed_s63_a_run_that_is_refused_changes_nothing(warehouse: DeltaWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path, documents=[document("1-0-0", {"berth": text(12)})])
    run = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    write_registry(tmp_path, documents=[document("1-0-0", {"berth": {"type": "integer"}})])
    with pytest.raises(SchemaError, match="was patched since the run was shredded"):
        load(warehouse, registry, run)
    assert warehouse.tables("atomic") == {}


@pytest.mark.parametrize("method", ["write_files", "create_table", "add_columns", "describe"])
def test_r91_a_load_that_ends_between_two_tables_is_finished_once(
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


def test_two_loaders_of_one_run_load_it_once(
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
    replayer = open_replayer(loader(warehouse, registry), registry, None, ("inline", None, None))
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

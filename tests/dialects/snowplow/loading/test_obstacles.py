"""What stands in the way of a load: runs that are not whole, rights, locks, other loaders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from threading import Thread

import psycopg
import pytest

from destinations.postgres_server import Server
from dialects.snowplow.enriched import enriched_line, vessel_call, write_registry
from dialects.snowplow.families import document, text
from dialects.snowplow.loading.runs import TABLE, columns, load, loader, shred
from dialects.snowplow.shredder.test_wide import load as load_wide
from dialects.snowplow.shredder.test_wide import pipeline as wide_pipeline
from trellis.dialects.snowplow.runs.loading.loader import RunReport
from trellis.dialects.snowplow.runs.loading.retries import Retries
from trellis.dialects.snowplow.runs.manifest import COMPLETION_FILE, FAMILIES_FILE
from trellis.dialects.snowplow.runs.warehouses.base import RunWarehouse, WarehouseUnavailable
from trellis.dialects.snowplow.runs.warehouses.duckdb import DuckDBWarehouse
from trellis.dialects.snowplow.runs.warehouses.locator import open_warehouse
from trellis.dialects.snowplow.runs.warehouses.postgres import PostgresWarehouse
from trellis.dialects.snowplow.runs.warehouses.sql import SqlWarehouse
from trellis.errors import DestinationError, SchemaError, UsageError


@pytest.fixture
def registry(tmp_path: Path) -> str:
    return write_registry(tmp_path)


@pytest.fixture
def run(tmp_path: Path, warehouse: SqlWarehouse, registry: str) -> Path:
    lines = [enriched_line(number, vessel_call("1-0-0", berth="A")) for number in range(3)]
    return shred(tmp_path, warehouse, registry, lines)


def test_a_folder_without_runs(warehouse: SqlWarehouse, registry: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no runs here; expected folders such as run=2031-04-05-06-00-00"):
        loader(warehouse, registry).load(str(tmp_path / "empty"))
    for name in ("nothing", "run=2031-04-05-06-00-00"):
        with pytest.raises(UsageError, match=f"{name}: there is no such folder; expected a run, or a folder"):
            loader(warehouse, registry).load(str(tmp_path / name))


def test_b18_a_run_under_another_name_is_the_same_run(
    warehouse: SqlWarehouse, registry: str, run: Path
) -> None:
    load(warehouse, registry, run)
    copy = run.with_name("run=2099-01-01-00-00-00")
    shutil.copytree(run, copy)
    assert load(warehouse, registry, copy).state == "already loaded"
    assert warehouse.execute("SELECT count(*) FROM atomic.events") == [(3,)]


def test_files_that_were_cut_or_deleted_stop_the_load(
    warehouse: SqlWarehouse, registry: str, run: Path
) -> None:
    [file] = (run / "vendor=org.harbor/name=vessel_call/model=1").glob("part-*")
    lines = file.read_text().splitlines(keepends=True)
    for kept in (2, 0):
        file.write_text("".join(lines[:kept]))
        with pytest.raises(
            SchemaError, match=f"model=1: {kept} rows, and the manifest says 3; the files were"
        ):
            load(warehouse, registry, run)
    file.unlink()
    with pytest.raises(SchemaError, match="model=1: 0 rows, and the manifest says 3"):
        load(warehouse, registry, run)
    assert "events" not in warehouse.tables("atomic")


@pytest.mark.parametrize("format", ["csv", "parquet", "orc"])
@pytest.mark.parametrize("content", [b"no\tline of a table\n", b"\xff\x00\xfe" * 40])
def test_files_that_were_overwritten_stop_the_load(
    any_warehouse: RunWarehouse, tmp_path: Path, format: str, content: bytes
) -> None:
    registry = write_registry(tmp_path)
    lines = [enriched_line(1, vessel_call("1-0-0", berth="A"))]
    run = shred(tmp_path, any_warehouse, registry, lines, format=format)
    [file] = (run / "vendor=org.harbor/name=vessel_call/model=1").glob("part-*")
    file.write_bytes(content)
    with pytest.raises(SchemaError) as refusal:
        load(any_warehouse, registry, run)
    assert str(refusal.value).startswith(f"{file.parent}")
    assert "cannot be read (" in str(refusal.value)
    assert str(refusal.value).endswith("; it was changed after the run was shredded, shred the run again")
    assert "events" not in any_warehouse.tables("atomic")


def test_files_of_failed_events_that_were_cut_or_deleted_stop_the_load(
    warehouse: SqlWarehouse, registry: str, tmp_path: Path
) -> None:
    run = shred(tmp_path, warehouse, registry, [enriched_line(1), "no event", "nor this"])
    [file] = run.glob("output=bad/*/name=loader_parsing_error/part-*")
    content = file.read_bytes()
    for kept, reason in (
        (content[:-10], f"{file}:2: not an event that failed; the file was changed after it was shredded"),
        (content[: content.index(b"\n") + 1], f"{file.parents[1]}: 1 rows, and the manifest says 2"),
        (b"", f"{file.parents[1]}: 0 rows, and the manifest says 2"),
    ):
        file.write_bytes(kept)
        with pytest.raises(SchemaError) as refusal:
            load(warehouse, registry, run)
        assert str(refusal.value).startswith(f"{reason}")
        assert str(refusal.value).endswith(", shred the run again")
    assert warehouse.tables("atomic") == {}


@pytest.mark.parametrize("file", [COMPLETION_FILE, FAMILIES_FILE])
def test_manifests_that_are_none(warehouse: SqlWarehouse, registry: str, run: Path, file: str) -> None:
    right = (run / file).read_text()
    for content, reason in (
        ("{broken", "not JSON"),
        ("[]", "a JSON object is expected"),
        ("{}", "not those of a"),
        (right.replace(": 3", ': "three"'), "not those of a"),
    ):
        (run / file).write_text(content)
        with pytest.raises(SchemaError, match=reason):
            load(warehouse, registry, run)


def test_a_run_for_another_warehouse_is_refused(tmp_path: Path, registry: str) -> None:
    """The table of a version that does not fit in Redshift would be absent in DuckDB."""
    warehouse = DuckDBWarehouse(str(tmp_path / "shop.duckdb"))
    document = json.loads(Path(registry, "org.harbor/vessel_call/jsonschema/1-2-1").read_text())
    document["properties"]["tugCount"]["maximum"] = 40_000
    document["self"]["version"] = "1-2-2"
    folder = Path(registry, "org.harbor/vessel_call/jsonschema")
    (folder / "1-2-2").write_text(json.dumps(document))
    listed = json.loads((folder / "1").read_text())
    (folder / "1").write_text(json.dumps([*listed, listed[-1].replace("1-2-1", "1-2-2")]))
    lines = [enriched_line(1, vessel_call("1-2-2", berth="A", tugCount=30_000))]
    run = shred(tmp_path, warehouse, registry, lines, profile="redshift")
    with pytest.raises(
        SchemaError, match=r"in duckdb iglu:\S+/1-2-2 makes no such table; shred the run again"
    ):
        load(warehouse, registry, run)


@pytest.mark.parametrize("place", ["duckdb:shop.duckdb", "delta:lake"])
def test_a_dataset_of_wide_rows_is_refused(tmp_path: Path, registry: str, place: str) -> None:
    lines = [enriched_line(number, vessel_call("1-0-0", berth="A")) for number in range(2)]
    load_wide(wide_pipeline(tmp_path, place), tmp_path, lines[:1], registry)
    kind, _, path = place.partition(":")
    warehouse = open_warehouse(f"{kind}:{tmp_path / path}")
    run = shred(tmp_path, warehouse, registry, lines[1:])
    with pytest.raises(SchemaError) as refusal:
        load(warehouse, registry, run)
    assert str(refusal.value) == (
        f"events: its rows are wide, with columns such as unstruct_event_{TABLE}, and the run has a table "
        "for each schema; load its events with `trellis load --option layout=wide`, or the run into another "
        "dataset"
    )
    assert TABLE not in warehouse.tables("atomic")
    warehouse.close()


def test_an_overlay_that_is_stored_after_a_run_was_shredded(
    warehouse: SqlWarehouse, registry: str, run: Path
) -> None:
    """As `adopt` does."""
    overlay = {"/berth": {"column": "dock", "position": 2}}
    Path(registry, "org.harbor/vessel_call/jsonschema/1.overlay.json").write_text(json.dumps(overlay))
    load(warehouse, registry, run)
    assert columns(warehouse) == ["arrived_at", "dock"]
    assert warehouse.execute(f"SELECT DISTINCT dock FROM atomic.{TABLE}") == [("A",)]


def test_b10_names_of_properties_that_programs_stumble_over(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    keys = ["__proto__", "a.b", "constructor", "select", "日本"]
    registry = write_registry(tmp_path, documents=[document("1-0-0", dict.fromkeys(keys, text(20)))])
    line = enriched_line(1, vessel_call("1-0-0", **{key: key for key in keys}))
    load(warehouse, registry, shred(tmp_path, warehouse, registry, [line]))
    assert columns(warehouse) == keys
    names = ", ".join(f'"{key}"' for key in keys)
    assert warehouse.execute(f"SELECT {names} FROM atomic.{TABLE}") == [tuple(keys)]


def test_b09_a_schema_of_3000_properties(warehouse: SqlWarehouse, tmp_path: Path) -> None:
    """PostgreSQL has no table for it."""
    properties = {f"p{number}": {"type": "integer"} for number in range(3_000)}
    registry = write_registry(tmp_path, documents=[document("1-0-0", properties)])
    run = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", p7=1, p2999=2))])
    if warehouse.profile.name == "postgres":
        with pytest.raises(DestinationError) as refusal:
            load(warehouse, registry, run)
        assert str(refusal.value) == (
            f"{warehouse.shown}: PostgreSQL refused: tables can have at most 1600 columns"
        )
        assert warehouse.tables("atomic") == {}
        return
    assert load(warehouse, registry, run).rows == {TABLE: 1, "events": 1}
    assert warehouse.execute(f"SELECT p7, p2999, p1 FROM atomic.{TABLE}") == [(1, 2, None)]


postgres_alone = pytest.mark.parametrize("url", ["postgres"], indirect=True)


@postgres_alone
def test_b21_a_user_without_create_is_told_at_once(
    url: str, warehouse: SqlWarehouse, registry: str, run: Path, postgres: Server, database: str
) -> None:
    name = f"reader_{database}"
    postgres.run(f"CREATE ROLE {name} LOGIN PASSWORD 'x'")
    reader = PostgresWarehouse(postgres.url(database, user=name, password="x"))
    waits: list[float] = []
    with pytest.raises(DestinationError) as refusal:
        load(reader, registry, run, retries=Retries((30.0,), waits.append))
    assert str(refusal.value) == (
        f"{reader.shown}: PostgreSQL refused: permission denied for database {database}; grant this user the "
        "right, or load as a user who has it"
    )
    assert (waits, isinstance(refusal.value, WarehouseUnavailable)) == ([], False)
    reader.close()


@postgres_alone
def test_b21_a_user_who_may_create_tables_but_no_schemas_loads_into_one_that_is_there(
    url: str, warehouse: SqlWarehouse, registry: str, run: Path, postgres: Server, database: str
) -> None:
    name = f"loader_{database}"
    postgres.run(f"CREATE ROLE {name} LOGIN PASSWORD 'x'")
    warehouse.execute(f"CREATE SCHEMA atomic AUTHORIZATION {name}")
    other = PostgresWarehouse(postgres.url(database, user=name, password="x"))
    assert load(other, registry, run).rows == {TABLE: 3, "events": 3}
    other.close()


@postgres_alone
def test_b22_a_locked_table_is_waited_for(
    url: str, warehouse: SqlWarehouse, registry: str, run: Path
) -> None:
    load(warehouse, registry, run)
    second = run.with_name("run=2099-01-01-00-00-00")
    shutil.copytree(run, second)
    manifest = (second / COMPLETION_FILE).read_text()
    (second / COMPLETION_FILE).write_text(manifest.replace(run.name, second.name))
    impatient = PostgresWarehouse(url, lock_wait=2.0, watch_pause=0.1)
    waits: list[float] = []
    with psycopg.connect(url) as other:
        other.execute(f"LOCK TABLE atomic.{TABLE}".encode())

        def release(pause: float) -> None:
            waits.append(pause)
            other.rollback()

        sentence = r"the load waits for a lock that session \d+ \(user trellis\) holds; it goes on when"
        with pytest.warns(UserWarning, match=sentence):
            report = load(impatient, registry, second, retries=Retries((30.0,), release))
    assert (report.state, report.attempts, waits) == ("loaded", 2, [30.0])
    impatient.close()


@postgres_alone
def test_a_server_that_restarts_is_tried_again(
    url: str, warehouse: SqlWarehouse, registry: str, run: Path, postgres: Server, database: str
) -> None:
    """Here only the connection is ended, as a restart does."""
    postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")
    report = load(warehouse, registry, run, retries=Retries((0.0,), lambda _: None))
    assert (report.state, report.attempts) == ("loaded", 2)


@postgres_alone
def test_b24_loaders_of_one_run_at_once_load_it_once(
    url: str, warehouse: SqlWarehouse, registry: str, run: Path
) -> None:
    reports: list[RunReport] = []

    def load_run() -> None:
        other = PostgresWarehouse(url)
        reports.append(load(other, registry, run))
        other.close()

    threads = [Thread(target=load_run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(report.state for report in reports) == ["already loaded"] * 3 + ["loaded"]
    assert warehouse.execute("SELECT count(*) FROM atomic.events") == [(3,)]


def test_a_file_that_another_process_holds_is_tried_again(tmp_path: Path) -> None:
    """A file that is no database stands for one that is locked: DuckDB opens neither."""
    (tmp_path / "shop.duckdb").write_text("locked")
    waits: list[float] = []

    def release(pause: float) -> None:
        waits.append(pause)
        (tmp_path / "shop.duckdb").unlink()

    opened = Retries((30.0,), release).run(lambda _: DuckDBWarehouse(str(tmp_path / "shop.duckdb")))
    assert (opened.tables("atomic"), waits) == ({}, [30.0])
    opened.close()

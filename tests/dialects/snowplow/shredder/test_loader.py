"""Run folders loaded into DuckDB and PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from destinations.postgres_server import database, postgres
from dialects.snowplow.enriched import (
    ORDER,
    VESSEL_CALL,
    enriched_line,
    event_id,
    vessel_call,
    write_registry,
    write_run,
)
from dialects.snowplow.families import document, text
from trellis.dialects.snowplow.client.locator import open_registry
from trellis.dialects.snowplow.client.references import RegistryReferences
from trellis.dialects.snowplow.runs.loader import RunLoader, RunReport
from trellis.dialects.snowplow.runs.manifest import COMPLETION_FILE, FAMILIES_FILE
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.dialects.snowplow.runs.warehouse import RunWarehouse, open_warehouse
from trellis.engine.runner import InlineRunner
from trellis.errors import DestinationError, SchemaError

__all__ = ["database", "postgres"]

TABLE = "org_harbor_vessel_call_1"
DATA: dict[str, dict[str, Any]] = {
    "1-0-0": {"arrivedAt": "2024-03-09T05:06:07+02:00"},
    "1-1-0": {"draughtM": 1.5},
    "1-2-0": {"pilot": True, "agent": "a\\N"},
    "1-0-1": {"cargo": "\\N"},
    "1-2-1": {"tugCount": 2},
}


@pytest.fixture(params=["duckdb", "postgres"])
def warehouse(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunWarehouse]:
    if request.param == "postgres":
        pytest.importorskip("psycopg")
        server = request.getfixturevalue("postgres")
        url = server.url(request.getfixturevalue("database"))
    else:
        url = f"duckdb:{tmp_path / 'shop.duckdb'}"
    opened = open_warehouse(url)
    yield opened
    opened.close()


def shred(folder: Path, warehouse: RunWarehouse, registry: str, lines: list[str], **options: Any) -> Path:
    """A run folder with these events."""
    number = len([*folder.glob("enriched-*")])
    source = folder / f"enriched-{number}"
    source.mkdir()
    run = write_run(source, lines, f"run=2031-04-05-{number:02}-00-00")
    references = RegistryReferences.open(registry)
    out = folder / "out"
    profile = warehouse.profile.name
    Shredder(out, references, InlineRunner(), profile=profile, **options).shred(str(run))
    return out / run.name


def load(warehouse: RunWarehouse, registry: str, run: Path) -> RunReport:
    [report] = RunLoader(warehouse, open_registry(registry), "atomic").load(str(run))
    return report


def columns(warehouse: RunWarehouse) -> list[str]:
    return [column.name for column in warehouse.columns("atomic", TABLE)][9:]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_s50_tables_grow_with_each_run(warehouse: RunWarehouse, tmp_path: Path, format: str) -> None:
    """The RFC's example end to end; the run of the first version is loaded last once more."""
    versions = ORDER.split()
    expected = {
        "1-0-0": ["berth", "arrived_at"],
        "1-1-0": ["draught_m"],
        "1-2-0": ["agent", "pilot"],
        "1-0-1": ["cargo"],
        "1-2-1": ["tug_count"],
    }
    names: list[str] = []
    for number, version in enumerate(versions):
        registry = write_registry(tmp_path, " ".join(versions[: number + 1]))
        line = enriched_line(number, vessel_call(version, berth=version, **DATA[version]), app_id="web")
        report = load(warehouse, registry, shred(tmp_path, warehouse, registry, [line], format=format))
        assert (report.state, report.rows) == ("loaded", {TABLE: 1, "events": 1})
        names += expected[version]
        assert columns(warehouse) == names
        assert warehouse.comment("atomic", TABLE) == f"{VESSEL_CALL}{version}"
    rows = warehouse.execute(
        "SELECT berth, CAST(arrived_at AS VARCHAR), draught_m, agent, pilot, cargo, tug_count "
        f"FROM atomic.{TABLE} ORDER BY root_id"
    )
    assert rows == [
        ("1-0-0", "2024-03-09 03:06:07", None, None, None, None, None),
        ("1-1-0", None, 1.5, None, None, None, None),
        ("1-2-0", None, None, "a\\N", True, None, None),
        ("1-0-1", None, None, None, None, "\\N", None),
        ("1-2-1", None, None, None, None, None, 2),
    ]
    assert warehouse.execute("SELECT count(*), min(app_id) FROM atomic.events") == [(5, "web")]
    assert warehouse.execute("SELECT count(*) FROM atomic.events WHERE load_tstamp IS NULL") == [(0,)]


def test_an_older_run_goes_into_a_newer_table(warehouse: RunWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    older = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", berth="old"))])
    newer = shred(tmp_path, warehouse, registry, [enriched_line(2, vessel_call("1-2-1", berth="new"))])
    load(warehouse, registry, newer)
    assert [*load(warehouse, registry, older).statements] == []
    assert warehouse.execute(f"SELECT berth, tug_count FROM atomic.{TABLE} ORDER BY 1") == [
        ("new", None),
        ("old", None),
    ]


def test_r86_what_was_published_since_the_run_does_not_widen_the_table(
    warehouse: RunWarehouse, tmp_path: Path
) -> None:
    """S-56, S-60."""
    registry = write_registry(tmp_path, "1-0-0 1-1-0 1-2-0")
    run = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-2-0", berth="A"))])
    write_registry(tmp_path)
    load(warehouse, registry, run)
    assert columns(warehouse) == ["berth", "arrived_at", "draught_m", "agent", "pilot"]


def test_r87_the_table_migrates_by_position_not_by_number(warehouse: RunWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    load(
        warehouse,
        registry,
        shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-2-0", berth="A"))]),
    )
    report = load(
        warehouse,
        registry,
        shred(tmp_path, warehouse, registry, [enriched_line(2, vessel_call("1-0-1", berth="B", cargo="c"))]),
    )
    assert [
        statement.partition(" ADD COLUMN ")[2] for statement in report.statements if " ADD " in statement
    ] == ['"cargo" VARCHAR' + ("(20)" if warehouse.profile.name == "postgres" else "")]


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        (None, "the table has no comment, so its version is not known; set it: COMMENT ON TABLE"),
        ("mine", "its comment is 'mine'; expected one of 1-0-0, 1-1-0, 1-2-0, 1-0-1, 1-2-1 of org.harbor"),
    ],
)
def test_r88_a_table_without_a_known_version_is_refused(
    warehouse: RunWarehouse, tmp_path: Path, comment: str | None, reason: str
) -> None:
    registry = write_registry(tmp_path)
    lines = [enriched_line(1, vessel_call("1-0-0", berth="A"))]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    text_of_comment = "NULL" if comment is None else f"'{comment}'"
    warehouse.execute(f"COMMENT ON TABLE atomic.{TABLE} IS {text_of_comment}")
    with pytest.raises(SchemaError, match=reason):
        load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))


def test_r89_a_table_without_one_of_its_columns_is_refused(warehouse: RunWarehouse, tmp_path: Path) -> None:
    """S-55, S-62: counts of columns are compared at each load."""
    registry = write_registry(tmp_path)
    lines = [enriched_line(1, vessel_call("1-2-1", berth="A"))]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    warehouse.execute(f"ALTER TABLE atomic.{TABLE} DROP COLUMN cargo")
    second = shred(tmp_path, warehouse, registry, lines)
    with pytest.raises(
        SchemaError, match=r"15 columns, 16 are expected by its comment .*: missing cargo; mend"
    ):
        load(warehouse, registry, second)
    assert warehouse.execute("SELECT count(*) FROM atomic.events") == [(1,)]


def test_r90_a_run_is_loaded_once(warehouse: RunWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    run = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    assert [load(warehouse, registry, run).state for _ in range(2)] == ["loaded", "already loaded"]
    assert warehouse.execute("SELECT count(*) FROM atomic.events") == [(1,)]
    assert warehouse.execute("SELECT base, count_good FROM atomic.manifest") == [(f"{run}/", 1)]


def test_r91_a_failed_load_leaves_nothing_and_goes_in_once_later(
    warehouse: RunWarehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = write_registry(tmp_path)
    run = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", berth="A"))])

    def fail(self: RunLoader, manifest: object) -> None:
        raise DestinationError("the server is gone")

    with monkeypatch.context() as patch, pytest.raises(DestinationError, match="the server is gone"):
        patch.setattr(RunLoader, "_record", fail)
        load(warehouse, registry, run)
    assert warehouse.columns("atomic", TABLE) == []
    assert load(warehouse, registry, run).state == "loaded"
    assert warehouse.execute(f"SELECT berth FROM atomic.{TABLE}") == [("A",)]


def test_r92_another_version_of_the_algorithm_is_refused(warehouse: RunWarehouse, tmp_path: Path) -> None:
    """S-73."""
    registry = write_registry(tmp_path)
    run = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", berth="A"))])
    families = json.loads((run / FAMILIES_FILE).read_text())
    (run / FAMILIES_FILE).write_text(json.dumps({**families, "algorithm": "0"}))
    with pytest.raises(
        SchemaError, match="shredded by version 0 of the algorithm, this loader has version 1"
    ):
        load(warehouse, registry, run)
    assert warehouse.columns("atomic", "events") == []


def test_r93_a_run_without_completion_file_is_incomplete(warehouse: RunWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    run = shred(tmp_path, warehouse, registry, [enriched_line(1)])
    (run / COMPLETION_FILE).unlink()
    assert load(warehouse, registry, run).state == "incomplete"
    assert warehouse.columns("atomic", "events") == []


def test_values_that_do_not_fit_are_kept_beside(warehouse: RunWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    data = {"tugCount": "many", "arrivedAt": "yesterday", "pilot": "maybe", "draughtM": "7,5"}
    line = enriched_line(1, vessel_call("1-2-1", berth="K7", **data))
    run = shred(tmp_path, warehouse, registry, [line], settings={"validate": "false"})
    assert load(warehouse, registry, run).discards == 4
    kept = warehouse.execute(
        "SELECT column_name, event_id, value, reason FROM atomic._trellis_discards ORDER BY 1"
    )
    assert [(name, value) for name, _, value, _ in kept] == [
        ("arrived_at", "yesterday"),
        ("draught_m", "7,5"),
        ("pilot", "maybe"),
        ("tug_count", "many"),
    ]
    assert {event for _, event, _, _ in kept} == {event_id(1)}
    assert kept[-1][-1] == "not convertible: text into SMALLINT"


def test_a_schema_that_was_patched_since_the_run_is_refused(warehouse: RunWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path, documents=[document("1-0-0", {"a": text(9)})])
    run = shred(tmp_path, warehouse, registry, [enriched_line(1, vessel_call("1-0-0", a="x"))])
    write_registry(tmp_path, documents=[document("1-0-0", {"a": {"type": "integer"}})])
    with pytest.raises(SchemaError, match=r"one of 1-0-0 of .* was patched since the run was shredded"):
        load(warehouse, registry, run)


def test_status_says_which_runs_are_loaded(warehouse: RunWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    runs = [shred(tmp_path, warehouse, registry, [enriched_line(number)]) for number in range(3)]
    load(warehouse, registry, runs[0])
    (runs[1] / COMPLETION_FILE).unlink()
    loader = RunLoader(warehouse, open_registry(registry), "atomic")
    assert [(report.run, report.state) for report in loader.status(str(tmp_path / "out"))] == [
        ("run=2031-04-05-00-00-00", "already loaded"),
        ("run=2031-04-05-01-00-00", "incomplete"),
        ("run=2031-04-05-02-00-00", "unloaded"),
    ]


def test_contexts_of_duplicates_need_no_registry(warehouse: RunWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    lines = [enriched_line(1, event_fingerprint=text) for text in "fg"]
    load(warehouse, registry, shred(tmp_path, warehouse, registry, lines))
    assert warehouse.execute(
        "SELECT original_event_id, count(*) FROM atomic.com_snowplowanalytics_snowplow_duplicate_1 "
        "JOIN atomic.events ON event_id = root_id GROUP BY 1"
    ) == [(event_id(1), 2)]

"""Loaded runs in an archive."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dialects.snowplow.enriched import enriched_line, vessel_call, write_registry
from dialects.snowplow.loading.runs import TABLE, load, loader, shred
from trellis.dialects.snowplow.runs.loading.archive import archive_runs
from trellis.dialects.snowplow.runs.manifest import COMPLETION_FILE
from trellis.dialects.snowplow.runs.warehouses.duckdb import DuckDBWarehouse
from trellis.errors import UsageError


@pytest.fixture
def warehouse(tmp_path: Path) -> DuckDBWarehouse:
    return DuckDBWarehouse(str(tmp_path / "shop.duckdb"))


def test_seed_s72_loaded_runs_move_and_load_again_elsewhere(
    warehouse: DuckDBWarehouse, tmp_path: Path
) -> None:
    registry = write_registry(tmp_path)
    runs = [
        shred(tmp_path, warehouse, registry, [enriched_line(number, vessel_call("1-0-0", berth="A"))])
        for number in range(3)
    ]
    load(warehouse, registry, runs[0])
    (runs[2] / COMPLETION_FILE).unlink()
    archive = tmp_path / "archive"
    moved = archive_runs(loader(warehouse, registry), str(tmp_path / "out"), archive)
    assert [(run.run[-8:], run.target) for run in moved] == [
        ("00-00-00", archive / runs[0].name),
        ("01-00-00", None),
        ("02-00-00", None),
    ]
    assert [run.exists() for run in runs] == [False, True, True]
    assert [run.state for run in loader(warehouse, registry).load(str(archive))] == ["already loaded"]
    other = DuckDBWarehouse(str(tmp_path / "other.duckdb"))
    assert load(other, registry, archive / runs[0].name).rows == {TABLE: 1, "events": 1}


def test_a_move_that_was_interrupted_is_finished(warehouse: DuckDBWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    run = shred(tmp_path, warehouse, registry, [enriched_line(1)])
    load(warehouse, registry, run)
    archive = tmp_path / "archive"
    (archive / f"{run.name}.part").mkdir(parents=True)
    shutil.copytree(run, archive / run.name)
    [archived] = archive_runs(loader(warehouse, registry), str(tmp_path / "out"), archive)
    assert (archived.target, run.exists()) == (archive / run.name, False)


def test_an_archive_is_not_moved_into_itself(warehouse: DuckDBWarehouse, tmp_path: Path) -> None:
    """The run is the one that is there, also where its folder has another path."""
    registry = write_registry(tmp_path)
    run = shred(tmp_path, warehouse, registry, [enriched_line(1)])
    load(warehouse, registry, run)
    (tmp_path / "link").symlink_to(tmp_path / "out")
    for archive in (tmp_path / "out", tmp_path / "link"):
        with pytest.raises(UsageError, match="it is in the archive already; name another folder with --into"):
            list(archive_runs(loader(warehouse, registry), str(tmp_path / "out"), archive))
    assert (run / COMPLETION_FILE).is_file()


def test_another_run_of_the_same_name_stays(warehouse: DuckDBWarehouse, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    run = shred(tmp_path, warehouse, registry, [enriched_line(1)])
    load(warehouse, registry, run)
    archive = tmp_path / "archive"
    shutil.copytree(run, archive / run.name)
    (archive / run.name / COMPLETION_FILE).write_text("{}")
    with pytest.raises(UsageError, match="another run of this name is archived; name another folder"):
        list(archive_runs(loader(warehouse, registry), str(tmp_path / "out"), archive))
    assert run.exists()

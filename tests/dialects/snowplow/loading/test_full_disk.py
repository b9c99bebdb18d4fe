"""A disk that is full: what stops says where, leaves the run as it was, and takes it once there is room.

For files a limit on their size stands for it, in a process of its own; for PostgreSQL the error that it has
for a full disk, which a trigger raises.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dialects.snowplow.enriched import enriched_line, event_id, vessel_call, write_registry, write_run
from dialects.snowplow.families import document
from dialects.snowplow.loading.runs import load, rows, shred_for
from trellis.dialects.snowplow.runs.loading.retries import Retries
from trellis.dialects.snowplow.runs.warehouses.base import WarehouseUnavailable
from trellis.dialects.snowplow.runs.warehouses.locator import open_warehouse
from trellis.dialects.snowplow.runs.warehouses.sql import SqlWarehouse
from trellis.errors import DestinationError

SRC = Path(__file__).parents[4] / "src"
RUN = "run=2031-04-05-00-00-00"
EVENTS = 200
LIMITED = """
import resource, runpy, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
runpy.run_module("trellis.cli", run_name="__main__")
"""


def run_limited(folder: Path, limit: int, *words: str) -> tuple[int, str]:
    """The exit code and the error of a command whose files may be this large."""
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit), "snowplow", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SRC), "TRELLIS_ENGINE": "inline"},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stderr


@pytest.fixture
def registry(tmp_path: Path) -> str:
    return write_registry(tmp_path, documents=[document("1-0-0", {"berth": {"type": "string"}})])


def enriched_lines(texts: Callable[[], str]) -> list[str]:
    return [enriched_line(number, vessel_call("1-0-0", berth=texts())) for number in range(EVENTS)]


def noise() -> str:
    """What cannot be packed."""
    return os.urandom(3_000).hex()


TOO_LARGE = "a file is larger than this process may write; raise the limit (ulimit -f) and load again; "
NO_ROOM = {
    "staged rows": "{folder}/out/.trellis/run%3D2031-04-05-00-00-00: the load could not be staged (Error "
    "writing bytes to file. Detail: [errno 27] File too large); free some space, or name another "
    "folder with --staging",
    "files": f"out/{RUN}: {TOO_LARGE}nothing was loaded",
    "duckdb:shop.duckdb": "shop.duckdb: DuckDB refused: TransactionContext Error: Failed to commit: Could "
    'not write file "{folder}/shop.duckdb.wal": File too large; make room for it and load again, nothing '
    "of the run was loaded",
    "delta:lake": f"delta:lake: {TOO_LARGE}nothing was loaded",
}


@pytest.mark.parametrize(
    ("texts", "files"), [(noise, "staged rows"), (lambda: "x" * 6_000, "files")], ids=["staged rows", "files"]
)
def test_b23_no_room_for_a_run_folder(
    tmp_path: Path, registry: str, texts: Callable[[], str], files: str
) -> None:
    write_run(tmp_path, enriched_lines(texts), RUN)
    words = ("shred", RUN, "--schema", registry, "--out", "out")
    expected = NO_ROOM[files].format(folder=tmp_path)
    assert run_limited(tmp_path, 500_000, *words) == (3, f"error: {expected}\n")
    assert [*tmp_path.glob("out/run=*")] == []
    assert run_limited(tmp_path, 50_000_000, *words) == (0, "")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [RUN]


@pytest.mark.parametrize("place", ["duckdb:shop.duckdb", "delta:lake"])
def test_b23_no_room_for_tables(tmp_path: Path, registry: str, place: str) -> None:
    profile = "duckdb" if place.startswith("duckdb") else "spark"
    run = shred_for(profile, tmp_path, registry, enriched_lines(noise))
    words = ("load", str(run), "--schema", registry, "--to", place)
    expected = NO_ROOM[place].format(folder=tmp_path)
    assert run_limited(tmp_path, 500_000, *words) == (3, f"error: {expected}\n")
    assert run_limited(tmp_path, 50_000_000, *words) == (0, "")
    kind, _, path = place.partition(":")
    warehouse = open_warehouse(f"{kind}:{tmp_path / path}")
    assert rows(warehouse, "events", "event_id") == [(event_id(number),) for number in range(EVENTS)]
    warehouse.close()


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
def test_b23_a_server_whose_disk_is_full_is_not_tried_again(
    url: str, warehouse: SqlWarehouse, tmp_path: Path, registry: str
) -> None:
    lines = [enriched_line(number, vessel_call("1-0-0", berth="A")) for number in range(2)]
    first, second = (shred_for("postgres", tmp_path, registry, [line]) for line in lines)
    load(warehouse, registry, first)
    warehouse.execute(
        "CREATE FUNCTION atomic.no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$"
    )
    warehouse.execute(
        "CREATE TRIGGER full_disk BEFORE INSERT ON atomic.events EXECUTE FUNCTION atomic.no_room()"
    )
    waits: list[float] = []
    with pytest.raises(DestinationError) as refusal:
        load(warehouse, registry, second, retries=Retries((30.0,), waits.append))
    assert str(refusal.value) == (
        f"{warehouse.shown}: PostgreSQL refused: could not extend file: No space left on device; make room "
        "there and load again, nothing of the run was loaded"
    )
    assert (waits, isinstance(refusal.value, WarehouseUnavailable)) == ([], False)
    assert rows(warehouse, "manifest", "base") == [(f"{first}/",)]
    warehouse.execute("DROP TRIGGER full_disk ON atomic.events")
    assert load(warehouse, registry, second).state == "loaded"
    assert rows(warehouse, "events", "event_id") == [(event_id(0),), (event_id(1),)]

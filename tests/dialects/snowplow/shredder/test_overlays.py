"""Overlays of the registry in loads and runs: columns as a table has them that was made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb

from dialects.snowplow.enriched import enriched_line, vessel_call, write_registry, write_run
from dialects.snowplow.families import document, text
from dialects.snowplow.shredder.test_shred import RUN, lines, shred
from dialects.snowplow.shredder.test_wide import load, pipeline
from trellis.dialects.snowplow.client.references import RegistryReferences
from trellis.dialects.snowplow.runs.manifest import RunManifest
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.engine.runner import InlineRunner

TABLE = "org_harbor_vessel_call_1"
OVERLAY = {
    "/berth": {"column": "dock", "type": "VARCHAR(64)", "encode": "LZO", "position": 2},
    "/cargo": {"column": "load"},
}


def write_overlay(registry: str) -> None:
    place = Path(registry, "org.harbor/vessel_call/jsonschema/1.overlay.json")
    place.write_text(json.dumps(OVERLAY))


def test_r100_a_load_follows_an_overlay(tmp_path: Path) -> None:
    """S-90, S-91: a table that was made by hand gets the rows, and the columns of later versions."""
    registry = write_registry(tmp_path)
    write_overlay(registry)
    metadata = ", ".join(f"schema_{part} VARCHAR" for part in ("vendor", "name", "format", "version"))
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("CREATE SCHEMA atomic")
        connection.execute(
            f"CREATE TABLE atomic.{TABLE} ({metadata}, root_id VARCHAR, root_tstamp TIMESTAMP, "
            "ref_root VARCHAR, ref_tree VARCHAR, ref_parent VARCHAR, arrived_at TIMESTAMP, dock VARCHAR)"
        )
    events = [
        enriched_line(1, vessel_call("1-0-0", berth="K7")),
        enriched_line(2, vessel_call("1-0-1", berth="K8", cargo="rye")),
    ]
    load(pipeline(tmp_path), tmp_path, events, registry, layout="model")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        names = connection.sql(f"SELECT name FROM pragma_table_info('atomic.{TABLE}')").fetchall()
        rows = connection.sql(f"SELECT dock, load FROM atomic.{TABLE} ORDER BY 1").fetchall()
    assert [name for (name,) in names][9:] == [
        *("arrived_at", "dock", "draught_m", "agent", "pilot", "load"),
    ]
    assert rows == [("K7", None), ("K8", "rye")]


def test_r100_files_of_a_run_follow_an_overlay(tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    write_overlay(registry)
    write_run(tmp_path, [enriched_line(1, vessel_call("1-0-1", berth="K8", cargo="rye"))])
    shred(tmp_path, registry)
    [table] = RunManifest.read(tmp_path / "out" / RUN).tables
    assert table.columns[9:] == ("arrived_at", "dock", "draught_m", "agent", "pilot", "load")
    path = tmp_path / "out" / RUN / "vendor=org.harbor/name=vessel_call/model=1/part-00000.txt"
    assert [row[9:] for row in lines(path)] == [[r"\N", "K8", r"\N", r"\N", r"\N", "rye"]]


def test_r100_files_of_versions_follow_an_overlay(tmp_path: Path) -> None:
    """Places are those of the table of the family, so the columns of a version keep their order."""
    registry = write_registry(tmp_path)
    write_overlay(registry)
    write_run(tmp_path, [enriched_line(1, vessel_call("1-0-1", berth="K8", cargo="rye"))])
    shred(tmp_path, registry, settings={"layout": "version"})
    [table] = RunManifest.read(tmp_path / "out" / RUN).tables
    assert table.columns[9:] == ("dock", "arrived_at", "load")
    path = tmp_path / "out" / RUN / table.path / "part-00000.txt"
    assert [row[9:] for row in lines(path)] == [["K8", r"\N", "rye"]]


def test_names_beyond_the_limit_of_a_warehouse_are_shortened_alike(tmp_path: Path) -> None:
    """By a hash, so no two become one, and on every machine and in every run the same."""
    keys = [f"theNameOfAPropertyWhichGoesOnAndOnAndOnBeyondWhatIsKept{letter}" for letter in "AB"]
    first = document("1-0-0", {keys[0]: text(9)})
    second = document("1-0-1", {key: text(9) for key in keys})
    registry = write_registry(tmp_path, documents=[first, second])
    data = dict(zip(keys, "xy", strict=True))
    write_run(tmp_path, [enriched_line(1, vessel_call("1-0-1", **data))])
    shredder = Shredder(
        tmp_path / "out", RegistryReferences.open(registry), InlineRunner(), profile="postgres"
    )
    list(shredder.shred(str(tmp_path)))
    [table] = RunManifest.read(tmp_path / "out" / RUN).tables
    assert [len(name) for name in table.columns[9:]] == [63, 63]
    assert len({*table.columns[9:]}) == 2
    path = tmp_path / "out" / RUN / "vendor=org.harbor/name=vessel_call/model=1/part-00000.txt"
    assert [row[9:] for row in lines(path)] == [["x", "y"]]

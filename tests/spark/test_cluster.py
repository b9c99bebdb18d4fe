"""A standalone cluster and Spark Connect load what one process loads, value by value."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from os.path import relpath
from pathlib import Path
from typing import Any

import duckdb
import pytest

from spark.cluster import HERE, connect_server, environment, standalone
from trellis.generate import write

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("cluster")]

EXAMPLES = HERE.parents[1] / "examples"
LARGE_ROWS = 300_000
TABLES = ("_trellis_discards", "_trellis_rejects", "_trellis_schema_changes", "events")
OWN = ("_dlt_id", "_dlt_parent_id", "_dlt_root_id", "rejected_at", "discarded_at", "changed_at")
"""Columns that differ from load to load."""


def trellis(folder: Path, *arguments: str, **variables: str) -> Any:
    command = [sys.executable, "-m", "trellis.cli", *arguments, "--json"]
    done = subprocess.run(
        command, cwd=folder, env=environment(**variables), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def differences(folder: Path, one: str, other: str) -> dict[str, int]:
    """How many rows only one of two databases has, by table."""
    with duckdb.connect() as db:
        for name in (one, other):
            db.execute(f"ATTACH '{folder / name}.duckdb' AS \"{name}\" (READ_ONLY)")
        tables: dict[str, dict[str, list[str]]] = {one: {}, other: {}}
        for database, table, column in db.execute(
            "SELECT database_name, table_name, column_name FROM duckdb_columns() "
            "WHERE schema_name = 'main' AND NOT starts_with(table_name, '_dlt_') ORDER BY ALL"
        ).fetchall():
            if database in tables and column not in OWN:
                tables[database].setdefault(table, []).append(column)
        assert tables[one] == tables[other]
        differing_rows = {}
        for table, columns in tables[one].items():
            names = ", ".join(f'"{column}"' for column in columns)
            rows = [f'(SELECT {names} FROM "{name}".main."{table}")' for name in (one, other)]
            counts = db.execute(
                f"SELECT (SELECT count(*) FROM ({rows[0]} EXCEPT ALL {rows[1]})) "
                f"+ (SELECT count(*) FROM ({rows[1]} EXCEPT ALL {rows[0]}))"
            ).fetchone()
            assert counts is not None
            differing_rows[table] = counts[0]
        return differing_rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Loaded in one process without Spark: the demo, and 75 MB of flat events."""
    folder = tmp_path_factory.mktemp("cluster")
    write(folder / "large.jsonl", LARGE_ROWS, 0, "flat")
    for name in ("a", "b"):
        (folder / f"{name}.jsonl").write_text("".join(f'{{"id":"{name}{number}"}}\n' for number in range(50)))
    demo = ("--to", "duckdb:inline-demo.duckdb", "--name", "shop", "--table", "events")
    for name in ("events-1.jsonl", "events-2.jsonl"):
        trellis(folder, "load", relpath(EXAMPLES / name, folder), *demo, "--load-id", name)
    large = ("--to", "duckdb:inline-large.duckdb", "--name", "shop", "--table", "events")
    trellis(folder, "load", "large.jsonl", *large, "--load-id", "large")
    return folder


@pytest.fixture(scope="module")
def loads(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What the loads on the cluster said."""
    failure = str(folder / "failure")
    with standalone(tmp_path_factory.mktemp("standalone"), FAILURE=failure) as (master, variables):
        arguments = (master, str(EXAMPLES), "large.jsonl")
        done = subprocess.run(
            [sys.executable, str(HERE / "cluster_loads.py"), *arguments],
            cwd=folder, env=dict(variables), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        yield json.loads(done.stdout.splitlines()[-1])


def test_two_workers_in_other_folders_load_the_demo(folder: Path, loads: dict[str, Any]) -> None:
    assert [loads[name].get("rows", loads[name]) for name in ("events-1.jsonl", "events-2.jsonl")] == [
        200,
        55,
    ]
    counts = differences(folder, "demo", "inline-demo")
    assert "_trellis_rejects" in counts
    assert set(counts.values()) == {0}


def test_two_workers_load_75_megabytes(folder: Path, loads: dict[str, Any]) -> None:
    assert (folder / "large.jsonl").stat().st_size > 70 << 20
    assert loads["large"].get("rows", loads["large"]) == LARGE_ROWS
    assert differences(folder, "large", "inline-large") == dict.fromkeys(TABLES, 0)


@pytest.mark.parametrize("name", ["speculated", "killed"])
def test_a_task_that_runs_twice_loads_its_rows_once(folder: Path, loads: dict[str, Any], name: str) -> None:
    assert loads[name].get("rows", loads[name]) == 100
    assert loads[name]["attempts"] == 3  # two tasks
    with duckdb.connect(str(folder / f"{name}.duckdb"), read_only=True) as db:
        assert db.execute("SELECT count(*), count(DISTINCT id) FROM events").fetchall() == [(100, 100)]


def test_a_staging_folder_that_workers_do_not_see_is_refused(folder: Path, loads: dict[str, Any]) -> None:
    error = loads["unseen"]["error"]
    assert error.startswith("/proc/self/fd/")
    assert error.endswith(
        ") do not see this staging folder of the driver; name one that all of them share with --staging"
    )
    with duckdb.connect(str(folder / "unseen.duckdb")) as db:
        assert db.execute("SHOW TABLES").fetchall() == []


def test_a_connect_server_loads_the_demo_and_inspects_it(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with connect_server(tmp_path_factory.mktemp("connect")) as remote:
        demo = ("--to", "duckdb:connect.duckdb", "--name", "shop", "--table", "events", "--remote", remote)
        for name, rows in (("events-1.jsonl", 200), ("events-2.jsonl", 55)):
            report = trellis(folder, "load", relpath(EXAMPLES / name, folder), *demo, "--load-id", name)
            assert report["rows"]["loaded"] == rows
        assert set(differences(folder, "connect", "inline-demo").values()) == {0}
        source = relpath(EXAMPLES / "events-2.jsonl", folder)
        assert trellis(folder, "inspect", source, "--remote", remote) == trellis(folder, "inspect", source)


def test_connect_in_local_mode_loads_75_megabytes(folder: Path) -> None:
    arguments = ("--to", "duckdb:local-connect.duckdb", "--name", "shop", "--table", "events")
    trellis(folder, "load", "large.jsonl", *arguments, "--remote", "local[2]", "--load-id", "large")
    assert differences(folder, "local-connect", "inline-large") == dict.fromkeys(TABLES, 0)

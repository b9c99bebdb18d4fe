"""Loads at the same time into one dataset: all arrive, and no column is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import trellis
from trellis.engine.staging.inflight import LoadNote
from trellis.engine.staging.stage import folder_name
from trellis.pipelines.pipeline import pipeline

RowsOf = Callable[..., list[dict[str, Any]]]

CHILD = """
import sys
from trellis.pipelines.pipeline import pipeline
url, who, mode = sys.argv[1:]
options = {"mode": mode, "keys": ("id",) if mode == "merge" else ()}
print("ready", flush=True)
sys.stdin.readline()
for n in range(4):
    pipeline("shop", to=url).load([{"id": f"{who}{n}", who: n, "k": [n]}], table="t", **options)
"""


def test_threads(destination_url: str, rows_of: RowsOf) -> None:
    start = Barrier(4)

    def load(who: str) -> None:
        start.wait()
        for n in range(3):
            pipeline("shop", to=destination_url).load([{"id": f"{who}{n}", who: n, "k": [n]}], table="t")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(load, "abcd"))
    rows = rows_of(pipeline("shop", to=destination_url), "t", "id", "a", "b", "c", "d")
    assert sorted(row["id"] for row in rows) == [f"{who}{n}" for who in "abcd" for n in range(3)]
    assert all(row[row["id"][0]] == int(row["id"][1]) for row in rows)


def test_processes(destination_url: str, rows_of: RowsOf) -> None:
    assert_all_arrive(destination_url, "append", rows_of)


@pytest.mark.parametrize("destination_url", ["duckdb", "postgres"], indirect=True)
def test_processes_that_merge(destination_url: str, rows_of: RowsOf) -> None:
    """Those that merge into lakes have a Spark each: see lake/test_two_writers.py."""
    assert_all_arrive(destination_url, "merge", rows_of)


def test_processes_that_replace(destination_url: str, rows_of: RowsOf) -> None:
    """The rows of one load stay; in a lake, whose tables commit one by one, of one for each table."""
    load_in_three_processes(destination_url, "replace")
    pipe = pipeline("shop", to=destination_url)
    (row,), (nested,) = rows_of(pipe, "t", "id"), rows_of(pipe, "t__k", "value")
    assert (row["id"][0] in "abc", nested["value"] in range(4)) == (True, True)
    if not destination_url.startswith(("delta:", "iceberg:")):
        assert int(row["id"][1]) == nested["value"]
    assert pipe.destination.row_counts(pipe.dataset)["_dlt_loads"] == 12


def assert_all_arrive(destination_url: str, mode: str, rows_of: RowsOf) -> None:
    load_in_three_processes(destination_url, mode)
    pipe = pipeline("shop", to=destination_url)
    rows = rows_of(pipe, "t", "id", "a", "b", "c")
    assert sorted(row["id"] for row in rows) == [f"{who}{n}" for who in "abc" for n in range(4)]
    assert all(row[row["id"][0]] == int(row["id"][1]) for row in rows)
    counts = pipe.destination.row_counts(pipe.dataset)
    assert (counts["t__k"], counts["_dlt_loads"]) == (12, 12)
    history = pipe.destination.history(pipe.dataset, pipe._dialect.metadata.tables())
    versions = [row["version"] for row in history]
    assert versions == list(range(versions[0], versions[0] + len(versions)))


def load_in_three_processes(destination_url: str, mode: str) -> None:
    """Four loads each, into one table; all begin at the same moment."""
    environment = {**os.environ, "PYTHONPATH": str(Path(trellis.__file__).parent.parent)}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, destination_url, who, mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for who in "abc"
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        _, errors = child.communicate(timeout=200)
        assert child.returncode == 0, errors[-3000:]


def test_the_last_load_removes_the_staging_folder_while_another_begins(tmp_path: Path) -> None:
    staging = tmp_path / "lake" / "staging"

    def begin_and_end(_: int) -> str:
        with LoadNote(str(staging), None, None) as note:
            assert (staging / folder_name(note.load_id)).is_dir()
            return note.load_id

    with ThreadPoolExecutor(3) as loads:
        load_ids = [*loads.map(begin_and_end, range(600))]
    assert len({*load_ids}) == 600
    assert [*(tmp_path / "lake").iterdir()] == []


def test_loads_of_one_moment_have_ids_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([1.0, 1.0, 1.000001])
    monkeypatch.setattr("trellis.engine.staging.inflight.time.time", lambda: next(moments))
    staging = str(tmp_path / "staging")
    with LoadNote(staging, None, None) as first, LoadNote(staging, None, None) as second:
        assert (first.load_id, second.load_id) == ("1.000000", "1.000001")
    assert [*tmp_path.iterdir()] == []

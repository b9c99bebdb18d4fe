"""Workers and Sparks that die, with real processes: the right rows, or one sentence and no row."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"

LOADS = """
import json, os, pathlib
import trellis
from trellis.errors import TrellisError

results = {}
for what in ("once", "always", "nothing", "spark", "nothing again"):
    pathlib.Path(os.environ["FAILURE"]).write_text(what.partition(" ")[0])
    shop = trellis.pipeline(
        "shop", to="duckdb:x.duckdb", engine="spark", settings={"json_normalizer": "failing_normalizer"}
    )
    try:
        report = shop.load(["a.jsonl", "b.jsonl"], table="orders")
        results[what] = [report.rows.read, report.rows.loaded, None]
    except TrellisError as error:
        results[what] = [0, 0, str(error)]
    results[what].append(shop.destination.row_counts("main").get("orders", 0))
    results[what].append(sorted(os.listdir(".")))
print(json.dumps(results))
"""


def run(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{SOURCES}{os.pathsep}{HERE}", **variables}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        lines = (json.dumps({"id": f"{name}{number}"}) for number in range(50))
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.spark
def test_a_killed_worker_costs_no_row_and_adds_none(folder: Path) -> None:
    done = run(folder, "-c", LOADS, FAILURE=str(folder / "failure"))
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout.splitlines()[-1])
    left = ["a.jsonl", "b.jsonl", "failure", "failure.attempts", "failure.done", "x.duckdb"]
    died = (
        "a Python worker of Spark died again and again, which happens where memory is short; nothing was "
        "loaded; give the workers more memory, or run fewer tasks at once, such as --master 'local[1]'"
    )
    stopped = "Spark stopped while the job ran; nothing was loaded; run the load again"
    assert results["once"] == [100, 100, None, 100, left]
    assert results["always"] == [0, 0, died, 100, left]
    assert results["nothing"] == [100, 100, None, 200, left]
    assert results["spark"] == [0, 0, stopped, 200, left]
    assert results["nothing again"][2].startswith("the Spark session of this process does not answer (")
    assert results["nothing again"][3:] == [200, left]


@pytest.mark.spark
def test_a_python_without_trellis_is_named(folder: Path) -> None:
    """Its packages are there, only not those that are installed by a path file, as Trellis is here."""
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    other = folder / "other-python"
    other.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{packages}" exec {sys.executable} -S "$@"\n')
    other.chmod(0o755)
    (folder / "boot").mkdir()
    (folder / "boot" / "sitecustomize.py").write_text(f"import sys; sys.path.insert(0, {str(SOURCES)!r})")
    done = run(
        folder,
        *("-m", "trellis.cli", "load", "a.jsonl", "--engine", "spark"),
        PYSPARK_PYTHON=str(other),
        PYTHONPATH=str(folder / "boot"),
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.splitlines()[-1] == (
        "error: the Python of Spark's workers has no module 'trellis'; install trellis-spark 0.1.0 in it, or "
        "set PYSPARK_PYTHON to a Python that has it"
    )

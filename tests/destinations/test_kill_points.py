"""A load that is killed at any step completes when it runs again: every record once, the schema complete."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import trellis
from destinations.postgres_server import Server
from kill_points import rows_of

SCRIPT = Path(__file__).parent.parent / "kill_points.py"
KINDS = ("duckdb", "postgres", "delta", "iceberg")
MODES = ("create", "append", "replace", "merge", "stream")
SAMPLE = [("duckdb", "append"), ("postgres", "replace"), ("delta", "append")]
"""What `make test` kills four times; `make test-lake` kills each load at many points, or all."""
EVERY_POINT = 1000
SPARK_KILLS = int(os.environ.get("TRELLIS_KILLS", "12"))
"""How often loads are killed that Spark carries out: each kill takes a JVM of its own."""


def expected(mode: str, number: int) -> dict[str, Any]:
    """What is in the destination after loads 1 to `number`."""
    loads = {"append": range(1, number + 1), "merge": range(1, number + 1), "stream": range(1, number + 1)}
    rows: list[list[int]] = []
    for load in loads.get(mode, [number]):
        new = [[row["id"], row["v"]] for row in rows_of(mode, load)]
        replaced = {row[0] for row in new} if mode == "merge" else set()
        rows = [*(row for row in rows if row[0] not in replaced), *new]
    count = 1 if mode == "create" else number
    return {
        "load": number,
        "rows": rows,
        "late": [row["id"] for row in rows_of(mode, number)],
        "counts": {"t__k": 2 * len(rows), "_dlt_loads": count, "_dlt_version": count},
        "left": [],
    }


def kill(url: str, folder: Path, mode: str, kills: int) -> list[dict[str, Any]]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(trellis.__file__).parent.parent),
        "TRELLIS_STAGING": str(folder / "staging"),
    }
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), url, str(folder), mode, str(kills)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=3600 + 120 * kills,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]


@pytest.fixture
def url(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if kind == "postgres":
        server: Server = request.getfixturevalue("postgres")
        return server.url(request.getfixturevalue("database"))
    return f"{kind}:{tmp_path}/{'shop.duckdb' if kind == 'duckdb' else 'lake'}"


@pytest.mark.parametrize(("kind", "mode"), SAMPLE)
def test_loads_that_are_killed_at_some_points(kind: str, url: str, mode: str, tmp_path: Path) -> None:
    results = kill(url, tmp_path, mode, 4)
    assert len({result.pop("killed") for result in results}) == 4
    assert results == [expected(mode, number) for number in range(3, 7)]


@pytest.mark.lake
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_loads_that_are_killed_at_every_point(kind: str, url: str, mode: str, tmp_path: Path) -> None:
    needs_spark = mode == "stream" or (mode == "merge" and kind in ("delta", "iceberg"))
    results = kill(url, tmp_path, mode, SPARK_KILLS if needs_spark else EVERY_POINT)
    print(kind, mode, len(results), "kills")
    for result in results:
        killed = result.pop("killed")
        assert result == expected(mode, result["load"]), killed

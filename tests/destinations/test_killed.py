"""A load that is killed anywhere and run again leaves exactly the rows of one load."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

import trellis
from destinations.postgres_server import Server

URLS = {
    "duckdb": "duckdb:{}/shop.duckdb",
    "parquet": "parquet:{}/lake",
    "postgres": "",
    "delta": "delta:{}/lake",
}
EXPECTED = {
    "append": {"t": 200, "t__k": 300},
    "merge": {"t": 150, "t__k": 200},
    "new-only": {"t": 210, "t__k": 310},
}


CASES = [
    (kind, mode)
    for kind in URLS
    for mode in EXPECTED
    if (kind, mode) not in (("delta", "merge"), ("parquet", "merge"))
]
"""Merges into Delta tables are jobs of Spark, and no fork can be killed that shares a JVM."""
KILLS_AT_LINES = 8
KILLS_AT_TIMES = 4


@pytest.mark.parametrize(("kind", "mode"), CASES)
def test_killed_and_run_again(kind: str, mode: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    url = URLS[kind]
    if kind == "postgres":
        server: Server = request.getfixturevalue("postgres")
        url = server.url("killed").replace("killed", f"killed_{mode}_{secrets.token_hex(4)}_{{}}")
    script = Path(__file__).with_name("killing.py")
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(trellis.__file__).parent.parent),
        "TRELLIS_STAGING": str(tmp_path / "staging"),
    }
    ran = subprocess.run(
        [sys.executable, str(script), url, str(tmp_path), mode, str(KILLS_AT_LINES), str(KILLS_AT_TIMES)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=500,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    results = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(results) == KILLS_AT_LINES + KILLS_AT_TIMES + 1
    assert sum(result["killed"] for result in results) >= KILLS_AT_LINES
    stay = 50 if mode == "merge" else 100
    values = {f"second{n}" for n in range(50, 150)} | {f"first{n}" for n in range(stay)}
    if mode == "new-only":
        values |= {f"third{n}" for n in range(150, 160)}
    for result in results:
        name = result["name"]
        assert {table: result["tables"][table] for table in EXPECTED[mode]} == EXPECTED[mode], name
        loads = result["tables"]["_dlt_loads"]
        assert loads == 2 or (mode == "new-only" and loads == 3), name
        assert set(result["values"]) == values, name
        assert result["left"] == [], name
        if kind == "parquet":
            assert result["seen"] == {**EXPECTED[mode], "_dlt_loads": loads}, name

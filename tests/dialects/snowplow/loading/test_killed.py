"""Loads of runs that are killed, and run again: the tables have the rows once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from dialects.snowplow.enriched import enriched_line, vessel_call, write_registry
from dialects.snowplow.loading.runs import shred_for

SCRIPT = Path(__file__).with_name("killing_loads.py")
TESTS = Path(__file__).parents[3]


def test_r91_seed_s65_b26_a_killed_load_leaves_exactly_one_load(url: str, tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    lines = [
        enriched_line(1, vessel_call("1-2-1", berth="A")),
        enriched_line(2, vessel_call("1-0-1", berth="B")),
        "no event",
    ]
    profile = "duckdb" if url.startswith("duckdb:") else "postgres"
    run = shred_for(profile, tmp_path, registry, lines)
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), f"{url}_{{}}", registry, str(run)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{TESTS.parent / 'src'}{os.pathsep}{TESTS}"},
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    results = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [result["killed"] for result in results[-2:]] == [True, False]
    assert len(results) > 15
    expected = {"events": 2, "org_harbor_vessel_call_1": 2, "failed_events": 1, "manifest": 1}
    assert all(result["rows"] == expected for result in results)

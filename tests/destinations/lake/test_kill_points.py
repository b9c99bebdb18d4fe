"""A load that is killed before or after any change of a table completes when it runs again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import trellis

SCRIPT = Path(__file__).parent.parent.parent / "lake_kill_points.py"
EXPECTED = {"append": {"t": 20, "t__k": 30}, "merge": {"t": 15, "t__k": 20}}
LOADS = [
    ("delta", "append"),
    *(
        pytest.param(kind, mode, marks=pytest.mark.lake)
        for kind, mode in (("iceberg", "append"), ("delta", "merge"), ("iceberg", "merge"))
    ),
]


@pytest.mark.parametrize(("kind", "mode"), LOADS)
def test_killed_at_each_change_of_a_table(kind: str, mode: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(trellis.__file__).parent.parent)}
    ran = subprocess.run(
        [
            sys.executable,
            str(SCRIPT),
            f"{kind}:{{}}",
            str(tmp_path),
            mode,
        ],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=1500,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    results = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    kills = [result["killed"] for result in results]
    change = "run_merge" if mode == "merge" else "write_files"
    changes = (f"{change} t", f"{change} t__k", "write_files _dlt_version", "write_files _dlt_loads")
    assert {f"{when} {name}" for when in ("before", "after") for name in changes} <= {*kills}
    stay = range(10) if mode == "append" else range(5)
    values = sorted([*(f"first {n}" for n in stay), *(f"second {n}" for n in range(5, 15))])
    for result in results:
        tables = {name: result["tables"][name] for name in ("t", "t__k", "_dlt_loads", "_dlt_version")}
        assert tables == {**EXPECTED[mode], "_dlt_loads": 2, "_dlt_version": 2}, result["killed"]
        assert (result["values"], result["late"]) == (values, [*range(5, 15)]), result["killed"]

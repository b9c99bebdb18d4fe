"""Loads as events of OpenLineage and as metrics of Prometheus."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import trellis

SRC = Path(trellis.__file__).parents[1]
LOADS = """
import sys, trellis, trellis.errors
trellis.hooks.enable(*sys.argv[1:])
shop = trellis.pipeline("shop", "duckdb:shop.duckdb", engine="inline")
shop.load("orders.jsonl")
shop.load([{"id": 2}], table="orders")
try:
    shop.load([{"id": 3, "new": 1}], table="orders", contract="freeze")
except trellis.errors.TrellisError:
    pass
"""


def run_loads(folder: Path, *names: str, **environment: str) -> None:
    (folder / "orders.jsonl").write_text('{"id": 1, "lines": [{"sku": "a"}]}\nno json\n')
    subprocess.run(
        [sys.executable, "-c", LOADS, *names],
        check=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SRC), **environment},
    )


def test_events_of_openlineage(tmp_path: Path) -> None:
    run_loads(
        tmp_path,
        "openlineage",
        OPENLINEAGE__TRANSPORT__TYPE="file",
        OPENLINEAGE__TRANSPORT__LOG_FILE_PATH=str(tmp_path / "events.jsonl"),
        OPENLINEAGE__TRANSPORT__APPEND="true",
        OPENLINEAGE_NAMESPACE="acme",
    )
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [event["eventType"] for event in events] == [
        "START",
        "COMPLETE",
        "START",
        "COMPLETE",
        "START",
        "FAIL",
    ]
    start, complete, *_, fail = events
    assert (start["job"]["namespace"], start["job"]["name"]) == ("acme", "shop.main")
    assert start["run"]["runId"] == complete["run"]["runId"]
    assert [(i["namespace"], i["name"]) for i in start["inputs"]] == [
        ("file", str(tmp_path / "orders.jsonl"))
    ]
    tables = {output["name"]: output for output in complete["outputs"]}
    assert [*tables] == ["main.orders", "main.orders__lines"]
    orders: dict[str, Any] = tables["main.orders"]
    assert orders["namespace"] == f"duckdb://{tmp_path}/shop.duckdb"
    assert orders["outputFacets"]["outputStatistics"]["rowCount"] == 1
    assert ("id", "bigint") in [(f["name"], f["type"]) for f in orders["facets"]["schema"]["fields"]]
    assert "the data needs a new column" in fail["run"]["facets"]["errorMessage"]["message"]


def test_metrics_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "trellis.prom"
    run_loads(tmp_path, "openmetrics", TRELLIS_METRICS_FILE=str(file))
    samples = {
        name: float(value)
        for name, _, value in (
            line.rpartition(" ") for line in file.read_text().splitlines() if not line.startswith("#")
        )
    }
    labels = 'dataset="main",pipeline="shop"'
    assert samples[f'trellis_loads_total{{{labels},state="loaded"}}'] == 2
    assert samples[f'trellis_loads_total{{{labels},state="failed"}}'] == 1
    assert samples['trellis_records_total{dataset="main",outcome="loaded",pipeline="shop"}'] == 2
    assert samples['trellis_records_total{dataset="main",outcome="rejected",pipeline="shop"}'] == 1
    assert samples[f'trellis_rows_total{{{labels},table="orders__lines"}}'] == 1
    assert samples[f"trellis_load_seconds_count{{{labels}}}"] == 3
    assert samples[f"trellis_last_success_timestamp_seconds{{{labels}}}"] > 1_700_000_000


@pytest.mark.parametrize("name", ["openlineage", "openmetrics"])
def test_enabling_twice_counts_once(name: str) -> None:
    code = f"import trellis\nfor _ in 'ab': trellis.hooks.enable({name!r})\nprint(trellis.hooks.after_load)"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(SRC), "OPENLINEAGE__TRANSPORT__TYPE": "console"},
    )
    assert ran.stdout == "<hook after_load with 1 functions>\n"

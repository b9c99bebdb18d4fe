"""The shredder as a Spark query: files that arrive within a window become a run folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import trellis
from dialects.snowplow.enriched import VESSEL_CALL, enriched_line, event_id, vessel_call, write_registry
from dialects.snowplow.shredder.test_killed import AFTER, DIES
from trellis.dialects.snowplow.client.references import RegistryReferences
from trellis.dialects.snowplow.runs.manifest import RunManifest
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.dialects.snowplow.runs.windows import start_window_stream
from trellis.engine.runner import InlineRunner
from trellis.engine.spark.job import SparkRunner
from trellis.errors import UsageError
from trellis.pipelines.streaming.report import BatchReport
from trellis.pipelines.streaming.stream import Stream

WAIT = 300
SECONDS = count()
FAMILY = "vendor=org.harbor/name=vessel_call/model=1"


def arrive(folder: Path, *lines: str) -> None:
    """A file of these lines appears, at once."""
    number = next(SECONDS)
    draft = folder / f".part-{number:05}"
    draft.write_text("".join(f"{line}\n" for line in lines))
    draft.rename(folder / "incoming" / f"part-{number:05}")


def start(folder: Path, registry: str, batches: list[BatchReport], **options: Any) -> Stream:
    shredder = Shredder(folder / "out", RegistryReferences.open(registry), SparkRunner())
    reading = {"maxFilesPerTrigger": "1"}
    return start_window_stream(
        shredder, registry, str(folder / "incoming"), reading, None, None, batches.append
    )


def drain(folder: Path, registry: str) -> list[BatchReport]:
    batches: list[BatchReport] = []
    assert start(folder, registry, batches).wait(WAIT)
    return batches


def runs(folder: Path) -> list[Path]:
    return sorted((folder / "out").glob("run=*"))


def columns(run: Path) -> list[str]:
    [table] = json.loads((run / "families.json").read_text())["tables"]
    names: list[str] = table["columns"][9:]
    return names


@pytest.fixture
def incoming(tmp_path: Path, spark: SparkSession) -> Path:
    (tmp_path / "incoming").mkdir()
    return tmp_path


def test_each_window_is_a_run_folder(incoming: Path) -> None:
    """S-49, S-80: a version that is published meanwhile is met at the border of a window."""
    registry = write_registry(incoming, "1-0-0")
    arrive(incoming, enriched_line(1, vessel_call("1-0-0", berth="A")))
    arrive(incoming, enriched_line(2, vessel_call("1-1-0", berth="B", draughtM=1.5)), "no event")
    first = drain(incoming, registry)
    assert [(report.rows["loaded"], report.rows["rejected"]) for report in first] == [(1, 0), (0, 2)]
    write_registry(incoming, "1-0-0 1-1-0")
    arrive(incoming, enriched_line(3, vessel_call("1-1-0", berth="C", draughtM=2.5)))
    [second] = drain(incoming, registry)
    assert second.rows["loaded"] == 1
    assert len(runs(incoming)) == 3
    tables = {tuple(columns(run)) for run in runs(incoming) if (run / FAMILY).exists()}
    assert tables == {("berth", "arrived_at"), ("berth", "arrived_at", "draught_m")}
    reasons = [path.parent.name for path in incoming.glob("out/run=*/output=bad/*/name=*/*")]
    assert sorted(reasons) == ["name=loader_iglu_error", "name=loader_parsing_error"]


def test_a_window_that_is_repeated_is_shredded_once(incoming: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S-65: the query dies when the run folder is there, and the window is not known to be done."""
    registry = write_registry(incoming)
    arrive(incoming, enriched_line(1, vessel_call("1-0-0", berth="A")))
    shred_run: Callable[..., Any] = Shredder.shred_run

    def die_after(self: Shredder, *arguments: Any) -> Any:
        shred_run(self, *arguments)
        raise UsageError("the machine went down")

    monkeypatch.setattr(Shredder, "shred_run", die_after)
    with pytest.raises(UsageError, match="the machine went down"):
        drain(incoming, registry)
    [run] = runs(incoming)
    monkeypatch.undo()
    [report] = drain(incoming, registry)
    assert (report.already_loaded, runs(incoming)) == (True, [run])
    completion = json.loads((run / "shredding_complete.json").read_text())["data"]
    assert completion["count"] == {"good": 1, "bad": 0}
    assert [item["schemaKey"] for item in completion["typesInfo"]["types"]] == [f"{VESSEL_CALL}1-0-0"]


def test_b27_a_window_that_dies_at_any_step_is_shredded_once(
    incoming: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies at one step after the other, then it is completed."""
    registry = write_registry(incoming)
    arrive(incoming, *(enriched_line(number, vessel_call("1-0-0", berth="A")) for number in range(5)))

    def die(*_: Any, **__: Any) -> None:
        raise UsageError("the machine went down")

    for place in DIES.values():
        with monkeypatch.context() as patch, pytest.raises(UsageError, match="the machine went down"):
            patch.setattr(f"trellis.dialects.snowplow.runs.{place}", die)
            drain(incoming, registry)
        assert len(runs(incoming)) == (place == AFTER)
    [report] = drain(incoming, registry)
    assert report.already_loaded
    [run] = runs(incoming)
    assert RunManifest.read(run).good == 5
    rows = [line.split("\t") for line in (run / FAMILY / "part-00000.txt").read_text().splitlines()]
    assert sorted(row[4] for row in rows) == [event_id(number) for number in range(5)]


@pytest.mark.spark
def test_seed_s65_b27_a_stream_that_is_killed_shreds_each_event_once(tmp_path: Path) -> None:
    """It is killed when the first run folder is there; what was in its window stays in that run alone."""
    (tmp_path / "incoming").mkdir()
    registry = write_registry(tmp_path)
    for number in range(3):
        arrive(tmp_path, enriched_line(number, vessel_call("1-0-0", berth="A")))
    killed = start_process(tmp_path, registry, "100ms")
    end = time.monotonic() + WAIT
    while not runs(tmp_path):
        assert killed.poll() is None, killed.communicate()
        assert time.monotonic() < end
        time.sleep(0.005)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    again = start_process(tmp_path, registry, "available-now", "--json")
    output, errors = again.communicate(timeout=WAIT)
    assert (again.returncode, errors) == (0, "")
    windows = [json.loads(line) for line in output.splitlines()]
    assert {window["rows"]["rejected"] for window in windows} == {0}
    atomic = tmp_path.glob("out/run=*/vendor=com.snowplowanalytics.snowplow/name=atomic/model=1/part-*")
    ids = [line.split("\t")[6] for path in atomic for line in path.read_text().splitlines()]
    assert sorted(ids) == [event_id(number) for number in range(3)]
    assert len(runs(tmp_path)) == 3


def start_process(folder: Path, registry: str, trigger: str, *arguments: str) -> subprocess.Popen[str]:
    """A stream of windows of one file each."""
    words = ("incoming", "--schema", registry, "--out", "out", "--trigger", trigger)
    variables = {
        "PYTHONPATH": str(Path(trellis.__file__).parents[1]),
        "TRELLIS_ENGINE": "spark",
        "PYSPARK_PYTHON": sys.executable,
    }
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "trellis.cli", "snowplow", "stream", *words, "--master", "local[1]"),
            *("--read-option", "maxFilesPerTrigger=1", *arguments),
        ],
        cwd=folder,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_a_stream_needs_spark(tmp_path: Path) -> None:
    registry = write_registry(tmp_path)
    shredder = Shredder(tmp_path / "out", RegistryReferences.open(registry), InlineRunner())
    with pytest.raises(UsageError, match="a stream runs on Spark"):
        start_window_stream(shredder, registry, str(tmp_path), {}, None, None)

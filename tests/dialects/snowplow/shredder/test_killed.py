"""Shredders that are killed: a run is there once and whole, or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import trellis
from dialects.snowplow.enriched import enriched_line, vessel_call, write_registry, write_run
from dialects.snowplow.shredder.test_shred import RUN, lines, shred
from trellis.dialects.snowplow.runs.event_store import SqliteEventStore

AFTER = "shredder._report_of_files"
"""What is called when the folder of the run has its name."""
DIES: dict[str, str] = {
    "before copies are looked for": "run_folder.find_duplicates",
    "after copies were claimed": "run_folder._RunWriter.write",
    "while rows are written": "row_files._aligned",
    "before the manifest": "manifest.RunManifest.write",
    "before the folder gets its name": "run_folder.os.rename",
    "after the folder got its name": AFTER,
}
SCRIPT = """
import importlib, os, sys
from operator import attrgetter
from pathlib import Path
from trellis.dialects.snowplow.client.references import RegistryReferences
from trellis.dialects.snowplow.runs.event_store import SqliteEventStore
from trellis.dialects.snowplow.runs.shredder import Shredder
from trellis.engine.runner import InlineRunner

folder, registry, place = sys.argv[1:]
module, *owners, name = place.split(".")
owner = importlib.import_module(f"trellis.dialects.snowplow.runs.{module}")
for part in owners:
    owner = getattr(owner, part)
setattr(owner, name, lambda *_, **__: os._exit(9))
store = SqliteEventStore(f"{folder}/events.db")
references = RegistryReferences.open(registry)
[_] = Shredder(Path(folder, "out"), references, InlineRunner(), store=store).shred(folder)
"""


@pytest.mark.parametrize("place", DIES.values(), ids=DIES)
def test_seed_s65_b25_a_shredder_that_is_killed_leaves_exactly_one_run(tmp_path: Path, place: str) -> None:
    """Started again it completes the run, also where its events are in the store of copies already."""
    registry = write_registry(tmp_path)
    call = vessel_call("1-0-0", berth="A")
    events = [
        enriched_line(number % 5, call, event_fingerprint="f", etl_tstamp="2031-04-05 06:00:01")
        for number in range(10)
    ]
    write_run(tmp_path, events)
    source = Path(trellis.__file__).parents[1]
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), registry, place],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (9, "")
    is_there = place == AFTER
    assert (tmp_path / "out" / RUN).exists() == is_there
    [report] = shred(tmp_path, registry, store=SqliteEventStore(str(tmp_path / "events.db")))
    assert report.already_loaded == is_there
    rows = lines(tmp_path / "out" / RUN / "vendor=org.harbor/name=vessel_call/model=1/part-00000.txt")
    assert len(rows) == 5
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [RUN]

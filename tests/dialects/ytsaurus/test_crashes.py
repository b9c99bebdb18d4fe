"""Commands killed at each step: the table is as it was before, or as it is afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dialects.ytsaurus.test_tables import T, create, read, schema_of, write
from trellis.dialects.ytsaurus.store.store import Store

SRC = Path(__file__).parents[3] / "src"
KILLED_WRITE = """
import os, signal, sys
from trellis.dialects.ytsaurus.store import catalog, chunks, writing
from trellis.dialects.ytsaurus.store.store import Store

def die_after(owner, name):
    run = getattr(owner, name)
    def run_and_die(*arguments):
        run(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(owner, name, run_and_die)

url, owner, name = sys.argv[1:]
die_after({"chunks": chunks.ChunkWriter, "catalog": catalog.Catalog, "writing": writing}[owner], name)
with Store.open(url) as store:
    writing.write_rows(store, "<schema=[{name=x;type=int64}]>//tmp/t", [{"x": 1}, {"x": 2}])
"""
STEPS = [
    ("chunks", "append", False),
    ("chunks", "close", False),
    ("catalog", "clear_slices", False),
    ("catalog", "put_table", False),
    ("catalog", "append_slices", False),
    ("writing", "commit_slices", True),
]


@pytest.mark.parametrize(("owner", "step", "committed"), STEPS, ids=[step for _, step, _ in STEPS])
def test_a_write_that_is_killed(store: Store, tmp_path: Path, owner: str, step: str, committed: bool) -> None:
    create(store, "[k:string^]", rows="{k=a};{k=b}")
    command = [sys.executable, "-c", KILLED_WRITE, f"yt:{tmp_path}/store", owner, step]
    killed = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(SRC)}, check=False)
    assert killed.returncode == -signal.SIGKILL
    rows, schema = (
        ("{x=1}{x=2}", "[x] strong") if committed else ("{k=a}{k=b}", "[k:optional<string>^] strong")
    )
    assert (read(store), schema_of(store)) == (rows, schema)
    write(store, "<schema=[{name=y;type=int64}]>//tmp/t", "{y=1}")
    store.collect_garbage(age=-1)
    assert (read(store, T), len([*(tmp_path / "store/chunks").iterdir()])) == ("{y=1}", 1)

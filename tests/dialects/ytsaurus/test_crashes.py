"""Commands killed at each step: the table is as it was before, or as it is afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialects.ytsaurus.test_tables import create, read, write
from trellis.dialects.ytsaurus.store.store import Store

SRC = Path(__file__).parents[3] / "src"
KILLED_COMMAND = """
import os, signal, sys
from trellis.dialects.ytsaurus.store import catalog, chunks, operations, store, writing
from trellis.dialects.ytsaurus.store.database import locks

def die_after(owner, name):
    run = getattr(owner, name)
    def run_and_die(*arguments, **options):
        run(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(owner, name, run_and_die)

url, command, owner, name = sys.argv[1:]
owners = {"chunks": chunks.ChunkWriter, "catalog": catalog.Catalog}
owners |= {"locks": locks.Locks, "store": store.Store}
with store.Store.open(url) as opened:
    die_after(owners.get(owner, writing), name)
    if command == "write":
        writing.write_rows(opened, "<schema=[{name=x;type=int64}]>//tmp/t", [{"x": 1}, {"x": 2}])
    elif command == "merge":
        operations.merge(opened, ["//tmp/a", "//tmp/b"], "<schema=[{name=x;type=int64}]>//tmp/t", "ordered")
    elif command == "move":
        opened.move("//tmp/a", "//tmp/t", force=True)
"""
STEPS = [
    ("write", "chunks", "append", False),
    ("write", "chunks", "close", False),
    ("write", "catalog", "clear_slices", False),
    ("write", "catalog", "put_table", False),
    ("write", "catalog", "append_slices", False),
    ("write", "writing", "commit_slices", False),
    ("write", "catalog", "merge_into_parent", False),
    ("write", "locks", "promote", False),
    ("write", "store", "commit", True),
    ("merge", "catalog", "append_slices", False),
    ("merge", "catalog", "merge_into_parent", False),
    ("merge", "store", "commit", True),
    ("move", "catalog", "delete_node", False),
    ("move", "catalog", "move_node", False),
    ("move", "store", "move", True),
]


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with Store.open(store_url) as opened:
        yield opened


@pytest.mark.parametrize(
    ("command", "owner", "step", "committed"), STEPS, ids=["-".join(step[:3:2]) for step in STEPS]
)
def test_a_command_that_is_killed(
    store: Store, store_url: str, tmp_path: Path, command: str, owner: str, step: str, committed: bool
) -> None:
    create(store, "[k:string^]", rows="{k=a};{k=b}")
    for name, row in (("a", "{x=1}"), ("b", "{x=2}")):
        create(store, "[x]", f"//tmp/{name}", rows=row)
    arguments = [sys.executable, "-c", KILLED_COMMAND, store_url, command, owner, step]
    killed = subprocess.run(arguments, env={**os.environ, "PYTHONPATH": str(SRC)}, check=False)
    assert killed.returncode == -signal.SIGKILL
    after = "{x=1}" if command == "move" else "{x=1}{x=2}"
    assert read(store) == (after if committed else "{k=a}{k=b}")
    write(store, "<schema=[{name=y;type=int64}]>//tmp/t", "{y=1}")
    assert (read(store), store.transactions.list_ids()) == ("{y=1}", [])
    for path in ("//tmp/a", "//tmp/b"):
        store.remove(path, force=True)
    store.collect_garbage(age=-1)
    assert len([*(tmp_path / "store/chunks").iterdir()]) == 1
    assert [*(tmp_path / "store/locks").iterdir()] == []

"""Commands killed at each step: the table is as it was before, or as it is afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import trellis
from dialects.ytsaurus.test_tables import T, create, read, schema_of, write
from trellis.dialects.ytsaurus.store.store import Store

TESTS = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{TESTS.parent / 'src'}{os.pathsep}{TESTS}"}
KILLED_COMMAND = """
import sys
from dialects.ytsaurus.jobs import on_rows
from dialects.ytsaurus.killing import interrupted_after
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store import altering, inserting, operations, store, writing
from trellis.dialects.ytsaurus.store.jobs import operations as jobs

url, command, owner, name = sys.argv[1:]
target = "<schema=[{name=x;type=int64}]>//tmp/t"
with store.Store.open(url) as opened, interrupted_after(owner, name):
    if command == "write":
        writing.write_rows(opened, target, [{"x": 1}, {"x": 2}])
    elif command == "merge":
        operations.merge(opened, ["//tmp/a", "//tmp/b"], target, "ordered")
    elif command == "sort":
        operations.sort(opened, ["//tmp/b", "//tmp/a"], target, [SortColumn("x")])
    elif command == "map":
        jobs.map_rows(opened, on_rows(lambda row: [row]), ["//tmp/a", "//tmp/b"], [target])
    elif command == "remote-copy":
        operations.remote_copy(opened, opened, "//tmp/a", target)
    elif command == "erase":
        operations.erase(opened, "//tmp/t[a]")
    elif command == "insert":
        inserting.insert_rows(opened, "//tmp/t", [{"k": b"c"}])
    elif command == "alter":
        columns = [{"name": "k", "type": "string", "sort_order": "ascending"}, {"name": "w", "type": "int64"}]
        altering.alter_table(opened, "//tmp/t", columns)
    elif command == "copy":
        opened.copy("//tmp/a", "//tmp/t", force=True)
    elif command == "move":
        opened.move("//tmp/a", "//tmp/t", force=True)
    elif command == "remove":
        opened.remove("//tmp/t")
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
    ("sort", "catalog", "append_slices", False),
    ("sort", "store", "commit", True),
    ("map", "chunks", "close", False),
    ("map", "store", "commit", True),
    ("remote-copy", "files", "copy_file", False),
    ("remote-copy", "store", "commit", True),
    ("erase", "catalog", "clear_slices", False),
    ("erase", "store", "commit", True),
    ("insert", "catalog", "append_slices", False),
    ("insert", "store", "commit", True),
    ("alter", "catalog", "put_table", False),
    ("alter", "altering", "alter_table", True),
    ("copy", "catalog", "copy_table", False),
    ("copy", "store", "copy", True),
    ("move", "catalog", "delete_node", False),
    ("move", "catalog", "move_node", False),
    ("move", "store", "move", True),
    ("remove", "catalog", "delete_node", False),
    ("remove", "store", "remove", True),
]
BEFORE = "{k=a}{k=b} [k:optional<string>^]u strong"
AFTER = {
    "sort": "{x=1}{x=2} [x^] strong",
    "remote-copy": "{x=1} [x] strong",
    "erase": "{k=b} [k:optional<string>^]u strong",
    "insert": "{k=a}{k=b}{k=c} [k:optional<string>^]u strong",
    "alter": "{k=a}{k=b} [k:optional<string>^, w] strong",
    "copy": "{x=1} [x] strong",
    "move": "{x=1} [x] strong",
    "remove": "",
}
"""What each command leaves; the others `{x=1}{x=2} [x] strong`."""

KILLED_LOAD = """
import sys
import trellis
from dialects.ytsaurus.killing import interrupted_after

with interrupted_after("loads", "commit"):
    trellis.pipeline("t", sys.argv[1], dialect="ytsaurus").load([{"k": 1}], table="//tmp/t", load_id="one")
"""


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with Store.open(store_url) as opened:
        yield opened


@pytest.mark.parametrize(
    ("command", "owner", "step", "committed"), STEPS, ids=["-".join(step[:3:2]) for step in STEPS]
)
def test_b15_a_command_that_is_killed(
    store: Store, store_url: str, tmp_path: Path, command: str, owner: str, step: str, committed: bool
) -> None:
    create(store, "[k:string^]u", rows="{k=a};{k=b}")
    for name, row in (("a", "{x=1}"), ("b", "{x=2}")):
        create(store, "[x]", f"//tmp/{name}", rows=row)
    arguments = [sys.executable, "-c", KILLED_COMMAND, store_url, command, owner, step]
    killed = subprocess.run(arguments, env=ENVIRONMENT, check=False)
    assert killed.returncode == -signal.SIGKILL
    rows = f"{read(store)} {schema_of(store)}" if store.find(T) else ""
    assert rows == (AFTER.get(command, "{x=1}{x=2} [x] strong") if committed else BEFORE)
    write(store, "<schema=[{name=y;type=int64}]>//tmp/t", "{y=1}")
    assert (read(store), store.transactions.list_ids()) == ("{y=1}", [])
    for path in ("//tmp/a", "//tmp/b"):
        store.remove(path, force=True)
    store.collect_garbage(age=-1)
    assert len([*(tmp_path / "store/chunks").iterdir()]) == 1
    assert [*(tmp_path / "store/locks").iterdir()] == []


def test_b15_a_load_that_is_killed_between_its_rows_and_its_record(store: Store, store_url: str) -> None:
    """It runs again, and passes over the table that has its rows."""
    arguments = [sys.executable, "-c", KILLED_LOAD, store_url]
    killed = subprocess.run(arguments, env=ENVIRONMENT, check=False)
    assert (killed.returncode, read(store)) == (-signal.SIGKILL, "{k=1}")
    pipeline = trellis.pipeline("t", store_url, dialect="ytsaurus")
    assert pipeline.destination.row_counts(pipeline.dataset) == {}
    for load_id in ("one", "one", "two"):
        pipeline.load([{"k": 1}], table=T, load_id=load_id)
    assert read(store) == "{k=1}{k=1}"

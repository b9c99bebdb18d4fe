"""A disk that is full: a limit on the size of files stands for it, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dialects.ytsaurus.test_tables import create, read, write
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import write_rows

SRC = Path(__file__).parents[3] / "src"
LIMITED_COMMAND = """
import os, resource, sys
from trellis.dialects.ytsaurus.schema.model import SortColumn
from trellis.dialects.ytsaurus.store import operations, store, writing
from trellis.dialects.ytsaurus.store.inserting import insert_rows
from trellis.errors import StorageError

url, verb, size = sys.argv[1:]
rows = [{"k": b"%06d" % number, "v": os.urandom(500)} for number in range(5000)]
with store.Store.open(url) as opened:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), resource.RLIM_INFINITY))
    try:
        if verb == "write":
            writing.write_rows(opened, "//tmp/t", rows)
        elif verb == "insert":
            insert_rows(opened, "//tmp/t", rows)
        elif verb == "sort":
            operations.sort(opened, ["//tmp/large"], "//tmp/t", [SortColumn("k")])
        elif verb == "merge":
            spec = operations.OperationSpec(force_transform=True)
            operations.merge(opened, ["//tmp/large"], "//tmp/t", "sorted", spec)
        elif verb == "remote-copy":
            with store.Store.open(f"{url}-2") as cluster:
                operations.remote_copy(opened, cluster, "//tmp/large", "//tmp/t")
    except StorageError as error:
        print(error)
"""
NO_ROOM = "parquet cannot be written: File too large; make room on its disk and run this again\n"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"yt:{tmp_path}/store"


def run_limited(url: str, verb: str, size: int) -> str:
    arguments = [sys.executable, "-c", LIMITED_COMMAND, url, verb, str(size)]
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    return subprocess.run(arguments, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("verb", ["write", "insert", "sort", "merge", "remote-copy"])
def test_b13_no_room_for_chunks(url: str, tmp_path: Path, verb: str) -> None:
    rows = [{"k": b"n%06d" % number, "v": os.urandom(500)} for number in range(2000)]
    keyed = "[k:string^, v:string]u"
    for name in (url, f"{url}-2"):
        with Store.open(name) as store:
            create(store, keyed, rows="{k=a;v=x}")
            create(store, keyed, "//tmp/large")
            write_rows(store, "//tmp/large", rows)
    chunks = tmp_path / "store/chunks"
    files = sorted(chunks.iterdir())
    output = run_limited(url, verb, 500_000)
    assert (output[: len(f"{chunks}/")], output.endswith(NO_ROOM)) == (f"{chunks}/", True), output
    assert (sorted(chunks.iterdir()), [*(tmp_path / "store/locks").iterdir()]) == (files, [])
    with Store.open(url) as store:
        assert read(store) == "{k=a;v=x}"
        write(store, "<append=%true>//tmp/t", "{k=b}")
        assert read(store) == "{k=a;v=x}{k=b}"


def test_b13_no_room_for_the_catalogue(url: str, tmp_path: Path) -> None:
    with Store.open(url) as store:
        create(store, "[k:string^, v:string]u", rows="{k=a;v=x}")
    output = run_limited(url, "write", 100)
    assert output.startswith(f"the catalogue {tmp_path}/store/catalog.db cannot be used: "), output
    with Store.open(url) as store:
        assert read(store) == "{k=a;v=x}"
        write(store, "//tmp/t", "{k=b}")
        assert read(store) == "{k=b}"

"""Frames of Spark whose writing is killed: the table is as it was before, or as it is afterwards."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialects.ytsaurus import killing
from dialects.ytsaurus.killing import interrupt_writes, processes_of, write_frame
from dialects.ytsaurus.test_crashes import ENVIRONMENT
from dialects.ytsaurus.test_tables import T, create, read, schema_of
from trellis.dialects.ytsaurus.spark import enable_yt
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.transaction_commands import commit_transaction, start_transaction

pytestmark = pytest.mark.spark
STEPS = [
    ("chunks", "append_batch", "append", False),
    ("chunks", "close", "overwrite", False),
    ("store", "lock", "append", False),
    ("catalog", "clear_slices", "overwrite", False),
    ("catalog", "append_slices", "append", False),
    ("frames", "commit_slices", "overwrite", False),
    ("catalog", "merge_into_parent", "append", False),
    ("locks", "promote", "overwrite", False),
    ("store", "commit", "append", True),
    ("files", "delete_operation", "overwrite", True),
]
WRITE_SECONDS = 6
"""About as long as a write takes in a Spark that has just been started."""
BEFORE = "{k=1}{k=2}"
AFTER = {"append": "{k=1}{k=2}{k=3}{k=4}", "overwrite": "{k=3}{k=4}"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"yt:{tmp_path}/store") as opened:
        create(opened, "[k^]", rows="{k=1};{k=2}")
        yield opened


def check_what_is_left(spark: Any, store: Store, rows: str) -> None:
    """The rows, also when the garbage is collected; then a write as any other, and its chunks alone."""
    assert (read(store), schema_of(store)) == (rows, "[k^] strong")
    store.collect_garbage(age=-1)
    assert read(store) == rows
    enable_yt(spark, f"yt:{store.folder}")
    write_frame(spark, "overwrite")
    assert read(store) == "{k=3}{k=4}"
    store.collect_garbage(age=-1)
    chunks = {path.stem for path in store.files.folder.iterdir()}
    assert chunks == {part.chunk.id for part in store.catalog.slices(store.node(T).id)}
    assert ([*(store.folder / "locks").iterdir()], store.transactions.list_ids()) == ([], [])


@pytest.mark.parametrize(("owner", "step", "mode", "committed"), STEPS, ids=[step[1] for step in STEPS])
def test_b15_a_process_of_spark_that_is_killed(
    spark: Any, store: Store, owner: str, step: str, mode: str, committed: bool
) -> None:
    """That of a task, or that of the commit, after which Spark tells the writer to abort."""
    enable_yt(spark, f"yt:{store.folder}")
    interrupt_writes(spark, owner, step)
    with pytest.raises(Exception, match=r"EOF|crashed|exited|Connection reset"):
        write_frame(spark, mode)
    check_what_is_left(spark, store, AFTER[mode] if committed else BEFORE)


def start_driver(store: Store, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """The driver of a write in a session of processes of its own."""
    script = (sys.executable, "-m", killing.__name__)
    return subprocess.Popen(
        [*script, f"yt:{store.folder}", str(folder / "spark"), *arguments],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_the_end(driver: subprocess.Popen[str]) -> None:
    """Java ends when its driver does, and the processes of Python when Java does."""
    driver.communicate(timeout=60)
    while any(processes_of(driver.pid)):
        time.sleep(0.05)


def test_b15_a_driver_that_is_killed_at_a_step(spark: Any, store: Store, tmp_path: Path) -> None:
    """Together with all processes of its Spark."""
    driver = start_driver(store, tmp_path, "overwrite", "", "catalog", "append_slices")
    wait_for_the_end(driver)
    assert driver.returncode == -signal.SIGKILL
    check_what_is_left(spark, store, BEFORE)


def test_b15_a_driver_that_is_killed_in_a_transaction(spark: Any, store: Store, tmp_path: Path) -> None:
    """The transaction goes on, with the rows that were committed into it."""
    transaction = start_transaction(store, timeout=600)
    driver = start_driver(store, tmp_path, "append", transaction, "store", "commit")
    wait_for_the_end(driver)
    assert driver.returncode == -signal.SIGKILL
    assert (read(store), read(store.within(transaction))) == (BEFORE, AFTER["append"])
    commit_transaction(store, transaction)
    check_what_is_left(spark, store, AFTER["append"])


def test_b15_a_driver_that_is_killed_at_any_time(spark: Any, store: Store, tmp_path: Path) -> None:
    """Its Spark ends then; a commit that has begun may still be made."""
    driver = start_driver(store, tmp_path, "append", "")
    assert driver.stdout is not None and driver.stdout.readline() == "the write begins\n"
    delay = random.uniform(0, WRITE_SECONDS)
    time.sleep(delay)
    driver.kill()
    wait_for_the_end(driver)
    rows = read(store)
    print(f"killed after {delay:.2f} seconds, then the table was {rows}")
    assert rows in (BEFORE, AFTER["append"])
    check_what_is_left(spark, store, rows)

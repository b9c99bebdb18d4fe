"""Processes that are killed, or wait, when they have done a step of a command.

As a script it is the driver of a frame that is written, until something kills it:

    python -m dialects.ytsaurus.killing URL FOLDER_OF_SPARK MODE TRANSACTION [OWNER STEP]
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark import cloudpickle

from trellis.dialects.ytsaurus.destination.table_load import TableLoad
from trellis.dialects.ytsaurus.spark import table_writer
from trellis.dialects.ytsaurus.spark.source import YtDataSource, YtWriter
from trellis.dialects.ytsaurus.spark.table_writer import WrittenChunks
from trellis.dialects.ytsaurus.store import altering, catalog, chunks, store, writing
from trellis.dialects.ytsaurus.store.database import locks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OWNERS: dict[str, Any] = {
    "chunks": chunks.ChunkWriter,
    "catalog": catalog.Catalog,
    "locks": locks.Locks,
    "store": store.Store,
    "files": chunks.ChunkFiles,
    "frames": table_writer,
    "loads": TableLoad,
    "altering": altering,
    "writing": writing,
}


def kill_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def pause(folder: Path) -> None:
    """Let others see that a process has come here, and wait until they let it go on."""
    (folder / "paused").touch()
    while not (folder / "released").exists():
        time.sleep(0.02)


def processes_of(session: int) -> Iterator[int]:
    """Those that a driver started, and itself, if it began a session of its own."""
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.getsid(int(name)) == session:
                yield int(name)
        except ProcessLookupError:
            continue


def kill_driver() -> None:
    """The driver and all that it started, this process last: as when the machine goes down."""
    this = os.getpid()
    for process in [*processes_of(os.getsid(0))]:
        if process != this:
            os.kill(process, signal.SIGKILL)
    kill_process()


@contextmanager
def interrupted_after(owner: str, step: str, interrupt: Callable[[], None] = kill_process) -> Iterator[None]:
    """Inside, this process is interrupted, which mostly means killed, when it has done a step."""
    run = getattr(OWNERS[owner], step)

    def run_to_the_step(*arguments: Any, **options: Any) -> Any:
        result = run(*arguments, **options)
        interrupt()
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OWNERS[owner], step, run_to_the_step)
        yield


class InterruptedWriter(YtWriter):
    """Interrupts the process that does a step, which is one of Spark's tasks or that of the commit."""

    def __init__(self, writer: YtWriter, owner: str, step: str, interrupt: Callable[[], None]) -> None:
        super().__init__(writer._writer)
        self._step = (owner, step, interrupt)

    def write(self, iterator: Any) -> WrittenChunks:
        with interrupted_after(*self._step):
            return super().write(iterator)

    def commit(self, messages: Any) -> None:
        with interrupted_after(*self._step):
            super().commit(messages)


def interrupt_writes(
    spark: SparkSession, owner: str, step: str, interrupt: Callable[[], None] = kill_process
) -> None:
    """Let frames that a session writes to tables be interrupted after a step."""

    class InterruptedSource(YtDataSource):
        def writer(self, schema: Any, overwrite: bool) -> YtWriter:
            return InterruptedWriter(super().writer(schema, overwrite), owner, step, interrupt)

    # The Python of Spark's workers does not have the folder of the tests.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    spark.dataSource.register(InterruptedSource)


def write_frame(spark: Any, mode: str, transaction: str = "") -> None:
    """The rows 3 and 4 into the table, in two tasks."""
    writer = spark.range(3, 5, 1, 2).withColumnRenamed("id", "k").write.sorted_by("k")
    if transaction:
        writer = writer.transaction(transaction)
    writer.yt("//tmp/t", mode=mode)


def main(url: str, folder: str, mode: str, transaction: str, *step: str) -> None:
    from conftest import start_spark
    from trellis.dialects.ytsaurus.spark import enable_yt

    spark = start_spark(Path(folder))
    enable_yt(spark, url)
    if step:
        interrupt_writes(spark, step[0], step[1], kill_driver)
    print("the write begins", flush=True)
    write_frame(spark, mode, transaction)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Processes that are killed when they have done a step of a command.

As a script it is the driver of a frame that is written, until something kills it:

    python -m dialects.ytsaurus.killing URL FOLDER_OF_SPARK MODE TRANSACTION [OWNER STEP]
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark import cloudpickle

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
    "altering": altering,
    "writing": writing,
}


def kill_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


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
def dying_after(owner: str, step: str, kill: Callable[[], None] = kill_process) -> Iterator[None]:
    """Inside, this process is killed when it has done a step."""
    run = getattr(OWNERS[owner], step)

    def run_and_die(*arguments: Any, **options: Any) -> None:
        run(*arguments, **options)
        kill()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OWNERS[owner], step, run_and_die)
        yield


class DyingWriter(YtWriter):
    """Kills the process that does a step, which is one of Spark's tasks or that of the commit."""

    def __init__(self, writer: YtWriter, owner: str, step: str, kill: Callable[[], None]) -> None:
        super().__init__(writer._writer)
        self._step = (owner, step, kill)

    def write(self, iterator: Any) -> WrittenChunks:
        with dying_after(*self._step):
            return super().write(iterator)

    def commit(self, messages: Any) -> None:
        with dying_after(*self._step):
            super().commit(messages)


def let_writes_die(
    spark: SparkSession, owner: str, step: str, kill: Callable[[], None] = kill_process
) -> None:
    """Frames that a session writes to tables die after a step."""

    class DyingSource(YtDataSource):
        def writer(self, schema: Any, overwrite: bool) -> YtWriter:
            return DyingWriter(super().writer(schema, overwrite), owner, step, kill)

    # The Python of Spark's workers does not have the folder of the tests.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    spark.dataSource.register(DyingSource)


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
        let_writes_die(spark, step[0], step[1], kill_driver)
    print("the write begins", flush=True)
    write_frame(spark, mode, transaction)


if __name__ == "__main__":
    main(*sys.argv[1:])

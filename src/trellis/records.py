"""Whatever the user hands over, as records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from trellis.errors import UsageError
from trellis.flow.items import Chunks
from trellis.flow.parallel import Parallel, in_threads
from trellis.flow.records import FileRecords, ItemRecords, Records
from trellis.flow.source import InputFile, input_files
from trellis.flow.tabular import declared
from trellis.flow.task import Run, run_here

HERE_LIMIT = 32 << 20


def records_of(source: Any, master: str | None, remote: str | None) -> Records:
    """The records of paths, a DataFrame, an Arrow table, pandas, or an iterable of dicts."""
    if isinstance(source, (str, Path)):
        source = [source]
    if isinstance(source, Sequence) and source and all(isinstance(each, (str, Path)) for each in source):
        files = input_files([str(each) for each in source])
        return FileRecords(files, *_runner(files, master, remote))
    for suits, make in _KINDS:
        if suits(source):
            return make(source)
    if isinstance(source, Iterable) and not isinstance(source, (bytes, dict)):
        return ItemRecords(Chunks.of(source))
    raise UsageError(
        f"records cannot be read from a {type(source).__name__}; give paths, a Spark DataFrame, an Arrow "
        "table, pandas, or an iterable of dicts"
    )


def _runner(files: Sequence[InputFile], master: str | None, remote: str | None) -> tuple[Run, Parallel]:
    if master is None and remote is None and sum(file.weight for file in files) <= HERE_LIMIT:
        return run_here, in_threads
    from trellis.spark.run import SparkRun

    run = SparkRun(master, remote)
    return run, run.parallel


def _is_module(value: Any, *names: str) -> bool:
    return type(value).__module__.partition(".")[0] in names


def _of_arrow(source: Any) -> Records:
    return ItemRecords(Chunks.of_batches(source), declared(source.schema))


def _of_pandas(source: Any) -> Records:
    return _of_arrow(pa.Table.from_pandas(source, preserve_index=False))


def _of_frame(source: Any) -> Records:
    from trellis.spark.frames import FrameRecords
    from trellis.spark.run import SparkRun

    return FrameRecords(source, SparkRun())


_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Records]], ...] = (
    (lambda value: isinstance(value, (pa.Table, pa.RecordBatch, pa.RecordBatchReader)), _of_arrow),
    (lambda value: _is_module(value, "pandas"), _of_pandas),
    (lambda value: _is_module(value, "pyspark"), _of_frame),
)

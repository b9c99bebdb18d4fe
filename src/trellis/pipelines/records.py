"""Whatever the user hands over, as records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from trellis.engine.columnar.typed.records import TableRecords, batches_of
from trellis.engine.input.files import input_files
from trellis.engine.input.items import Chunks
from trellis.engine.input.records import FileRecords, ItemRecords, Records
from trellis.engine.runner import Runner
from trellis.errors import UsageError
from trellis.pipelines.storage import storage_for


def records_of(source: Any, runner: Runner, payload: str | None = None) -> Records:
    """The records of paths, a DataFrame, an Arrow table, pandas, or an iterable of dicts.

    The runner is for files. A DataFrame is conformed by its own Spark, what is in memory in this process.
    `payload` names the column of a DataFrame that holds the records as JSON.
    """
    if _is_module(source, "pyspark"):
        return _of_frame(source, payload)
    if payload is not None:
        raise UsageError(
            f"payload= names a column of a Spark DataFrame, and the source is a {type(source).__name__}"
        )
    if isinstance(source, (str, Path)):
        source = [source]
    if isinstance(source, Sequence) and source and all(isinstance(path, (str, Path)) for path in source):
        paths = [str(path) for path in source]
        storage = storage_for(paths, runner)
        files = input_files(paths, storage)
        runner.start()
        return FileRecords(files, runner, storage)
    for suits, make in _KINDS:
        if suits(source):
            return make(source)
    if isinstance(source, Iterable) and not isinstance(source, (bytes, dict)):
        return ItemRecords(Chunks.of(source))
    raise UsageError(
        f"records cannot be read from a {type(source).__name__}; give paths, a Spark DataFrame, an Arrow "
        "table, pandas, or an iterable of dicts"
    )


def _is_module(value: Any, *names: str) -> bool:
    return type(value).__module__.partition(".")[0] in names


def table_of(source: Any) -> Any:
    """A pandas frame as an Arrow table; anything else as it is. Raises UsageError."""
    if not _is_module(source, "pandas"):
        return source
    try:
        return pa.Table.from_pandas(source, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as bad:
        raise UsageError(
            f"a column of the pandas frame holds values of several types ({'; '.join(map(str, bad.args))}); "
            "give it one type, or load frame.to_dict('records')"
        ) from None


def of_tables(tables: Iterable[Any]) -> Records:
    """The rows of Arrow tables and frames in their order. `tables` can be read again and again."""
    streams: dict[int, Callable[[], Iterable[pa.RecordBatch]]] = {}

    def batches() -> Iterable[pa.RecordBatch]:
        for number, frame in enumerate(tables):
            table = table_of(frame)
            if isinstance(table, (pa.Table, pa.RecordBatch)):
                yield from batches_of(table)()
            else:
                if number not in streams:
                    streams[number] = batches_of(table)
                yield from streams[number]()

    return TableRecords(batches)


def _of_table(source: Any) -> Records:
    return TableRecords(batches_of(table_of(source)))


def _of_frame(source: Any, payload: str | None) -> Records:
    from trellis.engine.spark.frames import FrameRecords

    return FrameRecords(source, payload)


_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Records]], ...] = (
    (lambda value: _is_module(value, "pandas") or hasattr(value, "__arrow_c_stream__"), _of_table),
    (lambda value: isinstance(value, pa.RecordBatch), _of_table),
)

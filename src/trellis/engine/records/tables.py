"""Rows with types that are in memory: Arrow tables, batches and streams, to be read as often as needed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import IO, Any

import pyarrow as pa

from trellis.engine.conform.choose import Conformer, conformer_of
from trellis.engine.input.blocks import Split
from trellis.engine.input.parquet import BATCH, RowBatch
from trellis.engine.parallel import Parallel, in_threads
from trellis.engine.plan import BlockRef, Peek, Plan, lines_by_offset
from trellis.engine.task import Outcome, Part, Progress, Waiting, run_parts
from trellis.errors import UsageError
from trellis.evolution.observe import Observations

WHERE = Split(0, 0, "records")


class TableRecords:
    """Rows of tables in their order. `batches` gives the same batches every time it is called."""

    name = ""
    weight: int | None = None
    file_count = 1
    parallel: Parallel = staticmethod(in_threads)

    def __init__(self, batches: Callable[[], Iterable[pa.RecordBatch]]) -> None:
        self.batches = batches
        self.runs = 0

    def fingerprint(self, *_: str) -> str | None:
        return None

    def peek(self, plan: Plan) -> Peek:
        conformer = conformer_of(plan, columnar=False)
        for rows in self._numbered() if conformer.learns else ():
            return Peek(conformer.batch(WHERE, rows).observed or Observations())
        return Peek(Observations())

    def run(self, plan: Plan, pending: Sequence[Waiting] | None, progress: Progress) -> Iterator[Outcome]:
        """Conform and stage the batches, or those that had to wait."""
        selection = None if pending is None else lines_by_offset(pending)
        self.runs += 1

        def parts(conformer: Conformer) -> Iterator[Part]:
            for rows in self._numbered():
                size = rows.batch.num_rows
                conform, wait = partial(conformer.batch, WHERE, rows), partial(BlockRef, WHERE, rows.number)
                yield Part(rows.number, size, rows.first + size, conform, wait, rows.record_text)

        yield run_parts(plan, f"tables-{self.runs:03d}", WHERE, parts, selection, progress)

    def _numbered(self) -> Iterator[RowBatch]:
        first = 0
        for number, batch in enumerate(self.batches()):
            yield RowBatch(number, first, batch)
            first += batch.num_rows


def batches_of(table: Any) -> Callable[[], Iterable[pa.RecordBatch]]:
    """The batches of a table, a batch, or anything with an Arrow stream; one without rows, if that is all.

    Raises UsageError.
    """
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if not isinstance(table, pa.Table):
        try:
            return _Spool(pa.RecordBatchReader.from_stream(table))
        except (pa.ArrowException, TypeError):
            raise UsageError(f"a {type(table).__name__} has no rows of named columns; give a table") from None
    if not table.num_rows:
        return lambda: [_empty(table.schema)]
    return lambda: table.to_batches(max_chunksize=BATCH)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


class _Spool:
    """The batches of a stream: written to a temporary file as they come, read back from then on."""

    def __init__(self, stream: pa.RecordBatchReader) -> None:
        self.stream: pa.RecordBatchReader | None = stream
        self.file: IO[bytes] = tempfile.TemporaryFile(prefix="trellis-")  # noqa: SIM115

    def __call__(self) -> Iterator[pa.RecordBatch]:
        if self.stream is not None:
            with pa.ipc.new_stream(self.file, self.stream.schema) as writer:
                for batch in self.stream:
                    writer.write_table(pa.Table.from_batches([batch]), max_chunksize=BATCH)
            self.stream = None
        self.file.seek(0)
        rows = 0
        with pa.ipc.open_stream(self.file) as reader:
            for batch in reader:
                rows += batch.num_rows
                yield batch
            if not rows:
                yield _empty(reader.schema)

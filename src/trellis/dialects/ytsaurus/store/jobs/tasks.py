"""Tasks of jobs: rows read, put in groups, handed to the job, and written to the outputs."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.schema.model import SortColumn, TableSchema
from trellis.dialects.ytsaurus.store.chunks import ChunkFiles, ChunkWriter, Slice
from trellis.dialects.ytsaurus.store.jobs.job import Job, RowGroup
from trellis.dialects.ytsaurus.store.rewriting.execution import find_range
from trellis.dialects.ytsaurus.store.rewriting.planning import Piece, Rewrite
from trellis.dialects.ytsaurus.store.row_source import RowSource
from trellis.dialects.ytsaurus.values.order import encode_key
from trellis.dialects.ytsaurus.values.presentation import row_presenter
from trellis.dialects.ytsaurus.values.rows import OrderValidator, RowValidator
from trellis.dialects.ytsaurus.values.validation import ValueForms

KeyedRow = tuple[bytes, Row]


@dataclass(frozen=True)
class JobOutput:
    """A table that jobs write: where its chunks go, and what their rows must fit."""

    files: ChunkFiles
    schema: TableSchema
    optimize_for: str
    operation: str


@dataclass(frozen=True)
class JobTasks:
    """What all tasks of an operation share. Without `reduce_by` the rows of a task are one group."""

    job: Job
    sources: tuple[RowSource, ...]
    outputs: tuple[JobOutput, ...]
    reduce_by: tuple[SortColumn, ...] = ()
    sort_by: tuple[SortColumn, ...] = ()

    def run(self, task: Rewrite) -> list[list[Slice]]:
        """The chunks of each output. Raises YtError."""
        groups = self._read_groups(task) if self.reduce_by else [({}, self._read_rows(task))]
        writers = [_OutputWriter(output, self.job.output_forms) for output in self.outputs]
        for index, row in self.job.run(groups, len(writers)):
            writers[index].append(row)
        return [writer.close() for writer in writers]

    def _read_rows(self, task: Rewrite) -> Iterator[Row]:
        for piece in task.pieces:
            yield from self._read_piece(piece, 0, piece.slice.rows)

    def _read_groups(self, task: Rewrite) -> Iterator[RowGroup]:
        names = [column.name for column in self.reduce_by]
        orders = [column.sort_order for column in self.reduce_by]
        inputs = [[*pieces] for _, pieces in groupby(task.pieces, lambda piece: piece.source)]
        runs = [chain.from_iterable(map(partial(self._read_keyed, task=task), pieces)) for pieces in inputs]
        rows = (row for _, row in heapq.merge(*runs, key=lambda keyed: keyed[0]))
        for _, group in groupby(rows, lambda row: encode_key([row.get(name) for name in names], orders)):
            first = next(group)
            key = {name: first.get(name) for name in names}
            yield key, chain([first], group)  # noqa: B031 - what is left of the group

    def _read_keyed(self, piece: Piece, task: Rewrite) -> Iterator[KeyedRow]:
        source = self.sources[piece.source]
        names = [column.name for column in self.sort_by]
        orders = [column.sort_order for column in self.sort_by]
        start, end = find_range(source, piece, self.reduce_by, task)
        for row in self._read_piece(piece, start, end):
            yield encode_key([row.get(name) for name in names], orders), row

    def _read_piece(self, piece: Piece, start: int, end: int) -> Iterator[Row]:
        source = self.sources[piece.source]
        rows = source.files.read_rows(piece.slice.cut(start, end), source.schema, source.stored_names)
        return map(source.select, map(row_presenter(source.schema, self.job.input_forms), rows))


class _OutputWriter:
    """Rows of a job on their way into a table. Their numbers mean nothing to a user."""

    def __init__(self, output: JobOutput, forms: ValueForms) -> None:
        self._rows = RowValidator(output.schema, forms)
        self._order = OrderValidator(output.schema, first_row=None) if output.schema.is_sorted else None
        self._chunks = ChunkWriter(output.files, output.schema, output.optimize_for, output.operation)

    def append(self, row: Row) -> None:
        try:
            valid_row = self._rows.validate_row(row)
            if self._order is not None:
                self._order.check(valid_row)
        except YtError as error:
            raise YtError(
                f"a row that the job gave: {error.message}", error.code, attributes=error.attributes
            ) from None
        self._chunks.append(valid_row)

    def close(self) -> list[Slice]:
        return self._chunks.close()


def sort_slices(schema: TableSchema, slices: Iterable[Slice]) -> Sequence[Slice]:
    """Chunks of jobs in the order of their first keys, where the table has keys."""
    if not schema.is_sorted:
        return [*slices]
    orders = [key.sort_order for key in schema.keys]
    return sorted(slices, key=lambda part: encode_key(part.first_key or (), orders))

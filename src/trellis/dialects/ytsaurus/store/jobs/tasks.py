"""Tasks of jobs: rows read, put in groups, handed to the job, and written to the outputs."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from typing import TypeAlias

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.schema.model import SortColumn, TableSchema
from trellis.dialects.ytsaurus.store.chunks import ChunkFiles, ChunkWriter, Slice
from trellis.dialects.ytsaurus.store.jobs.job import (
    RANGE_INDEX,
    ROW_INDEX,
    TABLE_INDEX,
    Job,
    RowGroup,
)
from trellis.dialects.ytsaurus.store.rewriting.execution import find_range
from trellis.dialects.ytsaurus.store.rewriting.planning import Piece, Rewrite
from trellis.dialects.ytsaurus.store.row_source import RowSource
from trellis.dialects.ytsaurus.values.order import encode_key
from trellis.dialects.ytsaurus.values.presentation import row_presenter
from trellis.dialects.ytsaurus.values.rows import OrderValidator, RowValidator
from trellis.dialects.ytsaurus.values.validation import ValueForms

KeyedRow: TypeAlias = "tuple[bytes, Row]"
JoinedRow: TypeAlias = "tuple[Row, bool]"
"""A row, and whether it is of a primary table, and not of a foreign one."""


@dataclass(frozen=True)
class JobOutput:
    """A table that jobs write: where its chunks go, and what their rows must fit."""

    path: str
    files: ChunkFiles
    schema: TableSchema
    optimize_for: str
    operation: str


@dataclass(frozen=True)
class JobTasks:
    """What all tasks of an operation share. Without `group_by` the rows of a task are one group.

    Of the inputs whose numbers are `foreign` groups have rows where a primary one has some.
    """

    job: Job
    sources: tuple[RowSource, ...]
    outputs: tuple[JobOutput, ...]
    group_by: tuple[SortColumn, ...] = ()
    sort_by: tuple[SortColumn, ...] = ()
    foreign: frozenset[int] = frozenset()

    def run(self, task: Rewrite) -> list[list[Slice]]:
        """The chunks of each output. Raises YtError."""
        groups = self._read_groups(task) if self.group_by else [({}, self._read_rows(task))]
        writers = [_OutputWriter(output, self.job.output_forms) for output in self.outputs]
        for index, row in self.job.run(groups, len(writers)):
            writers[index].append(row)
        return [writer.close() for writer in writers]

    def _read_rows(self, task: Rewrite) -> Iterator[Row]:
        for piece in task.pieces:
            yield from self._read_piece(piece, 0, piece.slice.rows)

    def _read_groups(self, task: Rewrite) -> Iterator[RowGroup]:
        names = [column.name for column in self.group_by]
        orders = [column.sort_order for column in self.group_by]

        def group_key(joined: JoinedRow) -> bytes:
            row, _ = joined
            return encode_key([row.get(name) for name in names], orders)

        inputs = {source: [*pieces] for source, pieces in groupby(task.pieces, lambda piece: piece.source)}
        primary = [source for source in inputs if source not in self.foreign]
        if not primary:
            return
        merged = heapq.merge(*(self._read_run(inputs[source], task) for source in primary), key=itemgetter(0))
        rows: Iterator[JoinedRow] = ((row, True) for _, row in merged)
        if self.foreign:  # rows of equal keys come in the order of the tables, primary ones as one
            runs = {source: self._read_foreign(inputs[source], task) for source in self.foreign & {*inputs}}
            runs[primary[0]] = rows
            rows = heapq.merge(*(runs[source] for source in sorted(runs)), key=group_key)
        for _, group in groupby(rows, group_key):
            waiting = _take_until_primary(group)
            if waiting:
                key = {name: waiting[0].get(name) for name in names}
                yield key, chain(waiting, (row for row, _ in group))

    def _read_run(self, pieces: Iterable[Piece], task: Rewrite) -> Iterator[KeyedRow]:
        return chain.from_iterable(map(partial(self._read_keyed, task=task), pieces))

    def _read_foreign(self, pieces: Iterable[Piece], task: Rewrite) -> Iterator[JoinedRow]:
        for piece in pieces:
            start, end = find_range(self.sources[piece.source], piece, self.group_by, task)
            yield from ((row, False) for row in self._read_piece(piece, start, end))

    def _read_keyed(self, piece: Piece, task: Rewrite) -> Iterator[KeyedRow]:
        source = self.sources[piece.source]
        names = [column.name for column in self.sort_by]
        orders = [column.sort_order for column in self.sort_by]
        start, end = find_range(source, piece, self.group_by, task)
        for row in self._read_piece(piece, start, end):
            yield encode_key([row.get(name) for name in names], orders), row

    def _read_piece(self, piece: Piece, start: int, end: int) -> Iterator[Row]:
        source = self.sources[piece.source]
        stored = source.files.read_rows(piece.slice.cut(start, end), source.schema, source.stored_names)
        rows = map(source.select, map(row_presenter(source.schema, self.job.input_forms), stored))
        marks = {TABLE_INDEX: piece.source, RANGE_INDEX: piece.range_index}
        marks = {name: mark for name, mark in marks.items() if name in self.job.marks}
        if ROW_INDEX in self.job.marks:
            first = piece.row_index + start
            return ({**row, **marks, ROW_INDEX: number} for number, row in enumerate(rows, first))
        return ({**row, **marks} for row in rows) if marks else rows


def _take_until_primary(group: Iterator[JoinedRow]) -> list[Row]:
    """The rows up to the first of a primary table; none where there is no such row."""
    rows = []
    for row, is_primary in group:
        rows.append(row)
        if is_primary:
            return rows
    return []


class _OutputWriter:
    """Rows of a job on their way into a table. Their numbers mean nothing to a user."""

    def __init__(self, output: JobOutput, forms: ValueForms) -> None:
        self._path = output.path
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
                f"{self._path}: a row that the job gave: {error.message}",
                error.code,
                attributes={"path": self._path, **error.attributes},
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

"""Tasks of operations: rows read, converted, put in order and written. They run here or on executors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.schema.model import SortColumn, TableSchema
from trellis.dialects.ytsaurus.store.chunks import BATCH_ROWS, ChunkFiles, ChunkWriter, Key, Slice
from trellis.dialects.ytsaurus.store.columns import decode_rows, stored_name
from trellis.dialects.ytsaurus.store.key_search import encode_bound, find_key
from trellis.dialects.ytsaurus.store.keys import encode_keys
from trellis.dialects.ytsaurus.store.rewriting.conversion import BatchConverter
from trellis.dialects.ytsaurus.store.rewriting.planning import Piece, Rewrite
from trellis.dialects.ytsaurus.store.row_source import RowSource
from trellis.dialects.ytsaurus.types.simple import plain_name
from trellis.dialects.ytsaurus.values.rows import OrderValidator

NumberedBatch: TypeAlias = "tuple[int, pa.RecordBatch]"
"""Rows of the output's layout, and the number of the first of them through all inputs."""


@dataclass(frozen=True)
class OutputFiles:
    """What tasks need to know to write the rows of an operation."""

    files: ChunkFiles
    schema: TableSchema
    optimize_for: str
    operation: str
    """The beginning of the ids of all its chunks."""
    sources: tuple[RowSource, ...]

    def writer(self) -> ChunkWriter:
        return ChunkWriter(self.files, self.schema, self.optimize_for, self.operation)

    def read_pieces(self, pieces: Iterable[Piece]) -> Iterator[NumberedBatch]:
        """The rows of pieces one after the other. Raises YtError for those that do not fit."""
        for piece in pieces:
            yield from self._read_piece(piece, 0, piece.slice.rows)

    def read_range(
        self, piece: Piece, keys: Sequence[SortColumn], rewrite: Rewrite
    ) -> Iterator[NumberedBatch]:
        """The rows of a piece that are in the range of a merge."""
        start, end = find_range(self.sources[piece.source], piece, keys, rewrite)
        yield from self._read_piece(piece, start, end)

    def _read_piece(self, piece: Piece, start: int, end: int) -> Iterator[NumberedBatch]:
        source, part = self.sources[piece.source], piece.slice
        converter = BatchConverter(part.chunk.schema, source, self.schema)
        row = piece.first_row + start
        for batch in source.files.read_batches(part.cut(start, end), converter.needed):
            try:
                converted = converter.convert(batch, row)
            except YtError as error:
                attributes = {"input": source.path, **error.attributes}
                message = f"{error.message} (from {source.path})" if source.path else error.message
                raise YtError(message, error.code, attributes=attributes) from None
            yield row, converted
            row += batch.num_rows


def find_range(
    source: RowSource, piece: Piece, keys: Sequence[SortColumn], rewrite: Rewrite
) -> tuple[int, int]:
    """The rows of a piece, from the first up to the second, that are in the range of keys of a task."""
    part, old_keys = piece.slice, source.old_keys(keys)
    start, end = 0, part.rows
    if rewrite.lower is not None:
        start = find_key(source.files, part, source.schema, old_keys, rewrite.lower)
    if rewrite.upper is not None:
        end = find_key(source.files, part, source.schema, old_keys, rewrite.upper)
    return start, end


def run_rewrite(output: OutputFiles, rewrite: Rewrite) -> list[Slice]:
    """The chunks with the rows of a task. Raises YtError."""
    keys = output.schema.keys
    if rewrite.merged:
        inputs = [[*pieces] for _, pieces in groupby(rewrite.pieces, lambda piece: piece.source)]
        runs = [
            chain.from_iterable(map(partial(output.read_range, keys=keys, rewrite=rewrite), pieces))
            for pieces in inputs
        ]
        return write_batches(output, merge_runs(output.schema, runs))
    batches = (batch for _, batch in output.read_pieces(rewrite.pieces))
    return write_batches(output, batches, rewrite.pieces[0].first_row)


def write_batches(
    output: OutputFiles, batches: Iterable[pa.RecordBatch], first_row: int | None = None
) -> list[Slice]:
    """Chunks of rows whose order is checked, if they have one; `first_row` numbers them in errors."""
    writer = output.writer()
    order = BatchOrderValidator(output.schema, first_row)
    for batch in batches:
        order.check(batch)
        writer.append_batch(batch)
    return writer.close()


def check_borders(
    schema: TableSchema, slices: Iterable[Slice], last_key: Key | None, first_row: int | None = None
) -> None:
    """Raises YtError (301, 306) where chunks are not in order, after a row with the last key."""
    keys = schema.keys
    last = None if last_key is None else encode_bound(last_key, keys)
    order = OrderValidator(schema, last, first_row)
    for part in slices:
        key = part.first_key or ()
        order.check_key(key, encode_bound(key, keys))
        order.advance(part.rows, encode_bound(part.last_key, keys))


class BatchOrderValidator:
    """`OrderValidator` for many rows at once."""

    def __init__(self, schema: TableSchema, first_row: int | None) -> None:
        self._schema = schema
        self._rows = OrderValidator(schema, first_row=first_row)

    def check(self, batch: pa.RecordBatch) -> None:
        """Raises YtError with the codes 301 and 306."""
        schema = self._schema
        if not schema.is_sorted or not batch.num_rows:
            return
        keys = _plain_keys(batch, schema)
        if keys is None:
            keys = encode_keys(batch, schema, schema.keys)
        precedes = pc.less if schema.unique_keys else pc.less_equal
        in_order = pc.all(precedes(keys[:-1], keys[1:]), min_count=0).as_py()
        if in_order:
            first, last = (
                encode_keys(batch.slice(row, 1), schema, schema.keys)[0].as_py()
                for row in (0, batch.num_rows - 1)
            )
            if self._rows.follows(first):
                self._rows.advance(batch.num_rows, last)
                return
        for row in decode_rows(schema, schema, batch):
            self._rows.check(row)


def _plain_keys(batch: pa.RecordBatch, schema: TableSchema) -> pa.Array | None:
    """The key column where its values compare as the keys do: one of integers or texts without nulls."""
    (key, *others) = schema.key_columns
    keys = batch.column(stored_name(key))
    is_plain = pa.types.is_integer(keys.type) or plain_name(key.type) in ("string", "utf8")
    is_plain = is_plain and not keys.null_count and key.sort_order == "ascending"
    return keys if is_plain and not others else None


def sort_batches(schema: TableSchema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All rows in the order of their keys; those of equal keys keep theirs. Holds them in memory."""
    batches = [*batches]
    if not batches:
        return
    table = pa.Table.from_batches(batches)
    order = pc.sort_indices(pa.chunked_array([encode_keys(batch, schema, schema.keys) for batch in batches]))
    for start in range(0, len(order), BATCH_ROWS):
        yield from table.take(order[start : start + BATCH_ROWS]).combine_chunks().to_batches()


def merge_runs(schema: TableSchema, runs: Iterable[Iterator[NumberedBatch]]) -> Iterator[pa.RecordBatch]:
    """Sorted runs as one; rows of equal keys keep the order of the runs. Holds one batch of each."""
    heads = [_Head(schema, run) for run in runs]
    while True:
        live = [head for head in heads if head.advance()]
        if not live:
            return
        # No row comes any more that precedes the last one of this head: all others end later.
        index = min(range(len(live)), key=lambda index: (live[index].last, index))
        bound = live[index].last
        batches = [head.take(bound, inclusive=at <= index) for at, head in enumerate(live)]
        yield from sort_batches(schema, (batch for batch in batches if batch.num_rows))


class _Head:
    """The next rows of a sorted run."""

    def __init__(self, schema: TableSchema, batches: Iterator[NumberedBatch]) -> None:
        self._schema = schema
        self._batches = batches
        self._batch: pa.RecordBatch | None = None
        self._keys: pa.Array = pa.array([], pa.binary())

    def advance(self) -> bool:
        """Whether there are rows."""
        while self._batch is None or not self._batch.num_rows:
            _, self._batch = next(self._batches, (0, None))
            if self._batch is None:
                return False
            self._keys = encode_keys(self._batch, self._schema, self._schema.keys)
        return True

    @property
    def last(self) -> bytes:
        return bytes(self._keys[-1].as_py())

    def take(self, bound: bytes, *, inclusive: bool) -> pa.RecordBatch:
        """The rows up to a key, taken away."""
        assert self._batch is not None
        before = (pc.less_equal if inclusive else pc.less)(self._keys, pa.scalar(bound, pa.binary()))
        count = int(np.count_nonzero(before.to_numpy(zero_copy_only=False)))
        taken = self._batch.slice(0, count)
        self._batch, self._keys = self._batch.slice(count), self._keys[count:]
        return taken

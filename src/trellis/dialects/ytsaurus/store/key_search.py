"""Rows of sorted chunks found by their keys: one row group is read, and of that the key columns."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import pyarrow.parquet as pq

from trellis.dialects.ytsaurus.schema.model import SortColumn, TableSchema
from trellis.dialects.ytsaurus.store.chunks import ChunkFiles, Key, RowGroup, Slice, row_groups
from trellis.dialects.ytsaurus.store.columns import stored_name
from trellis.dialects.ytsaurus.store.keys import encode_keys
from trellis.dialects.ytsaurus.values.order import encode_key


def encode_bound(key: Key | None, keys: Sequence[SortColumn]) -> bytes:
    """A key of a chunk under the key columns of now; those that were added since are null."""
    values = [*(key or ())[: len(keys)]]
    values += [None] * (len(keys) - len(values))
    return encode_key(values, [column.sort_order for column in keys])


def find_key(
    files: ChunkFiles, part: Slice, table: TableSchema, keys: Sequence[SortColumn], bound: bytes
) -> int:
    """The number, in a slice, of its first row whose key is not before the bound."""
    with files.open(part.chunk) as file:
        groups = row_groups(file)
        index = bisect_left(groups, bound, key=lambda group: encode_bound(group.first_key, keys))
        row = 0 if index == 0 else _find_in_group(file, groups[index - 1], part, table, keys, bound)
    return min(max(row - part.start, 0), part.rows)


def _find_in_group(
    file: pq.ParquetFile,
    group: RowGroup,
    part: Slice,
    table: TableSchema,
    keys: Sequence[SortColumn],
    bound: bytes,
) -> int:
    """The number, in the chunk, of the first row from the group on whose key is not before the bound."""
    schema = part.chunk.schema
    stored = {column.identity: column for column in schema.columns}
    origins = [stored.get(table.by_name[key.name].identity) for key in keys]
    names = [stored_name(column) for column in origins if column is not None]
    (batch,) = file.read_row_group(group.index, columns=names).combine_chunks().to_batches()
    chunk_keys = [
        SortColumn("" if column is None else column.name, key.sort_order)
        for column, key in zip(origins, keys, strict=True)
    ]
    encoded = encode_keys(batch, schema, chunk_keys)
    return group.start + bisect_left(range(len(encoded)), bound, key=lambda row: encoded[row].as_py())

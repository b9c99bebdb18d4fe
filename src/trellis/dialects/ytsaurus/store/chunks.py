"""Chunks: Parquet files that never change."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.store.columns import arrow_schema, decode_rows, encode_rows, needed_columns
from trellis.dialects.ytsaurus.values.rows import row_weight
from trellis.errors import StorageError

Key = tuple[Any, ...]

BATCH_ROWS: Final = 16_384
CHUNK_WEIGHT: Final = 256 * 2**20
_ROW_GROUPS: Final = {"scan": 262_144, "lookup": 4_096}


@dataclass(frozen=True)
class Chunk:
    """A file of rows, and what is known of it without reading it."""

    id: str
    schema: TableSchema
    """Under which its rows were written."""
    rows: int
    compressed_size: int
    uncompressed_size: int
    weight: int
    optimize_for: str


@dataclass(frozen=True)
class Slice:
    """Rows of a chunk, from `start` up to `end`, with the keys of the first and the last."""

    chunk: Chunk
    start: int
    end: int
    first_key: Key | None
    last_key: Key | None

    @property
    def rows(self) -> int:
        return self.end - self.start


class ChunkFiles:
    """The files of a store."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, chunk_id: str) -> Path:
        return self._folder / f"{chunk_id}.parquet"

    def read_rows(
        self, part: Slice, table: TableSchema, columns: Iterable[str] | None = None
    ) -> Iterator[Row]:
        """The rows of a slice under the schema of its table. Opens only the row groups that hold some."""
        needed = needed_columns(part.chunk.schema, table, columns)
        for batch in self._batches(part, needed):
            yield from decode_rows(part.chunk.schema, table, batch)

    def check(self, chunk_ids: Iterable[str]) -> None:
        """Raises YtError with the code 402 for a chunk that garbage collection took."""
        for chunk_id in chunk_ids:
            if not self.path(chunk_id).exists():
                raise YtError(
                    f"the chunk {chunk_id} was deleted while it was taken over; run this again",
                    ErrorCode.CONCURRENT_LOCK,
                )

    def copy_file(self, source: ChunkFiles, chunk_id: str) -> None:
        """A chunk of another store. Ids are random, so a file of the same id is the same file."""
        path = self.path(chunk_id)
        if not path.exists():
            partial = path.with_suffix(".partial")
            shutil.copyfile(source.path(chunk_id), partial)
            partial.replace(path)

    def delete_others(self, kept: frozenset[str], older_than: float) -> list[str]:
        """The ids of all files but those of some chunks, deleted; those written since are left alone."""
        deleted = []
        for path in sorted(self._folder.iterdir()):
            is_kept = path.suffix == ".parquet" and path.stem in kept
            if not is_kept and path.stat().st_mtime < older_than:
                path.unlink(missing_ok=True)
                deleted.append(path.stem)
        return deleted

    def _batches(self, part: Slice, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        path = self.path(part.chunk.id)
        try:
            with pq.ParquetFile(path) as file:
                yield from _read_batches(file, part, columns)
        except FileNotFoundError:
            raise StorageError(f"{path} is gone; it has rows of a table, restore it from a backup") from None
        except pa.ArrowException as error:
            reason = str(error).partition("\n")[0]
            raise StorageError(f"{path} is damaged ({reason}); restore it from a backup") from None


def _read_batches(
    file: pq.ParquetFile, part: Slice, columns: Sequence[str] | None
) -> Iterator[pa.RecordBatch]:
    """The rows of a slice, from the row groups that hold some."""
    offset = 0
    for group in range(file.num_row_groups):
        size = file.metadata.row_group(group).num_rows
        start, end = max(part.start - offset, 0), min(part.end - offset, size)
        if start < end and columns == []:
            yield pa.record_batch([pa.nulls(end - start)], names=[""])
        elif start < end:
            table = file.read_row_group(group, columns=columns).slice(start, end - start)
            yield from table.to_batches(max_chunksize=BATCH_ROWS)
        offset += size


class ChunkWriter:
    """Rows written to as many chunks as they need."""

    def __init__(self, files: ChunkFiles, schema: TableSchema, optimize_for: str) -> None:
        self._files = files
        self._schema = schema
        self._optimize_for = optimize_for
        self._keys = [key.name for key in schema.keys]
        self._slices: list[Slice] = []
        self._rows: list[Row] = []
        self._weight = 0
        self._open: _OpenChunk | None = None

    def append(self, row: Row) -> None:
        self._rows.append(row)
        self._weight += row_weight(row)
        if len(self._rows) >= BATCH_ROWS or self._weight >= CHUNK_WEIGHT:
            self._flush()

    def close(self) -> list[Slice]:
        """The chunks that were written."""
        self._flush()
        self._finish()
        return self._slices

    def abort(self) -> None:
        """Removes what was written."""
        if self._open is not None:
            self._open.writer.close()
            self._open.path.unlink(missing_ok=True)
        for part in self._slices:
            self._files.path(part.chunk.id).unlink(missing_ok=True)

    def _flush(self) -> None:
        if not self._rows:
            return
        if self._open is None:
            self._open = _OpenChunk(self._files, self._schema, self._optimize_for, self._key(self._rows[0]))
        self._open.write(encode_rows(self._schema, self._rows), self._weight, self._key(self._rows[-1]))
        self._rows, self._weight = [], 0
        if self._open.weight >= CHUNK_WEIGHT:
            self._finish()

    def _finish(self) -> None:
        if self._open is not None:
            self._slices.append(self._open.close())
            self._open = None

    def _key(self, row: Row) -> Key | None:
        return tuple(row.get(name) for name in self._keys) if self._keys else None


class _OpenChunk:
    def __init__(
        self, files: ChunkFiles, schema: TableSchema, optimize_for: str, first_key: Key | None
    ) -> None:
        self.id = secrets.token_hex(16)
        self.path = files.path(self.id)
        self.weight = 0
        self.writer = pq.ParquetWriter(
            self.path,
            arrow_schema(schema),
            compression="zstd" if optimize_for == "scan" else "lz4",
            use_dictionary=optimize_for == "scan",
            write_page_index=optimize_for == "lookup",
        )
        self._schema = schema
        self._optimize_for = optimize_for
        self._first_key, self._last_key = first_key, first_key
        self._rows = 0

    def write(self, batch: pa.RecordBatch, weight: int, last_key: Key | None) -> None:
        self.writer.write_batch(batch, row_group_size=_ROW_GROUPS[self._optimize_for])
        self.weight += weight
        self._rows += batch.num_rows
        self._last_key = last_key

    def close(self) -> Slice:
        self.writer.close()
        metadata = pq.read_metadata(self.path)
        groups = (metadata.row_group(group) for group in range(metadata.num_row_groups))
        uncompressed = sum(group.total_byte_size for group in groups)
        size = os.path.getsize(self.path)
        chunk = Chunk(self.id, self._schema, self._rows, size, uncompressed, self.weight, self._optimize_for)
        return Slice(chunk, 0, self._rows, self._first_key, self._last_key)

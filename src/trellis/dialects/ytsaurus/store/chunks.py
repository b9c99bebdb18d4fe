"""Chunks: Parquet files that never change."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from trellis.destinations.folder import sync_to_disk
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.store.columns import (
    arrow_schema,
    batch_weight,
    decode_rows,
    encode_rows,
    needed_columns,
    stored_name,
)
from trellis.dialects.ytsaurus.values.rows import row_weight
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.writer import dumps
from trellis.errors import StorageError

Key = tuple[Any, ...]

BATCH_ROWS: Final = 16_384
CHUNK_WEIGHT: Final = 256 * 2**20
_GROUP_ROWS: Final = {"scan": 262_144, "lookup": 4_096}
_GROUP_WEIGHT: Final = {"scan": 64 * 2**20, "lookup": 4 * 2**20}
_FIRST_KEYS: Final = b"trellis.first_keys"
"""The metadata of a sorted chunk that has the first key of each of its row groups."""


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
    """Rows of a chunk, from `start` up to `end`.

    The keys of the first and the last row are YSON, which is read when it is needed: a table may have many
    slices.
    """

    chunk: Chunk
    start: int
    end: int
    first_key_yson: bytes | None = None
    last_key_yson: bytes | None = None

    @property
    def rows(self) -> int:
        return self.end - self.start

    @property
    def weight(self) -> int:
        """In proportion to the rows."""
        return self.chunk.weight * self.rows // max(self.chunk.rows, 1)

    @property
    def first_key(self) -> Key | None:
        return _parse_key(self.first_key_yson)

    @property
    def last_key(self) -> Key | None:
        return _parse_key(self.last_key_yson)

    def cut(self, start: int, end: int) -> Slice:
        """Rows of the slice, without the keys that are not theirs."""
        return replace(
            self,
            start=self.start + start,
            end=self.start + end,
            first_key_yson=self.first_key_yson if start == 0 else None,
            last_key_yson=self.last_key_yson if end == self.rows else None,
        )

    def without_keys(self) -> Slice:
        return replace(self, first_key_yson=None, last_key_yson=None)

    def with_keys(self, *, first: Key | None = None, last: Key | None = None) -> Slice:
        """With these keys; those that are None stay."""
        return replace(
            self,
            first_key_yson=self.first_key_yson if first is None else _dump_key(first),
            last_key_yson=self.last_key_yson if last is None else _dump_key(last),
        )


def _dump_key(key: Key) -> bytes:
    return dumps(list(key), yson_format="binary")


def _parse_key(document: bytes | None) -> Key | None:
    return None if document is None else tuple(loads(document, raw=True))


@dataclass(frozen=True)
class RowGroup:
    """A part of a chunk that is read at once: the number of its first row, and the key of that."""

    index: int
    start: int
    first_key: Key


class ChunkFiles:
    """The files of a store."""

    def __init__(self, folder: Path, table: str = "") -> None:
        """`table` is that of the chunks that are read, for errors."""
        self.folder = folder.absolute()
        self._place = f"{table}: " if table else ""

    def of_table(self, path: str) -> ChunkFiles:
        return ChunkFiles(self.folder, path)

    def _gone(self, path: Path) -> StorageError:
        return StorageError(f"{self._place}{path} is gone; restore it from a backup")

    def path(self, chunk_id: str) -> Path:
        return self.folder / f"{chunk_id}.parquet"

    @contextmanager
    def open(self, chunk: Chunk) -> Iterator[pq.ParquetFile]:
        """The file of a chunk. Raises StorageError where it is gone or damaged."""
        path = self.path(chunk.id)
        try:
            with pq.ParquetFile(path) as file:
                yield file
        except FileNotFoundError:
            raise self._gone(path) from None
        except pa.ArrowException as error:
            reason = str(error).partition("\n")[0]
            message = f"{self._place}{path} is damaged ({reason}); restore it from a backup"
            raise StorageError(message) from None

    def read_rows(
        self, part: Slice, table: TableSchema, columns: Collection[str] | None = None
    ) -> Iterator[Row]:
        """The rows of a slice under the schema of its table."""
        needed = needed_columns(part.chunk.schema, table, columns)
        for batch in self.read_batches(part, needed):
            yield from decode_rows(part.chunk.schema, table, batch, columns)

    def read_batches(self, part: Slice, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        """Stored columns of the rows of a slice, from the row groups that hold some; None is all columns."""
        with self.open(part.chunk) as file:
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

    def check(self, chunk_ids: Iterable[str]) -> None:
        """Raises YtError with the code 402 for a chunk that garbage collection took."""
        for chunk_id in chunk_ids:
            if not self.path(chunk_id).exists():
                raise YtError(
                    f"{self.path(chunk_id)} is gone: it was deleted while it was taken over, or it is lost; "
                    "run this again, or restore it from a backup",
                    ErrorCode.CONCURRENT_LOCK,
                )

    def sync(self) -> None:
        """Let the names of new files survive a crash of the machine, as what names them does."""
        sync_to_disk(str(self.folder))

    def copy_file(self, source: ChunkFiles, chunk_id: str) -> None:
        """A chunk of another store. Ids are random, so a file of the same id is the same file.

        Raises StorageError.
        """
        origin, path = source.path(chunk_id), self.path(chunk_id)
        if not origin.exists():
            raise source._gone(origin)
        if path.exists():
            return
        partial = path.with_suffix(".partial")
        try:
            with _writing(path):
                shutil.copyfile(origin, partial)
                sync_to_disk(str(partial))
                partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)

    def delete_others(self, kept: frozenset[str], older_than: float) -> list[str]:
        """The ids of all files but those of some chunks, deleted; those written since are left alone."""
        deleted = []
        for path in sorted(self.folder.iterdir()):
            is_kept = path.suffix == ".parquet" and path.stem in kept
            if not is_kept and path.stat().st_mtime < older_than:
                path.unlink(missing_ok=True)
                deleted.append(path.stem)
        return deleted

    def delete_operation(self, operation: str, kept: Iterable[str] = ()) -> None:
        """Delete the chunks of an operation but some of them; each has its name before the id."""
        names = {self.path(chunk_id).name for chunk_id in kept}
        for path in self.folder.glob(f"{operation}*"):
            if path.name not in names:
                path.unlink(missing_ok=True)


def row_groups(file: pq.ParquetFile) -> list[RowGroup]:
    """The row groups of a sorted chunk."""
    keys = loads(file.metadata.metadata[_FIRST_KEYS], raw=True)
    groups, start = [], 0
    for index, key in enumerate(keys):
        groups.append(RowGroup(index, start, tuple(key)))
        start += file.metadata.row_group(index).num_rows
    return groups


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise StorageError(
            f"{path} cannot be written: {reason}; make room on its disk and run this again"
        ) from None


class ChunkWriter:
    """Valid rows, or batches in the layout of chunks, written to as many chunks as they need.

    The ids of the chunks begin with the name of the operation.
    """

    def __init__(
        self, files: ChunkFiles, schema: TableSchema, optimize_for: str, operation: str = ""
    ) -> None:
        self._files = files
        self._schema = schema
        self._optimize_for = optimize_for
        self._operation = operation
        self._slices: list[Slice] = []
        self._rows: list[Row] = []
        self._row_weight = 0
        self._group: list[pa.RecordBatch] = []
        self._group_rows = self._group_weight = 0
        self._open: _OpenChunk | None = None

    def append(self, row: Row) -> None:
        self._rows.append(row)
        self._row_weight += row_weight(row)
        if len(self._rows) >= BATCH_ROWS or self._row_weight >= _GROUP_WEIGHT[self._optimize_for]:
            self._encode_rows()

    def append_batch(self, batch: pa.RecordBatch) -> None:
        self._group.append(batch)
        self._group_rows += batch.num_rows
        self._group_weight += batch_weight(batch)
        if (
            self._group_rows >= _GROUP_ROWS[self._optimize_for]
            or self._group_weight >= _GROUP_WEIGHT[self._optimize_for]
        ):
            self._write_group()

    def close(self) -> list[Slice]:
        """The chunks that were written."""
        self._encode_rows()
        self._write_group()
        self._close_chunk()
        return self._slices

    def abort(self) -> None:
        """Removes what was written."""
        if self._open is not None:
            self._open.abort()
        for part in self._slices:
            self._files.path(part.chunk.id).unlink(missing_ok=True)

    def _encode_rows(self) -> None:
        if self._rows:
            self.append_batch(encode_rows(self._schema, self._rows))
            self._rows, self._row_weight = [], 0

    def _write_group(self) -> None:
        if not self._group_rows:
            return
        if self._open is None:
            self._open = _OpenChunk(self._files, self._schema, self._optimize_for, self._operation)
        self._open.write(pa.Table.from_batches(self._group), self._group_weight)
        self._group, self._group_rows, self._group_weight = [], 0, 0
        if self._open.weight >= CHUNK_WEIGHT:
            self._close_chunk()

    def _close_chunk(self) -> None:
        if self._open is not None:
            self._slices.append(self._open.close())
            self._open = None


class _OpenChunk:
    def __init__(self, files: ChunkFiles, schema: TableSchema, optimize_for: str, operation: str) -> None:
        self.id = operation + secrets.token_hex(16)
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
        self._first_keys: list[Key] = []
        self._last_key: Key = ()
        self._rows = 0

    def write(self, table: pa.Table, weight: int) -> None:
        """Raises StorageError."""
        size = _GROUP_ROWS[self._optimize_for]
        with _writing(self.path):
            self.writer.write_table(table, row_group_size=size)
        if self._schema.is_sorted:
            self._first_keys += (self._key(table, start) for start in range(0, table.num_rows, size))
            self._last_key = self._key(table, table.num_rows - 1)
        self.weight += weight
        self._rows += table.num_rows

    def abort(self) -> None:
        with suppress(OSError):  # what is left in its buffers may not fit on the disk, either
            self.writer.close()
        self.path.unlink(missing_ok=True)

    def close(self) -> Slice:
        """Raises StorageError."""
        if self._schema.is_sorted:
            keys = dumps([list(key) for key in self._first_keys])
            self.writer.add_key_value_metadata({_FIRST_KEYS: keys})
        with _writing(self.path):
            self.writer.close()
            sync_to_disk(str(self.path))
        metadata = pq.read_metadata(self.path)
        groups = (metadata.row_group(group) for group in range(metadata.num_row_groups))
        uncompressed = sum(group.total_byte_size for group in groups)
        size = os.path.getsize(self.path)
        chunk = Chunk(self.id, self._schema, self._rows, size, uncompressed, self.weight, self._optimize_for)
        part = Slice(chunk, 0, self._rows)
        return (
            part.with_keys(first=self._first_keys[0], last=self._last_key) if self._schema.is_sorted else part
        )

    def _key(self, table: pa.Table, row: int) -> Key:
        names = [stored_name(column) for column in self._schema.key_columns]
        (batch,) = table.slice(row, 1).select(names).to_batches()
        (values,) = decode_rows(self._schema, self._schema, batch)
        return tuple(values[key.name] for key in self._schema.key_columns)

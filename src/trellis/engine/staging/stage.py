"""Writes the rows of a task as Parquet files, one per table; no reader sees them before the commit."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from trellis.engine.arrow.types import arrow_schema
from trellis.engine.staging.batches import TableBatch
from trellis.engine.storage.storage import DEFAULT_STORAGE, Storage
from trellis.errors import DestinationError
from trellis.schema.model import Table

GROUP_ROWS = 128 * 1024
WAITING_BYTES, WAITING_BYTES_OF_FILE = 64 << 20, 512 << 10
"""Rows of all files wait together until they have about so many bytes, and so many more for each file."""
_CELL_BYTES: Final = 8
SMALL_ROWS = 1_000
"""Batches with fewer rows, on average, are joined before they are written."""
NAME_LIMIT = 120


@dataclass(frozen=True)
class StagedFile:
    """One Parquet file of one table."""

    table: str
    path: str
    rows: int


def folder_name(name: str) -> str:
    """A table's name as the name of a folder: escaped, and cut where it is too long.

    >>> folder_name("orders__items"), folder_name("../a/b")
    ('orders__items', '%2E%2E%2Fa%2Fb')
    """
    safe = quote(name, safe=" ").replace(".", "%2E")
    if len(safe) <= NAME_LIMIT:
        return safe
    return f"{safe[: NAME_LIMIT - 17]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


@dataclass
class _OpenFile:
    table: Table
    schema: pa.Schema
    path: str
    waiting: list[TableBatch] = field(default_factory=list)
    waiting_rows: int = 0
    rows: int = 0
    writer: pq.ParquetWriter | None = None

    @property
    def waiting_bytes(self) -> int:
        """How many bytes the rows that wait take."""
        return sum(column.nbytes for batch in self.waiting for column in batch.columns.values())


class Stage:
    """The files of one task. Use as a context; `files` is complete after `close`."""

    def __init__(self, folder: str, task: str, storage: Storage = DEFAULT_STORAGE) -> None:
        self.folder = folder
        self.task = task
        self.storage = storage
        self.open: dict[str, _OpenFile] = {}
        self.files: list[StagedFile] = []
        self.waiting_bytes = 0
        """About how many bytes the rows that wait take, all files together."""

    def add(self, table: Table, batch: TableBatch) -> None:
        if not batch.rows:
            return
        file = self.open.get(table.name)
        if file is None:
            path = os.path.join(self.folder, folder_name(table.name), f"{self.task}.parquet")
            file = self.open[table.name] = _OpenFile(table, arrow_schema(table), path)
        file.waiting.append(batch)
        file.waiting_rows += batch.rows
        self.waiting_bytes += _CELL_BYTES * batch.rows * len(batch.columns)
        if file.waiting_rows >= GROUP_ROWS:
            self._flush(file)

    def limit_waiting(self, added: int) -> None:
        """Write rows that wait where there are too many, after some that came from so many bytes.

        To measure the columns of hundreds of tables takes longer than to fill them, so it is rarely done.
        """
        self.waiting_bytes += added
        limit = WAITING_BYTES + WAITING_BYTES_OF_FILE * len(self.open)
        if self.waiting_bytes < limit:
            return
        sizes = {name: file.waiting_bytes for name, file in self.open.items()}
        self.waiting_bytes = sum(sizes.values())
        if self.waiting_bytes >= limit:
            large = [name for name, size in sizes.items() if size * len(sizes) >= self.waiting_bytes]
            for name in large:
                self._flush(self.open[name])
            self.waiting_bytes -= sum(sizes[name] for name in large)

    def close(self) -> None:
        for file in self.open.values():
            self._flush(file)
            if file.writer is not None:
                with self._explained():
                    file.writer.close()
                self.files.append(StagedFile(file.table.name, file.path, file.rows))
        self.open = {}

    def _flush(self, file: _OpenFile) -> None:
        if not file.waiting_rows:
            return
        table = pa.concat_tables(
            pa.Table.from_arrays([_column(batch, name, type_) for name, type_ in fields], schema=file.schema)
            for fields in [list(zip(file.schema.names, file.schema.types, strict=True))]
            for batch in file.waiting
        )
        if table.num_rows < len(file.waiting) * SMALL_ROWS:
            table = table.combine_chunks()
        with self._explained():
            if file.writer is None:
                file.writer = self._open_writer(file)
            file.writer.write_table(table, row_group_size=max(table.num_rows, 1))
        file.rows += file.waiting_rows
        file.waiting, file.waiting_rows = [], 0

    def _open_writer(self, file: _OpenFile) -> pq.ParquetWriter:
        self.storage.make_folder(os.path.dirname(file.path))
        path, files = self.storage.arrow_path(file.path)
        return pq.ParquetWriter(path, file.schema, filesystem=files, compression="snappy")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            with self.storage.explained(self.folder):
                yield
        except OSError as bad:
            raise DestinationError(
                f"{self.folder}: the load could not be staged ({bad.strerror or bad}); "
                "free some space, or name another folder with --staging"
            ) from None

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *failed: object) -> None:
        try:
            if failed[0] is None:
                self.close()
        finally:
            for file in self.open.values():
                if file.writer is not None:
                    _release(file.writer)


def _release(writer: pq.ParquetWriter) -> None:
    """Close the file under a writer, also where the writer cannot end it, as on a full disk."""
    with suppress(OSError):
        writer.close()
    if writer.file_handle is not None:
        with suppress(OSError):
            writer.file_handle.close()


def _column(batch: TableBatch, name: str, type_: pa.DataType) -> pa.Array | pa.ChunkedArray:
    column = batch.columns.get(name)
    return pa.nulls(batch.rows, type_) if column is None else column


def by_table(files: Iterable[StagedFile]) -> dict[str, list[StagedFile]]:
    """The files of each table, in the order of the input."""
    files_by_table: dict[str, list[StagedFile]] = {}
    for file in sorted(files, key=lambda file: file.path):
        files_by_table.setdefault(file.table, []).append(file)
    return files_by_table

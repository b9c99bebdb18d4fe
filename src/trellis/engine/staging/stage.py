"""The one columnar write of a load: Parquet files per table and task, visible to nobody yet."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from trellis.engine.arrow.types import arrow_schema
from trellis.engine.staging.batches import TableBatch
from trellis.engine.storage.storage import DEFAULT_STORAGE, Storage
from trellis.errors import DestinationError
from trellis.schema.model import Table

GROUP_ROWS = 128 * 1024
GROUP_BYTES = 64 << 20
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
class _Open:
    table: Table
    schema: pa.Schema
    path: str
    waiting: list[TableBatch] = field(default_factory=list)
    waiting_rows: int = 0
    waiting_bytes: int = 0
    rows: int = 0
    writer: pq.ParquetWriter | None = None


class Stage:
    """The files of one task. Use as a context; `files` is complete after `close`."""

    def __init__(self, folder: str, task: str, storage: Storage = DEFAULT_STORAGE) -> None:
        self.folder = folder
        self.task = task
        self.storage = storage
        self.open: dict[str, _Open] = {}
        self.files: list[StagedFile] = []

    def add(self, table: Table, batch: TableBatch) -> None:
        if not batch.rows:
            return
        held = self.open.get(table.name)
        if held is None:
            path = os.path.join(self.folder, folder_name(table.name), f"{self.task}.parquet")
            held = self.open[table.name] = _Open(table, arrow_schema(table), path)
        held.waiting.append(batch)
        held.waiting_rows += batch.rows
        held.waiting_bytes += sum(column.nbytes for column in batch.columns.values())
        if held.waiting_rows >= GROUP_ROWS or held.waiting_bytes >= GROUP_BYTES:
            self._flush(held)

    def close(self) -> None:
        for held in self.open.values():
            self._flush(held)
            if held.writer is not None:
                with self._explained():
                    held.writer.close()
                self.files.append(StagedFile(held.table.name, held.path, held.rows))
        self.open = {}

    def _flush(self, held: _Open) -> None:
        if not held.waiting_rows:
            return
        made = pa.concat_tables(
            pa.Table.from_arrays([_column(batch, name, type_) for name, type_ in fields], schema=held.schema)
            for fields in [list(zip(held.schema.names, held.schema.types, strict=True))]
            for batch in held.waiting
        )
        with self._explained():
            if held.writer is None:
                held.writer = self._open_writer(held)
            held.writer.write_table(made, row_group_size=max(made.num_rows, 1))
        held.rows += held.waiting_rows
        held.waiting, held.waiting_rows, held.waiting_bytes = [], 0, 0

    def _open_writer(self, held: _Open) -> pq.ParquetWriter:
        self.storage.make_folder(os.path.dirname(held.path))
        path, files = self.storage.arrow_path(held.path)
        return pq.ParquetWriter(path, held.schema, filesystem=files, compression="snappy")

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
        if failed[0] is None:
            self.close()
            return
        for held in self.open.values():
            if held.writer is not None:
                with suppress(OSError):
                    held.writer.close()


def _column(batch: TableBatch, name: str, type_: pa.DataType) -> pa.Array | pa.ChunkedArray:
    found = batch.columns.get(name)
    return pa.nulls(batch.rows, type_) if found is None else found


def by_table(files: Iterable[StagedFile]) -> dict[str, list[StagedFile]]:
    """The files of each table, in the order of the input."""
    found: dict[str, list[StagedFile]] = {}
    for file in sorted(files, key=lambda each: each.path):
        found.setdefault(file.table, []).append(file)
    return found

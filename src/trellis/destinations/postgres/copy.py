"""Staged files to staging tables by COPY: split into items of work, each of which counts exactly once.

An item connects by itself and notes its number in the ledger in the transaction that copies its rows, so
that it may run twice, or on two machines at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from trellis.destinations.postgres.errors import Unreachable, explained
from trellis.destinations.postgres.names import name_of
from trellis.destinations.postgres.session import Aim, Lost, Refused, Session, connect, failed
from trellis.destinations.postgres.text import blocks
from trellis.destinations.refusals import first_line
from trellis.destinations.sql.names import quoted
from trellis.engine.staging.stage import StagedFile
from trellis.errors import DestinationError, TrellisError
from trellis.schema.model import Table

ITEM_BYTES = 32 << 20
BATCH_ROWS = 16 << 10
FILE_BITS = 40
"""The place of a row is the number of its file, and in these bits its number in the file."""
_GONE = ("42P01", "3F000")

T = TypeVar("T")


@dataclass(frozen=True)
class Piece:
    """A row group of a file, bound for a staging table. `table` is what errors call it.

    `columns` are those with values.
    """

    table: str
    target: str
    path: str
    group: int
    columns: tuple[str, ...]
    json_columns: frozenset[str]
    first: int
    rows: int


@dataclass(frozen=True)
class Item:
    """Pieces that are copied in one transaction. `place` is the column that gets the places."""

    number: int
    parameters: Mapping[str, Any] = field(repr=False)
    shown: str
    schema: str
    ledger: str
    place: str
    pieces: tuple[Piece, ...]

    @property
    def rows(self) -> int:
        return sum(piece.rows for piece in self.pieces)


@dataclass(frozen=True)
class Copied:
    """What became of an item; with neither it is in its tables."""

    error: TrellisError | None = None
    lost: str | None = None


def pieces_of(
    table: Table, files: Sequence[StagedFile], target: str, json_columns: frozenset[str]
) -> Iterator[tuple[Piece, int]]:
    """The pieces of the files of a table, in the order of the input, and how many bytes each has."""
    complete = {column.name for column in table.complete_columns}
    for number, file in enumerate(files):
        with _reading(file.path):
            metadata = pq.read_metadata(file.path)
        first = number << FILE_BITS
        for group in range(metadata.num_row_groups):
            found = metadata.row_group(group)
            columns = tuple(name for name in _with_values(found) if name in complete)
            piece = Piece(table.name, target, file.path, group, columns, json_columns, first, found.num_rows)
            yield piece, found.total_byte_size
            first += found.num_rows


def columns_of(files: Sequence[StagedFile]) -> set[str]:
    """The columns that some of the files have."""
    names: set[str] = set()
    for file in files:
        with _reading(file.path):
            names.update(pq.read_schema(file.path).names)
    return names


def _with_values(group: pq.RowGroupMetaData) -> Iterator[str]:
    for number in range(group.num_columns):
        column = group.column(number)
        counts = column.statistics
        if counts is None or not counts.has_null_count or counts.null_count < group.num_rows:
            yield column.path_in_schema


def packed(pieces: Iterator[tuple[Piece, int]]) -> Iterator[tuple[Piece, ...]]:
    """Small pieces together, so that each transaction is worth its while."""
    held: list[Piece] = []
    held_bytes = 0
    for piece, size in pieces:
        held.append(piece)
        held_bytes += size
        if held_bytes >= ITEM_BYTES:
            yield tuple(held)
            held, held_bytes = [], 0
    if held:
        yield tuple(held)


def copy_item(item: Item) -> Copied:
    """Copy an item that was not copied yet; on an executor, or here."""
    try:
        session = connect(item.parameters, item.shown)
    except Unreachable as bad:
        return Copied(lost=str(bad))
    with closing(session.db):
        try:
            _copy(session, item)
        except Lost as lost:
            return Copied(lost=str(lost))
        except Refused as refused:
            if refused.code in _GONE:  # another session has dropped the tables, taking this load for dead
                return Copied(lost=str(refused))
            with suppress(Lost):
                session.run("ROLLBACK")
            return Copied(error=explained(refused, session))
        except TrellisError as bad:
            return Copied(error=bad)
    return Copied()


def _copy(session: Session, item: Item) -> None:
    session.run("BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL synchronous_commit = off")
    ledger = name_of(item.schema, item.ledger)
    claim = f"INSERT INTO {ledger} VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING item"
    if session.value(claim, [item.number, item.rows]) is not None:
        for piece in item.pieces:
            _copy_piece(session, item, piece)
    session.run("COMMIT")


def _copy_piece(session: Session, item: Item, piece: Piece) -> None:
    import psycopg

    columns = ", ".join(map(quoted, (*piece.columns, item.place)))
    target = name_of(item.schema, piece.target)
    statement = f"COPY {target} ({columns}) FROM STDIN (FORMAT csv, ENCODING 'utf8')"
    try:
        with session.db.cursor() as cursor:
            with cursor.copy(statement.encode()) as copy:
                for block in _ahead(_blocks(piece)):
                    copy.write(block)
            copied = cursor.rowcount
    except psycopg.Error as bad:
        raise failed(session.db, bad, Aim(piece.table, target)) from bad
    if copied != piece.rows:
        raise DestinationError(
            f"{piece.path}: it has {piece.rows} rows, but PostgreSQL took {copied}; nothing was loaded"
        )


def _blocks(piece: Piece) -> Iterator[bytes]:
    first = piece.first
    for batch in _batches(piece):
        places = pa.array(np.arange(first, first + batch.num_rows))
        arrays = [*(batch.column(name) for name in piece.columns), places]
        made = pa.RecordBatch.from_arrays(arrays, names=[*piece.columns, ""])
        yield from blocks(made, piece.json_columns)
        first += batch.num_rows


def _batches(piece: Piece) -> Iterator[pa.RecordBatch]:
    with _reading(piece.path), pq.ParquetFile(piece.path) as file:
        yield from file.iter_batches(BATCH_ROWS, row_groups=[piece.group])


def _ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items, the next one being made while the caller is busy with this one."""
    end = object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, items, end)
            yield item  # type: ignore[misc]


@contextmanager
def _reading(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as bad:
        raise DestinationError(
            f"{path}: this staged file cannot be read ({first_line(bad)}); if the load runs on several "
            "machines, name a folder that all of them share with --staging; nothing was loaded"
        ) from bad

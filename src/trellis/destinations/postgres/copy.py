"""Staged files to staging tables by COPY: split into tasks, each of which counts exactly once.

A task connects by itself and writes its number into the ledger in the transaction that copies its rows, so
that it may run twice, or on two machines at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from trellis.destinations.postgres.errors import ServerUnreachable, explain_error
from trellis.destinations.postgres.names import name_of
from trellis.destinations.postgres.session import (
    ConnectionLost,
    ErrorContext,
    Session,
    StatementError,
    classify_error,
    connect,
)
from trellis.destinations.postgres.text import blocks
from trellis.destinations.refusals import first_line
from trellis.destinations.sql.names import quoted
from trellis.engine.parallel import prefetch
from trellis.engine.staging.stage import StagedFile
from trellis.errors import DestinationError, TrellisError
from trellis.schema.model import Table

TASK_BYTES = 32 << 20
BATCH_ROWS = 16 << 10
FILE_BITS = 40
"""The place of a row is the number of its file, and in these bits its number in the file."""
_GONE = ("42P01", "3F000")


@dataclass(frozen=True)
class RowGroup:
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
class CopyTask:
    """Row groups that are copied in one transaction. `place` is the column that gets their places."""

    number: int
    parameters: Mapping[str, Any] = field(repr=False)
    shown: str
    schema: str
    ledger: str
    place: str
    row_groups: tuple[RowGroup, ...]

    @property
    def rows(self) -> int:
        return sum(row_group.rows for row_group in self.row_groups)


@dataclass(frozen=True)
class CopyResult:
    """The outcome of a task: copied, unless it has one of the two."""

    error: TrellisError | None = None
    lost: str | None = None


def row_groups_of(
    table: Table, files: Sequence[StagedFile], target: str, json_columns: frozenset[str]
) -> Iterator[tuple[RowGroup, int]]:
    """The row groups of the files of a table, in the order of the input, and how many bytes each has."""
    complete = {column.name for column in table.complete_columns}
    for number, file in enumerate(files):
        with _reading(file.path):
            metadata = pq.read_metadata(file.path)
        first = number << FILE_BITS
        for group in range(metadata.num_row_groups):
            statistics = metadata.row_group(group)
            columns = tuple(name for name in _with_values(statistics) if name in complete)
            rows = statistics.num_rows
            row_group = RowGroup(table.name, target, file.path, group, columns, json_columns, first, rows)
            yield row_group, statistics.total_byte_size
            first += rows


def staged_columns(files: Sequence[StagedFile]) -> set[str]:
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


def group_into_tasks(row_groups: Iterator[tuple[RowGroup, int]]) -> Iterator[tuple[RowGroup, ...]]:
    """Small row groups together, so that each transaction is worth its while."""
    group: list[RowGroup] = []
    group_bytes = 0
    for row_group, size in row_groups:
        group.append(row_group)
        group_bytes += size
        if group_bytes >= TASK_BYTES:
            yield tuple(group)
            group, group_bytes = [], 0
    if group:
        yield tuple(group)


def run_copy_task(task: CopyTask) -> CopyResult:
    """Copy the row groups of a task unless that happened already; on an executor, or here."""
    try:
        session = connect(task.parameters, task.shown)
    except ServerUnreachable as bad:
        return CopyResult(lost=str(bad))
    with closing(session.db):
        try:
            _copy(session, task)
        except ConnectionLost as lost:
            return CopyResult(lost=str(lost))
        except StatementError as error:
            if error.code in _GONE:  # another session has dropped the tables, taking this load for dead
                return CopyResult(lost=str(error))
            with suppress(ConnectionLost):
                session.run("ROLLBACK")
            return CopyResult(error=explain_error(error, session))
        except TrellisError as bad:
            return CopyResult(error=bad)
    return CopyResult()


def _copy(session: Session, task: CopyTask) -> None:
    session.run("BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL synchronous_commit = off")
    ledger = name_of(task.schema, task.ledger)
    claim = f"INSERT INTO {ledger} VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING item"
    if session.value(claim, [task.number, task.rows]) is not None:
        for row_group in task.row_groups:
            _copy_row_group(session, task, row_group)
    session.run("COMMIT")


def _copy_row_group(session: Session, task: CopyTask, row_group: RowGroup) -> None:
    import psycopg

    columns = ", ".join(map(quoted, (*row_group.columns, task.place)))
    target = name_of(task.schema, row_group.target)
    statement = f"COPY {target} ({columns}) FROM STDIN (FORMAT csv, ENCODING 'utf8')"
    try:
        with session.db.cursor() as cursor:
            with cursor.copy(statement.encode()) as copy:
                for block in prefetch(_blocks(row_group)):
                    copy.write(block)
            copied = cursor.rowcount
    except psycopg.Error as bad:
        raise classify_error(session.db, bad, ErrorContext(row_group.table, target)) from bad
    if copied != row_group.rows:
        raise DestinationError(
            f"{row_group.path}: it has {row_group.rows} rows, but PostgreSQL took {copied}; "
            "nothing was loaded"
        )


def _blocks(row_group: RowGroup) -> Iterator[bytes]:
    first = row_group.first
    for batch in _batches(row_group):
        places = pa.array(np.arange(first, first + batch.num_rows))
        arrays = [*(batch.column(name) for name in row_group.columns), places]
        rows = pa.RecordBatch.from_arrays(arrays, names=[*row_group.columns, ""])
        yield from blocks(rows, row_group.json_columns)
        first += batch.num_rows


def _batches(row_group: RowGroup) -> Iterator[pa.RecordBatch]:
    with _reading(row_group.path), pq.ParquetFile(row_group.path) as file:
        yield from file.iter_batches(BATCH_ROWS, row_groups=[row_group.group])


@contextmanager
def _reading(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as bad:
        raise DestinationError(
            f"{path}: this staged file cannot be read ({first_line(bad)}); if the load runs on several "
            "machines, name a folder that all of them share with --staging; nothing was loaded"
        ) from bad

"""A DuckDB file as the warehouse. The file is held only while it is read and while a load commits."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from trellis.destinations.base import (
    NO_COLUMNS,
    NO_FILL_VALUES,
    NO_NATIVE,
    Abilities,
    CatalogTable,
    Commit,
    FillValues,
    Parallel,
    one_by_one,
)
from trellis.destinations.duckdb.catalog import read_catalog
from trellis.destinations.duckdb.load import DuckDBLoad, database_of, table_name
from trellis.destinations.duckdb.types import type_name
from trellis.destinations.folder import make_folder
from trellis.destinations.refusals import first_line, unknown_table
from trellis.destinations.row_changes import RowChanges
from trellis.destinations.scan.connections import MEMORY, configure_connection, connect_to, lock_holder
from trellis.destinations.scan.literals import render_literal
from trellis.destinations.sql.migration import Migration
from trellis.destinations.sql.names import quoted
from trellis.destinations.sql.preconditions import check_base
from trellis.destinations.sql.queries import (
    count_by_query,
    empty_cells_query,
    load_query,
    newest_row_query,
    newest_version_query,
    version_order,
)
from trellis.destinations.waiting import LockWait, Notify, ignore_notice
from trellis.engine.arrow.rows import to_rows
from trellis.engine.staging.stage import GROUP_ROWS, folder_name
from trellis.errors import DestinationError
from trellis.evolution.dialect.metadata import MetadataTables
from trellis.schema.model import Column, DataType, Schema
from trellis.warehouses.catalog.databases import DUCKDB

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

LOCK_WAIT = 60.0
IN_ORDER_ROWS = 500_000
"""Up to so many rows of a load keep the order of the input; more of them would wait in memory."""
_LOCK_POLL = 0.1
_COMMITS: defaultdict[str, Lock] = defaultdict(Lock)
"""Threads of one process share an open file, so DuckDB's own lock does not keep them apart."""


class DuckDB:
    """`duckdb:PATH`."""

    abilities = Abilities(DUCKDB, default_dataset="main", alters=True, grows_structs=True)

    def __init__(self, path: str, lock_wait: float = LOCK_WAIT) -> None:
        self.path = path
        self.url = f"duckdb:{path}"
        self.lock_wait = lock_wait
        self.notify: Notify = ignore_notice

    def staging(self, load_id: str) -> str:
        return make_folder(os.path.join(f"{self.path}.staging", folder_name(load_id)))

    def stored_schema(self, dataset: str, name: str, metadata: MetadataTables) -> str | None:
        if not os.path.exists(self.path):
            return None
        with self._open() as db:
            return self._newest(db, dataset, "schema", name, metadata)

    def has_load(self, dataset: str, load_id: str, metadata: MetadataTables) -> bool:
        if not os.path.exists(self.path):
            return False
        with self._open() as db:
            return self._has_load(db, dataset, load_id, metadata)

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]:
        if not os.path.exists(self.path):
            return {}
        with self._open() as db:
            return read_catalog(db, dataset)

    def type_name(self, column: Column, native: Mapping[DataType, str] = NO_NATIVE) -> str:
        return type_name(column, native)

    def migration(
        self,
        dataset: str,
        schema: Schema,
        native: Mapping[DataType, str] = NO_NATIVE,
        retyped: Mapping[str, Sequence[str]] = NO_COLUMNS,
        filled: FillValues = NO_FILL_VALUES,
    ) -> list[str]:
        plan = Migration(
            DUCKDB,
            self.catalog(dataset),
            partial(type_name, native=native),
            render_literal,
            partial(DUCKDB.quote, dataset),
            retyped=retyped,
            filled=filled,
        )
        return plan.of_schema(schema)

    def commit(self, commit: Commit, parallel: Parallel = one_by_one) -> Mapping[str, RowChanges]:
        return self._execute(commit, "COMMIT")

    def rehearse(self, commit: Commit, parallel: Parallel = one_by_one) -> Mapping[str, RowChanges]:
        destination = self if os.path.exists(self.path) else DuckDB(MEMORY)
        return destination._execute(commit, "ROLLBACK")

    def _execute(self, commit: Commit, end: str) -> Mapping[str, RowChanges]:
        rows = sum(file.rows for files in commit.files.values() for file in files)
        with _COMMITS[os.path.realpath(self.path)], self._open() as db:
            in_order = rows <= IN_ORDER_ROWS
            db.execute(f"SET preserve_insertion_order = {in_order}")
            if in_order and commit.only_appends:
                # One thread compresses what it inserts; several in order compress all at the end.
                db.execute("SET threads = 1")
            db.execute("BEGIN")
            try:
                changes = self._commit(db, commit)
                db.execute(end)
                return changes
            except BaseException:
                with suppress(Exception):
                    db.execute("ROLLBACK")
                raise

    def newest_row(
        self, dataset: str, table: str, column: str, value: str, order: Sequence[str]
    ) -> Mapping[str, Any] | None:
        if not os.path.exists(self.path):
            return None
        with self._open() as db:
            return _newest_row(db, dataset, table, column, value, order)

    def query(self, dataset: str, table: str, limit: int | None = None) -> list[dict[str, Any]]:
        known = self.catalog(dataset)
        if table not in known:
            raise unknown_table(self.path, table, known)
        with self._open() as db:
            limited = "" if limit is None else f" LIMIT {int(limit)}"
            result = db.sql(f"SELECT * FROM {_table(db, dataset, table)}{limited}")
            return to_rows(result.to_arrow_table())

    def batches(self, dataset: str, table: str) -> Iterator[pa.RecordBatch]:
        known = self.catalog(dataset)
        if table not in known:
            raise unknown_table(self.path, table, known)
        with self._open() as db:
            yield from db.sql(f"SELECT * FROM {_table(db, dataset, table)}").to_arrow_reader(GROUP_ROWS)

    def count_by(
        self, dataset: str, table: str, columns: Sequence[str], example: str
    ) -> list[tuple[Any, ...]]:
        known = self.catalog(dataset)
        if table not in known:
            raise unknown_table(self.path, table, known)
        with self._open() as db:
            return db.execute(count_by_query(_table(db, dataset, table), columns, example)).fetchall()

    def empty_cells(
        self, dataset: str, table: str, key: str, column: str, values: Sequence[str]
    ) -> Collection[str]:
        known = self.catalog(dataset)
        if table not in known:
            raise unknown_table(self.path, table, known)
        with self._open() as db:
            query = empty_cells_query(_table(db, dataset, table), key, column)
            return {str(value) for (value,) in db.execute(query, [list(values)]).fetchall()}

    def row_counts(self, dataset: str) -> Mapping[str, int]:
        if not os.path.exists(self.path):
            return {}
        with self._open() as db:
            counts = {}
            for table, known in read_catalog(db, dataset).items():
                if known.is_view:
                    continue
                row = db.execute(f"SELECT count(*) FROM {_table(db, dataset, table)}").fetchone()
                counts[table] = int(row[0]) if row else 0
            return counts

    def history(self, dataset: str, metadata: MetadataTables) -> list[dict[str, Any]]:
        if metadata.versions not in self.catalog(dataset):
            return []
        rows = self.query(dataset, metadata.versions)
        return sorted(rows, key=version_order)

    def _commit(self, db: duckdb.DuckDBPyConnection, commit: Commit) -> Mapping[str, RowChanges]:
        db.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(database_of(db))}.{quoted(commit.dataset)}")
        if self._has_load(db, commit.dataset, commit.load_id, commit.metadata):
            return {}
        newest = self._newest(db, commit.dataset, "version_hash", commit.schema.name, commit.metadata)
        tables = read_catalog(db, commit.dataset)
        check_base(commit, newest, tables, partial(_newest_row, db, commit.dataset))
        load = DuckDBLoad(db, self.path, commit, tables)
        load.execute()
        return load.row_changes()

    def _newest(
        self, db: duckdb.DuckDBPyConnection, dataset: str, column: str, schema: str, metadata: MetadataTables
    ) -> str | None:
        """This column of the newest stored version of a schema."""
        if not _has_table(db, dataset, metadata.versions):
            return None
        query = newest_version_query(_table(db, dataset, metadata.versions), column)
        row = db.execute(query, [schema]).fetchone()
        return None if row is None else str(row[0])

    def _has_load(
        self, db: duckdb.DuckDBPyConnection, dataset: str, load_id: str, metadata: MetadataTables
    ) -> bool:
        if not _has_table(db, dataset, metadata.loads):
            return False
        query = load_query(_table(db, dataset, metadata.loads), metadata.load_id)
        return db.execute(query, [load_id]).fetchone() is not None

    @contextmanager
    def _open(self) -> Iterator[duckdb.DuckDBPyConnection]:
        import duckdb

        db = self._connect()
        try:
            configure_connection(db)
            yield db
        except duckdb.Error as bad:
            raise DestinationError(f"{self.path}: DuckDB refused: {first_line(bad)}") from bad
        finally:
            db.close()

    def _connect(self) -> duckdb.DuckDBPyConnection:
        """A connection, waiting for another process that holds the file."""
        import duckdb

        wait = LockWait(self.lock_wait, self.notify)
        while True:
            try:
                db = connect_to(self.path)
            except duckdb.Error as bad:
                message = str(bad)
                if (holder := lock_holder(message)) is None:
                    raise DestinationError(
                        f"{self.path}: DuckDB cannot open it ({first_line(bad)}); "
                        "check the path, its rights and the free space"
                    ) from bad
                if not wait.sleep(_LOCK_POLL, f"{self.path}: another process holds the file ({holder})"):
                    raise DestinationError(
                        f"{self.path}: another process holds the file ({holder}) and did not let "
                        f"go within {self.lock_wait:.0f} seconds; close it and load again"
                    ) from bad
            else:
                wait.finish()
                return db


def _newest_row(
    db: duckdb.DuckDBPyConnection, dataset: str, table: str, column: str, value: str, order: Sequence[str]
) -> Mapping[str, Any] | None:
    if not _has_table(db, dataset, table, column):
        return None
    result = db.sql(newest_row_query(_table(db, dataset, table), column, order), params=[value])
    rows = to_rows(result.to_arrow_table())
    return rows[0] if rows else None


def _has_table(db: duckdb.DuckDBPyConnection, dataset: str, table: str, column: str | None = None) -> bool:
    """Whether there is such a table, with such a column if one is named."""
    where = "database_name = current_database() AND schema_name = ? AND table_name = ?"
    query = f"SELECT 1 FROM duckdb_columns() WHERE {where} AND coalesce(column_name = ?, TRUE) LIMIT 1"
    return db.execute(query, [dataset, table, column]).fetchone() is not None


def _table(db: duckdb.DuckDBPyConnection, dataset: str, table: str) -> str:
    return table_name(database_of(db), dataset, table)

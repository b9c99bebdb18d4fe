"""A database of PostgreSQL as the warehouse; a dataset is a schema there."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any

import pyarrow as pa

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
from trellis.destinations.folder import make_folder, staging_root
from trellis.destinations.postgres.catalog import has_schema, has_table, read_catalog
from trellis.destinations.postgres.errors import ServerUnreachable, explain_error
from trellis.destinations.postgres.literals import render_literal
from trellis.destinations.postgres.load import commit_load
from trellis.destinations.postgres.metadata_tables import has_load, newest_version
from trellis.destinations.postgres.names import refuse_names, staging_schema
from trellis.destinations.postgres.rows import (
    count_rows,
    count_rows_by,
    find_empty_cells,
    read_batches,
    read_newest_row,
    read_rows,
)
from trellis.destinations.postgres.session import (
    ConnectionLost,
    Session,
    StatementError,
    connect,
    connection_parameters,
)
from trellis.destinations.postgres.staging import drop_staging_tables
from trellis.destinations.postgres.types import spelled_out
from trellis.destinations.refusals import unknown_table
from trellis.destinations.row_changes import RowChanges
from trellis.destinations.sql.migration import Migration
from trellis.destinations.sql.names import quoted
from trellis.destinations.sql.preconditions import refuse_views
from trellis.destinations.sql.queries import version_order
from trellis.destinations.url import redacted
from trellis.engine.staging.stage import folder_name
from trellis.errors import DestinationError, UsageError
from trellis.evolution.dialect.metadata import MetadataTables
from trellis.schema.model import Column, DataType, Schema
from trellis.warehouses.catalog.databases import POSTGRES

COMMIT_ATTEMPTS = 5
PAUSE = 0.5
"""Seconds before a load that lost its connection is tried again; twice as many each time."""
RETURN_WAIT = 60.0
"""How long a load waits for a server that went away in its midst."""
_WHERE = ("host", "port", "dbname", "user")


class Postgres:
    """`postgresql://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE`."""

    abilities = Abilities(POSTGRES, default_dataset="public", alters=True)

    def __init__(self, url: str) -> None:
        try:
            self.parameters = connection_parameters(url)
        except ImportError as bad:
            raise UsageError(
                "PostgreSQL needs the package psycopg: pip install 'trellis-spark[postgres]'"
            ) from bad
        self.url = redacted(url)

    def staging(self, load_id: str) -> str:
        import psycopg

        known = {default.keyword.decode(): default.val for default in psycopg.pq.Conninfo.get_defaults()}
        server = {name: str(self.parameters.get(name) or _text(known.get(name))) for name in _WHERE}
        database = server["dbname"] or server["user"]
        where = folder_name(f"{server['host'] or 'local'} {server['port']} {database}")
        return make_folder(os.path.join(staging_root(), where, folder_name(load_id)))

    def stored_schema(self, dataset: str, name: str, metadata: MetadataTables) -> str | None:
        with self._open() as session:
            return newest_version(session, dataset, "schema", name, metadata)

    def has_load(self, dataset: str, load_id: str, metadata: MetadataTables) -> bool:
        with self._open() as session:
            is_loaded = has_load(session, dataset, load_id, metadata)
            if is_loaded:
                drop_staging_tables(session, dataset, load_id)
            return is_loaded

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]:
        with self._open() as session:
            return read_catalog(session, dataset).tables

    def type_name(self, column: Column, native: Mapping[DataType, str] = NO_NATIVE) -> str:
        return spelled_out(POSTGRES.type_of(column, names=native))

    def migration(
        self,
        dataset: str,
        schema: Schema,
        native: Mapping[DataType, str] = NO_NATIVE,
        retyped: Mapping[str, Sequence[str]] = NO_COLUMNS,
        filled: FillValues = NO_FILL_VALUES,
    ) -> list[str]:
        tables = [table for table in schema.tables.values() if table.complete_columns]
        refuse_names(dataset, tables)
        with self._open() as session:
            create_schema = [] if has_schema(session, dataset) else [f"CREATE SCHEMA {quoted(dataset)}"]
            catalog = read_catalog(session, dataset).tables
        refuse_views(tables, catalog)
        plan = Migration(
            POSTGRES,
            catalog,
            partial(POSTGRES.type_of, names=native),
            render_literal,
            partial(POSTGRES.quote, dataset),
            retyped,
            filled,
        )
        return [*create_schema, *plan.statements(tables)]

    def rehearse(self, commit: Commit, parallel: Parallel = one_by_one) -> Mapping[str, RowChanges]:
        with self._open() as session:
            staging = staging_schema(commit.dataset)
            had_staging = has_schema(session, staging)
            try:
                return commit_load(session, commit, parallel, rehearsal=True)
            finally:
                if not had_staging:
                    with suppress(StatementError):  # another load has put tables there meanwhile
                        session.run(f"DROP SCHEMA IF EXISTS {quoted(staging)} RESTRICT")

    def commit(self, commit: Commit, parallel: Parallel = one_by_one) -> Mapping[str, RowChanges]:
        unknown = False
        for tried in range(1, COMMIT_ATTEMPTS + 1):
            try:
                with self._session(RETURN_WAIT if tried > 1 else 0.0) as session:
                    return commit_load(session, commit, parallel)
            except ConnectionLost as lost:
                unknown = unknown or lost.unknown
                reason = str(lost)
            except ServerUnreachable as bad:
                if tried == 1:
                    raise
                raise self._gave_up(commit, tried, unknown, str(bad)) from bad
            if tried < COMMIT_ATTEMPTS:
                time.sleep(PAUSE * 2 ** (tried - 1))
        raise self._gave_up(commit, COMMIT_ATTEMPTS, unknown, reason)

    def newest_row(
        self, dataset: str, table: str, column: str, value: str, order: Sequence[str]
    ) -> Mapping[str, Any] | None:
        with self._open() as session:
            known = read_catalog(session, dataset).tables.get(table)
            if known is None or column not in known.columns:
                return None
            return read_newest_row(session, dataset, table, column, value, order)

    def query(self, dataset: str, table: str, limit: int | None = None) -> list[dict[str, Any]]:
        with self._open() as session:
            known = read_catalog(session, dataset).tables
            if table not in known:
                raise unknown_table(self.url, table, known)
            return read_rows(session, dataset, table, limit)

    def batches(self, dataset: str, table: str) -> Iterator[pa.RecordBatch]:
        with self._open() as session:
            known = read_catalog(session, dataset).tables
            if table not in known:
                raise unknown_table(self.url, table, known)
            yield from read_batches(session, dataset, table)

    def count_by(
        self, dataset: str, table: str, columns: Sequence[str], example: str
    ) -> list[tuple[Any, ...]]:
        with self._open() as session:
            return count_rows_by(session, dataset, table, columns, example)

    def empty_cells(
        self, dataset: str, table: str, key: str, column: str, values: Sequence[str]
    ) -> Collection[str]:
        with self._open() as session:
            return find_empty_cells(session, dataset, table, key, column, values)

    def row_counts(self, dataset: str) -> Mapping[str, int]:
        with self._open() as session:
            tables = read_catalog(session, dataset).tables
            return {
                name: count_rows(session, dataset, name)
                for name, table in tables.items()
                if not table.is_view
            }

    def history(self, dataset: str, metadata: MetadataTables) -> list[dict[str, Any]]:
        with self._open() as session:
            known = has_table(session, dataset, metadata.versions)
            rows = read_rows(session, dataset, metadata.versions) if known else []
        return sorted(rows, key=version_order)

    @contextmanager
    def _open(self) -> Iterator[Session]:
        """A session to read with."""
        try:
            with self._session() as session:
                yield session
        except ConnectionLost as lost:
            raise DestinationError(f"{self.url}: the connection was lost ({lost}); try again") from lost

    @contextmanager
    def _session(self, patience: float = 0.0) -> Iterator[Session]:
        session = connect(self.parameters, self.url, patience)
        with closing(session.db):
            try:
                yield session
            except StatementError as error:
                raise explain_error(error, session) from error

    def _gave_up(self, commit: Commit, tried: int, unknown: bool, reason: str) -> DestinationError:
        outcome = (
            f"whether it arrived is not known; load again with --load-id {commit.load_id}, which loads "
            "nothing that is there"
            if unknown
            else "nothing was loaded; look into the server's log, and load again"
        )
        return DestinationError(
            f"{self.url}: load {commit.load_id} was tried {tried} times, and each time the connection was "
            f"lost ({reason}); {outcome}"
        )


def _text(value: bytes | None) -> str:
    return value.decode() if value else ""

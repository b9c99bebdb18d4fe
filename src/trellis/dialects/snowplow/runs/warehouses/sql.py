"""Warehouses that run SQL: a commit is a transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from trellis.destinations.sql.literals import string_literal
from trellis.destinations.sql.names import alias_prefix, quoted
from trellis.dialects.snowplow.columns.profiles import Profile
from trellis.dialects.snowplow.runs.warehouses.base import CopyColumn, CopyJob, CopyResult
from trellis.dialects.snowplow.runs.warehouses.casts import Misfit, fitting_value_of, misfits_of, value_of
from trellis.dialects.snowplow.runs.warehouses.tables import RealTable, TableChange
from trellis.engine.staging.dead_letters import DISCARDS
from trellis.errors import DestinationError
from trellis.schema.model import Table
from trellis.warehouses.statements import ColumnDefinition, create_table

_COUNTED: Final = 100
"""Columns whose misfits one statement counts: DuckDB takes longer and longer for more."""
_UPDATES: Final = "q_updates"
_HAS_SCHEMA: Final = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1"
_EXISTS: Final = """
    SELECT 1 FROM information_schema.tables
    WHERE table_catalog = current_database() AND table_schema = $1 AND table_name = $2
"""


class Staging(NamedTuple):
    """A temporary table with the texts of files, and the column that counts its rows from 0."""

    table: str
    row_number: str

    @staticmethod
    def beside(columns: Sequence[str]) -> Staging:
        """Names that none of the columns has."""
        prefix = alias_prefix(columns)
        return Staging(f"{prefix}rows", f"{prefix}row_number")


class SqlWarehouse(ABC):
    """DuckDB and PostgreSQL, in the SQL that both have."""

    profile: Profile
    shown: str

    @abstractmethod
    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a statement; values are bound as $1, $2. Raises DestinationError."""

    @abstractmethod
    def tables(self, dataset: str) -> Mapping[str, RealTable]: ...

    @abstractmethod
    def stage_texts(self, job: CopyJob) -> Staging: ...

    @abstractmethod
    def validity(self, column: CopyColumn) -> str:
        """The condition under which the text in a column can be converted into its type."""

    def copy_fitting(self, target: str, job: CopyJob) -> int | None:
        """Copy files straight into a table if all their texts are of the usual form; how many rows. None, and
        nothing is copied, where some are not, or the warehouse has no way to do so."""
        return None

    def insert_fitting(self, statement: str, job: CopyJob, staging: Staging) -> bool:
        """Run a statement that inserts staged texts if they all fit their columns; whether it was run. For
        warehouses that take long to look at each text."""
        return False

    @abstractmethod
    def append_rows(self, reference: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None: ...

    @abstractmethod
    def lock(self, dataset: str) -> None:
        """Wait until no other transaction loads into the dataset."""

    @abstractmethod
    def reconnect(self) -> None: ...

    @abstractmethod
    def close(self) -> None: ...

    def select(
        self, dataset: str, table: Table, columns: Sequence[str], equal: Mapping[str, str | None]
    ) -> list[tuple[Any, ...]]:
        if not self.execute(_EXISTS, (dataset, table.name)):
            return []
        places = {name: f"${number}" for number, name in enumerate(_not_null(equal), start=1)}
        conditions = [f"{quoted(name)} = {place}" for name, place in places.items()]
        conditions += [f"{quoted(name)} IS NULL" for name, value in equal.items() if value is None]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        names = ", ".join(map(quoted, columns))
        reference = _reference(dataset, table.name)
        return self.execute(f"SELECT {names} FROM {reference}{where}", [*_not_null(equal).values()])

    @contextmanager
    def commit(self, dataset: str, label: str) -> Iterator[SqlCommit]:
        self.execute("BEGIN TRANSACTION")
        try:
            self.lock(dataset)
            if not self.execute(_HAS_SCHEMA, (dataset,)):  # PostgreSQL asks for the right to make one first
                self.execute(f"CREATE SCHEMA {quoted(dataset)}")
            yield SqlCommit(self, dataset)
        except BaseException:
            with suppress(DestinationError):  # a connection that is gone took its transaction with it
                self.execute("ROLLBACK")
            raise
        self.execute("COMMIT")

    @contextmanager
    def replay_folder(self, dataset: str) -> Iterator[Path]:
        """A transaction that was killed left nothing, so no file is kept."""
        with TemporaryDirectory(prefix="trellis-replay-") as folder:
            yield Path(folder)

    def set_comment(self, dataset: str, table: str, comment: str) -> None:
        self.execute(f"COMMENT ON TABLE {_reference(dataset, table)} IS {string_literal(comment)}")


@dataclass(frozen=True)
class SqlCommit:
    """The transaction that is open."""

    warehouse: SqlWarehouse
    dataset: str

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self.warehouse.execute(statement, values)

    def reference(self, table: str) -> str:
        return _reference(self.dataset, table)

    def change_table(self, change: TableChange) -> None:
        for statement in change.statements:
            self.execute(statement)

    def copy_files(self, job: CopyJob) -> CopyResult:
        copied = self.warehouse.copy_fitting(self.reference(job.table), job)
        if copied is not None:
            return CopyResult(copied, 0)
        staging = self.warehouse.stage_texts(job)
        names = [quoted(column.name) for column in job.columns]
        careful = [value_of(column, self.warehouse.validity) for column in job.columns]
        fitting = [fitting_value_of(column) for column in job.columns]
        if job.time_column:
            names.append(quoted(job.time_column))
            careful.append(_timestamp(job.now))
            fitting.append(_timestamp(job.now))
        target = f"{self.reference(job.table)} ({', '.join(names)})"
        insert, careful_insert = (
            f"INSERT INTO {target} SELECT {', '.join(values)} FROM {staging.table}"
            for values in (fitting, careful)
        )
        discards = 0
        if not self.warehouse.insert_fitting(insert, job, staging):
            self.execute(careful_insert)
            discards = self._keep_misfits(job, staging)
        [(rows,)] = self.execute(f"SELECT count(*) FROM {staging.table}")
        return CopyResult(rows, discards)

    def append_rows(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        self._create(table)
        names = [*table.columns]
        values = [[row.get(name) for name in names] for row in rows]
        self.warehouse.append_rows(self.reference(table.name), names, values)

    def update_rows(
        self, table: Table, keys: Sequence[str], rows: Sequence[Mapping[str, Any]], unset: str
    ) -> int:
        warehouse, names = self.warehouse.profile.warehouse, [*rows[0]]
        declared = (f"{quoted(name)} {warehouse.type_of(table.columns[name])}" for name in names)
        self.execute(f"CREATE TEMP TABLE {_UPDATES} ({', '.join(declared)})")
        self.warehouse.append_rows(_UPDATES, names, [[row[name] for name in names] for row in rows])
        equal = [f"q_row.{quoted(name)} = {_UPDATES}.{quoted(name)}" for name in keys]
        same = " AND ".join((*equal, f"q_row.{quoted(unset)} IS NULL"))
        target = f"{self.reference(table.name)} AS q_row"
        [(count,)] = self.execute(f"SELECT count(*) FROM {target} JOIN {_UPDATES} ON {same}")
        values = (
            f"{quoted(name)} = coalesce({_UPDATES}.{quoted(name)}, q_row.{quoted(name)})"
            for name in names
            if name not in keys
        )
        self.execute(f"UPDATE {target} SET {', '.join(values)} FROM {_UPDATES} WHERE {same}")
        self.execute(f"DROP TABLE {_UPDATES}")
        return int(count)

    def _create(self, table: Table) -> None:
        warehouse = self.warehouse.profile.warehouse
        columns = [
            ColumnDefinition(
                column.name,
                warehouse.type_of(column),
                column.required,
                "PRIMARY KEY" if column.hint("primary_key") else "",
            )
            for column in table.complete_columns
        ]
        self.execute(create_table(warehouse, self.reference(table.name), columns, if_missing=True))

    def _keep_misfits(self, job: CopyJob, staging: Staging) -> int:
        """Keep the values that their columns did not take, or not whole."""
        misfits, discards = misfits_of(job.columns, self.warehouse.validity), 0
        for first in range(0, len(misfits), _COUNTED):
            counted = misfits[first : first + _COUNTED]
            counts = ", ".join(f"count(*) FILTER (WHERE {misfit.condition})" for misfit in counted)
            [numbers] = self.execute(f"SELECT {counts} FROM {staging.table}")
            discards += sum(numbers)
            for misfit, count in zip(counted, numbers, strict=True):
                if count:
                    self._create(DISCARDS)
                    self.execute(
                        f"INSERT INTO {self.reference(DISCARDS.name)} "
                        f"({', '.join(map(quoted, DISCARDS.columns))}) {discards_query(job, misfit, staging)}"
                    )
        return discards


def discards_query(job: CopyJob, misfit: Misfit, staging: Staging) -> str:
    """The rows of DISCARDS, in the order of its columns, for the values of a column that did not fit."""
    column = misfit.column
    texts = {
        "load_id": job.run,
        "table_name": job.table,
        "column_name": column.name,
        "path": column.pointer or f"/{column.name}",
        "file": str(job.folder),
        "reason": misfit.reason,
    }
    values = {
        **{name: string_literal(text) for name, text in texts.items()},
        "value": quoted(column.source),
        "position": staging.row_number,
        "row": quoted(job.event_column),
        "discarded_at": f"{_timestamp(job.now)}::timestamptz",
    }
    selected = ", ".join(values[name] for name in DISCARDS.columns)
    return f"SELECT {selected} FROM {staging.table} WHERE {misfit.condition}"


def _reference(dataset: str, table: str) -> str:
    return f"{quoted(dataset)}.{quoted(table)}"


def _not_null(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _timestamp(time: datetime) -> str:
    return f"TIMESTAMP '{time:%Y-%m-%d %H:%M:%S.%f}'"

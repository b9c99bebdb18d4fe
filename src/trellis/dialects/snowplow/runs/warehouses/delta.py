"""Runs into Delta tables below a folder: tables commit one by one, each once for a run, the manifest last.

A load that is killed leaves some of its tables committed. Run again it passes over these; readers who go by
the manifest never see a part of a run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from trellis.destinations.base import CommitConflict
from trellis.destinations.folder import exclusive_lock, explain_os_errors, make_folder
from trellis.destinations.lake.delta import DeltaStore
from trellis.destinations.lake.staged import DataFile, TableFiles
from trellis.destinations.lake.store import CommitLabel, LabelConflict, TableAlteration, TableName
from trellis.destinations.lake.types import arrow_type_of
from trellis.destinations.refusals import null_violation, type_mismatch
from trellis.destinations.sql.names import quoted
from trellis.dialects.snowplow.columns.flatten import Column as FamilyColumn
from trellis.dialects.snowplow.columns.profiles import PROFILES, catalog_column
from trellis.dialects.snowplow.runs.warehouses.base import CopyJob, CopyResult, WarehouseUnavailable
from trellis.dialects.snowplow.runs.warehouses.casts import misfits_of, value_of
from trellis.dialects.snowplow.runs.warehouses.duckdb import DuckDBWarehouse
from trellis.dialects.snowplow.runs.warehouses.sql import discards_query
from trellis.dialects.snowplow.runs.warehouses.tables import RealColumn, RealTable, TableChange
from trellis.engine.staging.dead_letters import DISCARDS
from trellis.schema.model import Column, Table

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH: Final = 100_000
_LOCK_WAIT: Final = 600.0


class DeltaWarehouse:
    """A DuckDB in memory converts the texts of files; the rows go into the tables as Parquet files."""

    def __init__(self, path: str) -> None:
        self.profile, self.shown = PROFILES["spark"], f"delta:{path}"
        self.store = DeltaStore(path)
        self.converter = DuckDBWarehouse(":memory:")

    def tables(self, dataset: str) -> Mapping[str, RealTable]:
        return {
            name: RealTable(
                tuple(
                    RealColumn(column, type_, column not in (table.required or ()))
                    for column, type_ in table.columns.items()
                ),
                self.store.description(TableName(dataset, name)),
            )
            for name, table in self.store.catalog(dataset).items()
        }

    def select(
        self, dataset: str, table: Table, columns: Sequence[str], equal: Mapping[str, str | None]
    ) -> list[tuple[Any, ...]]:
        if table.name not in self.store.catalog(dataset):
            return []
        rows = self.store.scan(TableName(dataset, table.name), [*columns, *equal]).read_all().to_pylist()
        return [
            tuple(row[name] for name in columns)
            for row in rows
            if all(row[name] == value for name, value in equal.items())
        ]

    @contextmanager
    def commit(self, dataset: str, label: str) -> Iterator[DeltaCommit]:
        """Everything is prepared inside; the tables change at the end."""
        staging = make_folder(os.path.join(self.store.root, "_trellis", "staging"))
        with TemporaryDirectory(dir=staging) as scratch:
            commit = DeltaCommit(self, dataset, label, scratch)
            yield commit
            try:
                commit.write()
            except CommitConflict:
                raise WarehouseUnavailable(
                    f"{self.shown}: another load created the same tables at the same time; load again"
                ) from None

    @contextmanager
    def replay_folder(self, dataset: str) -> Iterator[Path]:
        """One replay at a time has it. It stays when a replay is killed, so that the same files go into the
        tables that lack them."""
        folder = Path(self.store.root, "_trellis", "replay", dataset)
        with exclusive_lock(f"{folder}.lock", _LOCK_WAIT):
            yield Path(make_folder(str(folder)))
            shutil.rmtree(folder)

    def set_comment(self, dataset: str, table: str, comment: str) -> None:
        self.store.describe(TableName(dataset, table), comment)

    def reconnect(self) -> None:
        """Files need no connection."""

    def close(self) -> None:
        self.converter.close()


@dataclass
class DeltaCommit:
    """What goes into the tables of a dataset, in the order in which it was prepared."""

    warehouse: DeltaWarehouse
    dataset: str
    label: str
    scratch: str
    changes: list[TableChange] = field(default_factory=list)
    files: list[tuple[str, CommitLabel, DataFile]] = field(default_factory=list)
    rows: dict[str, tuple[Table, list[Mapping[str, Any]]]] = field(default_factory=dict)
    updates: list[tuple[Table, Sequence[str], Sequence[Mapping[str, Any]]]] = field(default_factory=list)

    @cached_property
    def _tables(self) -> Mapping[str, RealTable]:
        return self.warehouse.tables(self.dataset)

    def change_table(self, change: TableChange) -> None:
        self.changes.append(change)

    def copy_files(self, job: CopyJob) -> CopyResult:
        converter = self.warehouse.converter
        staging = converter.stage_texts(job)
        values = [
            f"{value_of(column, converter.validity)} AS {quoted(column.name)}" for column in job.columns
        ]
        if job.time_column:
            values.append(f"TIMESTAMP '{job.now:%Y-%m-%d %H:%M:%S.%f}' AS {quoted(job.time_column)}")
        path = os.path.join(self.scratch, f"{len(self.files)}.parquet")
        rows = self._write_parquet(job, f"SELECT {', '.join(values)} FROM {staging.table}", path)
        if rows:
            self.files.append((job.table, self._label(job.path, job.table), DataFile(path, rows)))
        discards = 0
        for misfit in misfits_of(job.columns, converter.validity):
            discarded = converter.connection.sql(discards_query(job, misfit, staging)).to_arrow_table()
            self.append_rows(DISCARDS, discarded.rename_columns([*DISCARDS.columns]).to_pylist())
            discards += discarded.num_rows
        return CopyResult(rows, discards)

    def append_rows(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows.setdefault(table.name, (table, []))[1].extend(rows)

    def update_rows(
        self, table: Table, keys: Sequence[str], rows: Sequence[Mapping[str, Any]], unset: str
    ) -> int:
        """All of them: one replay at a time has the folder of its files, so no other one changes rows."""
        self.updates.append((table, keys, rows))
        return len(rows)

    def write(self) -> None:
        """Change and fill the tables; a table that has its rows already is passed over."""
        for change in self.changes:
            self._change(change)
        for table, label, file in self.files:
            self._write_file(table, label, file)
        for updated_table, keys, updates in self.updates:
            self._update_rows(updated_table, keys, updates)
        for loader_table, rows in self.rows.values():
            if rows:
                self._write_rows(loader_table, rows)

    def _change(self, change: TableChange) -> None:
        store, name = self.warehouse.store, TableName(self.dataset, change.table)
        types = {column.name: self._type(column) for column in change.columns}
        if change.created:
            store.create_table(name, self._table_of(change), types)
            return
        required = {column.name for column in self._tables[change.table].columns if not column.nullable}
        released = [column.name for column in change.released if column.name in required]
        if change.widened or released:
            widened = {column.name: types[column.name] for column in change.widened}
            store.alter_table(name, TableAlteration(types=widened, required=dict.fromkeys(released, False)))
        if change.added:
            store.add_columns(name, {column.name: types[column.name] for column in change.added})
        if change.statements:
            store.describe(name, str(change.key))

    def _write_file(self, table: str, label: CommitLabel, file: DataFile) -> None:
        with suppress(LabelConflict):  # an attempt that did not end, or another loader, wrote the same rows
            self.warehouse.store.write_files(TableName(self.dataset, table), [file], label)

    def _write_rows(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        store, name = self.warehouse.store, TableName(self.dataset, table.name)
        types = {column.name: store.warehouse.type_of(column) for column in table.complete_columns}
        if table.name not in self._tables:
            store.create_table(name, table, types)
        files = TableFiles(table, types, types)
        with explain_os_errors(self.warehouse.shown):
            file = files.write_rows(rows, os.path.join(self.scratch, f"{table.name}.parquet"))
        self._write_file(table.name, self._label("", table.name), file)

    def _update_rows(self, table: Table, keys: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        import pyarrow as pa

        store = self.warehouse.store
        fields = [
            pa.field(name, arrow_type_of(store.warehouse.type_of(table.columns[name]))) for name in rows[0]
        ]
        values = pa.Table.from_pylist([*rows], pa.schema(fields))
        with suppress(LabelConflict):
            store.update_rows(
                TableName(self.dataset, table.name), keys, values, self._label("updates", table.name)
            )

    def _write_parquet(self, job: CopyJob, query: str, path: str) -> int:
        """Write the rows of a query in the types that the table has, or will have; how many."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = self._types_of(job)
        schema = pa.schema([(name, arrow_type_of(type_)) for name, type_ in types.items()])
        required = self._required_columns(job.table)
        count = 0
        with explain_os_errors(self.warehouse.shown), pq.ParquetWriter(path, schema) as writer:
            for batch in self.warehouse.converter.connection.sql(query).to_arrow_reader(_BATCH):
                for name in required & {*batch.schema.names}:
                    if batch.column(name).null_count:
                        raise null_violation(job.table, name)
                writer.write_batch(_cast(job.table, batch, schema))
                count += batch.num_rows
        return count

    def _types_of(self, job: CopyJob) -> dict[str, str]:
        """The types of the columns that the files fill: the real ones, but for those that change."""
        types = {column.name: column.type for column in job.columns}
        if job.time_column:
            types[job.time_column] = "TIMESTAMP"
        changed = {
            column.name for change in self.changes if change.table == job.table for column in change.widened
        }
        real = self._tables.get(job.table, RealTable(())).columns
        return types | {
            column.name: column.type for column in real if column.name in types and column.name not in changed
        }

    def _required_columns(self, table: str) -> set[str]:
        released = {
            column.name for change in self.changes if change.table == table for column in change.released
        }
        real = self._tables.get(table)
        if real is not None:
            return {column.name for column in real.columns if not column.nullable} - released
        return {
            column.name
            for change in self.changes
            if change.table == table
            for column in change.columns
            if not column.nullable
        }

    def _table_of(self, change: TableChange) -> Table:
        columns = {
            column.name: Column(column.name, catalog_column(column.type).data_type, nullable=column.nullable)
            for column in change.columns
        }
        return Table(change.table, columns, description=str(change.key))

    def _type(self, column: FamilyColumn) -> str:
        return self.warehouse.profile.type_text(column.type)

    def _label(self, path: str, table: str) -> CommitLabel:
        digest = sha256(f"{self.label}\n{path}\n{table}".encode()).hexdigest()[:32]
        return CommitLabel(f"trellis-run-{digest}", {"run": self.label})


def _cast(table: str, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    arrays = []
    for array, target in zip(batch.columns, schema, strict=True):
        try:
            arrays.append(array.cast(target.type))
        except pa.ArrowException as error:
            raise type_mismatch(table, target.name, str(target.type), str(array.type)) from error
    return pa.RecordBatch.from_arrays(arrays, schema=schema)

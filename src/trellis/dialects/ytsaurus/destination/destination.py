"""`yt:FOLDER` as a destination: tables are in the store, the record of loads and rejects is beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trellis.destinations import open_destination
from trellis.destinations.base import (
    NO_COLUMNS,
    NO_FILL_VALUES,
    NO_NATIVE,
    CatalogTable,
    Commit,
    FillValues,
    Parallel,
    one_by_one,
)
from trellis.destinations.row_changes import RowChanges
from trellis.destinations.url import redacted
from trellis.dialects.ytsaurus.destination.table_load import TableLoad
from trellis.dialects.ytsaurus.loads.target import TARGET, TargetTable, find_target, path_of
from trellis.dialects.ytsaurus.store.reading import open_source
from trellis.dialects.ytsaurus.store.store import Store
from trellis.errors import DestinationError
from trellis.evolution.dialect.metadata import MetadataTables
from trellis.schema.model import Column, DataType, Schema
from trellis.schema.system import is_system

if TYPE_CHECKING:
    import pyarrow as pa

RECORD_FOLDER = "loads"
"""The folder of the store with what a load keeps beside the rows of its table."""


class YtDestination:
    """The rows of a load are committed first, under its id; its record makes it count.

    A load that was killed between the two runs again, and passes over the table that has its id.
    """

    def __init__(self, url: str) -> None:
        self.url = redacted(url)
        self._store_url = url
        with self._open() as store:
            folder = store.folder
        self._records = open_destination(f"parquet:{folder / RECORD_FOLDER}")
        self.abilities = self._records.abilities

    def _open(self) -> Store:
        return Store.open(self._store_url)

    # --- Loads ----------------------------------------------------------------------------------------

    def staging(self, load_id: str) -> str:
        return self._records.staging(load_id)

    def has_load(self, dataset: str, load_id: str, metadata: MetadataTables) -> bool:
        return self._records.has_load(dataset, load_id, metadata)

    def migration(
        self,
        dataset: str,
        schema: Schema,
        native: Mapping[DataType, str] = NO_NATIVE,
        retyped: Mapping[str, Sequence[str]] = NO_COLUMNS,
        filled: FillValues = NO_FILL_VALUES,
    ) -> list[str]:
        with self._open() as store:
            changes = (TableLoad(store, target).statement() for target in _targets(schema))
            return [change for change in changes if change]

    def commit(self, commit: Commit, parallel: Parallel = one_by_one) -> Mapping[str, RowChanges] | None:
        record = _record_of(commit)
        self._records.rehearse(record)
        with self._open() as store:
            for target, replaces in _loaded_targets(commit):
                files = commit.files.get(target.name, ())
                TableLoad(store, target).commit(files, commit.load_id, replaces=replaces, parallel=parallel)
        return self._records.commit(record, parallel)

    def rehearse(self, commit: Commit, parallel: Parallel = one_by_one) -> Mapping[str, RowChanges] | None:
        with self._open() as store:
            for target, replaces in _loaded_targets(commit):
                TableLoad(store, target).check(replaces=replaces)
        return self._records.rehearse(_record_of(commit), parallel)

    # --- Reading --------------------------------------------------------------------------------------

    def stored_schema(self, dataset: str, name: str, metadata: MetadataTables) -> str | None:
        return self._records.stored_schema(dataset, name, metadata)

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]:
        return self._records.catalog(dataset)

    def type_name(self, column: Column, native: Mapping[DataType, str] = NO_NATIVE) -> str:
        return self._records.type_name(column, native)

    def newest_row(
        self, dataset: str, table: str, column: str, value: str, order: Sequence[str]
    ) -> Mapping[str, Any] | None:
        return self._records.newest_row(dataset, table, column, value, order)

    def query(self, dataset: str, table: str, limit: int | None = None) -> list[dict[str, Any]]:
        if is_system(table):
            return self._records.query(dataset, table, limit)
        with self._open() as store:
            source = open_source(store, path_of(table))
            count = source.version.row_count
            return [*source.read_rows_between(0, count if limit is None else min(limit, count))]

    def batches(self, dataset: str, table: str) -> Iterator[pa.RecordBatch]:
        if is_system(table):
            yield from self._records.batches(dataset, table)
            return
        with self._open() as store:
            version = open_source(store, path_of(table)).version
            for part in version.slices:
                yield from version.files.read_batches(part, None)

    def count_by(
        self, dataset: str, table: str, columns: Sequence[str], example: str
    ) -> list[tuple[Any, ...]]:
        return self._records.count_by(dataset, table, columns, example)

    def empty_cells(
        self, dataset: str, table: str, key: str, column: str, values: Sequence[str]
    ) -> Collection[str]:
        return self._records.empty_cells(dataset, table, key, column, values)

    def row_counts(self, dataset: str) -> Mapping[str, int]:
        return self._records.row_counts(dataset)

    def history(self, dataset: str, metadata: MetadataTables) -> list[dict[str, Any]]:
        return self._records.history(dataset, metadata)


def open_yt(url: str) -> YtDestination:
    """Raises UsageError."""
    return YtDestination(url)


def _targets(schema: Schema) -> list[TargetTable]:
    targets = (find_target(schema, name) for name in schema.tables)
    return [target for target in targets if target is not None]


def _loaded_targets(commit: Commit) -> Iterator[tuple[TargetTable, bool]]:
    """The tables that a load writes, and whether it replaces their rows. Raises DestinationError."""
    writes = {
        **{tree.root: tree.mode == "replace" for tree in commit.chains},
        **{write.table: False for write in commit.keyed},
    }
    for name, replaces in writes.items():
        target = find_target(commit.schema, name)
        if target is not None:
            yield target, replaces
        elif not is_system(name):
            raise DestinationError(
                f"table {name} has no schema of YTsaurus, and the store has no other tables; load with "
                "--dialect ytsaurus"
            )


def _record_of(commit: Commit) -> Commit:
    """The same load without its tables of YTsaurus."""
    tables = {name: table for name, table in commit.schema.tables.items() if TARGET not in table.hints}
    targets = {*commit.schema.tables} - {*tables}
    return replace(
        commit,
        schema=replace(commit.schema, tables=tables),
        chains=tuple(tree for tree in commit.chains if tree.root not in targets),
        keyed=tuple(write for write in commit.keyed if write.table not in targets),
        files={
            name: files
            for name, files in commit.files.items()
            if name not in commit.schema.tables or name in tables
        },
        keys={name: keys for name, keys in commit.keys.items() if name not in targets},
        retyped={name: columns for name, columns in commit.retyped.items() if name not in targets},
        filled={name: values for name, values in commit.filled.items() if name not in targets},
    )

"""A destination of tables that commit one by one, whatever their format is."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

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
from trellis.destinations.catalog import TableLookup
from trellis.destinations.folder import make_folder
from trellis.destinations.lake.load import LakeLoad
from trellis.destinations.lake.store import CommitLabel, TableName, TableStore
from trellis.destinations.lake.types import declared_type
from trellis.destinations.refusals import unknown_table
from trellis.destinations.row_changes import RowChanges
from trellis.destinations.scan.connections import configure_connection
from trellis.destinations.scan.literals import render_literal
from trellis.destinations.spark_relation import SparkRelation
from trellis.destinations.sql.migration import Migration
from trellis.destinations.sql.preconditions import check_base
from trellis.destinations.sql.queries import count_by_query, empty_cells_query, version_order
from trellis.engine.arrow.rows import to_rows
from trellis.engine.staging.stage import folder_name
from trellis.evolution.dialect.metadata import MetadataTables
from trellis.schema.model import Column, DataType, Schema

if TYPE_CHECKING:
    import duckdb


class Lake:
    """`staging` are the local folder of the loads, and where rows are staged if that is elsewhere."""

    def __init__(
        self,
        url: str,
        store: TableStore,
        staging: tuple[str, str | None],
        default_dataset: str,
        *,
        grows_structs: bool = False,
    ) -> None:
        self.url = url
        self.store = store
        self.local_folder, rows = staging
        self.abilities = Abilities(
            store.warehouse,
            default_dataset,
            alters=True,
            grows_structs=grows_structs,
            staging=rows,
            reads_remote_files=True,
        )

    def staging(self, load_id: str) -> str:
        return make_folder(os.path.join(self.local_folder, folder_name(load_id)))

    def stored_schema(self, dataset: str, name: str, metadata: MetadataTables) -> str | None:
        return self._newest_version(dataset, "schema", name, metadata)

    def has_load(self, dataset: str, load_id: str, metadata: MetadataTables) -> bool:
        loads = TableName(dataset, metadata.loads)
        rows = self.store.find_rows(loads, metadata.load_id, load_id)
        if rows is None:
            return False
        return rows.read_all().num_rows > 0 or self.store.has_label(loads, CommitLabel.of_load(load_id))

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]:
        return self.store.catalog(dataset)

    def type_name(self, column: Column, native: Mapping[DataType, str] = NO_NATIVE) -> str:
        return declared_type(column, self.store.warehouse, native)

    def migration(
        self,
        dataset: str,
        schema: Schema,
        native: Mapping[DataType, str] = NO_NATIVE,
        retyped: Mapping[str, Sequence[str]] = NO_COLUMNS,
        filled: FillValues = NO_FILL_VALUES,
    ) -> list[str]:
        plan = Migration(
            self.store.warehouse,
            self.catalog(dataset),
            partial(self.type_name, native=native),
            render_literal,
            lambda table: self.store.sql_name(TableName(dataset, table)),
            retyped=retyped,
            filled=filled,
        )
        return plan.of_schema(schema)

    def commit(self, commit: Commit, parallel: Parallel = one_by_one) -> Mapping[str, RowChanges]:
        if self.has_load(commit.dataset, commit.load_id, commit.metadata):
            return {}
        scratch = os.path.join(self.staging(commit.load_id), "_commit")
        return self._load(commit, scratch).execute()

    def rehearse(self, commit: Commit, parallel: Parallel = one_by_one) -> Mapping[str, RowChanges]:
        with TemporaryDirectory(prefix="trellis-plan-") as scratch:
            return self._load(commit, scratch).rehearse()

    def _load(self, commit: Commit, scratch: str) -> LakeLoad:
        """Raises CommitConflict, StateConflict where the load was not planned on the tables as they are."""
        newest = self._newest_version(commit.dataset, "version_hash", commit.schema.name, commit.metadata)
        catalog = self.store.catalog(commit.dataset)
        check_base(commit, newest, catalog, partial(self.newest_row, commit.dataset))
        return LakeLoad(self.store, commit, catalog, scratch)

    def newest_row(
        self, dataset: str, table: str, column: str, value: str, order: Sequence[str]
    ) -> Mapping[str, Any] | None:
        rows = self.store.find_rows(TableName(dataset, table), column, value)
        if rows is None:
            return None
        newest = rows.schema.empty_table()
        for batch in rows:
            candidates = pa.concat_tables([newest, pa.Table.from_batches([batch])])
            newest = candidates.sort_by([(name, "descending") for name in order])[:1]
        return next(iter(to_rows(newest)), None)

    def spark_relation(self, dataset: str, table: str) -> SparkRelation:
        name = self._known(dataset, table)
        return SparkRelation("", (self.store.sql_name(name),), settings=self.store.session_settings())

    def query(self, dataset: str, table: str, limit: int | None = None) -> list[dict[str, Any]]:
        return to_rows(self._scan(dataset, table, limit=limit).read_all())

    def batches(self, dataset: str, table: str) -> Iterator[pa.RecordBatch]:
        yield from self._scan(dataset, table)

    def count_by(
        self, dataset: str, table: str, columns: Sequence[str], example: str
    ) -> list[tuple[Any, ...]]:
        with _Rows(self._scan(dataset, table, [*columns, example])) as rows:
            return [
                tuple(row.values()) for row in to_rows(rows.query(count_by_query(_ROWS, columns, example)))
            ]

    def empty_cells(
        self, dataset: str, table: str, key: str, column: str, values: Sequence[str]
    ) -> Collection[str]:
        with _Rows(self._scan(dataset, table, [key, column])) as rows:
            keys = rows.query(empty_cells_query(_ROWS, key, column), [list(values)])
            return {str(value) for value in keys.column(0).to_pylist()}

    def row_counts(self, dataset: str) -> Mapping[str, int]:
        catalog = self.store.catalog(dataset)

        def count_rows(name: str) -> int:
            return 0 if catalog[name].is_view else self.store.count_rows(TableName(dataset, name))

        return TableLookup({name: partial(count_rows, name) for name in catalog})

    def history(self, dataset: str, metadata: MetadataTables) -> list[dict[str, Any]]:
        if self.store.find_table(TableName(dataset, metadata.versions)) is None:
            return []
        rows = self.query(dataset, metadata.versions)
        return sorted(rows, key=version_order)

    def _newest_version(self, dataset: str, column: str, schema: str, metadata: MetadataTables) -> str | None:
        order = ("version", "inserted_at")
        row = self.newest_row(dataset, metadata.versions, "schema_name", schema, order)
        return None if row is None else str(row[column])

    def _scan(
        self, dataset: str, table: str, columns: Sequence[str] | None = None, limit: int | None = None
    ) -> pa.RecordBatchReader:
        return self.store.scan(self._known(dataset, table), columns, limit)

    def _known(self, dataset: str, table: str) -> TableName:
        """Raises UsageError where there is no such table."""
        name = TableName(dataset, table)
        if self.store.find_table(name) is None:
            raise unknown_table(self.url, table, self.store.catalog(dataset))
        return name


_ROWS = "rows_of_table"


class _Rows:
    """Rows of a table as the relation `_ROWS` of a DuckDB in this process."""

    def __init__(self, rows: pa.RecordBatchReader) -> None:
        self.rows = rows

    def __enter__(self) -> _Rows:
        import duckdb

        self.db: duckdb.DuckDBPyConnection = duckdb.connect(":memory:")
        configure_connection(self.db)
        self.db.register(_ROWS, self.rows)
        return self

    def __exit__(self, *_: object) -> None:
        self.db.close()

    def query(self, query: str, values: Sequence[object] = ()) -> pa.Table:
        return self.db.sql(query, params=list(values)).to_arrow_table()

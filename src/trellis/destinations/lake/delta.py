"""Delta tables below a folder, without a JVM: staged files become files of the table by `add` actions."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from trellis.destinations.base import CatalogTable, CommitConflict
from trellis.destinations.folder import explain_os_errors, link_file, sync_to_disk
from trellis.destinations.lake.formats import DELTA_FORMAT
from trellis.destinations.lake.session import delta_session
from trellis.destinations.lake.spark_sql import SparkStatements
from trellis.destinations.lake.staged import DataFile, change_batch, file_statistics
from trellis.destinations.lake.store import CommitLabel, LabelConflict, TableName
from trellis.destinations.lake.types import arrow_type_of, name_of
from trellis.destinations.refusals import first_line
from trellis.engine.staging.stage import folder_name
from trellis.errors import DestinationError, SchemaError
from trellis.schema.model import Table
from trellis.warehouses.catalog.lakes import DELTA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltalake import CommitProperties, DeltaTable

_FORBIDDEN: Final = frozenset(" ,;{}()\n\t=")
"""Characters that the names of columns cannot have without column mapping."""


class DeltaStore:
    """`root` is the folder of the datasets."""

    warehouse = DELTA

    def __init__(self, root: str) -> None:
        self.root = root

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]:
        folder = os.path.join(self.root, dataset)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        tables = (TableName(dataset, name) for name in names)
        return {
            name.table: self._describe(name)
            for name in tables
            if os.path.isdir(os.path.join(self.location(name), "_delta_log"))
        }

    def create_table(self, name: TableName, table: Table, types: Mapping[str, str]) -> None:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError

        fields = []
        for column in table.complete_columns:
            _check_name(table.name, column.name)
            fields.append(pa.field(column.name, arrow_type_of(types[column.name]), not column.required))
        with self._explained(name), explain_os_errors(self.root):
            os.makedirs(self.location(name), exist_ok=True)
            try:
                DeltaTable.create(self.location(name), pa.schema(fields), description=table.description)
            except DeltaError as bad:
                if self._exists(name):
                    raise CommitConflict from bad
                raise
            self._list_invariants(name)

    def add_columns(self, name: TableName, types: Mapping[str, str]) -> None:
        from deltalake import Field, Schema

        for column in types:
            _check_name(name.table, column)
        fields = pa.schema([(column, arrow_type_of(type_)) for column, type_ in types.items()])
        with self._explained(name):
            added: list[Field] = list(Schema.from_arrow(fields).fields)
            self._open(name).alter.add_columns(added)
            self._list_invariants(name)

    def drop_table(self, name: TableName) -> None:
        import shutil

        with explain_os_errors(self.root):
            shutil.rmtree(self.location(name))

    def description(self, name: TableName) -> str | None:
        return self._open(name).metadata().description

    def describe(self, name: TableName, description: str) -> None:
        with self._explained(name):
            self._open(name).alter.set_table_description(description)

    def has_label(self, name: TableName, label: CommitLabel) -> bool:
        return _has_label(self._open(name), label)

    def write_files(
        self,
        name: TableName,
        files: Sequence[DataFile],
        label: CommitLabel,
        *,
        overwrite: bool = False,
        unique: Sequence[str] = (),
    ) -> None:
        from deltalake.exceptions import CommitFailedError
        from deltalake.transaction import AddAction, RemoveAction

        table = self._open(name)
        if _has_label(table, label):
            raise LabelConflict
        paths = [self._link_in(name, file, label) for file in files]
        actions: list[AddAction | RemoveAction] = [
            AddAction(os.path.basename(path), size, {}, modified, True, json.dumps(file_statistics(path)))
            for path in paths
            for size, modified in [_size_and_time(path)]
        ]
        mode = "overwrite" if overwrite else "append"
        with self._explained(name):
            try:
                table.create_write_transaction(
                    actions, mode, table.schema(), commit_properties=_properties(label)
                )
            except CommitFailedError as bad:
                if self.has_label(name, label):
                    raise LabelConflict from bad
                raise

    def sql_name(self, name: TableName) -> str:
        return f"delta.{DELTA.quote(self.location(name))}"

    def statements(self) -> SparkStatements:
        return SparkStatements(delta_session, self.root)

    def settings(self, label: CommitLabel) -> Mapping[str, str]:
        return DELTA_FORMAT.settings(label)

    def change_rows(self, name: TableName, types: Mapping[str, str], values: Mapping[str, pa.Scalar]) -> None:
        from deltalake import write_deltalake

        rows = self.scan(name)
        fields = [
            pa.field(field.name, arrow_type_of(types[field.name]) if field.name in types else field.type)
            for field in rows.schema
        ]
        schema = pa.schema(fields)
        batches = (change_batch(name.table, batch, schema, values) for batch in rows)
        reader = pa.RecordBatchReader.from_batches(schema, batches)
        with self._explained(name):
            write_deltalake(self._open(name), reader, mode="overwrite", schema_mode="overwrite")
            self._list_invariants(name)

    def version(self, name: TableName) -> str:
        return str(self._open(name).version())

    def scan(
        self, name: TableName, columns: Sequence[str] | None = None, limit: int | None = None
    ) -> pa.RecordBatchReader:
        dataset = self._open(name).to_pyarrow_dataset()
        if limit is None:
            return dataset.scanner(columns=columns).to_reader()
        return dataset.head(limit, columns=columns).to_reader()

    def count_rows(self, name: TableName) -> int:
        return int(self._open(name).to_pyarrow_dataset().count_rows())

    def location(self, name: TableName) -> str:
        return os.path.join(self.root, name.dataset, folder_name(name.table))

    def _describe(self, name: TableName) -> CatalogTable:
        schema = pa.schema(self._open(name).schema())
        columns = {field.name: name_of(field.type) for field in schema}
        return CatalogTable(
            name.table,
            columns,
            {column: DELTA.data_type(type_) for column, type_ in columns.items()},
            required=[field.name for field in schema if not field.nullable],
        )

    def _open(self, name: TableName) -> DeltaTable:
        from deltalake import DeltaTable

        with self._explained(name):
            return DeltaTable(self.location(name))

    def _list_invariants(self, name: TableName) -> None:
        """List a feature that deltalake leaves out; without it Spark refuses NOT NULL beside others."""
        from deltalake import TableFeatures

        table = self._open(name)
        features = table.protocol().writer_features
        is_required = any(not field.nullable for field in pa.schema(table.schema()))
        if features is not None and "invariants" not in features and is_required:
            table.alter.add_feature([TableFeatures.Invariants])

    def _exists(self, name: TableName) -> bool:
        from deltalake import DeltaTable

        return DeltaTable.is_deltatable(self.location(name))

    def _link_in(self, name: TableName, file: DataFile, label: CommitLabel) -> str:
        """Let the table's folder have a staged file, too; readers see it once it is committed."""
        target = os.path.join(
            self.location(name), f"{folder_name(label.text)}-{secrets.token_hex(6)}.parquet"
        )
        with explain_os_errors(self.root):
            link_file(file.path, target)
            sync_to_disk(target)
        return target

    @contextmanager
    def _explained(self, name: TableName) -> Iterator[None]:
        from deltalake.exceptions import DeltaError

        try:
            yield
        except DeltaError as bad:
            raise DestinationError(
                f"{self.location(name)}: Delta refused: {first_line(bad)}; nothing was loaded into it"
            ) from bad


def _has_label(table: DeltaTable, label: CommitLabel) -> bool:
    return table.transaction_version(label.text) is not None


def _size_and_time(path: str) -> tuple[int, int]:
    """The size of a file in bytes, and when it was written, in milliseconds."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns // 1_000_000


def _properties(label: CommitLabel) -> CommitProperties:
    from deltalake import CommitProperties, Transaction

    notes: dict[str, Any] = {f"trellis.{key}": value for key, value in label.notes.items()}
    return CommitProperties(notes, app_transactions=[Transaction(label.text, 1)])


def _check_name(table: str, column: str) -> None:
    if _FORBIDDEN & {*column}:
        raise SchemaError(
            f"table {table}, column {column!r}: Delta allows none of the characters ' ,;{{}}()=', tabs and "
            "line ends in the name of a column; rename it",
            table=table,
        )

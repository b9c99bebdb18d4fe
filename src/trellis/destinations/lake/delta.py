"""Delta tables below a folder, without a JVM: staged files become files of the table by `add` actions.

Tables that ask more of a writer than files are left to Spark.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from trellis.destinations.base import CatalogTable, CommitConflict
from trellis.destinations.catalog import TableLookup
from trellis.destinations.folder import explain_os_errors
from trellis.destinations.lake.files import check_folders, child, list_folders, place_file, storage_of
from trellis.destinations.lake.formats import COLUMN_MAPPING, DELTA_FORMAT
from trellis.destinations.lake.layout import TableLayout
from trellis.destinations.lake.object_store import storage_options
from trellis.destinations.lake.session import delta_session
from trellis.destinations.lake.spark_sql import ATTEMPTS, SparkStatements
from trellis.destinations.lake.spark_tables import SparkTables
from trellis.destinations.lake.staged import (
    DataFile,
    altered_fields,
    change_batch,
    check_columns,
    file_statistics,
)
from trellis.destinations.lake.store import (
    CommitLabel,
    LabelConflict,
    TableAlteration,
    TableName,
    TableSize,
)
from trellis.destinations.lake.types import arrow_type_of, name_of, widens_in_delta
from trellis.destinations.refusals import first_line, refuse_partition_columns
from trellis.engine.spark.storage import hadoop_settings
from trellis.engine.staging.stage import folder_name
from trellis.engine.storage.location import is_remote, spark_location
from trellis.errors import DestinationError, SchemaError
from trellis.schema.model import Table
from trellis.schema.personal_data import comment_of
from trellis.warehouses.catalog.lakes import DELTA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltalake import CommitProperties, DeltaTable
    from deltalake.transaction import AddAction
    from pyarrow.dataset import Dataset

_UNREACHED: Final = re.compile(r"[\\%\x00-\x1f\x7f]")
"""Characters in a path that deltalake takes for others, or for none."""
_PLAIN_FEATURES: Final = frozenset({"appendOnly", "invariants", "timestampNtz"})
"""Features that ask nothing of a file with the columns of the table but values where these are required."""
_PLAIN_READER, _PLAIN_WRITER = 1, 2
"""The last versions whose features are plain; versions up to those with lists have all of their features."""
_CONFIGURATION: Final = {"delta.checkpointInterval": "10"}
"""As with Spark. deltalake's own is 100, and whoever opens a table reads each commit since its checkpoint."""
_COMPUTED: Final = ("delta.generationExpression", "delta.identity.")
"""How properties of a column begin whose values Delta computes."""
_LISTS_READER, _LISTS_WRITER = 3, 7
"""The versions that list their features."""


class DeltaStore:
    """`root` is the folder of the datasets, on this machine or on an object store."""

    warehouse = DELTA

    def __init__(self, root: str) -> None:
        self.root = root

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]:
        names = (TableName(dataset, folder) for folder in list_folders(child(self.root, dataset)))
        return TableLookup(
            {name.table: partial(self._describe_table, name) for name in names if self._exists(name)}
        )

    def find_table(self, name: TableName) -> CatalogTable | None:
        return self._describe_table(name) if self._exists(name) else None

    def _describe_table(self, name: TableName) -> CatalogTable:
        table = self._open(name)
        columns = _columns_of(table)
        return CatalogTable(
            name.table,
            columns,
            {column: DELTA.data_type(type_) for column, type_ in columns.items()},
            required=[field.name for field in table.schema().fields if not field.nullable],
            comments=_comments_of(table),
        )

    def check_names(self, name: TableName, table: Table, columns: Iterable[str]) -> None:
        check_folders(name, "Delta")
        location = self.location(name)
        if _UNREACHED.search(location):
            raise SchemaError(
                f"table {name.table}: Delta tables are not reached in {location!r}, as a part of that has a "
                "backslash, a percent sign or a control character; rename it",
                table=name.table,
            )
        if not self._exists(name) or _is_plain(self._open(name)):
            DELTA_FORMAT.check_columns(table, columns)

    def create_table(self, name: TableName, table: Table, types: Mapping[str, str]) -> None:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError

        layout = TableLayout.of(table)
        if layout.clusters or layout.properties:
            if self._exists(name):
                raise CommitConflict
            self._spark_tables.create_table(name, table, types)
            return
        fields = []
        for column in table.complete_columns:
            comment = {"comment": text} if (text := comment_of(column)) else None
            type_ = arrow_type_of(types[column.name])
            fields.append(pa.field(column.name, type_, not column.required, comment))
        location = self.location(name)
        with self._explained(name), explain_os_errors(self.root):
            if not is_remote(location):
                os.makedirs(location, exist_ok=True)
            try:
                DeltaTable.create(
                    location,
                    pa.schema(fields),
                    partition_by=[column.name for column in layout.partitions],
                    description=table.description,
                    configuration=_CONFIGURATION,
                    storage_options=storage_options(location),
                )
            except DeltaError as bad:
                if self._exists(name):
                    raise CommitConflict from bad
                raise
            self._list_invariants(name)

    def add_columns(self, name: TableName, types: Mapping[str, str]) -> None:
        from deltalake import Field, Schema

        table = self._open(name)
        if not _is_plain(table):
            self._spark_tables.add_columns(name, types)
            return
        fields = pa.schema([(column, arrow_type_of(type_)) for column, type_ in types.items()])
        with self._explained(name):
            added: list[Field] = list(Schema.from_arrow(fields).fields)
            table.alter.add_columns(added)
            self._list_invariants(name)

    def drop_table(self, name: TableName) -> None:
        location = self.location(name)
        with explain_os_errors(self.root):
            storage_of(location).delete_tree(location)

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

        table = self._open(name)
        if _has_label(table, label):
            raise LabelConflict
        if not _takes_files(table):
            self._spark_tables.write_files(name, files, label, overwrite=overwrite, unique=unique)
            return
        check_columns(files, _columns_of(table))
        actions = [self._add_file(name, file, label) for file in files]
        mode = "overwrite" if overwrite else "append"
        with self._explained(name):
            for attempt in range(ATTEMPTS):
                try:
                    table.create_write_transaction(
                        list(actions), mode, table.schema(), commit_properties=_properties(label)
                    )
                    return
                except CommitFailedError as bad:
                    table = self._open(name)
                    if _has_label(table, label):
                        raise LabelConflict from bad
                    if not _takes_files(table):
                        raise CommitConflict from bad
                    check_columns(files, _columns_of(table))
                    if attempt == ATTEMPTS - 1:
                        raise

    def update_rows(self, name: TableName, keys: Sequence[str], rows: pa.Table, label: CommitLabel) -> None:
        """Set the values of `rows` in those of a table that have the same keys; NULL changes nothing.

        Raises LabelConflict.
        """
        table = self._open(name)
        if _has_label(table, label):
            raise LabelConflict
        same = " AND ".join(f"t.{DELTA.quote(key)} = r.{DELTA.quote(key)}" for key in keys)
        values = {
            DELTA.quote(column): f"coalesce(r.{DELTA.quote(column)}, t.{DELTA.quote(column)})"
            for column in rows.column_names
            if column not in keys
        }
        with self._explained(name):
            merge = table.merge(rows, same, "r", "t", commit_properties=_properties(label))
            merge.when_matched_update(values).execute()

    def sql_name(self, name: TableName) -> str:
        return f"delta.{DELTA.quote(spark_location(self.location(name)))}"

    def session_settings(self) -> Mapping[str, str]:
        return hadoop_settings(self.root)

    def statements(self) -> SparkStatements:
        return self._spark_tables.statements()

    def settings(self, label: CommitLabel, *, merges_staged: bool = False) -> Mapping[str, str]:
        return DELTA_FORMAT.settings(label, merges_staged=merges_staged)

    def merge_counts_query(self, name: TableName, label: CommitLabel) -> str:
        return self._spark_tables.merge_counts_query(name, label)

    def check_alteration(self, name: TableName, alteration: TableAlteration) -> None:
        table = self._open(name)
        mode = {**table.metadata().configuration, **alteration.properties}.get(COLUMN_MAPPING, "none")
        changed = [*alteration.dropped, *(alteration.renamed if mode == "none" else ())]
        refuse_partition_columns(name.table, changed, table.metadata().partition_columns)
        if mode == "none" and _is_plain(table):
            return
        self._spark_tables.check_alteration(name, alteration)
        rewrites = (alteration.changes_names and mode == "none") or not _widens(table, alteration.types)
        if rewrites and (computed := _computed_columns(table)):
            raise SchemaError(
                f"table {name.table}, column {computed[0]}: Delta computes its values, and would not after "
                "all rows were written anew; keep names and types of the columns, or load into a new table",
                table=name.table,
            )

    def alter_table(self, name: TableName, alteration: TableAlteration) -> None:
        """Write the rows anew, in one commit, unless Spark changes the table.

        Raises CommitConflict where another load committed meanwhile, whose rows would keep the old columns.
        """
        from deltalake import CommitProperties, write_deltalake
        from deltalake.exceptions import CommitFailedError

        if alteration.properties or not _is_plain(self._open(name)):
            self._spark_tables.alter_table(name, alteration)
            return
        if alteration.comments:
            self._write_comments(name, alteration.comments)
        if not (alteration.changes_names or alteration.changes_rows or alteration.required):
            return
        table = self._open(name)
        fields = altered_fields(pa.schema(table.schema()), alteration)
        schema = pa.schema([field for _, field in fields])
        rows = self.scan(name, [stored for stored, _ in fields])
        batches = (
            change_batch(name.table, batch, schema, alteration.values, alteration.fills) for batch in rows
        )
        reader = pa.RecordBatchReader.from_batches(schema, batches)
        with self._explained(name):
            try:
                write_deltalake(
                    table,
                    reader,
                    mode="overwrite",
                    schema_mode="overwrite",
                    commit_properties=CommitProperties(max_commit_retries=0),
                )
            except CommitFailedError as bad:
                raise CommitConflict from bad
            self._list_invariants(name)

    def _write_comments(self, name: TableName, comments: Mapping[str, str]) -> None:
        with self._explained(name):
            for column, comment in comments.items():
                if column:
                    self._open(name).alter.set_column_metadata(column, {"comment": comment})
                else:
                    self._open(name).alter.set_table_description(comment)

    def check_rename(self, name: TableName) -> None:
        if is_remote(self.root):
            raise SchemaError(
                f"table {name.table}: an object store does not rename the folder of a table; load into a new "
                "table",
                table=name.table,
            )

    def rename_table(self, name: TableName, new: str) -> None:
        with explain_os_errors(self.root):
            os.rename(self.location(name), self.location(TableName(name.dataset, new)))

    def size(self, name: TableName) -> TableSize | None:
        files = pa.table(self._open(name).get_add_actions(flatten=True))
        rows, sizes = (files[column].to_pylist() for column in ("num_records", "size_bytes"))
        return None if None in rows else TableSize(sum(rows), sum(sizes))

    def version(self, name: TableName) -> str:
        return str(self._open(name).version())

    def version_before(self, name: TableName, label: CommitLabel, earlier: str) -> str:
        """Versions are opened, as `history` holds up all threads of this process."""
        table = self._open(name)
        if not _has_label(table, label):
            return earlier
        version = table.version()
        while version and _has_label(self._open(name, version - 1), label):
            version -= 1
        return str(version - 1) if version else ""

    def scan(
        self, name: TableName, columns: Sequence[str] | None = None, limit: int | None = None
    ) -> pa.RecordBatchReader:
        table = self._open(name)
        if not _is_plain(table):
            return self._spark_tables.scan(name, columns, limit)
        dataset = _dataset_of(table)
        if limit is None:
            return dataset.scanner(columns=columns).to_reader()
        return dataset.head(limit, columns=columns).to_reader()

    def find_rows(self, name: TableName, column: str, text: str) -> pa.RecordBatchReader | None:
        table = self._open(name) if self._exists(name) else None
        if table is None or _columns_of(table).get(column) != "STRING":
            return None
        if not _is_plain(table):
            return self._spark_tables.find_rows(name, column, text)
        if not _may_have(table, column, text):
            return pa.schema(table.schema()).empty_table().to_reader()
        rows = _dataset_of(table).scanner().to_reader()
        # Not by a filter of the dataset: deltalake loses rows whose files have bounds of other columns alone.
        matching = (batch.filter(pc.equal(batch[column], text)) for batch in rows)
        return pa.RecordBatchReader.from_batches(rows.schema, matching)

    def count_rows(self, name: TableName) -> int:
        table = self._open(name)
        if not _is_plain(table):
            return self._spark_tables.count_rows(name)
        return int(_dataset_of(table).count_rows())

    def location(self, name: TableName) -> str:
        return child(self.root, name.dataset, name.table)

    @cached_property
    def _spark_tables(self) -> SparkTables:
        """The same tables as Spark sees them."""
        session = partial(delta_session, self.root)
        return SparkTables(session, self.root, DELTA, lambda _: DELTA_FORMAT, self.sql_name)

    def _open(self, name: TableName, version: int | None = None) -> DeltaTable:
        from deltalake import DeltaTable

        location = self.location(name)
        with self._explained(name):
            return DeltaTable(location, version, storage_options=storage_options(location))

    def _list_invariants(self, name: TableName) -> None:
        """List a feature that deltalake leaves out; without it Spark refuses NOT NULL beside others."""
        from deltalake import TableFeatures

        table = self._open(name)
        features = table.protocol().writer_features
        is_required = any(not field.nullable for field in pa.schema(table.schema()))
        if features is not None and "invariants" not in features and is_required:
            table.alter.add_feature([TableFeatures.Invariants])

    def _exists(self, name: TableName) -> bool:
        log = child(self.location(name), "_delta_log")
        return storage_of(log).status(log) is not None

    def _add_file(self, name: TableName, file: DataFile, label: CommitLabel) -> AddAction:
        """Let the table's folder have a staged file, too; readers see it once it is committed."""
        from deltalake.transaction import AddAction

        file_name = f"{folder_name(label.text)}-{secrets.token_hex(6)}.parquet"
        target = child(self.location(name), file_name)
        place_file(file.path, target)
        status = storage_of(target).status(target)
        assert status is not None, target
        modified = status.modified_ns // 1_000_000
        return AddAction(file_name, status.size, {}, modified, True, file_statistics(target))

    @contextmanager
    def _explained(self, name: TableName) -> Iterator[None]:
        from deltalake.exceptions import DeltaError

        try:
            yield
        except DeltaError as bad:
            raise DestinationError(
                f"{self.location(name)}: Delta refused: {first_line(bad)}; nothing was loaded into it"
            ) from bad


def _dataset_of(table: DeltaTable) -> Dataset:
    """The rows. Spark may have written times of 96 bits, which would overflow as nanoseconds from 2262 on."""
    from pyarrow.dataset import ParquetReadOptions

    return table.to_pyarrow_dataset(parquet_read_options=ParquetReadOptions(coerce_int96_timestamp_unit="us"))


def _may_have(table: DeltaTable, column: str, text: str) -> bool:
    """Whether a table can have a row with a text in a column, by what its log says of the files.

    That takes much less time than to make a dataset of all files.
    """
    files = pa.table(table.get_add_actions(flatten=True))
    least, greatest = f"min.{column}", f"max.{column}"
    if not {least, greatest}.issubset(files.column_names):
        return bool(files.num_rows)
    lacks = pc.or_(pc.greater(files[least], text), pc.less(files[greatest], text))
    return not pc.all(lacks.fill_null(False), min_count=0).as_py()


def _takes_files(table: DeltaTable) -> bool:
    """Whether staged files can become files of a table; those of one with partitions look otherwise."""
    return _is_plain(table) and not table.metadata().partition_columns


def _is_plain(table: DeltaTable) -> bool:
    """Whether deltalake reads and changes a table.

    With column mapping, deletion vectors, wider types, generated columns and the like files look otherwise,
    or a commit has to say more: that is left to Spark.
    """
    protocol = table.protocol()
    return _has_plain_features(
        protocol.min_reader_version, _PLAIN_READER, _LISTS_READER, protocol.reader_features
    ) and _has_plain_features(
        protocol.min_writer_version, _PLAIN_WRITER, _LISTS_WRITER, protocol.writer_features
    )


def _has_plain_features(version: int, plain: int, lists: int, features: list[str] | None) -> bool:
    return version <= plain or (version >= lists and _PLAIN_FEATURES.issuperset(features or ()))


def _computed_columns(table: DeltaTable) -> list[str]:
    """Columns whose values Delta generates, or counts up."""
    return [
        field.name
        for field in table.schema().fields
        if any(key.startswith(_COMPUTED) for key in field.metadata)
    ]


def _widens(table: DeltaTable, types: Mapping[str, str]) -> bool:
    """Whether columns get other types without a row being written."""
    columns = _columns_of(table)
    is_allowed = table.metadata().configuration.get(DELTA_FORMAT.widening_property) == "true"
    return not types or (is_allowed and all(widens_in_delta(columns[c], type_) for c, type_ in types.items()))


def _columns_of(table: DeltaTable) -> dict[str, str]:
    return {field.name: name_of(field.type) for field in pa.schema(table.schema())}


def _comments_of(table: DeltaTable) -> dict[str, str]:
    """Those of the columns, and that of the table under the empty name."""
    comments = {field.name: str(field.metadata.get("comment", "")) for field in table.schema().fields}
    return {name: text for name, text in {"": table.metadata().description, **comments}.items() if text}


def _has_label(table: DeltaTable, label: CommitLabel) -> bool:
    return table.transaction_version(label.text) is not None


def _properties(label: CommitLabel) -> CommitProperties:
    from deltalake import CommitProperties, Transaction

    notes: dict[str, Any] = {f"trellis.{key}": value for key, value in label.notes.items()}
    return CommitProperties(notes, app_transactions=[Transaction(label.text, 1)])

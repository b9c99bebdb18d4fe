"""Iceberg tables below a folder, without a JVM: staged files become files of the table.

Staged files have no field ids, so the table maps the names of columns to these.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from trellis.destinations.base import CatalogTable, CommitConflict
from trellis.destinations.catalog import TableLookup
from trellis.destinations.folder import explain_os_errors
from trellis.destinations.iceberg.session import iceberg_catalog, iceberg_session, iceberg_settings
from trellis.destinations.lake.files import check_folders, child, list_folders, place_file, storage_of
from trellis.destinations.lake.formats import ICEBERG_FORMAT, LABEL_PROPERTY
from trellis.destinations.lake.layout import TableLayout
from trellis.destinations.lake.replacement import BRANCHES
from trellis.destinations.lake.spark_sql import ATTEMPTS, SparkStatements
from trellis.destinations.lake.spark_tables import SparkTables
from trellis.destinations.lake.staged import DataFile, check_columns
from trellis.destinations.lake.store import CommitLabel, LabelConflict, TableAlteration, TableName, TableSize
from trellis.destinations.lake.types import name_of, widens_in_iceberg
from trellis.destinations.refusals import first_line, refuse_partition_columns
from trellis.destinations.sql.literals import string_literal
from trellis.engine.staging.stage import folder_name
from trellis.errors import DestinationError, SchemaError
from trellis.schema.model import Table
from trellis.schema.personal_data import comment_of
from trellis.warehouses.identifiers import BACKTICKS

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile as IcebergFile
    from pyiceberg.table import Table as IcebergTable

    from trellis.destinations.iceberg.hadoop_catalog import HadoopCatalog

_PROPERTIES: Final = {"commit.manifest-merge.enabled": "true"}
"""As with Spark. Without it pyiceberg lists the files of each commit by themselves, for good."""
_FIRST_PARTITION: Final = 1000
"""The id of the first field of a partition."""
_LAST_VERSION: Final = 2
"""The last version of the table format that pyiceberg writes."""


class IcebergStore:
    """`root` is the absolute location of a warehouse, on this machine or on an object store."""

    warehouse = ICEBERG_FORMAT.warehouse

    def __init__(self, root: str) -> None:
        self.root = root

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]:
        names = (TableName(dataset, folder) for folder in list_folders(child(self.root, dataset)))
        return TableLookup(
            {name.table: partial(self._describe_table, name) for name in names if self._exists(name)}
        )

    def find_table(self, name: TableName) -> CatalogTable | None:
        table = self._find(name)
        return None if table is None else self._describe(name, table)

    def _describe_table(self, name: TableName) -> CatalogTable:
        return self._describe(name, self._load(name))

    def _describe(self, name: TableName, table: IcebergTable) -> CatalogTable:
        schema = table.schema()
        columns = _columns_of(table)
        return CatalogTable(
            name.table,
            columns,
            {column: self.warehouse.data_type(type_) for column, type_ in columns.items()},
            required=[field.name for field in schema.fields if field.required],
            comments={
                **({"": text} if (text := table.properties.get("comment")) else {}),
                **{field.name: field.doc for field in schema.fields if field.doc},
            },
        )

    def check_names(self, name: TableName, table: Table, columns: Iterable[str]) -> None:
        check_folders(name, "Iceberg")

    def create_table(self, name: TableName, table: Table, types: Mapping[str, str]) -> None:
        from pyiceberg.exceptions import CommitFailedException
        from pyiceberg.partitioning import PartitionField, PartitionSpec
        from pyiceberg.schema import Schema
        from pyiceberg.transforms import DayTransform, IdentityTransform
        from pyiceberg.types import NestedField

        from trellis.destinations.iceberg.types import iceberg_type_of

        layout = TableLayout.of(table)
        schema = Schema(
            *(
                NestedField(
                    number,
                    column.name,
                    iceberg_type_of(types[column.name]),
                    required=column.required,
                    doc=comment_of(column),
                )
                for number, column in enumerate(table.complete_columns, start=1)
            )
        )
        spec = PartitionSpec(
            *(
                PartitionField(
                    schema.find_field(column.name).field_id,
                    _FIRST_PARTITION + number,
                    DayTransform() if column.data_type == "timestamp" else IdentityTransform(),
                    f"{column.name}_day" if column.data_type == "timestamp" else column.name,
                )
                for number, column in enumerate(layout.partitions)
            )
        )
        properties = {**_PROPERTIES, **layout.properties}
        if table.description:
            properties["comment"] = table.description
        with self._explained(name):
            try:
                self._catalog.add_table((name.dataset, name.table), schema, spec, properties)
            except CommitFailedException as bad:
                raise CommitConflict from bad

    def add_columns(self, name: TableName, types: Mapping[str, str]) -> None:
        from trellis.destinations.iceberg.types import iceberg_type_of

        self._release_names(name, types)
        with self._changing_schema(name) as table, table.update_schema() as update:
            for column, type_ in types.items():
                update.add_column((column,), iceberg_type_of(type_))

    def check_alteration(self, name: TableName, alteration: TableAlteration) -> None:
        table = self._load(name)
        partitioned_by = {table.schema().find_field(field.source_id).name for field in table.spec().fields}
        refuse_partition_columns(name.table, alteration.dropped, partitioned_by)

    def alter_table(self, name: TableName, alteration: TableAlteration) -> None:
        """Change the metadata; where rows get values or types that Iceberg does not promote, Spark does."""
        from trellis.destinations.iceberg.types import iceberg_type_of

        if alteration.properties:
            with self._changing_schema(name) as table, table.transaction() as transaction:
                transaction.set_properties(dict(alteration.properties))
        if alteration.changes_names:
            self._release_names(name, alteration.renamed.values())
            with self._changing_schema(name) as table, table.update_schema() as update:
                for column, new in alteration.renamed.items():
                    update.rename_column((column,), new)
                for column in alteration.dropped:
                    update.delete_column((column,))
        schema = self._load(name).schema()
        columns = _columns_of(self._load(name))
        types = {c: type_ for c, type_ in alteration.types.items() if columns[c] != type_}
        required = dict(alteration.required)
        promoted = all(widens_in_iceberg(columns[column], type_) for column, type_ in types.items())
        if alteration.values or alteration.fills or not promoted:
            rows = TableAlteration(types=types, values=alteration.values, fills=alteration.fills)
            self._spark_tables.alter_table(name, rows)
            types = {}
            kept = (field.name for field in schema.fields if field.required)
            required = {**dict.fromkeys(kept, True), **required}  # Spark replaces a table without NOT NULL
        if alteration.comments:
            self._write_comments(name, alteration.comments)
        if not (types or required):
            return
        # A column that is to have a value is one that older writers may leave out.
        with self._changing_schema(name) as table, table.update_schema(True) as update:
            for column, type_ in types.items():
                update.update_column((column,), iceberg_type_of(type_))
            for column, is_required in required.items():
                update.update_column((column,), required=is_required)

    def _write_comments(self, name: TableName, comments: Mapping[str, str]) -> None:
        with self._changing_schema(name) as table, table.transaction() as transaction:
            if "" in comments:
                transaction.set_properties({"comment": comments[""]})
            with transaction.update_schema() as update:
                for column, comment in comments.items():
                    if column:
                        update.update_column((column,), doc=comment)

    def _release_names(self, name: TableName, columns: Iterable[str]) -> None:
        """Write files anew that know another column by one of these names, which an earlier column had.

        Staged files have names alone, so the table's mapping would take their values for those of the new
        column. Files that Spark writes have the ids of columns.
        """
        from pyiceberg.table import TableProperties

        table = self._load(name)
        mapping = table.name_mapping()
        former = {alias for field in mapping or () for alias in field.names}
        former -= {field.name for field in table.schema().fields}
        if former.isdisjoint(columns):
            return
        if table.current_snapshot() is not None:
            self._spark_tables.spark.run(
                f"CALL {BACKTICKS.quote(iceberg_catalog(self.root))}.system.rewrite_data_files("
                f"table => {string_literal(self.sql_name(name))}, options => map('rewrite-all', 'true'))"
            )
        with self._changing_schema(name) as rewritten, rewritten.transaction() as transaction:
            names = rewritten.schema().name_mapping.model_dump_json()
            transaction.set_properties({TableProperties.DEFAULT_NAME_MAPPING: names})

    def check_rename(self, name: TableName) -> None:
        raise SchemaError(
            f"table {name.table}: a Hadoop catalog of Iceberg does not rename tables; load into a new table",
            table=name.table,
        )

    def rename_table(self, name: TableName, new: str) -> None:
        self.check_rename(name)

    def drop_table(self, name: TableName) -> None:
        location = self._location(name)
        with explain_os_errors(self.root):
            storage_of(location).delete_tree(location)

    def has_label(self, name: TableName, label: CommitLabel) -> bool:
        from trellis.destinations.iceberg.hadoop_catalog import has_label

        metadata = self._load(name).metadata
        if any(branch.startswith(BRANCHES) and has_label(metadata, branch) for branch in metadata.refs):
            self._spark_tables.check_replacement(name)
        return has_label(metadata, label.text)

    def write_files(
        self,
        name: TableName,
        files: Sequence[DataFile],
        label: CommitLabel,
        *,
        overwrite: bool = False,
        unique: Sequence[str] = (),
    ) -> None:
        from pyiceberg.exceptions import CommitFailedException, ValidationException

        if self.has_label(name, label):
            raise LabelConflict
        table = self._load(name)
        if not _takes_files(table):
            self._spark_tables.write_files(name, files, label, overwrite=overwrite, unique=unique)
            return
        check_columns(files, _columns_of(table))
        locations = [self._add_file(name, file, label) for file in files]
        with self._explained(name):
            for attempt in range(ATTEMPTS):
                try:
                    self._commit_files(table, locations, label, overwrite)
                    return
                except (CommitFailedException, ValidationException):
                    if attempt == ATTEMPTS - 1:
                        raise
                    table = self._load(name)
                    check_columns(files, _columns_of(table))

    def sql_name(self, name: TableName) -> str:
        parts = (iceberg_catalog(self.root), name.dataset, name.table)
        return ".".join(map(BACKTICKS.quote, parts))

    def session_settings(self) -> Mapping[str, str]:
        return iceberg_settings(self.root)

    def statements(self) -> SparkStatements:
        return self._spark_tables.statements()

    def settings(self, label: CommitLabel, *, merges_staged: bool = False) -> Mapping[str, str]:
        return ICEBERG_FORMAT.settings(label, merges_staged=merges_staged)

    def merge_counts_query(self, name: TableName, label: CommitLabel) -> str:
        return self._spark_tables.merge_counts_query(name, label)

    def size(self, name: TableName) -> TableSize | None:
        snapshot = self._load(name).current_snapshot()
        if snapshot is None:
            return TableSize(0, 0)
        if snapshot.summary is None:
            return None
        rows, size = (snapshot.summary[f"total-{counted}"] for counted in ("records", "files-size"))
        return None if rows is None or size is None else TableSize(int(rows), int(size))

    def version(self, name: TableName) -> str:
        snapshot = self._load(name).current_snapshot()
        return "" if snapshot is None else str(snapshot.snapshot_id)

    def version_before(self, name: TableName, label: CommitLabel, earlier: str) -> str:
        from trellis.destinations.iceberg.hadoop_catalog import snapshot_with

        snapshot = snapshot_with(self._load(name).metadata, label.text)
        return str(snapshot.parent_snapshot_id or "") if snapshot else earlier

    def scan(
        self, name: TableName, columns: Sequence[str] | None = None, limit: int | None = None
    ) -> pa.RecordBatchReader:
        table = self._load(name)
        names = [field.name for field in table.schema().fields] if columns is None else [*columns]
        rows = table.scan(selected_fields=tuple(names), limit=limit).to_arrow_batch_reader()
        schema = pa.schema([rows.schema.field(name) for name in names])
        return pa.RecordBatchReader.from_batches(schema, (batch.select(names) for batch in rows))

    def find_rows(self, name: TableName, column: str, text: str) -> pa.RecordBatchReader | None:
        from pyiceberg.expressions import EqualTo, Reference
        from pyiceberg.expressions.literals import literal

        table = self._find(name)
        if table is None or _columns_of(table).get(column) != "STRING":
            return None
        same = EqualTo(term=Reference(column), value=literal(text))
        return table.scan(same).to_arrow_batch_reader()

    def count_rows(self, name: TableName) -> int:
        return int(self._load(name).scan().count())

    @property
    def _catalog(self) -> HadoopCatalog:
        from trellis.destinations.iceberg.hadoop_catalog import HadoopCatalog

        return HadoopCatalog(self.root)

    @cached_property
    def _spark_tables(self) -> SparkTables:
        """The same tables as Spark sees them."""
        session = partial(iceberg_session, self.root)
        return SparkTables(session, self.root, self.warehouse, lambda _: ICEBERG_FORMAT, self.sql_name)

    def _exists(self, name: TableName) -> bool:
        return self._catalog.has_table((name.dataset, name.table))

    def _load(self, name: TableName) -> IcebergTable:
        """Raises NoSuchTableError, DestinationError."""
        return self._catalog.load_table((name.dataset, name.table))

    def _find(self, name: TableName) -> IcebergTable | None:
        from pyiceberg.exceptions import NoSuchTableError

        with suppress(NoSuchTableError):
            return self._load(name)
        return None

    def _location(self, name: TableName) -> str:
        return child(self.root, name.dataset, name.table)

    def _add_file(self, name: TableName, file: DataFile, label: CommitLabel) -> str:
        """Let the table's folder have a staged file, too; readers see it once it is committed."""
        file_name = f"{folder_name(label.text)}-{secrets.token_hex(6)}.parquet"
        location = child(self._location(name), "data", file_name)
        storage_of(location).make_folder(child(self._location(name), "data"))
        place_file(file.path, location)
        return location

    def _commit_files(
        self, table: IcebergTable, locations: Sequence[str], label: CommitLabel, overwrite: bool
    ) -> None:
        """Raises CommitFailedException, LabelConflict."""
        from pyiceberg.table import TableProperties

        notes = {f"trellis.{key}": value for key, value in label.notes.items()}
        properties = {LABEL_PROPERTY: label.text, **notes}
        with table.transaction() as transaction:
            if table.name_mapping() is None:
                mapping = table.schema().name_mapping.model_dump_json()
                transaction.set_properties({TableProperties.DEFAULT_NAME_MAPPING: mapping})
            update = transaction.update_snapshot(snapshot_properties=properties)
            with update.overwrite() if overwrite else update.merge_append() as snapshot:
                for task in table.scan().plan_files() if overwrite else ():
                    snapshot.delete_data_file(task.file)
                for location in locations:
                    snapshot.append_data_file(_file_of_table(table, location))

    @contextmanager
    def _changing_schema(self, name: TableName) -> Iterator[IcebergTable]:
        """A table to change; raises CommitConflict where another load changed it meanwhile."""
        from pyiceberg.exceptions import CommitFailedException

        with self._explained(name):
            try:
                yield self._load(name)
            except CommitFailedException as bad:
                raise CommitConflict from bad

    @contextmanager
    def _explained(self, name: TableName) -> Iterator[None]:
        from pyiceberg.exceptions import CommitFailedException, ValidationError, ValidationException

        try:
            with explain_os_errors(self.root):
                yield
        except (CommitFailedException, ValidationError, ValidationException) as bad:
            raise DestinationError(
                f"{self._location(name)}: Iceberg refused: {first_line(bad)}; nothing was loaded into it"
            ) from bad


def _columns_of(table: IcebergTable) -> dict[str, str]:
    return {field.name: name_of(field.type) for field in table.schema().as_arrow()}


def _file_of_table(table: IcebergTable, location: str) -> IcebergFile:
    """What a manifest says of a file whose columns have the names and the types of the table."""
    import pyarrow.parquet as pq
    from pyiceberg.io.pyarrow import (
        compute_statistics_plan,
        data_file_statistics_from_parquet_metadata,
        parquet_path_to_id_mapping,
    )
    from pyiceberg.manifest import DataFile as IcebergFile
    from pyiceberg.manifest import DataFileContent, FileFormat

    file, schema = table.io.new_input(location), table.schema()
    with file.open() as stream:
        metadata = pq.read_metadata(stream)
    statistics = data_file_statistics_from_parquet_metadata(
        metadata, compute_statistics_plan(schema, table.properties), parquet_path_to_id_mapping(schema)
    )
    return IcebergFile.from_args(
        content=DataFileContent.DATA,
        file_path=location,
        file_format=FileFormat.PARQUET,
        partition=statistics.partition(table.spec(), schema),
        file_size_in_bytes=len(file),
        sort_order_id=None,
        spec_id=table.spec().spec_id,
        equality_ids=None,
        key_metadata=None,
        **statistics.to_serialized_dict(),
    )


def _takes_files(table: IcebergTable) -> bool:
    """Whether staged files can become files of a table; else Spark writes them."""
    return table.spec().is_unpartitioned() and table.metadata.format_version <= _LAST_VERSION

"""One load into tables that commit one by one: every commit is made once, that of the load's record last.

A load that is killed leaves some of its tables committed. Run again under its id it passes over these, so it
completes and doubles nothing; readers who go by the record of loads never see a part of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa

from trellis.destinations.base import CatalogTable, Commit, CommitConflict
from trellis.destinations.catalog import changed_catalog
from trellis.destinations.lake.layout import TableLayout
from trellis.destinations.lake.merge import MergeContext, SparkMerge, is_merge, merges_of
from trellis.destinations.lake.staged import DataFile, TableFiles, change_batch
from trellis.destinations.lake.store import (
    CommitLabel,
    LabelConflict,
    TableAlteration,
    TableName,
    TableSize,
    TableStore,
)
from trellis.destinations.lake.types import arrow_type_of, declared_type
from trellis.destinations.name_changes import NameChanges
from trellis.destinations.refusals import null_values, refuse_case_variants, refuse_required
from trellis.destinations.row_changes import RowChanges, RowTally
from trellis.destinations.sql.migration import changed_comments
from trellis.destinations.sql.preconditions import refuse_views, tables_to_empty
from trellis.engine.arrow.nested_types import grows_into
from trellis.engine.arrow.rows import to_rows
from trellis.engine.staging.stage import folder_name
from trellis.schema.model import NOTHING, Column, Table


@dataclass
class LakeLoad:
    """`catalog` has the tables of the dataset as the commit begins; `scratch` is a folder for new files."""

    store: TableStore
    commit: Commit
    catalog: Mapping[str, CatalogTable]
    scratch: str
    tallies: dict[str, RowTally] = field(default_factory=dict)
    _removed: dict[str, int] = field(default_factory=dict)

    def check(self) -> None:
        """Raises what is wrong with the load, before anything is changed."""
        reset = [Table(name) for name in (*self.commit.reset.drop, *self.commit.reset.empty)]
        refuse_views([*self._tables.values(), *reset], self.catalog)
        refuse_case_variants(self._tables.values(), self._names.catalog)
        for name in self._names.tables:
            self.store.check_rename(self._name(name))
        for table in self._tables.values():
            TableLayout.of(table)
            values, added = self.commit.filled.get(table.name, {}), self._missing(table)
            if added:
                self.store.check_names(self._name(table.name), table, [column.name for column in added])
            missing = [column for column in added if column.name not in values]
            if any(column.required for column in missing) and self._keeps_rows(table.name):
                refuse_required(table, missing)
            self._check_alteration(table)
            self._refuse_misfits(table)
        for merge in self._merges:
            merge.check()
        if any(self._files.get(name) for name in self._merged_tables):
            self.store.statements().open_session()  # a session without the format says so

    def rehearse(self) -> Mapping[str, RowChanges]:
        """What the load would do to the rows of its tables. Raises what `check` does."""
        self.check()
        for merge in self._merges_of(changed_catalog(self._catalog, self._emptied)):
            merge.execute()
        for name in self._written_tables():
            self._tally(name)
        return self._row_changes()

    def execute(self) -> Mapping[str, RowChanges]:
        """Returns what became of the rows of the tables, as far as that is known."""
        self.check()
        for name in self.commit.reset.drop:
            if name in self.catalog:
                self.store.drop_table(self._name(name))
        metadata = self.commit.metadata
        self._change_names()
        # Of two loads the version decides which one changes the tables. Without rows it is a person's change,
        # which is planned from the version: that comes last, so that one that was killed is made again.
        by_hand = not self.commit.files
        for table in sorted(
            self._tables.values(), key=lambda table: (table.name == metadata.versions) == by_hand
        ):
            self._migrate(table)
            if table.name == metadata.versions:
                self._record_version()
        for table in self.commit.extra_tables:  # first, so that a load that is killed has its files on record
            self._tally(table.name)
            self._write(table.name, self._files.get(table.name, ()))
        for name in self._emptied:
            if name in self._merged_tables and name in self._catalog:
                self._empty(name)
        for merge in self._merges:
            merge.execute()
        for name in self._written_tables():
            self._tally(name)
            self._write(name, self._files.get(name, ()))
        for name in self.commit.records:
            if name not in (metadata.versions, metadata.loads):
                self._write(name, self._record_files(name))
        versions = {name: self.store.version(self._name(name)) for name in self._files}
        self._write(metadata.loads, self._record_files(metadata.loads), {"tables": json.dumps(versions)})
        return self._row_changes()

    def _migrate(self, table: Table) -> None:
        name, declared = self._name(table.name), self._declared(table)
        if table.name not in self._catalog:
            self.store.create_table(name, table, declared)
            return
        missing, grown = self._missing(table), self._grown(table)
        if missing or grown:
            added = {column.name: declared[column.name] for column in missing}
            self.store.add_columns(name, {**added, **grown})
        alteration = self._row_alteration(table)
        if alteration:
            if alteration.changes_rows and table.name in self._emptied:
                self._empty(table.name)  # what leaves need not fit
            self.store.alter_table(name, alteration)

    def _change_names(self) -> None:
        for name in self._names.dropped:
            self.store.drop_table(self._name(name))
        for old, new in self._names.tables.items():
            self.store.rename_table(self._name(old), new)
        for table in self._tables:
            if alteration := self._name_alteration(table):
                self.store.alter_table(self._name(table), alteration)

    def _name_alteration(self, table: str) -> TableAlteration:
        """What becomes of the properties and the names of columns of a table that is there."""
        if table not in self._names.catalog:
            return TableAlteration()
        properties = {
            name: value
            for alteration in self.commit.alterations
            if (alteration.kind, alteration.table) == ("set properties", table)
            for name, value in alteration.properties.items()
        }
        renamed = self._names.renamed_columns.get(table, {})
        return TableAlteration(properties, renamed, self._names.dropped_columns.get(table, ()))

    def _row_alteration(self, table: Table) -> TableAlteration:
        """What becomes of the columns of a table once they have their names, and the new ones are there."""
        if table.name not in self._catalog:
            return TableAlteration()
        grown, values = self._grown(table), self.commit.filled.get(table.name, {})
        filled = [column for column in self._missing(table) if column.name in values]
        required = {column.name: True for column in filled if column.required}
        fills = dict[str, pa.Scalar]()
        known, stored = self._catalog[table.name].required or (), self._catalog[table.name].comments
        comments = {} if stored is None else changed_comments(table, stored)
        for alteration in self.commit.alterations:
            column, is_required = alteration.column, alteration.kind == "set not null"
            if alteration.kind == "drop comment" and alteration.table == table.name:
                comments[column] = ""
            if alteration.table != table.name or not (is_required or alteration.kind == "drop not null"):
                continue
            if (column in known) != is_required:
                required[column] = is_required
                if alteration.fill is not None:
                    fills[column] = values[column]
        return TableAlteration(
            types={column: type_ for column, type_ in self._retyped(table).items() if column not in grown},
            values={column.name: values[column.name] for column in filled},
            fills=fills,
            required=required,
            comments=comments,
        )

    def _check_alteration(self, table: Table) -> None:
        """Raises SchemaError for what the table cannot have, and for NULL where there is to be none."""
        names, rows = self._name_alteration(table.name), self._row_alteration(table)
        if names or rows:
            stored = self._name(self._names.stored_table(table.name))
            alteration = replace(names, types=rows.types, required=rows.required)
            self.store.check_alteration(stored, alteration)
        for column, is_required in rows.required.items():
            if is_required and column not in rows.fills and column not in rows.values:
                nulls = sum(batch.column(0).null_count for batch in self._scan_stored(table.name, [column]))
                if nulls:
                    raise null_values(table.name, column, nulls)

    def _scan_stored(self, table: str, columns: Sequence[str]) -> pa.RecordBatchReader:
        """Columns of a table before any name changes."""
        stored = [self._names.stored_column(table, column) for column in columns]
        return self.store.scan(self._name(self._names.stored_table(table)), stored)

    def _refuse_misfits(self, table: Table) -> None:
        """Raises SchemaError for a value that does not fit the new type of its column."""
        retyped = self._row_alteration(table).types
        if not retyped or not self._keeps_rows(table.name):
            return
        schema = pa.schema([(column, arrow_type_of(type_)) for column, type_ in retyped.items()])
        for batch in self._scan_stored(table.name, list(retyped)):
            change_batch(table.name, batch, schema)

    def _retyped(self, table: Table) -> Mapping[str, str]:
        """The columns that are there with another type than they are to have, and that type."""
        declared, real = (
            self._declared(table),
            self._catalog.get(table.name, CatalogTable(table.name)).columns,
        )
        columns = self.commit.retyped.get(table.name, ())
        return {name: declared[name] for name in columns if real.get(name, declared[name]) != declared[name]}

    def _grown(self, table: Table) -> Mapping[str, str]:
        """Those of the retyped columns that only get further fields, which rewrites no row."""
        real = self._catalog.get(table.name, CatalogTable(table.name)).columns
        pairs = ((name, type_, arrow_type_of(real[name])) for name, type_ in self._retyped(table).items())
        return {
            name: type_
            for name, type_, stored in pairs
            if stored is not None and grows_into(stored, arrow_type_of(type_))
        }

    def _record_version(self) -> None:
        """Store the schema before the tables take its shape: of two loads from one version one goes on."""
        commit, versions = self.commit, self.commit.metadata.versions
        rows = list(commit.records.get(versions, ()))
        if not rows:
            return
        if commit.reset.versions:
            stored = to_rows(self.store.scan(self._name(versions)).read_all())
            rows = [*(row for row in stored if row["schema_name"] != commit.schema.name), *rows]
        label = CommitLabel(f"trellis-schema-{commit.schema.name}-{rows[-1]['version']}-{commit.base_hash}")
        files = [self._table_files(versions).write_rows(rows, self._scratch_path(versions))]
        try:
            if commit.reset.versions:
                self.store.write_files(self._name(versions), files, label, overwrite=True)
            else:
                unique = ("schema_name", "version")
                self.store.write_files(self._name(versions), files, label, unique=unique)
        except LabelConflict:
            raise CommitConflict from None

    def _write(self, table: str, files: Sequence[DataFile], notes: Mapping[str, str] | None = None) -> None:
        name, label = self._name(table), replace(self._label, notes=notes or NOTHING)
        overwrite = table in self._emptied
        if not (files or overwrite) or self.store.has_label(name, label):
            return
        with suppress(LabelConflict):  # the same load, committed meanwhile
            self.store.write_files(name, files, label, overwrite=overwrite)

    def _empty(self, table: str) -> None:
        """Take all rows out of a table before it gets any, unless they are those of this load."""
        name, label = self._name(table), CommitLabel(f"trellis-empty-{self.commit.load_id}")
        if self.store.has_label(name, label) or self.store.has_label(name, self._label):
            return
        self._removed[table] = self.store.count_rows(name)
        with suppress(LabelConflict):  # the same load, committed meanwhile
            self.store.write_files(name, (), label, overwrite=True)

    def _tally(self, table: str) -> None:
        """Take note of the rows that a table loses and gets, before it does."""
        if table not in self._removed and table in self._emptied and table in self._catalog:
            self._removed[table] = self.store.count_rows(self._name(table))
        inserted = sum(file.rows for file in self._files.get(table, ()))
        self.tallies[table] = RowTally(inserted, self._removed.get(table, 0))

    def _row_changes(self) -> Mapping[str, RowChanges]:
        return {
            name: tally.changes(sum(file.rows for file in self._files.get(name, ())))
            for name, tally in self.tallies.items()
        }

    def _written_tables(self) -> list[str]:
        """The tables that only get rows, or lose all that they had."""
        commit = self.commit
        chains = (chain for chain in commit.chains if chain.mode != "merge")
        chained = (table.name for chain in chains for table in commit.schema.chain(chain.root))
        keyed = (load.table for load in commit.keyed if not is_merge(load))
        emptied = (name for name in self._emptied if name not in self._merged_tables)
        names = dict.fromkeys((*chained, *keyed, *emptied))
        return [name for name in names if name in self._tables or name in self._catalog]

    @cached_property
    def _merged_tables(self) -> Collection[str]:
        commit = self.commit
        chains = (chain for chain in commit.chains if chain.mode == "merge")
        chained = (table.name for chain in chains for table in commit.schema.chain(chain.root))
        keyed = (load.table for load in commit.keyed if is_merge(load))
        return {*chained, *keyed, *([commit.links.mappings] if commit.links else ())}

    def _record_files(self, table: str) -> list[DataFile]:
        rows = self.commit.records.get(table, ())
        return [self._table_files(table).write_rows(rows, self._scratch_path(table))] if rows else []

    @cached_property
    def _files(self) -> Mapping[str, Sequence[DataFile]]:
        """The staged files in the types of their tables. Raises SchemaError, ContractError."""
        files = {name: self._table_files(name).prepare(staged) for name, staged in self.commit.files.items()}
        return {name: prepared for name, prepared in files.items() if prepared}

    @cached_property
    def _merges(self) -> Sequence[SparkMerge]:
        return self._merges_of(None)

    def _merges_of(self, catalog: Mapping[str, CatalogTable] | None) -> Sequence[SparkMerge]:
        types = {name: self._types(table) for name, table in self._tables.items()}
        size = self._merged_size if catalog is None else None
        return merges_of(
            MergeContext(self.store, self.commit, self._files, types, catalog, self.tallies, size)
        )

    @property
    def _merged_size(self) -> TableSize | None:
        """That of the tables that are merged into, with all staged files."""
        sizes = [TableSize(file.rows, file.bytes) for files in self._files.values() for file in files]
        for name in self._merged_tables:
            size = self.store.size(self._name(name)) if name in self._catalog else TableSize(0, 0)
            if size is None:
                return None
            sizes.append(size)
        return TableSize(sum(size.rows for size in sizes), sum(size.bytes for size in sizes))

    def _table_files(self, name: str) -> TableFiles:
        table = self._tables[name]
        required = self._catalog[name].required if name in self._catalog else None
        return TableFiles(table, self._types(table), self._declared(table), required or ())

    def _types(self, table: Table) -> Mapping[str, str]:
        """The columns that the table has after the migration."""
        declared = self._declared(table)
        real = self._catalog.get(table.name, CatalogTable(table.name)).columns
        added = {column.name: declared[column.name] for column in self._missing(table)}
        return {**real, **self._retyped(table), **added}

    def _declared(self, table: Table) -> Mapping[str, str]:
        native, warehouse = self.commit.native, self.store.warehouse
        return {column.name: declared_type(column, warehouse, native) for column in table.complete_columns}

    def _missing(self, table: Table) -> list[Column]:
        """Columns of the schema that the real table lacks."""
        real = self._catalog.get(table.name, CatalogTable(table.name)).columns
        names = {name.lower() for name in real}
        return [column for column in table.complete_columns if column.name.lower() not in names]

    def _keeps_rows(self, table: str) -> bool:
        """Whether there are rows that the load does not take away before it brings any."""
        if table not in self._catalog or table in self._emptied:
            return False
        stored = self._name(self._names.stored_table(table))
        return bool(self.store.scan(stored, limit=1).read_all().num_rows)

    @cached_property
    def _tables(self) -> Mapping[str, Table]:
        """The tables that the load needs."""
        known = (*self.commit.schema.tables.values(), *self.commit.extra_tables)
        return {table.name: table for table in known if table.complete_columns}

    @cached_property
    def _names(self) -> NameChanges:
        return NameChanges.of(self.commit.alterations, self.catalog)

    @cached_property
    def _catalog(self) -> Mapping[str, CatalogTable]:
        """The tables that are there when names have changed and those to drop are gone."""
        return changed_catalog(self._names.catalog, self.commit.reset.drop)

    @cached_property
    def _emptied(self) -> Sequence[str]:
        return tables_to_empty(self.commit)

    @property
    def _label(self) -> CommitLabel:
        return CommitLabel.of_load(self.commit.load_id)

    def _name(self, table: str) -> TableName:
        return TableName(self.commit.dataset, table)

    def _scratch_path(self, table: str) -> str:
        # Spark passes over files whose names begin with an underscore.
        return os.path.join(self.scratch, f"records-{folder_name(table)}.parquet")

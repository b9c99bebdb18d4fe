"""The tables after a load: the new list of files, and the files to move for it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trellis.destinations.base import CatalogTable, Commit
from trellis.destinations.name_changes import NameChanges
from trellis.destinations.parquet.alterations import refuse_nulls, write_filled, write_renamed
from trellis.destinations.parquet.files import (
    arrow_schema_of,
    read_footer,
    write_empty,
    write_records,
    write_without,
)
from trellis.destinations.parquet.manifest import LiveFile, LiveTable, Manifest
from trellis.destinations.parquet.rewrite import rewrite
from trellis.destinations.parquet.types import file_type, type_name
from trellis.destinations.refusals import (
    refuse_case_variant_columns,
    refuse_case_variants,
    refuse_required,
    type_mismatch,
)
from trellis.destinations.row_changes import RowChanges
from trellis.destinations.scan.relation import column_names
from trellis.destinations.sql.preconditions import tables_to_empty
from trellis.engine.arrow.nested_types import arrow_type_named, grows_into
from trellis.engine.staging.stage import folder_name
from trellis.schema.model import Column, Table
from trellis.warehouses.catalog.lakes import PARQUET

if TYPE_CHECKING:
    import pyarrow as pa

TRELLIS_FOLDER = "_trellis"
RUN_FOLDER = "run"


def folder_of(name: str) -> str:
    """The folder of a table or dataset; the name of our own folder is escaped.

    >>> folder_of("orders"), folder_of("_trellis")
    ('orders', '%5Ftrellis')
    """
    return "%5Ftrellis" if name == TRELLIS_FOLDER else folder_name(name)


def is_of_load(path: str, load_id: str) -> bool:
    """Whether a live file is in a run folder of this load."""
    return path.split("/")[-2].partition("=")[2] == folder_name(load_id)


def catalog_of(manifest: Manifest) -> dict[str, CatalogTable]:
    return {
        name: CatalogTable(name, table.columns, {c: PARQUET.data_type(t) for c, t in table.columns.items()})
        for name, table in manifest.tables.items()
    }


def merged_columns(table: Table, known: LiveTable, retyped: Collection[str] = ()) -> dict[str, str]:
    """The columns of a table with those of the schema.

    Raises SchemaError where files have another type, unless the column is to be retyped.
    """
    refuse_case_variant_columns(table, known.columns)
    for column in table.complete_columns:
        real = known.columns.get(column.name, type_name(column))
        if real != type_name(column) and column.name not in retyped:
            raise type_mismatch(table.name, column.name, real, type_name(column))
    return {**known.columns, **{c.name: type_name(c) for c in table.complete_columns}}


@dataclass
class Draft:
    """`moves` and `links`: from where, to where below the root. The others are the outcome."""

    tables: dict[str, LiveTable]
    moves: list[tuple[str, str]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    row_changes: dict[str, RowChanges] = field(default_factory=dict)


@dataclass
class ParquetLoad:
    """A commit on top of a manifest. `prefix`: the path of the dataset; `scratch`: for new files."""

    root: str
    prefix: str
    commit: Commit
    base: Manifest
    scratch: str

    def draft_tables(self) -> Draft:
        commit = self.commit
        assert commit.only_appends and commit.links is None, "pipelines refuse what `Abilities.no_merge` says"
        known = (*commit.schema.tables.values(), *commit.extra_tables)
        tables = {t.name: t for t in known if t.complete_columns}
        self.tables_before = self._tables_before()
        refuse_case_variants(tables.values(), self.tables_before)
        self.columns = {
            name: merged_columns(table, self._live(name), commit.retyped.get(name, ()))
            for name, table in tables.items()
        }
        self.rewritten = self._rewrite_tables(tables)
        self._require_values(tables)
        self.result = Draft(dict(self.tables_before))
        others = [name for name in commit.reset.empty if name in self.tables_before and name not in tables]
        for name in others:
            self.result.tables[name] = self._live_table(Table(name), self._live(name).columns, (), ())
        for name, table in tables.items():
            kept = self._table_before(name).files
            self._refuse_rows_without(table, kept)
            added = (*self._staged(name), *self._write_records(table))
            self.result.tables[name] = self._live_table(table, self.columns[name], kept, added)
            self.result.row_changes[name] = self._row_changes(name)
        return self.result

    def _row_changes(self, table: str) -> RowChanges:
        inserted = sum(file.rows for file in self.commit.files.get(table, ()))
        before = self.base.tables.get(table, LiveTable()).rows
        return RowChanges(inserted, deleted=before if table in tables_to_empty(self.commit) else 0)

    def _write_records(self, table: Table) -> tuple[str, ...]:
        """A file of the bookkeeping rows that the load brings for a table, if there are any."""
        rows = self.commit.records.get(table.name, ())
        if not rows:
            return ()
        path = os.path.join(self.scratch, "records", f"{folder_name(table.name)}.parquet")
        write_records(table, rows, path)
        return (path,)

    def _tables_before(self) -> dict[str, LiveTable]:
        """The tables as the load finds them, without what it takes away before it brings anything."""
        reset = self.commit.reset
        tables = {name: table for name, table in self._renamed_tables().items() if name not in reset.drop}
        without_rows = [name for name in tables_to_empty(self.commit) if name in tables]
        tables.update({name: replace(tables[name], files=()) for name in without_rows})
        versions = tables.get(self.commit.metadata.versions)
        if reset.versions and versions:
            tables[self.commit.metadata.versions] = self._without_versions(versions)
        return tables

    def _renamed_tables(self) -> dict[str, LiveTable]:
        """The tables under their new names; where names of columns change the files are written anew."""
        changes = NameChanges.of(self.commit.alterations, catalog_of(self.base))
        tables: dict[str, LiveTable] = {}
        for name in changes.catalog:
            live = self.base.tables[changes.stored_table(name)]
            renamed = changes.renamed_columns.get(name, {})
            dropped = changes.dropped_columns.get(name, ())
            if renamed or dropped or name not in self.base.tables:
                kept = [column for column in live.columns if column not in dropped]
                columns = {renamed.get(column, column): live.columns[column] for column in kept}
                files = []
                for file in live.files:
                    target = self._scratch_path("renamed", file)
                    count = write_renamed(os.path.join(self.root, file.path), target, renamed, dropped)
                    files.append(replace(file, path=target, columns=count))
                live = LiveTable(columns, tuple(files))
            tables[name] = live
        return tables

    def _require_values(self, tables: Mapping[str, Table]) -> None:
        """Fill what is NULL in columns that become NOT NULL. Raises SchemaError where nothing fills it."""
        for alteration in self.commit.alterations:
            name, column = alteration.table, alteration.column
            live = self._table_before(name)
            if alteration.kind != "set not null" or name not in tables or column not in live.columns:
                continue
            if alteration.fill is None:
                refuse_nulls(name, column, (os.path.join(self.root, file.path) for file in live.files))
                continue
            value = self.commit.filled[name][column].cast(file_type(tables[name].columns[column]))
            files = []
            for file in live.files:
                target = self._scratch_path("filled", file)
                count = write_filled(os.path.join(self.root, file.path), target, {column: value})
                files.append(replace(file, path=target, columns=count))
            self.rewritten[name] = replace(live, files=tuple(files))

    def _scratch_path(self, step: str, file: LiveFile) -> str:
        """A place outside of the tables for what a step makes of a file, which another one may have made."""
        name = os.path.relpath(file.path, self.scratch) if os.path.isabs(file.path) else file.path
        return os.path.abspath(os.path.join(self.scratch, step, name))

    def _without_versions(self, live: LiveTable) -> LiveTable:
        """The table of versions without those of this schema."""
        files = []
        for file in live.files:
            target = os.path.abspath(os.path.join(self.scratch, "reset", file.path))
            rows = write_without(
                os.path.join(self.root, file.path), "schema_name", self.commit.schema.name, target
            )
            files.append(file if rows == file.rows else replace(file, path=target, rows=rows))
        return replace(live, files=tuple(files))

    def _rewrite_tables(self, tables: Mapping[str, Table]) -> dict[str, LiveTable]:
        """Tables with columns that get another type, or values in rows that are there: their files anew."""
        rewritten: dict[str, LiveTable] = {}
        names = {*self.commit.retyped, *self.commit.filled} - {*tables_to_empty(self.commit)}
        for name in names & tables.keys():
            table, live, after = tables[name], self._live(name), self.columns[name]
            retyped = self.commit.retyped.get(name, ())
            changed = {c: after[c] for c in retyped if not _reads_as(live.columns.get(c, after[c]), after[c])}
            filled = {c: v for c, v in self.commit.filled.get(name, {}).items() if c not in live.columns}
            if changed or (filled and live.files):
                of_file = [table.columns[c] for c in changed]
                files = [self._rewrite_file(table, file, of_file, filled) for file in live.files]
                added = {c: after[c] for c in filled}
                rewritten[name] = LiveTable({**live.columns, **changed, **added}, tuple(files))
        return rewritten

    def _rewrite_file(
        self, table: Table, file: LiveFile, retyped: Sequence[Column], filled: Mapping[str, pa.Scalar]
    ) -> LiveFile:
        """The file itself where nothing of it changes, else one outside of the tables."""
        path = os.path.join(self.root, file.path)
        present = column_names([path])
        changed = [column for column in retyped if column.name in present]
        if not changed and not filled:
            return file
        target = self._scratch_path("rewritten", file)
        rewrite(path, table, changed, filled, target)
        return replace(file, path=target, columns=file.columns + len(filled))

    def _refuse_rows_without(self, table: Table, kept: Sequence[LiveFile]) -> None:
        if sum(file.rows for file in kept):
            known = self._live(table.name).columns
            refuse_required(table, [c for c in table.complete_columns if c.name not in known])

    def _live_table(
        self, table: Table, columns: Mapping[str, str], kept: Sequence[LiveFile], added: Sequence[str]
    ) -> LiveTable:
        in_place = [self._in_run_folder(f, columns) for f in kept if not os.path.isabs(f.path)]
        new_paths = [*(f.path for f in kept if os.path.isabs(f.path)), *added]
        files = in_place + [self._add_file(table, columns, path, at) for at, path in enumerate(new_paths)]
        complete = [file for file in files if file.columns == len(columns)]
        if not any(file.rows for file in complete):
            placeholder = next((file for file in complete if not file.rows), None)
            if placeholder is None:
                path = os.path.join(self.scratch, "empty", f"{folder_name(table.name)}.parquet")
                before = self.base.tables.get(table.name, LiveTable()).files
                known = [os.path.join(self.root, file.path) for file in before]
                write_empty(arrow_schema_of(columns, known, table), path)
                placeholder = self._add_file(table, columns, path, len(new_paths))
        else:
            placeholder = None
        filled = [file for file in files if file.rows]
        live = [*filled, placeholder] if placeholder is not None else filled
        self._drop_moves(file.path for file in files if file not in live)
        return LiveTable(columns, tuple(live))

    def _add_file(self, table: Table, columns: Mapping[str, str], path: str, number: int) -> LiveFile:
        footer = read_footer(path)
        footer.check(table)
        for name, type_ in footer.types.items():
            if columns.get(name) != type_:
                raise type_mismatch(table.name, name, columns.get(name, "no column"), type_)
        run = f"{_run(columns)}={folder_name(self.commit.load_id)}"
        target = f"{self.prefix}{folder_of(table.name)}/{run}/part-{number:05d}.parquet"
        self.result.moves.append((path, target))
        return LiveFile(target, footer.rows, len(footer.types))

    def _in_run_folder(self, file: LiveFile, columns: Mapping[str, str]) -> LiveFile:
        """The file under a run folder that no column of the table is called like.

        Readers such as Spark show the first half of `run=7` as a column and would hide the table's own.
        """
        folder, run, name = file.path.rsplit("/", 2)
        target = f"{_run(columns)}={run.partition('=')[2]}"
        if run == target:
            return file
        moved = f"{folder}/{target}/{name}"
        self.result.links.append((file.path, moved))
        return replace(file, path=moved)

    def _drop_moves(self, paths: Iterable[str]) -> None:
        unwanted = {*paths}
        self.result.moves = [move for move in self.result.moves if move[1] not in unwanted]
        self.result.links = [link for link in self.result.links if link[1] not in unwanted]

    def _live(self, table: str) -> LiveTable:
        return self.tables_before.get(table, LiveTable())

    def _table_before(self, table: str) -> LiveTable:
        """The table with the types it has after the load."""
        return self.rewritten.get(table) or self._live(table)

    def _staged(self, table: str) -> tuple[str, ...]:
        return tuple(file.path for file in self.commit.files.get(table, ()))


def _run(columns: Iterable[str]) -> str:
    taken = {name.lower() for name in columns}
    name = RUN_FOLDER
    while name in taken:
        name += "_"
    return name


def _reads_as(type_: str, other: str) -> bool:
    """Whether readers take values of a type for those of another one: it is the same, or has more fields."""
    if type_ == other:
        return True
    nested = all("<" in name for name in (type_, other))
    return nested and grows_into(arrow_type_named(type_), arrow_type_named(other))

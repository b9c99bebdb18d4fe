"""What one load makes of the tables: the new list of files, and which files have to move for it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trellis.destinations.base import CatalogTable, Commit
from trellis.destinations.parquet.copy_on_write import Merged, positioned_live_rows, sieve
from trellis.destinations.parquet.files import footer, schema_of, write_empty, write_records
from trellis.destinations.parquet.identities import LinkMerge
from trellis.destinations.parquet.manifest import LiveFile, LiveTable, Manifest
from trellis.destinations.parquet.merge import KeyedMerge, Merge
from trellis.destinations.parquet.rewrite import rewrite
from trellis.destinations.parquet.types import type_name
from trellis.destinations.refusals import refuse_required, refuse_twin_columns, refuse_twins, type_clash
from trellis.destinations.scan.relation import column_names
from trellis.destinations.sql.literals import string_literal
from trellis.destinations.sql.names import alias_prefix, quoted
from trellis.destinations.sql.preconditions import emptied
from trellis.engine.staging.stage import folder_name
from trellis.schema.model import Column, Table
from trellis.warehouses.catalog.lakes import PARQUET

if TYPE_CHECKING:
    import pyarrow as pa

OURS = "_trellis"
RUN = "run"


def folder_of(name: str) -> str:
    """The folder of a table or dataset; the name of our own folder is escaped.

    >>> folder_of("orders"), folder_of("_trellis")
    ('orders', '%5Ftrellis')
    """
    return "%5Ftrellis" if name == OURS else folder_name(name)


def is_of_load(path: str, load_id: str) -> bool:
    """Whether a live file is in a run folder of this load."""
    return path.split("/")[-2].partition("=")[2] == folder_name(load_id)


def catalog_of(manifest: Manifest) -> dict[str, CatalogTable]:
    return {
        name: CatalogTable(name, table.columns, {c: PARQUET.data_type(t) for c, t in table.columns.items()})
        for name, table in manifest.tables.items()
    }


def columns_after(table: Table, known: LiveTable, retyped: Collection[str] = ()) -> dict[str, str]:
    """The columns of a table with those of the schema.

    Raises SchemaError where files have another type, unless the column is to be retyped.
    """
    refuse_twin_columns(table, known.columns)
    for column in table.complete_columns:
        real = known.columns.get(column.name, type_name(column))
        if real != type_name(column) and column.name not in retyped:
            raise type_clash(table.name, column.name, real, type_name(column))
    return {**known.columns, **{c.name: type_name(c) for c in table.complete_columns}}


@dataclass
class Draft:
    """`moves` and `links`: from where, to where below the root. `tables` is the outcome."""

    tables: dict[str, LiveTable]
    moves: list[tuple[str, str]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Load:
    """A commit on top of a manifest. `prefix`: the path of the dataset; `scratch`: for new files."""

    root: str
    prefix: str
    commit: Commit
    base: Manifest
    scratch: str

    def draft(self) -> Draft:
        commit = self.commit
        known = (*commit.schema.tables.values(), *commit.extra_tables)
        tables = {t.name: t for t in known if t.complete_columns}
        self.start = self._start()
        refuse_twins(tables.values(), self.start)
        self.columns = {
            name: columns_after(table, self._live(name), commit.retyped.get(name, ()))
            for name, table in tables.items()
        }
        stored = (table.columns for table in self.start.values())
        declared = (table.columns for table in tables.values())
        self.alias_prefix = alias_prefix(name for columns in (*stored, *declared) for name in columns)
        self.rewritten = self._rewritten(tables)
        outcome = self._outcome(tables)
        self.made = Draft(dict(self.start))
        others = [name for name in commit.reset.empty if name in self.start and name not in tables]
        for name in others:
            self.made.tables[name] = self._table(Table(name), self._live(name).columns, Merged((), ()))
        for name, table in tables.items():
            merged = outcome.get(name) or Merged(self._now(name).files, self._staged(name))
            self._refuse_rows_without(table, merged)
            self.made.tables[name] = self._table(table, self.columns[name], merged)
        return self.made

    def _start(self) -> dict[str, LiveTable]:
        """The tables as the load finds them, without what it takes away before it brings anything."""
        reset = self.commit.reset
        tables = {name: table for name, table in self.base.tables.items() if name not in reset.drop}
        without_rows = [name for name in emptied(self.commit) if name in tables]
        tables.update({name: replace(tables[name], files=()) for name in without_rows})
        versions = tables.get(self.commit.journal.versions)
        if reset.versions and versions:
            tables[self.commit.journal.versions] = self._without_versions(versions)
        return tables

    def _without_versions(self, live: LiveTable) -> LiveTable:
        """The table of versions without those of this schema."""
        name, scratch = self.commit.journal.versions, os.path.join(self.scratch, "reset")
        table = self.commit.schema.tables.get(name) or Table(name)
        prefix = alias_prefix(live.columns)
        rows = positioned_live_rows(self.root, live, live.columns, table, f"{prefix}place")
        of_schema = f"{quoted('schema_name')} = {string_literal(self.commit.schema.name)}"
        with sieve(self.root, scratch, rows.position) as found:
            source = f"{rows.relation()} AS {prefix}rows WHERE {prefix}rows.{of_schema}"
            stays = found.without(name, live.files, f"SELECT {prefix}rows.{rows.position} FROM {source}")
        footers = [footer(path) for path in stays.made]
        made = [LiveFile(os.path.abspath(file.path), file.rows, len(file.types)) for file in footers]
        return replace(live, files=(*stays.kept, *made))

    def _rewritten(self, tables: Mapping[str, Table]) -> dict[str, LiveTable]:
        """Tables with columns that get another type, or values in rows that are there: their files anew."""
        found: dict[str, LiveTable] = {}
        names = {*self.commit.retyped, *self.commit.filled} - {*emptied(self.commit)}
        for name in names & tables.keys():
            table, live, after = tables[name], self._live(name), self.columns[name]
            retyped = self.commit.retyped.get(name, ())
            changed = {c: after[c] for c in retyped if live.columns.get(c, after[c]) != after[c]}
            filled = {c: v for c, v in self.commit.filled.get(name, {}).items() if c not in live.columns}
            if changed or (filled and live.files):
                of_file = [table.columns[c] for c in changed]
                files = [self._anew(table, file, of_file, filled) for file in live.files]
                added = {c: after[c] for c in filled}
                found[name] = LiveTable({**live.columns, **changed, **added}, tuple(files))
        return found

    def _anew(
        self, table: Table, file: LiveFile, retyped: Sequence[Column], filled: Mapping[str, pa.Scalar]
    ) -> LiveFile:
        """The file itself where nothing of it changes, else one outside of the tables."""
        path = os.path.join(self.root, file.path)
        there = column_names([path])
        changed = [column for column in retyped if column.name in there]
        if not changed and not filled:
            return file
        target = os.path.abspath(os.path.join(self.scratch, "rewritten", file.path))
        rewrite(path, table, changed, filled, target)
        return replace(file, path=target, columns=file.columns + len(filled))

    def _outcome(self, tables: Mapping[str, Table]) -> dict[str, Merged]:
        """What stays and what comes in the tables that are not simply appended to."""
        commit, scratch = self.commit, os.path.join(self.scratch, "merged")
        found: dict[str, Merged] = {}
        for chain in commit.chains:
            names = [t.name for t in commit.schema.chain(chain.root) if t.name in tables]
            if chain.mode == "merge":
                live = {name: self._now(name) for name in names}
                found.update(Merge(self.root, commit, chain, live, scratch, self.alias_prefix).run())
        for load in commit.keyed:
            if self._staged(load.table):
                now, columns = self._now(load.table), self.columns[load.table]
                if not now.files:  # nothing tells the types of columns that the schema does not know
                    columns = {c.name: columns[c.name] for c in tables[load.table].complete_columns}
                keyed = KeyedMerge(self.root, commit, load, now, columns, scratch, self.alias_prefix)
                found[load.table] = keyed.run()
        if commit.links and self._staged(commit.links.rules):
            now, columns = self._now(commit.links.mappings), self.columns[commit.links.mappings]
            merge = LinkMerge(self.root, commit, commit.links, now, columns, scratch, self.alias_prefix)
            found[commit.links.mappings] = merge.run()
        for name, rows in commit.records.items():
            if rows:
                path = os.path.join(self.scratch, "records", f"{folder_name(name)}.parquet")
                write_records(tables[name], rows, path)
                found[name] = Merged(self._now(name).files, (*self._staged(name), path))
        return found

    def _refuse_rows_without(self, table: Table, merged: Merged) -> None:
        if sum(file.rows for file in merged.kept):
            known = self._live(table.name).columns
            refuse_required(table, [c for c in table.complete_columns if c.name not in known])

    def _table(self, table: Table, columns: Mapping[str, str], merged: Merged) -> LiveTable:
        kept = [self._in_run_folder(f, columns) for f in merged.kept if not os.path.isabs(f.path)]
        made = [*(f.path for f in merged.kept if os.path.isabs(f.path)), *merged.made]
        files = kept + [self._added(table, columns, path, at) for at, path in enumerate(made)]
        whole = [file for file in files if file.columns == len(columns)]
        if not any(file.rows for file in whole):
            keep = next((file for file in whole if not file.rows), None)
            if keep is None:
                path = os.path.join(self.scratch, "empty", f"{folder_name(table.name)}.parquet")
                before = self.base.tables.get(table.name, LiveTable()).files
                known = [os.path.join(self.root, file.path) for file in before]
                write_empty(schema_of(columns, known, table), path)
                keep = self._added(table, columns, path, len(made))
        else:
            keep = None
        filled = [file for file in files if file.rows]
        wanted = [*filled, keep] if keep is not None else filled
        self._forget_moves(file.path for file in files if file not in wanted)
        return LiveTable(columns, tuple(wanted))

    def _added(self, table: Table, columns: Mapping[str, str], path: str, number: int) -> LiveFile:
        found = footer(path)
        found.check(table)
        for name, type_ in found.types.items():
            if columns.get(name) != type_:
                raise type_clash(table.name, name, columns.get(name, "no column"), type_)
        run = f"{_run(columns)}={folder_name(self.commit.load_id)}"
        target = f"{self.prefix}{folder_of(table.name)}/{run}/part-{number:05d}.parquet"
        self.made.moves.append((path, target))
        return LiveFile(target, found.rows, len(found.types))

    def _in_run_folder(self, file: LiveFile, columns: Mapping[str, str]) -> LiveFile:
        """The file under a run folder that no column of the table is called like.

        Readers such as Spark show the first half of `run=7` as a column and would hide the table's own.
        """
        folder, run, name = file.path.rsplit("/", 2)
        wanted = f"{_run(columns)}={run.partition('=')[2]}"
        if run == wanted:
            return file
        moved = f"{folder}/{wanted}/{name}"
        self.made.links.append((file.path, moved))
        return replace(file, path=moved)

    def _forget_moves(self, paths: Iterable[str]) -> None:
        unwanted = {*paths}
        self.made.moves = [move for move in self.made.moves if move[1] not in unwanted]
        self.made.links = [link for link in self.made.links if link[1] not in unwanted]

    def _live(self, table: str) -> LiveTable:
        return self.start.get(table, LiveTable())

    def _now(self, table: str) -> LiveTable:
        """The table with the types it has after the load."""
        return self.rewritten.get(table) or self._live(table)

    def _staged(self, table: str) -> tuple[str, ...]:
        return tuple(file.path for file in self.commit.files.get(table, ()))


def _run(columns: Iterable[str]) -> str:
    taken = {name.lower() for name in columns}
    name = RUN
    while name in taken:
        name += "_"
    return name

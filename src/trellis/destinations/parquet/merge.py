"""Merges into Parquet files: the rows that leave and come are found out of core, by their keys.

Only files with rows that leave are written anew.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa

from trellis.destinations.base import ChainLoad, Commit, KeyedLoad
from trellis.destinations.parquet.copy_on_write import Merged, Sieve, positioned_live_rows, sieve
from trellis.destinations.parquet.files import schema_of
from trellis.destinations.parquet.manifest import LiveTable
from trellis.destinations.parquet.types import file_type, type_name
from trellis.destinations.refusals import double_keys
from trellis.destinations.scan.positions import positioned_rows
from trellis.destinations.scan.relation import column_names, files_relation
from trellis.destinations.sql.keyed import Keyed
from trellis.destinations.sql.merge import Chain
from trellis.destinations.sql.roots import Words
from trellis.destinations.sql.versions import in_column
from trellis.engine.staging.stage import StagedFile
from trellis.errors import SchemaError
from trellis.schema.model import Table
from trellis.warehouses.catalog.databases import DUCKDB


@dataclass
class Merge:
    """One chain of tables. `live` is what is there now, `scratch` a folder for new files.

    No column of a table of the load begins with `prefix`.
    """

    root: str
    commit: Commit
    load: ChainLoad
    live: Mapping[str, LiveTable]
    scratch: str
    prefix: str

    def run(self) -> dict[str, Merged]:
        words = Words(self.prefix, DUCKDB.type_of)
        keys = self.commit.keys.__getitem__
        self.chain = chain = Chain(self.commit.schema, self.load, keys, self._current, self._staged, words)
        chain.roots.check()
        if not any(file.rows for file in self._files(self.load.root)):
            return {table.name: Merged(self._live(table.name).files, ()) for table in chain.tables}
        for table in chain.tables:
            _refuse_inexact(table.name, {c.name: type_name(c) for c in chain.needs(table.name)})
        with sieve(self.root, self.scratch, f"{self.prefix}place") as found:
            if self.load.strategy == "upsert" and (twice := found.count(chain.roots.double_keys())):
                raise double_keys(chain.root.name, twice)
            if chain.replaces:
                found.db.execute(f"CREATE TEMP TABLE {words.leaving} AS {chain.roots.leaving()}")
            found.db.execute(f"CREATE TEMP TABLE {words.coming} AS {chain.roots.coming()}")
            return {table.name: self._table(found, table) for table in chain.tables}

    def _table(self, found: Sieve, table: Table) -> Merged:
        live, staged, chain = self._live(table.name).files, self._files(table.name), self.chain
        stays, written = Merged(live, ()), dict[str, pa.Scalar]()
        if chain.replaces:
            stays = found.without(table.name, live, chain.places_leaving(table.name))
        elif table == chain.root and (versions := chain.roots.versions):
            written = {name: _scalar(table, name, at) for name, at in versions.moments.items()}
            valid_to = versions.history.valid_to
            ended = {valid_to: _scalar(table, valid_to, versions.history.at)}
            stays = found.changed(table.name, live, chain.roots.places_retiring(versions), ended)
        if not staged:
            return stays
        once = chain.replaces and bool(found.count(chain.has_double_ids(table.name)))
        coming = chain.places_coming(table.name, once)
        return Merged(stays.kept, (*stays.made, *found.of(table.name, staged, coming, written)))

    def _live(self, table: str) -> LiveTable:
        return self.live.get(table, LiveTable())

    def _files(self, table: str) -> Sequence[StagedFile]:
        return self.commit.files.get(table, ())

    def _current(self, table: str) -> str:
        paths = [os.path.join(self.root, file.path) for file in self._live(table).files]
        return files_relation(paths, self.chain.needs(table), self._live(table).columns)

    def _staged(self, table: str) -> str:
        needed = self.chain.needs(table)
        paths = [file.path for file in self._files(table)]
        return files_relation(paths, needed, column_names(paths))


@dataclass
class KeyedMerge:
    """One table without descendants. `columns` are those it has after the load, with their types.

    No column of a table of the load begins with `prefix`.
    """

    root: str
    commit: Commit
    load: KeyedLoad
    live: LiveTable
    columns: Mapping[str, str]
    scratch: str
    prefix: str

    def run(self) -> Merged:
        table, load, live = self.commit.schema.tables[self.load.table], self.load, self.live.files
        files = self.commit.files.get(load.table, ())
        place = f"{self.prefix}place"
        staged = positioned_rows(files, table, place)
        current = positioned_live_rows(self.root, self.live, self.columns, table, place)
        names = [column.name for column in staged.columns]
        relations = (current.relation(), staged.relation())
        keyed = Keyed(load, *relations, names, self.columns, place, self.prefix)
        if not keyed.merges:
            return Merged(live, () if load.on_match == "amend" else tuple(file.path for file in files))
        compared = {*self.columns} if keyed.fills else {*load.keys, load.latest}
        _refuse_inexact(table.name, {n: type_ for n, type_ in self.columns.items() if n in compared})
        with sieve(self.root, self.scratch, place) as found:
            for statement in keyed.prepare(found.count):
                found.db.execute(statement)
            stays = Merged(live, ())
            if keyed.fills or keyed.replaces:
                rows = f"{keyed.table} AS {keyed.current_row} WHERE {keyed.leaves()}"
                leaving = f"SELECT {keyed.current_row}.{place} FROM {rows}"
                stays = found.without(table.name, live, leaving)
            rows = f"{keyed.staged} AS {keyed.staged_row} WHERE {keyed.comes()}"
            coming = f"SELECT {keyed.staged_row}.{place} FROM {rows}"
            made = [*stays.made, *found.of(table.name, files, coming)]
            if keyed.fills:
                filled = (keyed.changed(self.columns), keyed.added(self.columns))
                made += found.written(table.name, filled, schema_of(self.columns, current.paths, table))
            return Merged(stays.kept, tuple(made))


def _scalar(table: Table, name: str, moment: datetime | None) -> pa.Scalar:
    """A time as files keep it in a column."""
    column = table.columns[name]
    return pa.scalar(moment and in_column(column, moment), file_type(column))


def _refuse_inexact(table: str, types: Mapping[str, str]) -> None:
    """DuckDB cannot tell apart all values of these types."""
    for name, type_ in types.items():
        if type_.startswith(("timestamp[ns, tz=", "decimal256")):
            raise SchemaError(
                f"table {table}, column {name}: a column of type {type_} cannot be a key of a merge, nor "
                "be filled; give it a smaller precision"
            )

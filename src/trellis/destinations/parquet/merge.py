"""Merges into Parquet files: DuckDB finds the rows to delete and to insert by their keys, out of core.

Only files with rows to delete are rewritten.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa

from trellis.destinations.base import Commit, KeyedWrite, TableTreeWrite
from trellis.destinations.parquet.copy_on_write import (
    CopyOnWriteRewriter,
    RewrittenTable,
    open_rewriter,
    positioned_live_rows,
)
from trellis.destinations.parquet.files import arrow_schema_of
from trellis.destinations.parquet.manifest import LiveTable
from trellis.destinations.parquet.types import file_type, type_name
from trellis.destinations.refusals import duplicate_keys
from trellis.destinations.row_changes import RowTally
from trellis.destinations.scan.positions import positioned_rows
from trellis.destinations.scan.relation import column_names, files_relation
from trellis.destinations.sql.keyed import KeyedStatements
from trellis.destinations.sql.merge import TableTreeStatements
from trellis.destinations.sql.roots import MergeNames
from trellis.destinations.sql.versions import in_column
from trellis.engine.staging.stage import StagedFile
from trellis.errors import SchemaError
from trellis.schema.model import Table
from trellis.warehouses.catalog.databases import DUCKDB


@dataclass
class TableTreeMerge:
    """One tree of tables. `live` is what they are now, `scratch` a folder for new files.

    No column of a table of the load begins with `prefix`.
    """

    root: str
    commit: Commit
    load: TableTreeWrite
    live: Mapping[str, LiveTable]
    scratch: str
    prefix: str

    def rewrite_tables(self) -> dict[str, RewrittenTable]:
        names = MergeNames(self.prefix, DUCKDB.type_of)
        keys = self.commit.keys.__getitem__
        self.chain = chain = TableTreeStatements(
            self.commit.schema, self.load, keys, self._current, self._staged, names
        )
        chain.roots.check()
        if not any(file.rows for file in self._files(self.load.root)):
            return {table.name: RewrittenTable(self._live(table.name).files, ()) for table in chain.tables}
        for table in chain.tables:
            _refuse_inexact(table.name, {c.name: type_name(c) for c in chain.needs(table.name)})
        with open_rewriter(self.root, self.scratch, f"{self.prefix}place") as rewriter:
            if self.load.strategy == "upsert" and (
                duplicates := rewriter.query_count(chain.roots.duplicate_keys())
            ):
                raise duplicate_keys(chain.root.name, duplicates)
            if chain.replaces:
                rewriter.db.execute(
                    f"CREATE TEMP TABLE {names.rows_to_delete} AS {chain.roots.rows_to_delete()}"
                )
            rewriter.db.execute(f"CREATE TEMP TABLE {names.rows_to_insert} AS {chain.roots.rows_to_insert()}")
            tally = rewriter.tallies[chain.root.name]
            if counts := chain.roots.write_counts():
                tally.replaced, tally.marked = rewriter.query_counts(counts)
            tables = {table.name: self._table(rewriter, table) for table in chain.tables}
            if chain.replaces and chain.roots.replaces_by_key:
                tally.replaced = min(tally.inserted, tally.removed)
            return tables

    def _table(self, rewriter: CopyOnWriteRewriter, table: Table) -> RewrittenTable:
        live, staged, chain = self._live(table.name).files, self._files(table.name), self.chain
        remaining, written = RewrittenTable(live, ()), dict[str, pa.Scalar]()
        if chain.replaces:
            remaining = rewriter.remove_rows(table.name, live, chain.positions_to_delete(table.name))
        elif table == chain.root and (versions := chain.roots.versions):
            written = {name: _scalar(table, name, at) for name, at in versions.moments.items()}
            valid_to = versions.history.valid_to
            ended = {valid_to: _scalar(table, valid_to, versions.history.at)}
            remaining = rewriter.end_rows(table.name, live, chain.roots.positions_to_end(versions), ended)
        added = remaining.added
        if staged:
            once = chain.replaces and bool(rewriter.query_count(chain.duplicate_id_count(table.name)))
            positions_to_insert = chain.positions_to_insert(table.name, once)
            added = (*added, *rewriter.select_rows(table.name, staged, positions_to_insert, written))
        return RewrittenTable(remaining.kept, added, rewriter.tallies[table.name])

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
    load: KeyedWrite
    live: LiveTable
    columns: Mapping[str, str]
    scratch: str
    prefix: str

    def rewrite_table(self) -> RewrittenTable:
        table, load, live = self.commit.schema.tables[self.load.table], self.load, self.live.files
        files = self.commit.files.get(load.table, ())
        place = f"{self.prefix}place"
        staged = positioned_rows(files, table, place)
        current = positioned_live_rows(self.root, self.live, self.columns, table, place)
        names = [column.name for column in staged.columns]
        relations = (current.relation(), staged.relation())
        keyed = KeyedStatements(load, *relations, names, self.columns, place, self.prefix)
        if not keyed.merges:
            new = (
                ()
                if load.on_match == "coalesce_matched_only" or load.needs_keys
                else tuple(file.path for file in files)
            )
            return RewrittenTable(live, new, RowTally(sum(file.rows for file in files) if new else 0))
        compared = {*self.columns} if keyed.coalesces else {*load.keys, load.latest}
        _refuse_inexact(table.name, {n: type_ for n, type_ in self.columns.items() if n in compared})
        with open_rewriter(self.root, self.scratch, place) as rewriter:
            for statement in keyed.prepare(rewriter.query_count):
                rewriter.db.execute(statement)
            remaining = RewrittenTable(live, ())
            if keyed.coalesces or keyed.replaces:
                rows = f"{keyed.table} AS {keyed.current_row} WHERE {keyed.is_replaced()}"
                positions_to_delete = f"SELECT {keyed.current_row}.{place} FROM {rows}"
                remaining = rewriter.remove_rows(table.name, live, positions_to_delete)
            rows = f"{keyed.staged} AS {keyed.staged_row} WHERE {keyed.is_inserted()}"
            positions_to_insert = f"SELECT {keyed.staged_row}.{place} FROM {rows}"
            added = [*remaining.added, *rewriter.select_rows(table.name, files, positions_to_insert)]
            if keyed.coalesces:
                filled = (keyed.coalesced_rows(self.columns), keyed.coalesced_new_rows(self.columns))
                added += rewriter.write_query_rows(
                    table.name, filled, arrow_schema_of(self.columns, current.paths, table)
                )
            tally = rewriter.tallies[table.name]
            tally.replaced = min(tally.inserted, tally.removed)
            return RewrittenTable(remaining.kept, tuple(added), tally)


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

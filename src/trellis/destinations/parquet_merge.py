"""A merge into Parquet files: DuckDB finds the places of rows that leave and come, Arrow copies the others.

Only key columns are read to find them, out of core; only files with rows that leave are written anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trellis.destinations.base import ChainLoad, Commit
from trellis.destinations.duckdb_errors import one_line
from trellis.destinations.manifest import LiveFile, LiveTable
from trellis.destinations.merge import COMING, LEAVING, Chain
from trellis.destinations.parquet_files import Mask, columns_of, write_filtered
from trellis.destinations.refusal import double_keys
from trellis.destinations.scan import relation
from trellis.errors import DestinationError, SchemaError
from trellis.flow.arrow_types import arrow_type
from trellis.flow.stage import folder_name
from trellis.schema.model import Column, Table

if TYPE_CHECKING:
    import duckdb

MEMORY = "2GB"


@dataclass(frozen=True)
class Merged:
    """A table after the merge: the files that stay as they are, and new ones outside of the tables."""

    kept: tuple[LiveFile, ...]
    made: tuple[str, ...]


@dataclass
class Merge:
    """One chain of tables. `live` is what is there now, `scratch` a folder for new files."""

    root: str
    commit: Commit
    load: ChainLoad
    live: Mapping[str, LiveTable]
    scratch: str

    def run(self) -> dict[str, Merged]:
        schema = self.commit.schema
        tables = [t for t in schema.chain(self.load.root) if t.complete_columns]
        chain = Chain(
            schema, schema.tables[self.load.root], self.commit.keys.__getitem__, self._current, self._staged
        )
        chain.check(self.load.strategy)
        self.chain = chain
        if not self._paths_staged(self.load.root):
            return {t.name: Merged(self._live(t.name).files, ()) for t in tables}
        for table in tables:
            _refuse_inexact(table.name, chain.needs(table.name))
        with self._database() as self.db:
            if self.load.strategy == "upsert":
                twice = self._count(chain.double_keys())
                if twice:
                    raise double_keys(chain.root.name, twice)
            self.db.execute(f"CREATE TEMP TABLE {LEAVING} AS {chain.leaving(self.load.strategy)}")
            self.db.execute(f"CREATE TEMP TABLE {COMING} AS {chain.coming(self.load.strategy)}")
            return {table.name: self._table(table) for table in tables}

    def _table(self, table: Table) -> Merged:
        kept, made = [], []
        live, staged = self._live(table.name).files, self.commit.files.get(table.name, ())
        leaving = self.chain.places_leaving(table.name)
        for file, hit in zip(live, self._masks(leaving, [f.rows for f in live]), strict=True):
            if not hit.any():
                kept.append(file)
            elif not hit.all():
                made.append(self._filtered(table, os.path.join(self.root, file.path), ~hit))
        once = bool(staged) and bool(self._count(self.chain.has_double_ids(table.name)))
        coming = self.chain.places_coming(table.name, once) if staged else ""
        for source, hit in zip(staged, self._masks(coming, [f.rows for f in staged]), strict=True):
            if hit.all():
                made.append(source.path)
            elif hit.any():
                made.append(self._filtered(table, source.path, hit))
        return Merged(tuple(kept), tuple(made))

    def _masks(self, places: str, sizes: Sequence[int]) -> Iterator[Mask]:
        """For each of some files one after the other: which of its rows a query of places names."""
        if not sizes:
            return
        self.db.execute(f"CREATE OR REPLACE TEMP TABLE places AS SELECT place FROM ({places}) ORDER BY place")
        first = 1
        for size in sizes:
            mask = np.zeros(size, dtype=np.bool_)
            query = "SELECT place FROM places WHERE place >= ? AND place < ?"
            found = self.db.execute(query, [first, first + size]).fetchnumpy()["place"]
            mask[np.asarray(found, dtype=np.int64) - first] = True
            first += size
            yield mask

    def _filtered(self, table: Table, source: str, kept: Mask) -> str:
        folder = os.path.join(self.scratch, folder_name(table.name))
        os.makedirs(folder, exist_ok=True)
        target = os.path.join(folder, f"{len(os.listdir(folder)):06d}.parquet")
        write_filtered(source, kept, target)
        return target

    def _live(self, table: str) -> LiveTable:
        return self.live.get(table, LiveTable())

    def _paths_staged(self, table: str) -> list[str]:
        return [file.path for file in self.commit.files.get(table, ())]

    def _current(self, table: str) -> str:
        paths = [os.path.join(self.root, file.path) for file in self._live(table).files]
        return relation(paths, self.chain.needs(table), self._live(table).columns)

    def _staged(self, table: str) -> str:
        needed = self.chain.needs(table)
        paths = self._paths_staged(table)
        there = {name for path in paths for name in columns_of(path)}
        return relation(paths, needed, there)

    def _count(self, query: str) -> int:
        found = self.db.execute(query).fetchone()
        return int(found[0]) if found else 0

    @contextmanager
    def _database(self) -> Iterator[duckdb.DuckDBPyConnection]:
        import duckdb

        spill = os.path.join(self.scratch, "spill")
        try:
            with duckdb.connect(":memory:") as db:
                db.execute("SET TimeZone = 'UTC'")
                db.execute("SET enable_progress_bar = false")
                db.execute(f"SET memory_limit = '{MEMORY}'")
                db.execute("SET temp_directory = ?", [spill])
                yield db
        except duckdb.Error as bad:
            raise DestinationError(f"{self.root}: DuckDB could not merge ({one_line(bad)})") from bad


def _refuse_inexact(table: str, columns: Sequence[Column]) -> None:
    """DuckDB cannot tell apart all values of these types, so they are no keys."""
    for column in columns:
        type_ = arrow_type(column)
        nanoseconds = pa.types.is_timestamp(type_) and type_.unit == "ns" and type_.tz
        if nanoseconds or pa.types.is_decimal256(type_):
            raise SchemaError(
                f"table {table}, column {column.name}: a column of type {type_} cannot be a key of a merge; "
                "give it a smaller precision"
            )

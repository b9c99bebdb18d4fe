"""Rows of Parquet files, deleted or inserted: DuckDB finds them, Arrow copies the others."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from trellis.destinations.parquet.files import Mask, write_changed, write_filtered
from trellis.destinations.parquet.manifest import LiveFile, LiveTable
from trellis.destinations.refusals import first_line
from trellis.destinations.row_changes import RowTally
from trellis.destinations.scan.connections import configure_connection
from trellis.destinations.scan.positions import PositionedFiles
from trellis.destinations.scan.relation import files_relation
from trellis.destinations.sql.queries import count_by_query, empty_cells_query, newest_row_query
from trellis.engine.staging.stage import GROUP_ROWS, StagedFile, folder_name
from trellis.errors import DestinationError
from trellis.schema.model import NOTHING, Column, Table

if TYPE_CHECKING:
    import duckdb

MEMORY = "2GB"


@dataclass(frozen=True)
class RewrittenTable:
    """A table after the merge: the files that stay as they are, and new ones outside of the tables.

    Without a tally all staged rows were added, and none taken away.
    """

    kept: tuple[LiveFile, ...]
    added: tuple[str, ...]
    tally: RowTally | None = None


@dataclass
class CopyOnWriteRewriter:
    """`root` is the folder that live files are in, `scratch` one for new files.

    `place` is the one column of queries of positions. `tallies`: what was done to the rows of each table.
    """

    db: duckdb.DuckDBPyConnection
    root: str
    scratch: str
    place: str
    tallies: defaultdict[str, RowTally] = field(default_factory=lambda: defaultdict(RowTally))

    def remove_rows(self, table: str, files: Sequence[LiveFile], positions_to_delete: str) -> RewrittenTable:
        """The files of a table without the rows at the positions, from 1, that a query gives."""
        kept, added = [], []
        for file, hit in zip(files, self._masks(positions_to_delete, [f.rows for f in files]), strict=True):
            self.tallies[table].removed += int(hit.sum())
            if not hit.any():
                kept.append(file)
            elif not hit.all():
                added.append(self._filtered(table, os.path.join(self.root, file.path), ~hit))
        return RewrittenTable(tuple(kept), tuple(added))

    def end_rows(
        self, table: str, files: Sequence[LiveFile], places: str, written: Mapping[str, pa.Scalar]
    ) -> RewrittenTable:
        """The files of a table with values in the rows that end, at the positions, from 1, of a query."""
        kept, added = [], []
        for file, hit in zip(files, self._masks(places, [f.rows for f in files]), strict=True):
            self.tallies[table].ended += int(hit.sum())
            if hit.any():
                added.append(self._target(table))
                write_changed(os.path.join(self.root, file.path), hit, added[-1], written)
            else:
                kept.append(file)
        return RewrittenTable(tuple(kept), tuple(added))

    def select_rows(
        self,
        table: str,
        files: Sequence[StagedFile],
        positions_to_insert: str,
        written: Mapping[str, pa.Scalar] = NOTHING,
    ) -> tuple[str, ...]:
        """Files with the staged rows at the positions, from 1, of a query, with values in some columns."""
        paths = []
        for source, hit in zip(files, self._masks(positions_to_insert, [f.rows for f in files]), strict=True):
            self.tallies[table].inserted += int(hit.sum())
            if hit.all() and not written:
                paths.append(source.path)
            elif hit.any():
                paths.append(self._filtered(table, source.path, hit, written))
        return tuple(paths)

    def write_query_rows(self, table: str, queries: Sequence[str], schema: pa.Schema) -> tuple[str, ...]:
        """A file of the rows of queries, if there are any."""
        target, rows = self._target(table), 0
        with pq.ParquetWriter(target, schema) as writer:
            for query in queries:
                for batch in self.db.sql(query).to_arrow_reader(GROUP_ROWS):
                    rows += batch.num_rows
                    writer.write_table(pa.Table.from_batches([batch]).cast(schema))
        self.tallies[table].inserted += rows
        if not rows:
            os.unlink(target)
        return (target,) if rows else ()

    def query_count(self, query: str) -> int:
        return self.query_counts(query)[0]

    def query_counts(self, query: str) -> tuple[int, ...]:
        """The numbers in the one row of a query."""
        return tuple(map(int, self.db.execute(query).fetchone() or ()))

    def _masks(self, places: str, sizes: Sequence[int]) -> Iterator[Mask]:
        """For each of some files one after the other: which of its rows a query of places names."""
        if not sizes:
            return
        self.db.execute(f"CREATE OR REPLACE TEMP TABLE places AS {places} ORDER BY {self.place}")
        query = f"SELECT {self.place} FROM places WHERE {self.place} >= ? AND {self.place} < ?"
        first = 1
        for size in sizes:
            mask = np.zeros(size, dtype=np.bool_)
            hits = self.db.execute(query, [first, first + size]).fetchnumpy()[self.place]
            mask[np.asarray(hits, dtype=np.int64) - first] = True
            first += size
            yield mask

    def _filtered(
        self, table: str, source: str, kept: Mask, written: Mapping[str, pa.Scalar] = NOTHING
    ) -> str:
        target = self._target(table)
        write_filtered(source, kept, target, written)
        return target

    def _target(self, table: str) -> str:
        folder = os.path.join(self.scratch, folder_name(table))
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, f"{len(os.listdir(folder)):06d}.parquet")


def positioned_live_rows(
    root: str, live: LiveTable, columns: Iterable[str], table: Table, position: str
) -> PositionedFiles:
    """A table with these columns; the files know the types of those that the schema does not know."""
    declared = {column.name: column for column in table.complete_columns}
    selected = [declared.get(name) or Column(name) for name in columns]
    paths = [os.path.join(root, file.path) for file in live.files]
    return PositionedFiles(paths, [file.rows for file in live.files], selected, live.columns, position)


def count_by(paths: Sequence[str], columns: Sequence[str], example: str) -> list[tuple[Any, ...]]:
    """Rows of files per values of columns, and the least text in another one. Raises FileNotFoundError."""
    import duckdb

    needed = dict.fromkeys((*columns, example))
    source = files_relation(paths, map(Column, needed), needed)
    try:
        with duckdb.connect(":memory:") as db:
            return db.execute(count_by_query(source, columns, example)).fetchall()
    except duckdb.IOException as bad:
        raise FileNotFoundError(first_line(bad)) from bad


def empty_cells(paths: Sequence[str], key: str, column: str, values: Sequence[str]) -> set[str]:
    """Those of the values, as text, that one row of files has as its key, without a value in a column.

    Raises FileNotFoundError.
    """
    import duckdb

    source = files_relation(paths, map(Column, (key, column)), (key, column))
    query = empty_cells_query(source, key, column)
    try:
        with duckdb.connect(":memory:") as db:
            return {str(text) for (text,) in db.execute(query, [list(values)]).fetchall()}
    except duckdb.IOException as bad:
        raise FileNotFoundError(first_line(bad)) from bad


def newest_row(
    paths: Sequence[str], columns: Sequence[str], column: str, value: str, order: Sequence[str]
) -> dict[str, Any] | None:
    """The last row by the columns of `order` of those with a text in a column. Raises FileNotFoundError."""
    import duckdb

    query = newest_row_query(files_relation(paths, map(Column, columns), columns), column, order)
    try:
        with duckdb.connect(":memory:") as db:
            configure_connection(db)
            rows: list[dict[str, Any]] = db.sql(query, params=[value]).to_arrow_table().to_pylist()
            return rows[0] if rows else None
    except duckdb.IOException as bad:
        raise FileNotFoundError(first_line(bad)) from bad


@contextmanager
def open_rewriter(root: str, scratch: str, place: str) -> Iterator[CopyOnWriteRewriter]:
    """With a DuckDB of its own, which spills into the scratch folder. Raises DestinationError."""
    import duckdb

    os.makedirs(scratch, exist_ok=True)
    try:
        with duckdb.connect(":memory:") as db:
            configure_connection(db)
            db.execute(f"SET memory_limit = '{MEMORY}'")
            db.execute("SET temp_directory = ?", [os.path.join(scratch, "spill")])
            yield CopyOnWriteRewriter(db, root, scratch, place)
    except duckdb.Error as bad:
        raise DestinationError(f"{root}: DuckDB could not merge ({first_line(bad)})") from bad

"""Parquet files, one after the other, as a relation of DuckDB in which every row has its place, from 1."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from trellis.destinations.duckdb.scan import relation
from trellis.destinations.parquet.files import columns_of
from trellis.destinations.parquet.manifest import LiveTable
from trellis.destinations.sql.names import quoted
from trellis.engine.staging.stage import StagedFile
from trellis.schema.model import NOTHING, Column, Table

_FILE, _ROW = "file_index", "file_row_number"
"""What DuckDB calls the places it knows by itself, as long as no column is called like that."""


@dataclass(frozen=True)
class Placed:
    """These columns of files of these `sizes`, in rows; those that are not `there` are NULL.

    `place` is the name of the place: one that no column has.
    """

    paths: Sequence[str]
    sizes: Sequence[int]
    columns: Sequence[Column]
    there: Collection[str]
    place: str

    def relation(self, types: Mapping[str, str] = NOTHING) -> str:
        """What stands in a FROM clause: the columns, those in `types` cast to them, and the place."""
        picked = ", ".join(_cast(column.name, types.get(column.name)) for column in self.columns)
        names = {name.lower() for name in (*self.there, *(column.name for column in self.columns))}
        if not self.paths or {_FILE, _ROW} & names:
            source = relation(self.paths, self.columns, self.there)
            return f"(SELECT {picked}, row_number() OVER () AS {self.place} FROM {source})"
        source = relation(
            self.paths, [*self.columns, Column(_FILE), Column(_ROW)], {*self.there, _FILE, _ROW}
        )
        before = [0, *accumulate(self.sizes)][:-1]
        place = f"{before}[CAST({_FILE} AS BIGINT) + 1] + {_ROW} + 1 AS {self.place}"
        return f"(SELECT {picked}, {place} FROM {source})"

    @staticmethod
    def staged(files: Sequence[StagedFile], table: Table, place: str) -> Placed:
        """Staged rows with the columns that they have."""
        there = {name for file in files for name in columns_of(file.path)}
        columns = [column for column in table.complete_columns if column.name in there]
        return Placed([file.path for file in files], [file.rows for file in files], columns, there, place)

    @staticmethod
    def live(root: str, live: LiveTable, columns: Iterable[str], table: Table, place: str) -> Placed:
        """A table with these columns; the files know the types of those that the schema does not know."""
        known = {column.name: column for column in table.complete_columns}
        picked = [known.get(name) or Column(name) for name in columns]
        paths = [os.path.join(root, file.path) for file in live.files]
        return Placed(paths, [file.rows for file in live.files], picked, live.columns, place)


def _cast(name: str, type_: str | None) -> str:
    return f"CAST({quoted(name)} AS {type_}) AS {quoted(name)}" if type_ else quoted(name)

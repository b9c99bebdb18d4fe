"""Parquet files, one after the other, as a relation of DuckDB in which every row has its position, from 1."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from trellis.destinations.scan.relation import column_names, files_relation
from trellis.destinations.sql.names import quoted
from trellis.engine.staging.stage import StagedFile
from trellis.schema.model import NOTHING, Column, Table

_FILE, _ROW = "file_index", "file_row_number"
"""DuckDB's own columns with positions, which it has as long as no column of the files has their names."""


@dataclass(frozen=True)
class PositionedFiles:
    """Columns of files of these `sizes`, in rows; columns that are not `present` are NULL.

    `position` is the name of the column with the positions: one that no other column has.
    """

    paths: Sequence[str]
    sizes: Sequence[int]
    columns: Sequence[Column]
    present: Collection[str]
    position: str

    def relation(self, types: Mapping[str, str] = NOTHING) -> str:
        """An item of a FROM clause: the columns, those in `types` cast to them, and the position."""
        selected = ", ".join(_cast(column.name, types.get(column.name)) for column in self.columns)
        names = {name.lower() for name in (*self.present, *(column.name for column in self.columns))}
        if not self.paths or {_FILE, _ROW} & names:
            source = files_relation(self.paths, self.columns, self.present)
            return f"(SELECT {selected}, row_number() OVER () AS {self.position} FROM {source})"
        source = files_relation(
            self.paths, [*self.columns, Column(_FILE), Column(_ROW)], {*self.present, _FILE, _ROW}
        )
        rows_before = [0, *accumulate(self.sizes)][:-1]
        position = f"{rows_before}[CAST({_FILE} AS BIGINT) + 1] + {_ROW} + 1 AS {self.position}"
        return f"(SELECT {selected}, {position} FROM {source})"


def positioned_rows(files: Sequence[StagedFile], table: Table, position: str) -> PositionedFiles:
    """Staged rows of a table with the columns that they have."""
    present = column_names(file.path for file in files)
    columns = [column for column in table.complete_columns if column.name in present]
    return PositionedFiles(
        [file.path for file in files], [file.rows for file in files], columns, present, position
    )


def _cast(name: str, type_: str | None) -> str:
    return f"CAST({quoted(name)} AS {type_}) AS {quoted(name)}" if type_ else quoted(name)

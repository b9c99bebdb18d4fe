"""Loads that leave tables out: those that failed, and those that a retry of the failed ones does not name."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trellis.engine.plan import Counts
from trellis.engine.staging.dead_letters import DISCARDS, REJECTS
from trellis.engine.staging.stage import StagedFile
from trellis.engine.task import Outcome
from trellis.errors import TrellisError
from trellis.evolution.dialect import Dialect
from trellis.schema.model import Schema
from trellis.schema.system import is_system

Files = Mapping[str, Sequence[StagedFile]]


@dataclass
class TableSelection:
    """Which tables of a load are written. `only`: those alone; none named: all but those in `failures`.

    Discards go with the table that they are of, so that a load of the failed tables brings theirs, and no
    other a second time.
    """

    dialect: Dialect
    only: Collection[str] = ()
    failures: dict[str, str] = field(default_factory=dict)

    def fail(self, error: TrellisError, schema: Schema, touched: Collection[str]) -> bool:
        """Leave out the table of an error; False where the error concerns the load as a whole."""
        letters = self.dialect.dead_letters.table(schema)
        data = {name for name in touched if not is_system(name) and (letters is None or name != letters.name)}
        written = {name for name in data if self.writes(name)} - {error.table}
        is_of_one_table = error.table in data and self.writes(error.table)
        if not (self.dialect.capabilities.tables_fail_alone and is_of_one_table and written):
            return False
        self.failures[error.table] = str(error).removesuffix("; nothing was loaded")
        return True

    def writes(self, table: str) -> bool:
        return table not in self.failures and (not self.only or table in self.only)

    def apply(self, start: Schema, schema: Schema, files: Files) -> tuple[Schema, Files]:
        """The schema and the staged files of the tables that are written; the others stay as at the start."""
        if not self.failures and not self.only:
            return schema, files
        letters = {DISCARDS.name: "table_name"}
        if table := self.dialect.dead_letters.table(schema):
            letters[table.name] = table.table
        selected: dict[str, Sequence[StagedFile]] = {}
        for name, staged in files.items():
            if name in letters:
                selected[name] = [self._select_letters(file, letters[name]) for file in staged]
            elif self.writes(name) or (name == REJECTS.name and not self.only):
                selected[name] = staged
        left_out = [name for name in files if name not in selected and name in schema.tables]
        schema = self.dialect.tables.drop_tables(schema, [n for n in left_out if n not in start.tables])
        schema = schema.with_tables(*(start.tables[name] for name in left_out if name in start.tables))
        return schema, {name: staged for name, staged in selected.items() if any(f.rows for f in staged)}

    def recount(self, rows: Counts, outcomes: Iterable[Outcome]) -> None:
        """Count records with a row in a failed table as failed, those of no table of `only` as dropped."""
        for outcome in outcomes:
            for tables, count in outcome.by_tables.items():
                if not self.failures.keys().isdisjoint(tables):
                    rows.failed += count
                elif self.only and {*self.only}.isdisjoint(tables):
                    rows.dropped += count
                else:
                    continue
                rows.loaded -= count

    def _select_letters(self, file: StagedFile, column: str) -> StagedFile:
        """The rows of a file of discards that are of tables which are written."""
        rows = pq.read_table(file.path)
        tables = pc.unique(rows.column(column)).to_pylist()
        written = [table for table in tables if self.writes(table or "")]
        kept = rows.filter(pc.is_in(rows.column(column), pa.array(written, pa.string())))
        path = f"{os.path.splitext(file.path)[0]}-without-{len(self.failures)}.parquet"
        pq.write_table(kept, path)
        return StagedFile(file.table, path, kept.num_rows)

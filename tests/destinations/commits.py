"""Commits without a pipeline: rows that are staged as told, and loads of any kind."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trellis.destinations import open_destination
from trellis.destinations.base import Commit, RowChanges
from trellis.engine.arrow.types import arrow_schema
from trellis.engine.staging.stage import StagedFile
from trellis.evolution.dialect.metadata import MetadataTables
from trellis.evolution.table_writes import KeyedWrite
from trellis.schema.model import Column, DataType, Schema, Table

Row = Mapping[str, Any]
JOURNAL = MetadataTables("_versions", "_loads", "load_id")


def table(name: str, **columns: DataType) -> Table:
    return Table(name, {column: Column(column, type_) for column, type_ in columns.items()})


KEPT = (
    table("_versions", version="bigint", inserted_at="timestamp", schema_name="text", version_hash="text"),
    table("_loads", load_id="text"),
)


class Warehouse:
    """One dataset of a destination, and the files that are staged for it."""

    def __init__(self, url: str, folder: Path) -> None:
        self.destination = open_destination(url)
        self.dataset = self.destination.abilities.default_dataset
        self.folder = folder
        self.numbers = itertools.count()
        self.base: str | None = None
        self.row_changes: Mapping[str, RowChanges] | None = None

    def commit(self, load: KeyedWrite, rows: Sequence[Row], into: Table, **more: Any) -> Commit:
        """One load into one table, from one file."""
        return self.run([into], {into.name: [rows]}, keyed=(load,), **more)

    def run(
        self, tables: Sequence[Table], rows: Mapping[str, Sequence[Sequence[Row]]], **more: Any
    ) -> Commit:
        """One commit of staged files, one per sequence of rows, with the columns that stand in the rows."""
        load_id = more.pop("load_id", f"load-{next(self.numbers)}")
        known = {t.name: t for t in (*KEPT, *tables)}
        version = {"version": 1, "inserted_at": None, "schema_name": "shop", "version_hash": "v"}
        commit = Commit(
            load_id,
            self.dataset,
            Schema("shop", known, stored_hash="v"),
            self.base,
            (),
            {name: self.stage(load_id, known[name], parts) for name, parts in rows.items()},
            {"_loads": [{"load_id": load_id}], **({} if self.base else {"_versions": [version]})},
            {},
            JOURNAL,
        )
        commit = replace(commit, **more)
        self.row_changes = self.destination.commit(commit)
        self.base = "v"
        return commit

    def stage(self, load_id: str, into: Table, parts: Sequence[Sequence[Row]]) -> list[StagedFile]:
        folder = self.folder / "staged" / load_id / into.name
        folder.mkdir(parents=True, exist_ok=True)
        return [self._staged(into, rows, folder / f"{at:05d}.parquet") for at, rows in enumerate(parts)]

    def _staged(self, into: Table, rows: Sequence[Row], path: Path) -> StagedFile:
        columns = {name for row in rows for name in row} or {*into.columns}
        schema = pa.schema([field for field in arrow_schema(into) if field.name in columns])
        pq.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema=schema), path)
        return StagedFile(into.name, str(path), len(rows))

    def rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        """The rows of a table, sorted: the named columns, or all."""
        stored = self.destination.query(self.dataset, name)
        return sorted((tuple(row[c] for c in columns or row) for row in stored), key=repr)

"""Loads made by hand for tests of the PostgreSQL destination: tables of Arrow, staged and committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from trellis.destinations.base import Commit, TableTreeWrite
from trellis.engine.arrow.types import arrow_schema
from trellis.engine.staging.stage import StagedFile
from trellis.evolution.dialect.metadata import MetadataTables
from trellis.schema.model import Column, Schema, Table

JOURNAL = MetadataTables("_versions", "_loads", "load_id")
LOADS = Table("_loads", {"load_id": Column("load_id", "text", nullable=False)})

Rows = Sequence[Mapping[str, Any]]


def staged(folder: Path, table: Table, *files: Rows | pa.Table, group: int | None = None) -> list[StagedFile]:
    """Each of the files as a load would leave it in its staging folder."""
    staged_files = []
    for rows in files:
        content = (
            rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(list(rows), arrow_schema(table))
        )
        path = folder / f"{uuid4().hex}.parquet"
        pq.write_table(content, path, row_group_size=group)
        staged_files.append(StagedFile(table.name, str(path), content.num_rows))
    return staged_files


def commit_of(
    tables: Mapping[str, Sequence[StagedFile]],
    *known: Table,
    load_id: str = "",
    dataset: str = "public",
    **more: Any,
) -> Commit:
    """A load that appends files to tables, or whatever else is said of it, and notes its id."""
    load_id = load_id or uuid4().hex
    chains = tuple(TableTreeWrite(name, "append") for name in tables)
    fields = {
        "schema": Schema("shop", {table.name: table for table in (*known, LOADS)}),
        "base_hash": None,
        "chains": chains,
        "files": tables,
        "records": {"_loads": [{"load_id": load_id}]},
        "keys": {},
        "metadata": JOURNAL,
    }
    return Commit(load_id, dataset, **{**fields, **more})

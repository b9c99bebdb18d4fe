"""Parquet files that a commit reads, filters and makes: the types of Arrow, batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trellis.destinations.parquet.types import name_of
from trellis.destinations.refusals import null_violation
from trellis.engine.arrow.types import arrow_schema
from trellis.engine.staging.stage import GROUP_ROWS
from trellis.schema.model import Table

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Footer:
    """What a file says of itself: its rows, its columns with their types, how many of each are NULL.

    It does not tell of NULLs in columns of nested values; these are counted when they matter.
    """

    path: str
    rows: int
    types: Mapping[str, str]
    nulls: Mapping[str, int]

    def check(self, table: Table) -> None:
        """Raises ContractError where a required column has no value."""
        for column in table.complete_columns:
            if column.required and self._null_count(column.name):
                raise null_violation(table.name, column.name)

    def _null_count(self, name: str) -> int:
        if name in self.nulls or name not in self.types:
            return self.nulls.get(name, self.rows)
        with pq.ParquetFile(self.path) as file:
            return sum(_count_nulls(file, group, name) for group in range(file.num_row_groups))


def read_footer(path: str) -> Footer:
    with pq.ParquetFile(path) as file:
        metadata, schema = file.metadata, file.schema_arrow
        flat = [field.name for field in schema if not pa.types.is_nested(field.type)]
        nulls = Counter[str](dict.fromkeys(flat, 0))
        leaves = enumerate(map(file.schema.column, range(len(file.schema))))
        # a field b of a column a has the path a.b, as a column a.b has
        chunk_of = {leaf.name: at for at, leaf in leaves if leaf.name == leaf.path}
        for group in range(metadata.num_row_groups):
            for name in flat:
                chunk = metadata.row_group(group).column(chunk_of[name])
                known = chunk.statistics is not None and chunk.statistics.has_null_count
                nulls[name] += chunk.statistics.null_count if known else _count_nulls(file, group, name)
        types = {field.name: name_of(field.type) for field in schema}
        return Footer(path, metadata.num_rows, types, nulls)


def write_without(source: str, column: str, value: str, target: str) -> int:
    """Copy the rows of a small file that do not have a text in a column, and count them."""
    rows = pq.read_table(source, partitioning=None)
    kept = rows.filter(pc.field(column) != value)
    _write(kept, target)
    return int(kept.num_rows)


def write_records(table: Table, records: Sequence[Mapping[str, Any]], target: str) -> None:
    """Write a few rows; columns that a row lacks are NULL."""
    rows = pa.Table.from_pylist([dict(row) for row in records], schema=arrow_schema(table))
    _write(rows, target)


def arrow_schema_of(columns: Iterable[str], known: Iterable[str], table: Table) -> pa.Schema:
    """These columns of a table. Those that only other files know take their type from those."""
    types: dict[str, pa.DataType] = {}
    for path in known:
        types.update((field.name, field.type) for field in pq.read_schema(path))
    types.update((field.name, field.type) for field in arrow_schema(table))
    return pa.schema([(name, types[name]) for name in columns])


def write_empty(schema: pa.Schema, target: str) -> None:
    """Write a file without rows."""
    _write(schema.empty_table(), target)


def read_rows(paths: Sequence[str], columns: Iterable[str], limit: int | None = None) -> list[dict[str, Any]]:
    """Rows of files whose columns may differ, in the order of the files, with NULL for what one lacks."""
    order = list(columns)
    rows: list[dict[str, Any]] = []
    size = GROUP_ROWS if limit is None else max(min(limit, GROUP_ROWS), 1)
    for path in paths:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=size):
                if limit is not None and len(rows) >= limit:
                    return rows[:limit]
                rows += [{name: row.get(name) for name in order} for row in batch.to_pylist()]
    return rows[:limit]


def read_batches(path: str) -> Iterator[pa.RecordBatch]:
    """The rows of a file, with the types that it has."""
    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(batch_size=GROUP_ROWS)


def _write(rows: pa.Table, target: str) -> None:
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, target)


def _count_nulls(file: pq.ParquetFile, group: int, name: str) -> int:
    return int(file.read_row_group(group, columns=[name]).column(name).null_count)

"""A Parquet file with other types for some of its columns, or with new columns of one value each.

DuckDB casts, Arrow copies the rest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from trellis.destinations.parquet.types import file_type, type_name
from trellis.destinations.refusals import type_mismatch
from trellis.destinations.scan.connections import configure_connection
from trellis.engine.arrow.nested_types import nested_type
from trellis.engine.staging.stage import GROUP_ROWS
from trellis.schema.model import Column, Table
from trellis.warehouses.catalog.databases import DUCKDB

if TYPE_CHECKING:
    import duckdb


def rewrite(
    source: str, table: Table, retyped: Sequence[Column], filled: Mapping[str, pa.Scalar], target: str
) -> None:
    """Raises SchemaError where a value does not fit the new type of its column."""
    import duckdb

    new = {column.name: column for column in retyped}
    added = {name: file_type(table.columns[name]) for name in filled}
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with duckdb.connect(":memory:") as db, pq.ParquetFile(source) as file:
        configure_connection(db)
        kept_schema = _schema(file.schema_arrow, new)
        schema = pa.schema([*kept_schema, *(pa.field(name, type_) for name, type_ in added.items())])
        with pq.ParquetWriter(target, schema) as writer:
            for batch in file.iter_batches(batch_size=GROUP_ROWS):
                arrays = [
                    _cast(db, table.name, new[name], array) if name in new else array
                    for name, array in zip(kept_schema.names, batch.columns, strict=True)
                ]
                arrays += [pa.repeat(filled[name], len(batch)).cast(added[name]) for name in added]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _schema(schema: pa.Schema, new: Mapping[str, Column]) -> pa.Schema:
    fields = [pa.field(f.name, file_type(new[f.name])) if f.name in new else f for f in schema]
    return pa.schema(fields)


def _cast(
    db: duckdb.DuckDBPyConnection, table: str, column: Column, array: pa.Array
) -> pa.Array | pa.ChunkedArray:
    if array.null_count == len(array):
        return pa.nulls(len(array), file_type(column))
    if nested_type(column) is not None:
        raise type_mismatch(table, column.name, str(array.type), type_name(column))
    target_type = DUCKDB.type_of(column)
    db.register("old", pa.table({"value": array}))
    misfit = f"value IS NOT NULL AND TRY_CAST(value AS {target_type}) IS NULL"
    misfit_row = db.execute(f"SELECT value FROM old WHERE {misfit} LIMIT 1").fetchone()
    if misfit_row:
        raise type_mismatch(table, column.name, str(array.type), type_name(column), misfit_row[0])
    cast = db.sql(f"SELECT CAST(value AS {target_type}) AS value FROM old").to_arrow_table()
    db.unregister("old")
    return cast.column("value").cast(file_type(column))

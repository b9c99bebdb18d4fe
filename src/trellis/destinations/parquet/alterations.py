"""Files with other columns: what a person's change of a table makes of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trellis.destinations.refusals import null_values
from trellis.engine.staging.stage import GROUP_ROWS


def write_renamed(source: str, target: str, renamed: Mapping[str, str], dropped: Collection[str]) -> int:
    """Write a file with new names of its columns and without some, and give how many it has."""
    with pq.ParquetFile(source) as file:
        kept = [field for field in file.schema_arrow if field.name not in dropped]
        schema = pa.schema([field.with_name(renamed.get(field.name, field.name)) for field in kept])
        batches = file.iter_batches(GROUP_ROWS, columns=[field.name for field in kept])
        _write(target, schema, (pa.record_batch(batch.columns, schema=schema) for batch in batches))
    return len(schema)


def write_filled(source: str, target: str, fills: Mapping[str, pa.Scalar]) -> int:
    """Write a file with values where some columns have none, and give how many columns it has."""
    with pq.ParquetFile(source) as file:
        schema = file.schema_arrow
        for name, value in fills.items():
            if name not in schema.names:
                schema = schema.append(pa.field(name, value.type))
        batches = file.iter_batches(GROUP_ROWS)
        _write(target, schema, (_filled(batch, schema, fills) for batch in batches))
    return len(schema)


def refuse_nulls(table: str, column: str, paths: Iterable[str]) -> None:
    """Raises SchemaError where rows have no value in a column that is to be NOT NULL."""
    nulls = 0
    for path in paths:
        with pq.ParquetFile(path) as file:
            if column not in file.schema_arrow.names:
                nulls += file.metadata.num_rows
                continue
            nulls += sum(batch.column(0).null_count for batch in file.iter_batches(columns=[column]))
    if nulls:
        raise null_values(table, column, nulls)


def _filled(batch: pa.RecordBatch, schema: pa.Schema, fills: Mapping[str, pa.Scalar]) -> pa.RecordBatch:
    arrays = []
    for field in schema:
        array = batch.column(field.name) if field.name in batch.schema.names else None
        if field.name in fills:
            value = fills[field.name].cast(field.type)
            array = pa.repeat(value, len(batch)) if array is None else pc.fill_null(array, value)
        arrays.append(array)
    return pa.record_batch(arrays, schema=schema)


def _write(target: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with pq.ParquetWriter(target, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)

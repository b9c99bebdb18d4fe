"""Staged files as files of a table: in the types that the table has, without NULL where it takes none."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trellis.destinations.lake.types import arrow_type_of, name_of
from trellis.destinations.refusals import null_violation, type_mismatch
from trellis.engine.arrow.types import arrow_schema
from trellis.engine.staging.stage import GROUP_ROWS, StagedFile
from trellis.schema.model import Table

_STRING_LIMIT = 32
"""Longer strings are not worth their place in the log of a table."""


@dataclass(frozen=True)
class DataFile:
    """A local Parquet file whose columns have the types of its table."""

    path: str
    rows: int


@dataclass(frozen=True)
class TableFiles:
    """The staged files of one table. `types` are those of its columns, `declared` those of its schema.

    A file is written anew beside the old one where its types are others.
    """

    table: Table
    types: Mapping[str, str]
    declared: Mapping[str, str]

    def prepare(self, files: Sequence[StagedFile]) -> list[DataFile]:
        """Raises SchemaError for a value that its column cannot hold, ContractError for a missing one."""
        return [self._prepare_file(file.path) for file in files if file.rows]

    def write_rows(self, rows: Sequence[Mapping[str, Any]], path: str) -> DataFile:
        """Write a few rows as a file; columns that a row lacks are NULL."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pq.write_table(
            pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema(self.table)), path
        )
        return self._prepare_file(path)

    def _prepare_file(self, path: str) -> DataFile:
        with pq.ParquetFile(path) as file:
            self._refuse_nulls(file)
            names = {name.lower(): name for name in self.types}
            source = file.schema_arrow
            columns = [names[field.name.lower()] for field in source]
            pairs = zip(columns, source, strict=True)
            types = [arrow_type_of(self.types[name]) or field.type for name, field in pairs]
            target = pa.schema(list(zip(columns, types, strict=True)))
            if target.equals(source):
                return DataFile(path, file.metadata.num_rows)
            cast = f"{path.removesuffix('.parquet')}.cast.parquet"
            with pq.ParquetWriter(cast, target) as writer:
                for batch in file.iter_batches(batch_size=GROUP_ROWS):
                    arrays = [
                        self._cast(name, array, type_)
                        for name, array, type_ in zip(columns, batch.columns, types, strict=True)
                    ]
                    writer.write_table(pa.Table.from_arrays(arrays, schema=target))
            return DataFile(cast, file.metadata.num_rows)

    def _refuse_nulls(self, file: pq.ParquetFile) -> None:
        present = {*file.schema_arrow.names}
        for column in self.table.complete_columns:
            if column.required and (column.name not in present or _has_null(file, column.name)):
                raise null_violation(self.table.name, column.name)

    def _cast(self, name: str, array: pa.Array, type_: pa.DataType) -> pa.Array:
        """The values in the type of the table; where that is not the declared one none may change."""
        if array.type.equals(type_):
            return array
        real, declared = self.types[name], self.declared.get(name, name_of(array.type))
        if real == declared and pa.types.is_timestamp(type_):
            return pc.floor_temporal(array, unit="microsecond").cast(type_)  # no table has nanoseconds
        try:
            cast = array.cast(type_)
            if real == declared:
                return cast
            changed = pc.and_(
                pc.is_valid(array), pc.invert(pc.fill_null(pc.equal(cast.cast(array.type), array), False))
            )
        except pa.ArrowException as bad:
            raise type_mismatch(self.table.name, name, real, declared) from bad
        if misfits := array.filter(changed):
            raise type_mismatch(self.table.name, name, real, declared, misfits[0].as_py())
        return cast


def change_batch(
    table: str, batch: pa.RecordBatch, schema: pa.Schema, values: Mapping[str, pa.Scalar]
) -> pa.RecordBatch:
    """Rows of a table with other types, and with one value each in some columns.

    Raises SchemaError for a value that does not fit.
    """
    arrays = []
    for field, array in zip(schema, batch.columns, strict=True):
        try:
            filled = pa.repeat(values[field.name], len(batch)) if field.name in values else array
            arrays.append(filled.cast(field.type))
        except pa.ArrowException as bad:
            raise type_mismatch(table, field.name, name_of(array.type), name_of(field.type)) from bad
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def file_statistics(path: str) -> dict[str, Any]:
    """What the log of a Delta table keeps of a file, so that readers pass over it: rows, NULLs, bounds."""
    with pq.ParquetFile(path) as file:
        statistics: dict[str, Any] = {"numRecords": file.metadata.num_rows}
        nulls, least, greatest = dict[str, int](), dict[str, Any](), dict[str, Any]()
        for name, chunks in _flat_chunks(file):
            if all(chunk.statistics is not None and chunk.statistics.has_null_count for chunk in chunks):
                nulls[name] = sum(chunk.statistics.null_count for chunk in chunks)
            bounds = [bound for chunk in chunks for bound in _bounds(chunk)]
            if len(bounds) == 2 * len(chunks):
                least[name], greatest[name] = min(bounds), max(bounds)
        return {**statistics, "minValues": least, "maxValues": greatest, "nullCount": nulls}


def _flat_chunks(file: pq.ParquetFile) -> Iterator[tuple[str, list[Any]]]:
    """Every column that is not nested, with its chunks in the row groups."""
    flat = {field.name for field in file.schema_arrow if not pa.types.is_nested(field.type)}
    for at in range(len(file.schema)):
        leaf = file.schema.column(at)
        if leaf.path == leaf.name and leaf.name in flat:
            groups = range(file.metadata.num_row_groups)
            yield leaf.name, [file.metadata.row_group(group).column(at) for group in groups]


def _bounds(chunk: Any) -> tuple[Any, ...]:
    """The least and the greatest value of a chunk, where these are integers or short strings."""
    statistics = chunk.statistics
    if statistics is None or not statistics.has_min_max:
        return ()
    bounds = (statistics.min, statistics.max)
    is_short = all(isinstance(bound, str) and len(bound) <= _STRING_LIMIT for bound in bounds)
    return bounds if is_short or all(type(bound) is int for bound in bounds) else ()


def _has_null(file: pq.ParquetFile, name: str) -> bool:
    groups = range(file.metadata.num_row_groups)
    return any(file.read_row_group(group, columns=[name]).column(name).null_count for group in groups)

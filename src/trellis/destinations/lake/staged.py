"""Staged files as files of a table: in the types that the table has, without NULL where it takes none."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trellis.destinations.base import CommitConflict
from trellis.destinations.lake.files import storage_of
from trellis.destinations.lake.types import arrow_type_of, name_of
from trellis.destinations.refusals import null_violation, type_mismatch
from trellis.destinations.scan.connections import configure_connection
from trellis.engine.arrow.types import arrow_schema
from trellis.engine.staging.stage import GROUP_ROWS, StagedFile
from trellis.schema.model import NOTHING, Table

if TYPE_CHECKING:
    from trellis.destinations.lake.store import TableAlteration

_STRING_LIMIT: Final = 32
"""So many characters of a bound have their place in the log of a table, as with Spark."""
_LAST_CHARACTER: Final = "\U0010ffff"
_EXACT_DIGITS: Final = 15
"""Decimals with so many digits are the same as doubles."""


@dataclass(frozen=True)
class DataFile:
    """A Parquet file whose columns have the types of its table."""

    path: str
    rows: int
    types: Mapping[str, str] = field(default_factory=dict)
    """The columns that the file has; without any it has all of the table."""
    bytes: int = 0
    """Those of its values before they are compressed."""


@dataclass(frozen=True)
class TableFiles:
    """The staged files of one table. `types` are those of its columns, `declared` those of its schema.

    The columns in `required` take no NULL in the table as it is. A file is written anew beside the old one
    where its types are others.
    """

    table: Table
    types: Mapping[str, str]
    declared: Mapping[str, str]
    required: Collection[str] = ()

    def prepare(self, files: Sequence[StagedFile]) -> list[DataFile]:
        """Raises SchemaError for a value that its column cannot hold, ContractError for a missing one."""
        return [self._prepare_file(file.path) for file in files if file.rows]

    def write_rows(self, rows: Sequence[Mapping[str, Any]], path: str) -> DataFile:
        """Write a few rows as a file; columns that a row lacks are NULL."""
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(
            pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema(self.table)), path
        )
        return self._prepare_file(path)

    def _prepare_file(self, path: str) -> DataFile:
        storage = storage_of(path)
        with storage.explained(path), open_parquet(path) as file:
            self._refuse_nulls(file)
            names = {name.lower(): name for name in self.types}
            source = file.schema_arrow
            columns = [names[field.name.lower()] for field in source]
            types = {name: self.types[name] for name in columns}
            arrow_types = (
                arrow_type_of(types[name]) or field.type for name, field in zip(columns, source, strict=True)
            )
            target = pa.schema(list(zip(columns, arrow_types, strict=True)))
            groups = range(file.metadata.num_row_groups)
            size = sum(file.metadata.row_group(group).total_byte_size for group in groups)
            if target.equals(source):
                return DataFile(path, file.metadata.num_rows, types, size)
            cast, files = storage.arrow_path(f"{path.removesuffix('.parquet')}.cast.parquet")
            with pq.ParquetWriter(cast, target, filesystem=files) as writer:
                for batch in file.iter_batches(batch_size=GROUP_ROWS):
                    arrays = [
                        self._cast(field.name, array, field.type)
                        for field, array in zip(target, batch.columns, strict=True)
                    ]
                    writer.write_table(pa.Table.from_arrays(arrays, schema=target))
            return DataFile(
                f"{path.removesuffix('.parquet')}.cast.parquet", file.metadata.num_rows, types, size
            )

    def _refuse_nulls(self, file: pq.ParquetFile) -> None:
        present = {*file.schema_arrow.names}
        declared = (column.name for column in self.table.complete_columns if column.required)
        for column in dict.fromkeys((*declared, *self.required)):
            if column not in present or _has_null(file, column):
                raise null_violation(self.table.name, column)

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
            raise type_mismatch(self.table.name, name, real, declared, _first_misfit(array, type_)) from bad
        if misfits := array.filter(changed):
            raise type_mismatch(self.table.name, name, real, declared, misfits[0].as_py())
        return cast


def check_columns(files: Sequence[DataFile], columns: Mapping[str, str]) -> None:
    """Raises CommitConflict where a table has another column, or type, than its files were prepared for."""
    now = {name.lower(): type_ for name, type_ in columns.items()}
    for name, type_ in {item for file in files for item in file.types.items()}:
        if name.lower() not in now or _differ(now[name.lower()], type_):
            raise CommitConflict


def _differ(type_: str, other: str) -> bool:
    """Whether two types that are not nested have other values; nested ones are spelled in several ways."""
    types = [arrow_type_of(name) for name in (type_, other)]
    return None not in types and not any(map(pa.types.is_nested, types)) and types[0] != types[1]


def staged_rows(files: Sequence[DataFile], types: Mapping[str, str]) -> pa.dataset.Dataset:
    """The rows of prepared files of a table with these columns; those that a file lacks are NULL."""
    from pyarrow.dataset import dataset

    fields = [(name, arrow_type_of(type_)) for name, type_ in types.items()]
    schema = pa.schema([(name, type_) for name, type_ in fields if type_ is not None])
    places = [storage_of(file.path).arrow_path(file.path) for file in files]
    return dataset([place for place, _ in places], schema=schema, format="parquet", filesystem=places[0][1])


def altered_fields(schema: pa.Schema, alteration: TableAlteration) -> list[tuple[str, pa.Field]]:
    """The columns after an alteration, each behind its name before."""
    fields = []
    for stored in schema:
        if stored.name in alteration.dropped:
            continue
        field = stored.with_name(alteration.renamed.get(stored.name, stored.name))
        if field.name in alteration.types:
            field = field.with_type(arrow_type_of(alteration.types[field.name]))
        if field.name in alteration.required:
            field = field.with_nullable(not alteration.required[field.name])
        fields.append((stored.name, field))
    return fields


def change_batch(
    table: str,
    batch: pa.RecordBatch,
    schema: pa.Schema,
    values: Mapping[str, pa.Scalar] = NOTHING,
    fills: Mapping[str, pa.Scalar] = NOTHING,
) -> pa.RecordBatch:
    """Rows of a table, by the order of columns in other types, with one value each in some of them.

    `fills` are for NULL alone. Raises SchemaError for a value that does not fit.
    """
    arrays = []
    for target, array in zip(schema, batch.columns, strict=True):
        filled = pa.repeat(values[target.name], len(batch)) if target.name in values else array
        try:
            is_text = pa.types.is_string(target.type) and not pa.types.is_string(filled.type)
            cast = text_of(filled) if is_text else filled.cast(target.type)
            arrays.append(
                cast.fill_null(fills[target.name].cast(target.type)) if target.name in fills else cast
            )
        except pa.ArrowException as bad:
            real, declared = name_of(array.type), name_of(target.type)
            misfit = _first_misfit(filled, target.type)
            raise type_mismatch(table, target.name, real, declared, misfit) from bad
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _first_misfit(array: pa.Array, type_: pa.DataType) -> object:
    """The first value that cannot be cast."""
    for value in array.drop_null():
        try:
            value.cast(type_)
        except pa.ArrowException:
            return value.as_py()
    return None


def text_of(array: pa.Array) -> pa.Array:
    """Values as DuckDB writes them, so that a column that becomes text looks alike in every destination."""
    import duckdb

    with duckdb.connect(":memory:") as db:
        configure_connection(db)
        db.register("arrow_values", pa.table({"value": array}))
        text = db.sql('SELECT CAST("value" AS VARCHAR) AS "value" FROM arrow_values').to_arrow_table()
    return text.column(0).combine_chunks()


def open_parquet(path: str) -> pq.ParquetFile:
    """A Parquet file on any file system."""
    place, files = storage_of(path).arrow_path(path)
    return pq.ParquetFile(place, filesystem=files)


def file_statistics(path: str) -> str:
    """What the log of a Delta table keeps of a file, so that readers pass over it: rows, NULLs, bounds.

    Bounds are those of all columns that are not nested, or of none: where a file has bounds of some columns,
    deltalake takes each other one for one without values, and a filter on that finds nothing.
    """
    with open_parquet(path) as file:
        nulls, least, greatest = dict[str, int](), dict[str, Any](), dict[str, Any]()
        for name, chunks in _flat_chunks(file):
            if pa.types.is_binary(file.schema_arrow.field(name).type):
                continue  # no reader asks for its bounds
            bounds = _bounds(file, name, chunks) if _counts_nulls(chunks) else None
            if bounds is None:
                return _in_json({"numRecords": file.metadata.num_rows})
            nulls[name] = sum(chunk.statistics.null_count for chunk in chunks)
            if bounds:
                least[name], greatest[name] = _least(min(bounds)), _greatest(max(bounds))
        statistics = {"minValues": least, "maxValues": greatest, "nullCount": nulls}
        return _in_json({"numRecords": file.metadata.num_rows, **statistics})


def _in_json(statistics: Mapping[str, Any]) -> str:
    """Characters as they are, as deltalake misreads those beyond U+FFFF when they are escaped."""
    return json.dumps(statistics, ensure_ascii=False)


def _flat_chunks(file: pq.ParquetFile) -> Iterator[tuple[str, list[Any]]]:
    """Every column that is not nested, with its chunks in the row groups."""
    flat = {field.name for field in file.schema_arrow if not pa.types.is_nested(field.type)}
    for at in range(len(file.schema)):
        leaf = file.schema.column(at)
        if leaf.path == leaf.name and leaf.name in flat:
            groups = range(file.metadata.num_row_groups)
            yield leaf.name, [file.metadata.row_group(group).column(at) for group in groups]


def _counts_nulls(chunks: Iterable[Any]) -> bool:
    return all(chunk.statistics is not None and chunk.statistics.has_null_count for chunk in chunks)


def _bounds(file: pq.ParquetFile, name: str, chunks: Iterable[Any]) -> list[Any] | None:
    """Bounds of the chunks of a column that have values; None where they are not known, or not to be told."""
    bounds = list[Any]()
    for chunk in chunks:
        if chunk.statistics.has_min_max:
            try:
                bounds += (chunk.statistics.min, chunk.statistics.max)
            except (ValueError, OverflowError):  # a date that Python does not have
                return None
        elif chunk.statistics.null_count < chunk.num_values:
            return None
    if not all(map(_is_told_exactly, bounds)):
        return None
    is_fraction = pa.types.is_floating(file.schema_arrow.field(name).type)
    # Parquet leaves NaN out of the bounds; for Spark it is greater than all other numbers.
    return None if is_fraction and pc.any(pc.is_nan(file.read([name]).column(0))).as_py() else bounds


def _is_told_exactly(bound: Any) -> bool:
    """Whether readers of a log understand a bound in JSON as it is: they take a decimal for a double."""
    if isinstance(bound, Decimal):
        return len(bound.as_tuple().digits) <= _EXACT_DIGITS
    if isinstance(bound, str):
        return _LAST_CHARACTER not in bound
    return not isinstance(bound, float) or isfinite(bound)


def _least(bound: Any) -> Any:
    """A bound in JSON, rounded down: times to milliseconds, to which readers add one above."""
    if isinstance(bound, str):
        return bound[:_STRING_LIMIT]
    if isinstance(bound, datetime):
        text = bound.replace(tzinfo=None).isoformat(" " if bound.tzinfo is None else "T", "milliseconds")
        return text if bound.tzinfo is None else f"{text}Z"
    if isinstance(bound, date):
        return bound.isoformat()
    return float(bound) if isinstance(bound, Decimal) else bound


def _greatest(bound: Any) -> Any:
    is_long = isinstance(bound, str) and len(bound) > _STRING_LIMIT
    return f"{bound[:_STRING_LIMIT]}{_LAST_CHARACTER}" if is_long else _least(bound)


def _has_null(file: pq.ParquetFile, name: str) -> bool:
    chunks = dict(_flat_chunks(file)).get(name, ())
    if chunks and _counts_nulls(chunks):
        return any(chunk.statistics.null_count for chunk in chunks)
    groups = range(file.metadata.num_row_groups)
    return any(file.read_row_group(group, columns=[name]).column(name).null_count for group in groups)

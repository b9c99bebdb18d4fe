"""Rows of one table as rows of another: column by column where types allow it, else row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from trellis.dialects.ytsaurus.compatibility.types import type_compatibility
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.store.columns import (
    UNDECLARED,
    arrow_schema,
    decode_rows,
    encode_rows,
    needed_columns,
    stored_name,
)
from trellis.dialects.ytsaurus.store.rewriting.computed import ComputedColumns
from trellis.dialects.ytsaurus.store.row_source import RowSource
from trellis.dialects.ytsaurus.types.model import ANY
from trellis.dialects.ytsaurus.types.simple import plain_name
from trellis.dialects.ytsaurus.values.rows import RowValidator


class BatchConverter:
    """Batches of chunks of one schema, as batches of the output."""

    def __init__(self, chunk: TableSchema, source: RowSource, output: TableSchema) -> None:
        self.needed = needed_columns(chunk, source.schema, source.stored_names)
        self._chunk = chunk
        self._source = source
        self._output = output
        self._arrow_schema = arrow_schema(output)
        self._origins = _plan_columns(chunk, source, output)
        read = {source.new_name(name) for name in source.schema.names}
        self._computed = ComputedColumns(output, frozenset(output.names) - read)
        self._validator = RowValidator(output)

    def convert(self, batch: pa.RecordBatch, first_row: int) -> pa.RecordBatch:
        """The rows in the layout of the output. Raises YtError, which counts rows from `first_row`."""
        converted = None if self._origins is None else self._convert_columns(batch, self._origins)
        return self._convert_rows(batch, first_row) if converted is None else converted

    def _convert_columns(
        self, batch: pa.RecordBatch, origins: Mapping[str, str | None]
    ) -> pa.RecordBatch | None:
        """None where a value does not fit."""
        arrays = []
        for column in self._arrow_schema:
            origin = origins[column.name]
            if origin is None:
                array = pa.nulls(batch.num_rows, column.type)
            elif batch.schema.field(origin).type == column.type:
                array = batch.column(origin)
            else:
                try:
                    array = batch.column(origin).cast(column.type)
                except pa.ArrowInvalid:
                    return None
            if array.null_count and not column.nullable:
                return None
            arrays.append(array)
        try:
            return self._computed.fill(pa.RecordBatch.from_arrays(arrays, schema=self._arrow_schema))
        except YtError:
            return None

    def _convert_rows(self, batch: pa.RecordBatch, first_row: int) -> pa.RecordBatch:
        self._validator.row_number = first_row
        return encode_rows(self._output, [*map(self._validator.validate, self._rows(batch))])

    def _rows(self, batch: pa.RecordBatch) -> Iterator[Row]:
        source = self._source
        return map(source.select, decode_rows(self._chunk, source.schema, batch, source.stored_names))


def _plan_columns(chunk: TableSchema, source: RowSource, output: TableSchema) -> dict[str, str | None] | None:
    """For each column of the output's layout that of the chunk, None for nulls and what is computed.

    None as a whole where values must be looked at one by one.
    """
    stored = {column.identity: column for column in chunk.columns}
    visible = {
        source.new_name(column.name): column
        for column in source.schema.columns
        if source.shows(source.new_name(column.name))
    }
    origins: dict[str, str | None] = {}
    for column in output.columns:
        table_column = visible.pop(column.name, None)
        if table_column is None:
            if not source.schema.strict:
                return None
            origins[stored_name(column)] = None
            continue
        origin = stored.pop(table_column.identity, None)
        if not _moves_unread(origin, table_column, column):
            return None
        origins[stored_name(column)] = None if origin is None else stored_name(origin)
    if _has_others(stored, visible, source):
        return None
    has_undeclared = UNDECLARED in arrow_schema(chunk).names
    if UNDECLARED in arrow_schema(output).names:
        origins[UNDECLARED] = UNDECLARED if has_undeclared and not source.schema.strict else None
        if source.columns is not None or source.renames:
            return None if origins[UNDECLARED] else origins
    elif not source.schema.strict and not _is_within(source.columns, output):
        return None
    return origins


def _moves_unread(origin: Column | None, table_column: Column, column: Column) -> bool:
    """Whether the stored values of a column can be those of a column of the output."""
    if column.expression is not None and column.expression != table_column.expression:
        return False
    if column.is_key and column.type == ANY and not table_column.is_key:
        return False
    if origin is None:
        return True
    level = type_compatibility(origin.type, column.type).level
    before, after = plain_name(origin.type), plain_name(column.type)
    if before is None or after is None:
        return before == after and level == "full"
    # A cast checks what may not fit, but for floats, which are stored as doubles.
    return level == "full" or (level == "validate" and after != "float")


def _has_others(stored: Mapping[str, Column], visible: Mapping[str, Column], source: RowSource) -> bool:
    """Whether rows may have columns that the output does not declare, and that are columns of the chunk."""
    others: Sequence[Column] = [*visible.values()]
    if source.schema.strict:
        return bool(others)
    return bool(others) or any(source.shows(source.new_name(column.name)) for column in stored.values())


def _is_within(columns: Sequence[str] | None, output: TableSchema) -> bool:
    """Whether a filter shows no column that the output does not declare."""
    return columns is not None and all(name in output.by_name for name in columns)

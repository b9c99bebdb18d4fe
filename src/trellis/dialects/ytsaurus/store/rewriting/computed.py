"""Computed columns of batches: as whole arrays where the expression allows it, else row by row."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from trellis.dialects.ytsaurus.computed.expression import Expression, compile_expression, kind_of_type
from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.store.columns import arrow_type, decode_rows, stored_name
from trellis.dialects.ytsaurus.store.rewriting.kernels import NeedsRowsError, evaluate_columns
from trellis.dialects.ytsaurus.yson.writer import dumps


class ComputedColumns:
    """The computed columns of a table, or those of them that are `chosen`."""

    def __init__(self, schema: TableSchema, chosen: Collection[str] | None = None) -> None:
        kinds = {column.name: kind_of_type(column.type) for column in schema.columns}
        self._schema = schema
        self.expressions = [
            (column, compile_expression(column.expression, kinds, (kinds[column.name],)))
            for column in schema.columns
            if column.expression is not None and (chosen is None or column.name in chosen)
        ]

    @property
    def references(self) -> frozenset[str]:
        """The columns that they are computed from."""
        return frozenset(name for _, expression in self.expressions for name in expression.references)

    def fill(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch in the layout of chunks, with the values of these columns. Raises YtError."""
        for column, expression in self.expressions:
            index = batch.schema.get_field_index(stored_name(column))
            batch = batch.set_column(
                index, batch.schema.field(index), self._compute(column, expression, batch)
            )
        return batch

    def _compute(self, column: Column, expression: Expression, batch: pa.RecordBatch) -> pa.Array:
        sources = [self._schema.by_name[name] for name in expression.references]
        arrays = {source.name: batch.column(stored_name(source)) for source in sources}
        try:
            return evaluate_columns(expression.root, arrays, batch.num_rows).cast(arrow_type(column.type))
        except NeedsRowsError:
            # Also where the value of a row is an error, which names it.
            read = TableSchema(tuple(sources))
            rows = decode_rows(read, read, batch)
            results = [expression.evaluate(row) for row in rows]
            if expression.kind == "any":
                results = [None if item is None else dumps(item, yson_format="binary") for item in results]
            return pa.array(results, arrow_type(column.type))

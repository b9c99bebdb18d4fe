"""Computed columns of tables as columns of frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from trellis.dialects.ytsaurus.schema.model import Column, TableSchema
from trellis.dialects.ytsaurus.spark.expressions import NeedsPythonError, spark_expression
from trellis.dialects.ytsaurus.spark.table_writer import FrameRows, types_of_any
from trellis.dialects.ytsaurus.spark.types import TypeOptions, spark_schema
from trellis.dialects.ytsaurus.spark.values import to_spark
from trellis.dialects.ytsaurus.store.columns import stored_name
from trellis.dialects.ytsaurus.store.rewriting.computed import ComputedColumns

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame


def with_computed_columns(frame: DataFrame, schema: TableSchema, types: TypeOptions) -> DataFrame:
    """The frame with the computed columns of a table, instead of those of their names.

    Those that Spark has no expression for are computed by Python, on columns of Arrow.
    """
    computed = ComputedColumns(schema)
    frame = frame.drop(*(column.name for column, _ in computed.expressions))
    native: dict[str, SparkColumn] = {}
    others: list[Column] = []
    for column, expression in computed.expressions:
        try:
            values = spark_expression(expression.root, frame.schema)
        except NeedsPythonError:
            others.append(column)
        else:
            (field,) = spark_schema(TableSchema((column,)), types)
            native[column.name] = values.cast(field.dataType)
    if others:
        sources = [column for column in schema.columns if column.name in computed.references]
        frame = _with_columns_of_python(frame, sources, others, types)
    return frame.withColumns(native) if native else frame


def _with_columns_of_python(
    frame: DataFrame, sources: Iterable[Column], computed: Iterable[Column], types: TypeOptions
) -> DataFrame:
    columns = TableSchema(tuple(computed))
    rows_schema = TableSchema((*sources, *columns.columns))
    added = spark_schema(columns, types)
    fields = to_arrow_schema(added)
    any_values = types_of_any(frame.schema.fields, types)

    def compute(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = FrameRows(rows_schema, any_values)
        for batch in batches:
            stored = rows.to_stored(batch)
            for column, field in zip(columns.columns, fields, strict=True):
                array = to_spark(stored.column(stored_name(column)), column.type, field.type)
                batch = batch.append_column(field, array)
            yield batch

    return frame.mapInArrow(compute, StructType([*frame.schema.fields, *added.fields]))

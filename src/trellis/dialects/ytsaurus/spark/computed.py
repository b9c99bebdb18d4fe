"""Computed columns of tables as columns of frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.spark.table_writer import FrameRows
from trellis.dialects.ytsaurus.spark.types import TypeOptions, spark_schema
from trellis.dialects.ytsaurus.spark.values import to_spark
from trellis.dialects.ytsaurus.store.columns import stored_name
from trellis.dialects.ytsaurus.store.rewriting.computed import ComputedColumns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def with_computed_columns(frame: DataFrame, schema: TableSchema, types: TypeOptions) -> DataFrame:
    """The frame with the computed columns of a table, instead of those of their names."""
    computed = tuple(column for column in schema.columns if column.expression is not None)
    if not computed:
        return frame
    references = ComputedColumns(schema).references
    sources = tuple(column for column in schema.columns if column.name in references)
    kept = frame.drop(*(column.name for column in computed))
    added = spark_schema(TableSchema(computed), types)
    fields = to_arrow_schema(added)

    def compute(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = FrameRows(TableSchema((*sources, *computed)))
        for batch in batches:
            stored = rows.to_stored(batch)
            for column, field in zip(computed, fields, strict=True):
                array = to_spark(stored.column(stored_name(column)), column.type, field.type)
                batch = batch.append_column(field, array)
            yield batch

    return kept.mapInArrow(compute, StructType([*kept.schema.fields, *added.fields]))

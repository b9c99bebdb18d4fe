"""Stored tables as DataFrames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from trellis.engine.spark.failures import job_failure

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SPARK_DIGITS = 38


def read_frame(
    session: SparkSession, format_name: str, locations: Sequence[str], options: Mapping[str, str]
) -> DataFrame:
    """What Spark's reader makes of files; without a format of the name of a table. Raises SparkError."""
    try:
        if not format_name:
            return session.read.options(**options).table(locations[0])
        return session.read.format(format_name).options(**options).load(list(locations))
    except Exception as failure:
        raise job_failure(failure) from failure


def frame_of(session: SparkSession, table: pa.Table) -> DataFrame:
    """A table of this process as a DataFrame, which travels through this process. Raises SparkError."""
    columns = [array.cast(spark_type(array.type), safe=False) for array in table.columns]
    try:
        return session.createDataFrame(pa.table(columns, names=table.column_names))
    except Exception as failure:
        raise job_failure(failure) from failure


def select_frame(session: SparkSession, query: str, frames: Mapping[str, DataFrame]) -> DataFrame:
    """The result of a query that names DataFrames in braces. Raises SparkError."""
    try:
        return session.sql(query, None, **frames)
    except Exception as failure:
        raise job_failure(failure) from failure


def spark_type(arrow: pa.DataType) -> pa.DataType:
    """The Arrow type that Spark takes for another: times of day and longer decimals are text.

    >>> spark_type(pa.time64("us")), spark_type(pa.timestamp("ns", "UTC")), spark_type(pa.int64())
    (DataType(string), TimestampType(timestamp[us, tz=UTC]), DataType(int64))
    """
    if pa.types.is_time(arrow) or (pa.types.is_decimal(arrow) and arrow.precision > SPARK_DIGITS):
        return pa.string()
    if pa.types.is_timestamp(arrow):
        return pa.timestamp("us", arrow.tz)
    return pa.decimal128(arrow.precision, arrow.scale) if pa.types.is_decimal(arrow) else arrow

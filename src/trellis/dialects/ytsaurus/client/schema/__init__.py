"""Schemas, and the types of rows: what scripts import from `yt.wrapper.schema`."""

from __future__ import annotations

from trellis.dialects.ytsaurus.client.contexts import Context, RowIterator
from trellis.dialects.ytsaurus.client.schema.job_types import OutputRow, Variant
from trellis.dialects.ytsaurus.client.schema.row_types import (
    Date,
    Datetime,
    Double,
    Float,
    Int8,
    Int16,
    Int32,
    Int64,
    Interval,
    Timestamp,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Yson,
    is_yt_dataclass,
    yt_dataclass,
)
from trellis.dialects.ytsaurus.client.schema.table_schema import ColumnSchema, SortColumn, TableSchema

__all__ = [
    "ColumnSchema",
    "Context",
    "Date",
    "Datetime",
    "Double",
    "Float",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Interval",
    "OutputRow",
    "RowIterator",
    "SortColumn",
    "TableSchema",
    "Timestamp",
    "Uint8",
    "Uint16",
    "Uint32",
    "Uint64",
    "Variant",
    "Yson",
    "is_yt_dataclass",
    "yt_dataclass",
]

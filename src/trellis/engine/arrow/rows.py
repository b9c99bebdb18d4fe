"""Rows of Arrow tables as Python values."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def to_rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows as dicts, as `to_pylist` gives them; that imports pandas where a column holds times."""
    names = table.column_names
    values = [_values(table.column(name)) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def _values(column: pa.ChunkedArray) -> list[Any]:
    if column.type != pa.timestamp("us", "UTC"):
        values: list[Any] = column.to_pylist()
        return values
    moments = column.cast(pa.int64()).to_pylist()
    return [None if moment is None else _EPOCH + timedelta(microseconds=moment) for moment in moments]

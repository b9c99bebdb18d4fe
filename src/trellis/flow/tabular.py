"""Parquet files as records: batches of rows with types, read row group by row group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trellis.errors import UsageError
from trellis.flow.blocks import Split
from trellis.schema.model import Column

BATCH = 16_384


@dataclass(frozen=True)
class RowBatch:
    """Consecutive rows of a split: its number, and how many rows stand before it in the split."""

    number: int
    first: int
    batch: pa.RecordBatch


def read_batches(split: Split) -> Iterator[RowBatch]:
    """The batches of a split (a range of row groups). Raises UsageError for a damaged file."""
    try:
        source = pq.ParquetFile(split.path)
        groups = list(range(split.start, split.end if split.end is not None else source.num_row_groups))
        first = 0
        for number, batch in enumerate(source.iter_batches(BATCH, row_groups=groups)):
            yield RowBatch(number, first, batch)
            first += batch.num_rows
    except (pa.ArrowException, OSError) as bad:
        reason = str(bad).strip().splitlines()[0]
        raise UsageError(f"{split.path}: cannot be read as Parquet ({reason}); nothing was loaded") from None


def row_groups(path: str, size: int) -> list[tuple[int, int]]:
    """Ranges of row groups of about `size` bytes each."""
    try:
        metadata = pq.ParquetFile(path).metadata
    except (pa.ArrowException, OSError) as bad:
        raise UsageError(f"{path}: cannot be read as Parquet ({str(bad).strip().splitlines()[0]})") from None
    ranges, start, held = [], 0, 0
    for at in range(metadata.num_row_groups):
        held += metadata.row_group(at).total_byte_size
        if held >= size:
            ranges.append((start, at + 1))
            start, held = at + 1, 0
    if start < metadata.num_row_groups or not ranges:
        ranges.append((start, metadata.num_row_groups))
    return ranges


def rows_of(batch: pa.RecordBatch) -> list[Any]:
    """The rows of a batch as dicts of Python values."""
    if any(_map_inside(field.type) for field in batch.schema):
        rows: list[Any] = batch.to_pylist(maps_as_pydicts="lossy")
    else:
        rows = batch.to_pylist()
    return rows


def declared(schema: pa.Schema) -> tuple[Column, ...]:
    """What types say that values do not: the precision of numbers, times and binaries.

    The columns have no data type: they get it, and their place, when the first value comes.
    """
    named = (
        Column(field.name, precision=_precision(field.type), scale=_scale(field.type)) for field in schema
    )
    return tuple(column for column in named if column.precision is not None)


def _precision(type_: pa.DataType) -> int | None:
    """As a column says it; None where it is the default of its data type."""
    if pa.types.is_decimal(type_):
        return int(type_.precision)
    if pa.types.is_integer(type_) and type_.bit_width < 64:
        return int(type_.bit_width)
    if pa.types.is_timestamp(type_) or pa.types.is_time(type_):
        return _DIGITS[type_.unit]
    return int(type_.byte_width) if pa.types.is_fixed_size_binary(type_) else None


def _scale(type_: pa.DataType) -> int | None:
    return int(type_.scale) if pa.types.is_decimal(type_) else None


_DIGITS = {"s": 0, "ms": 3, "us": None, "ns": 9}


def _map_inside(type_: pa.DataType) -> bool:
    if pa.types.is_map(type_):
        return True
    return any(_map_inside(type_.field(at).type) for at in range(type_.num_fields))

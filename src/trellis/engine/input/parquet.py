"""Parquet files as records: batches of rows with types, read row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from trellis.engine.input.blocks import PEEK_BYTES, Split
from trellis.engine.input.int96 import ParquetInput, batches_of_file
from trellis.engine.input.places import Places
from trellis.engine.storage.storage import DEFAULT_STORAGE, Storage
from trellis.engine.text import to_json
from trellis.errors import ContractError, UsageError

BATCH = 16_384


@dataclass(frozen=True)
class RowBatch:
    """Consecutive rows of a split: its number, and how many rows stand before it in the split.

    `cut` says how many values of a column lost digits of their second when they were read, `places` where the
    rows came from if that is not their number in the split.
    """

    number: int
    first: int
    batch: pa.RecordBatch
    cut: Mapping[str, int] = field(default_factory=dict)
    places: Places | None = None

    def record_text(self, number: int) -> str:
        """The row with a number, as JSON."""
        (row,) = rows_of(self.batch.slice(number - self.first, 1))
        return to_json(row)

    def head(self) -> RowBatch:
        """The first of its rows."""
        rows = self.batch.num_rows * PEEK_BYTES // max(self.batch.nbytes, 1)
        return replace(self, batch=self.batch.slice(0, max(rows, 1)))


def read_batches(split: Split, storage: Storage = DEFAULT_STORAGE) -> Iterator[RowBatch]:
    """The batches of a split (a range of row groups). Raises UsageError for a damaged file, StorageError."""
    file = ParquetInput(split.path, split.location or split.path, storage)
    try:
        with storage.explained(file.location):
            first = 0
            batches = batches_of_file(file, split.start, split.end, BATCH)
            for number, (batch, cut) in enumerate(batches):
                yield RowBatch(number, first, batch, cut)
                first += batch.num_rows
    except (pa.ArrowException, OSError) as bad:
        reason = str(bad).strip().splitlines()[0]
        raise UsageError(f"{split.path}: cannot be read as Parquet ({reason}); nothing was loaded") from None


def row_groups(file: ParquetInput, size: int) -> list[tuple[int, int]]:
    """Ranges of row groups of about `size` bytes each."""
    try:
        with file.storage.explained(file.location):
            metadata = file.open().metadata
    except (pa.ArrowException, OSError) as bad:
        raise UsageError(
            f"{file.path}: cannot be read as Parquet ({str(bad).strip().splitlines()[0]})"
        ) from None
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
    """The rows of a batch as dicts of Python values. Raises ContractError for values that Python has not."""
    maps = any(_map_inside(field.type) for field in batch.schema)
    try:
        rows: list[Any] = batch.to_pylist(maps_as_pydicts="lossy" if maps else None)
    except UnicodeDecodeError as bad:
        raise _unreadable(batch, "text that is not UTF-8", bad) from None
    except KeyError as bad:
        raise _unreadable(batch, "times of a zone that is not known", bad) from None
    except (OverflowError, ValueError) as bad:
        raise _unreadable(batch, "a time that is outside of the calendar", bad) from None
    return rows


def _unreadable(batch: pa.RecordBatch, what: str, why: Exception) -> ContractError:
    names = ", ".join(batch.schema.names)
    return ContractError(f"the rows with columns {names} hold {what} ({why}); correct it")


def _map_inside(type_: pa.DataType) -> bool:
    if pa.types.is_map(type_):
        return True
    return any(_map_inside(type_.field(at).type) for at in range(type_.num_fields))

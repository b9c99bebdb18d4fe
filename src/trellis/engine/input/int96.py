"""Timestamps of 96 bits, as Impala, Hive and older Sparks write them to Parquet: a day and its nanoseconds.

Arrow reads them in nanoseconds, which wrap around before 1677 and after 2262, or in microseconds, without the
last digits. So a column of a file is read in nanoseconds if it has such digits and none of its moments would
wrap around, else in microseconds, and the values that lose digits are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trellis.engine.storage.storage import FileStatus, Storage
from trellis.errors import UsageError

Reading = Literal["kept", "cut"]
_LAST = 2**63 - 1
_NANOS, _MICROS = _LAST // 10**9, _LAST // 10**6
"""The last whole seconds, before and after 1970."""


@dataclass(frozen=True)
class ParquetInput:
    """A file of input: what the user calls it, and where it is."""

    path: str
    location: str
    storage: Storage

    def open(self, unit: str = "us") -> pq.ParquetFile:
        """The file, its timestamps of 96 bits in a unit. Raises OSError, pa.ArrowException."""
        path, files = self.storage.arrow_path(self.location)
        return pq.ParquetFile(path, filesystem=files, coerce_int96_timestamp_unit=unit)


def batches_of_file(
    file: ParquetInput, start: int, end: int | None, size: int
) -> Iterator[tuple[pa.RecordBatch, Mapping[str, int]]]:
    """The batches of row groups, and how many values of a column lost digits. Raises UsageError."""
    source = file.open("us")
    groups = range(start, source.num_row_groups if end is None else end)
    readings = _readings(file, file.storage.status(file.location)) if _columns(source) else {}
    batches = source.iter_batches(size, row_groups=groups)
    if not readings:
        yield from ((batch, {}) for batch in batches)
        return
    fine = _Rows(file.open("ns").iter_batches(size, row_groups=groups, columns=list(readings)))
    for batch in batches:
        yield _refined(batch, fine.take_rows(batch.num_rows), readings)


def _refined(
    batch: pa.RecordBatch, fine: pa.RecordBatch, readings: Mapping[str, Reading]
) -> tuple[pa.RecordBatch, Mapping[str, int]]:
    cut = {}
    for name, reading in readings.items():
        at, array = batch.schema.get_field_index(name), fine.column(name)
        if reading == "cut":
            cut[name] = _with_digits(batch.column(at), array)
        else:
            batch = batch.set_column(at, batch.schema.field(at).with_type(array.type), array)
    return batch, cut


@lru_cache(maxsize=256)
def _readings(file: ParquetInput, status: FileStatus | None) -> Mapping[str, Reading]:
    """The columns that have digits beyond microseconds, and whether they can be kept.

    `status` tells the file from a later one of the same path.
    """
    names = _columns(file.open("us"))
    fine, far = set[str](), set[str]()
    ways = (file.open(unit).iter_batches(columns=names) for unit in ("s", "us", "ns"))
    for seconds, micros, nanos in zip(*ways, strict=True):
        for name in names:
            if not _within(seconds.column(name), _MICROS):
                raise UsageError(
                    f"{file.path}: {name} holds a time that is outside of the calendar; correct it"
                )
            if not _within(seconds.column(name), _NANOS):
                far.add(name)
            if name not in fine and _with_digits(micros.column(name), nanos.column(name)):
                fine.add(name)
    return {name: "cut" if name in far else "kept" for name in names if name in fine}


def _columns(file: pq.ParquetFile) -> list[str]:
    """The columns that hold such timestamps, by themselves or nested."""
    leaves = (file.metadata.schema.column(at) for at in range(len(file.metadata.schema)))
    paths = [leaf.path for leaf in leaves if leaf.physical_type == "INT96"]
    names = file.schema_arrow.names
    columns = (name for name in names if any(f"{path}.".startswith(f"{name}.") for path in paths))
    return [name for name in columns if names.count(name) == 1]


def _within(seconds: pa.Array, last: int) -> bool:
    """Whether the moments in seconds are at most so far from 1970; Parquet has no others in seconds."""
    for moments in _moments(seconds):
        ends = pc.min_max(moments.cast(pa.int64())).as_py()
        if (
            moments.type.unit == "s"
            and ends["min"] is not None
            and not -last < ends["min"] <= ends["max"] < last
        ):
            return False
    return True


def _with_digits(micros: pa.Array, nanos: pa.Array) -> int:
    """How many values have digits beyond microseconds. Where nanoseconds wrap around, so does the product."""
    count = 0
    for coarse, fine in zip(_moments(micros), _moments(nanos), strict=True):
        if coarse.type != fine.type:
            shown = pc.multiply(coarse.cast(pa.int64()), 1000)
            count += pc.sum(pc.not_equal(shown, fine.cast(pa.int64()))).as_py() or 0
    return count


def _moments(array: pa.Array) -> Iterator[pa.Array]:
    """The arrays of timestamps in an array."""
    if pa.types.is_timestamp(array.type):
        yield array
    elif pa.types.is_map(array.type):
        yield from _moments(array.keys)
        yield from _moments(array.items)
    elif pa.types.is_struct(array.type):
        for part in array.flatten():
            yield from _moments(part)
    elif pa.types.is_nested(array.type):
        yield from _moments(array.flatten())


class _Rows:
    """The rows of batches, as many at a time as are asked for."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self.batches = batches
        self.left: list[pa.RecordBatch] = []

    def take_rows(self, count: int) -> pa.RecordBatch:
        while sum(batch.num_rows for batch in self.left) < count:
            self.left.append(next(self.batches))
        table = pa.Table.from_batches(self.left).combine_chunks()
        self.left = table.slice(count).to_batches()
        (rows,) = table.slice(0, count).to_batches()
        return rows

"""A sort on Spark: rows go through a shuffle by their key, and by their number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.store.chunks import Slice
from trellis.dialects.ytsaurus.store.columns import arrow_schema, stored_name
from trellis.dialects.ytsaurus.store.keys import encode_keys
from trellis.dialects.ytsaurus.store.rewriting.execution import OutputFiles, write_batches
from trellis.dialects.ytsaurus.store.rewriting.planning import Piece, pack_pieces
from trellis.dialects.ytsaurus.types.simple import plain_name

if TYPE_CHECKING:
    from trellis.engine.spark.job import SparkRunner

Batches = Iterable[pa.RecordBatch]
_KEY, _ROW, _ERROR = "key", "row", "error"
_SIGNED: Final = {
    pa.uint8(): pa.int8(),
    pa.uint16(): pa.int16(),
    pa.uint32(): pa.int32(),
    pa.uint64(): pa.int64(),
}
"""Spark has no unsigned integers: their bits travel as signed ones, and the highest is turned in keys."""
_SPARK_TYPES: Final = {
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.map_(pa.binary(), pa.binary()): "map<binary, binary>",
}


def sort_on_spark(runner: SparkRunner, output: OutputFiles, pieces: Sequence[Piece]) -> list[Slice]:
    """The chunks of all rows, in order. Raises YtError, SparkError.

    The number of a row is a part of what is sorted by. So rows of equal keys keep their order, and a key that
    most rows have is divided among tasks as any others are.
    """
    tasks = list(pack_pieces(pieces))
    if not tasks:
        return []
    layout = _Layout.of(output.schema)
    numbers = runner.session.range(0, len(tasks), 1, len(tasks))
    rows = numbers.mapInArrow(_Reader(output, layout, tasks), layout.spark_schema)
    # The Python that writes the rows needs neither, and both would be sent to it.
    rows = rows.sort(*layout.key_names, _ROW).drop(_KEY, _ROW)
    chunks = runner.map_partitions(rows, partial(_write_partition, output, layout))
    return [part for slices in chunks for part in slices]


@dataclass(frozen=True)
class _Layout:
    """The columns that rows travel in: those of the table, their number, an error, and the key if need be.

    Columns of plain types, ascending, are sorted by as they are: they have Spark's order, where the highest
    bit of unsigned numbers is turned. Others are sorted by the bytes of the key, which make each row larger.
    """

    schema: TableSchema
    native_keys: tuple[str, ...]
    """The stored columns that are the key; none where its bytes are."""

    @classmethod
    def of(cls, schema: TableSchema) -> _Layout:
        columns = schema.key_columns
        is_native = all(
            column.sort_order == "ascending" and plain_name(column.type) not in (None, "null", "void")
            for column in columns
        )
        return cls(schema, tuple(map(stored_name, columns)) if is_native else ())

    @cached_property
    def fields(self) -> pa.Schema:
        return arrow_schema(self.schema)

    @property
    def key_names(self) -> list[str]:
        names = self.fields.names
        return [f"c{names.index(name)}" for name in self.native_keys] or [_KEY]

    @property
    def spark_schema(self) -> str:
        columns = [] if self.native_keys else [f"{_KEY} binary"]
        columns += [f"{_ROW} bigint", f"{_ERROR} string"]
        for index, field in enumerate(self.fields):
            columns.append(f"c{index} {_SPARK_TYPES[_travelling_type(field.type)]}")
        return ", ".join(columns)

    def pack(self, batch: pa.RecordBatch, first_row: int) -> pa.RecordBatch:
        count = batch.num_rows
        columns = {} if self.native_keys else {_KEY: encode_keys(batch, self.schema, self.schema.keys)}
        columns[_ROW] = pa.array(np.arange(first_row, first_row + count, dtype=np.int64))
        columns[_ERROR] = pa.nulls(count, pa.string())
        for index, (name, array) in enumerate(zip(batch.schema.names, batch.columns, strict=True)):
            type = _travelling_type(array.type)
            if pa.types.is_null(array.type):
                array = pa.nulls(count, type)
            elif array.type != type:
                array = array.view(type)
                array = _turn_highest_bit(array) if name in self.native_keys else array
            columns[f"c{index}"] = array
        return pa.RecordBatch.from_pydict(columns)

    def pack_error(self, error: YtError, row: int) -> pa.RecordBatch:
        """A row without a key and with a negative number, which comes before all others."""
        document = json.dumps([error.message, int(error.code), error.attributes], default=str)
        columns: dict[str, Any] = {} if self.native_keys else {_KEY: pa.nulls(1, pa.binary())}
        columns[_ROW] = pa.array([row - 2**62], pa.int64())
        columns[_ERROR] = pa.array([document], pa.string())
        for index, field in enumerate(self.fields):
            columns[f"c{index}"] = pa.nulls(1, _travelling_type(field.type))
        return pa.RecordBatch.from_pydict(columns)

    def unpack(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Raises the error of a row that did not fit."""
        if batch.num_rows and (document := batch.column(_ERROR)[0].as_py()) is not None:
            message, code, attributes = json.loads(document)
            raise YtError(message, ErrorCode(code), attributes=attributes)
        arrays = []
        for index, field in enumerate(self.fields):
            array = batch.column(f"c{index}")
            if pa.types.is_null(field.type):
                array = pa.nulls(batch.num_rows)
            elif field.type in _SIGNED:
                array = _turn_highest_bit(array) if field.name in self.native_keys else array
                array = array.view(field.type)
            arrays.append(array.cast(field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self.fields)


class _Reader:
    """Reads the rows of tasks, whose numbers Spark hands over."""

    def __init__(self, output: OutputFiles, layout: _Layout, tasks: Sequence[tuple[Piece, ...]]) -> None:
        self._output = output
        self._layout = layout
        self._tasks = tasks

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield from self._read_task(self._tasks[number])

    def _read_task(self, pieces: tuple[Piece, ...]) -> Iterator[pa.RecordBatch]:
        row = 0
        try:
            for row, batch in self._output.read_pieces(pieces):
                yield self._layout.pack(batch, row)
        except YtError as error:
            yield self._layout.pack_error(error, row)


def _write_partition(
    output: OutputFiles, layout: _Layout, batches: Batches
) -> Iterator[list[Slice] | YtError]:
    try:
        yield write_batches(output, map(layout.unpack, batches))
    except YtError as error:
        yield error


def _travelling_type(type: pa.DataType) -> pa.DataType:
    return pa.int8() if pa.types.is_null(type) else _SIGNED.get(type, type)


def _turn_highest_bit(array: pa.Array) -> pa.Array:
    """Signed integers in the order of the unsigned ones of the same bits, and back."""
    lowest = -(2 ** (array.type.bit_width - 1))
    return pc.bit_wise_xor(array, pa.scalar(lowest, array.type))

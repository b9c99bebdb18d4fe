"""A sort on Spark: rows go through a shuffle by the bytes of their key, and by their number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.store.chunks import Slice
from trellis.dialects.ytsaurus.store.columns import arrow_schema
from trellis.dialects.ytsaurus.store.keys import encode_keys
from trellis.dialects.ytsaurus.store.rewriting.execution import OutputFiles, write_batches
from trellis.dialects.ytsaurus.store.rewriting.planning import Piece, pack_pieces

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
"""Spark has no unsigned integers: their bits travel as signed ones, and the key knows their order."""
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
    numbers = runner.session.range(0, len(tasks), 1, len(tasks))
    rows = numbers.mapInArrow(_Reader(output, tasks), _spark_schema(output.schema))
    # The Python that writes the rows needs neither, and both would be sent to it.
    rows = rows.sort(_KEY, _ROW).drop(_KEY, _ROW)
    chunks = runner.map_partitions(rows, partial(_write_partition, output))
    return [part for slices in chunks for part in slices]


class _Reader:
    """Reads the rows of tasks, whose numbers Spark hands over."""

    def __init__(self, output: OutputFiles, tasks: Sequence[tuple[Piece, ...]]) -> None:
        self._output = output
        self._tasks = tasks

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield from self._read_task(self._tasks[number])

    def _read_task(self, pieces: tuple[Piece, ...]) -> Iterator[pa.RecordBatch]:
        row = 0
        try:
            for row, batch in self._output.read_pieces(pieces):
                yield _pack(self._output.schema, batch, row)
        except YtError as error:
            yield _pack_error(self._output.schema, error, row)


def _write_partition(output: OutputFiles, batches: Batches) -> Iterator[list[Slice] | YtError]:
    try:
        yield write_batches(output, (_unpack(output.schema, batch) for batch in batches))
    except YtError as error:
        yield error


def _spark_schema(schema: TableSchema) -> str:
    columns = [f"{_KEY} binary", f"{_ROW} bigint", f"{_ERROR} string"]
    for index, field in enumerate(arrow_schema(schema)):
        columns.append(f"c{index} {_SPARK_TYPES[_travelling_type(field.type)]}")
    return ", ".join(columns)


def _travelling_type(type: pa.DataType) -> pa.DataType:
    return pa.int8() if pa.types.is_null(type) else _SIGNED.get(type, type)


def _pack(schema: TableSchema, batch: pa.RecordBatch, first_row: int) -> pa.RecordBatch:
    count = batch.num_rows
    arrays = [
        encode_keys(batch, schema, schema.keys),
        pa.array(np.arange(first_row, first_row + count, dtype=np.int64)),
        pa.nulls(count, pa.string()),
    ]
    for array in batch.columns:
        type = _travelling_type(array.type)
        if pa.types.is_null(array.type):
            arrays.append(pa.nulls(count, type))
        else:
            arrays.append(array if array.type == type else array.view(type))
    names = [_KEY, _ROW, _ERROR, *(f"c{index}" for index in range(batch.num_columns))]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def _pack_error(schema: TableSchema, error: YtError, row: int) -> pa.RecordBatch:
    """A row without a key, which comes before all others."""
    document = json.dumps([error.message, int(error.code), error.attributes], default=str)
    columns: dict[str, Any] = {_KEY: pa.nulls(1, pa.binary()), _ROW: pa.array([row], pa.int64())}
    columns[_ERROR] = pa.array([document], pa.string())
    for index, field in enumerate(arrow_schema(schema)):
        columns[f"c{index}"] = pa.nulls(1, _travelling_type(field.type))
    return pa.RecordBatch.from_pydict(columns)


def _unpack(schema: TableSchema, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Raises the error of a row that did not fit."""
    if batch.num_rows and (document := batch.column(_ERROR)[0].as_py()) is not None:
        message, code, attributes = json.loads(document)
        raise YtError(message, ErrorCode(code), attributes=attributes)
    fields = arrow_schema(schema)
    arrays = []
    for index, field in enumerate(fields):
        array = batch.column(f"c{index}")
        if pa.types.is_null(field.type):
            array = pa.nulls(batch.num_rows)
        elif field.type in _SIGNED:
            array = array.view(field.type)
        arrays.append(array.cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=fields)

"""Rows as an Arrow stream or a Parquet file, whose columns are those of the schema."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.store.columns import encode_rows, is_stored_as_yson, stored_name
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Uint64

BATCH_ROWS: Final = 16_384
_YSON: Final = {b"yt_type": b"yson"}
"""Marks columns whose bytes are YSON."""


def write_arrow(rows: Iterable[Row], schema: TableSchema) -> Iterator[bytes]:
    """An Arrow stream. Raises YtError for rows with columns that the schema does not declare."""
    yield from _write(rows, schema, pa.ipc.new_stream, "arrow")


def write_parquet(rows: Iterable[Row], schema: TableSchema) -> Iterator[bytes]:
    """A Parquet file. Raises YtError for rows with columns that the schema does not declare."""
    yield from _write(rows, schema, pq.ParquetWriter, "parquet")


def read_arrow(stream: BinaryIO) -> Iterator[Row]:
    """Raises YtError."""
    try:
        with pa.ipc.open_stream(stream) as reader:
            for batch in reader:
                yield from _rows(batch)
    except ConnectionError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise YtError(f"the rows are not an Arrow stream: {error}") from None


def read_parquet(stream: BinaryIO) -> Iterator[Row]:
    """Raises YtError."""
    with tempfile.TemporaryFile() as file:
        while block := stream.read(2**20):
            file.write(block)
        try:
            for batch in pq.ParquetFile(file).iter_batches(BATCH_ROWS):
                yield from _rows(batch)
        except (pa.ArrowException, OSError) as error:
            raise YtError(f"the rows are not a Parquet file: {error}") from None


def _write(
    rows: Iterable[Row], schema: TableSchema, open_writer: Callable[..., Any], name: str
) -> Iterator[bytes]:
    """The bytes of each batch as soon as it is written."""
    declared = replace(schema, strict=True)
    names = list(map(stored_name, schema.columns))
    types = {name: column.type for name, column in zip(names, schema.columns, strict=True)}

    def encode(rows: Sequence[Row]) -> pa.RecordBatch:
        return encode_rows(declared, rows).select(names)

    fields = pa.schema(
        field.with_metadata(_YSON) if is_stored_as_yson(types[field.name]) else field
        for field in encode([]).schema
    )
    buffer = _Buffer()
    iterator = iter(rows)
    with open_writer(pa.PythonFile(buffer, mode="w"), fields) as writer:
        while batch := list(islice(iterator, BATCH_ROWS)):
            for row in batch:
                _check_declared(row, schema, name)
            writer.write_batch(encode(batch).cast(fields))
            yield buffer.take_bytes()
    yield buffer.take_bytes()


class _Buffer:
    """A file that is read while it is written."""

    closed = False

    def __init__(self) -> None:
        self._data = bytearray()
        self._position = 0

    def write(self, data: Any) -> int:
        self._data += data
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        self.closed = True

    def take_bytes(self) -> bytes:
        data = bytes(self._data)
        self._data.clear()
        return data


def _check_declared(row: Row, schema: TableSchema, name: str) -> None:
    for column in row:
        if column not in schema.by_name:
            raise YtError(
                f"a row has the column {column}, which the schema does not declare; {name} has its columns "
                f"alone; choose columns in braces, such as //home/t{{{column}}}"
            )


# --- Columns of others -----------------------------------------------------------------------------------


def _rows(batch: pa.RecordBatch) -> Iterator[Row]:
    names = batch.schema.names
    columns = [_values(batch.schema.field(index), batch.column(index)) for index in range(len(names))]
    for values in zip(*columns, strict=True):
        yield {name: value for name, value in zip(names, values, strict=True) if value is not None}


def _values(field: pa.Field, array: pa.Array) -> list[Any]:
    """The values of a column as tables have them. Raises YtError for types that they do not have."""
    kind = field.type
    if pa.types.is_dictionary(kind):
        return _values(field.with_type(kind.value_type), array.dictionary_decode())
    if pa.types.is_binary(kind) and (field.metadata or {}).items() >= _YSON.items():
        return [None if item is None else loads(item, raw=True) for item in array.to_pylist()]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        array = array.cast(pa.large_binary())
    elif pa.types.is_date32(kind):
        array = array.cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        array = array.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())
    elif pa.types.is_unsigned_integer(kind):
        return [None if item is None else Uint64(item) for item in array.to_pylist()]
    elif pa.types.is_nested(kind):
        return [_plain(item, field.name) for item in array.to_pylist()]
    elif not (
        pa.types.is_signed_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    ):
        raise YtError(f"the column {field.name} is a {kind} of Arrow, which tables do not have")
    values: list[Any] = array.to_pylist()
    return values


def _plain(value: Any, name: str) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "surrogateescape")
        case list() | tuple():
            return [_plain(item, name) for item in value]
        case dict():
            return {key: _plain(item, name) for key, item in value.items()}
        case None | bool() | int() | float() | bytes():
            return value
    raise YtError(f"the column {name} has a {type(value).__name__} inside, which tables do not have")

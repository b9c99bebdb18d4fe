"""Rows as an Arrow stream or a Parquet file, whose columns are those of the schema."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.store.columns import (
    arrow_schema,
    encode_rows,
    is_stored_as_yson,
    stored_name,
)
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Uint64

BATCH_ROWS: Final = 16_384
_YSON: Final = {b"yt_type": b"yson"}
"""Marks columns whose bytes are YSON."""


def write_columns(name: str, batches: Iterable[pa.RecordBatch], schema: TableSchema) -> Iterator[bytes]:
    """An Arrow stream or a Parquet file of batches in the layout of chunks. Raises YtError."""
    names = list(map(stored_name, schema.columns))
    types = {name: column.type for name, column in zip(names, schema.columns, strict=True)}
    fields = pa.schema(
        field.with_metadata(_YSON) if is_stored_as_yson(types[field.name]) else field
        for field in map(arrow_schema(replace(schema, strict=True)).field, names)
    )
    buffer = _Buffer()
    open_writer: Callable[..., Any] = pa.ipc.new_stream if name == "arrow" else pq.ParquetWriter
    with open_writer(pa.PythonFile(buffer, mode="w"), fields) as writer:
        for batch in batches:
            chosen = batch.select(names)
            if not names and name == "parquet":
                raise YtError("parquet has no rows without columns; name a column, or read them as arrow")
            writer.write_batch(chosen.cast(fields) if names else chosen)  # a cast forgets how many rows
            yield buffer.take_bytes()
    yield buffer.take_bytes()


def encode_batches(rows: Iterable[Row], schema: TableSchema) -> Iterator[pa.RecordBatch]:
    """Rows without other columns than those of the schema, in the layout of chunks."""
    declared, iterator = replace(schema, strict=True), iter(rows)
    while batch := list(islice(iterator, BATCH_ROWS)):
        yield encode_rows(declared, batch)


def check_declared(name: str, rows: Iterable[Row], schema: TableSchema) -> Iterator[Row]:
    """The rows for a format. Raises YtError for one with a column that the schema does not declare."""
    for row in rows:
        for column in row:
            if column not in schema.by_name:
                raise YtError(
                    f"a row has the column {column}, which the schema does not declare; {name} has its "
                    f"columns alone; choose columns in braces, such as //home/t{{{column}}}"
                )
        yield row


def read_arrow(stream: BinaryIO) -> Iterator[Row]:
    """Raises YtError."""
    try:
        with pa.ipc.open_stream(stream) as reader:
            yield from _read_batches(reader)
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
            yield from _read_batches(pq.ParquetFile(file).iter_batches(BATCH_ROWS))
        except (pa.ArrowException, OSError) as error:
            raise YtError(f"the rows are not a Parquet file: {error}") from None


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


# --- Columns of others -----------------------------------------------------------------------------------


def _read_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """Raises YtError with the column, and with the row where it is about one."""
    first_row = 0
    for batch in batches:
        names = batch.schema.names
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise YtError(f"the column {twice} is there twice; rename one of them")
        columns = [_column(field, batch.column(field.name), first_row) for field in batch.schema]
        if not columns:
            yield from ({} for _ in range(batch.num_rows))
        for values in zip(*columns, strict=True):
            yield {name: value for name, value in zip(names, values, strict=True) if value is not None}
        first_row += batch.num_rows


def _column(field: pa.Field, array: pa.Array, first_row: int) -> list[Any]:
    try:
        return _values(field, array, first_row)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise YtError(f"the values cannot be converted: {error}").in_column(field.name) from None


def _values(field: pa.Field, array: pa.Array, first_row: int) -> list[Any]:
    """The values of a column as tables have them. Raises YtError for types that they do not have."""
    kind = field.type
    if pa.types.is_dictionary(kind):
        return _values(field.with_type(kind.value_type), array.dictionary_decode(), first_row)
    if pa.types.is_binary(kind) and (field.metadata or {}).items() >= _YSON.items():
        return [_parse_yson(item, field.name, first_row + row) for row, item in enumerate(array.to_pylist())]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        array = array.cast(pa.large_binary())
    elif pa.types.is_date32(kind):
        array = array.cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        array = array.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())
    elif pa.types.is_unsigned_integer(kind):
        return [None if item is None else Uint64(item) for item in array.to_pylist()]
    elif pa.types.is_nested(kind):
        return [_plain(item, field.name, first_row + row) for row, item in enumerate(array.to_pylist())]
    elif not (
        pa.types.is_signed_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    ):
        raise YtError(f"{kind} of Arrow is a type that tables do not have; cast it").in_column(field.name)
    values: list[Any] = array.to_pylist()
    return values


def _parse_yson(data: bytes | None, name: str, row: int) -> Any:
    try:
        return None if data is None else loads(data, raw=True)
    except YtError as error:
        raise error.in_column(name).at(row=row) from None


def _plain(value: Any, name: str, row: int) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "surrogateescape")
        case list() | tuple():
            return [_plain(item, name, row) for item in value]
        case dict():
            return {key: _plain(item, name, row) for key, item in value.items()}
        case None | bool() | int() | float() | bytes():
            return value
    kind = type(value).__name__
    raise YtError(f"a {kind} inside is what tables do not have; cast it").in_column(name).at(row=row)

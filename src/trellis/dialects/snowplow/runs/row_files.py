"""The files of rows in a run folder: staged rows written as CSV, Parquet or ORC."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Final, Protocol, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc as orc
import pyarrow.parquet as pq

from trellis.dialects.snowplow.events.families import RECORD_COLUMN
from trellis.dialects.snowplow.runs.duplicates import Duplicates
from trellis.dialects.snowplow.runs.manifest import Compression, FileFormat

BATCH: Final = 20_000
BLOCK: Final = 4 << 20
NULL: Final = r"\N"
_BLANKS: Final = "[\t\n\r]"


class RowWriter(Protocol):
    """Writes batches of one table into a file."""

    def write_batch(self, batch: pa.RecordBatch) -> None: ...

    def close(self) -> None: ...


def read_rows(paths: Sequence[str], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The staged rows of a table with these columns; a file that was staged before one came has NULL."""
    for path in paths:
        with pq.ParquetFile(path) as file:
            present = [name for name in columns if name in file.schema_arrow.names]
            yield from file.iter_batches(BATCH, columns=present)


def read_blocks(path: Path) -> Iterator[bytes]:
    """The lines of a file of a run, some megabytes at a time."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        while lines := file.readlines(BLOCK):
            yield b"".join(lines)


def write_rows(
    format: FileFormat,
    compression: Compression,
    schema: pa.Schema,
    null: str,
    duplicates: Duplicates,
    part: tuple[str, str],
) -> int:
    """Write the rows of a staged file as one file of the run; how many. `null` stands for NULL in CSV."""
    source, target = part
    writer, count = _open_writer(Path(target), format, compression, schema, null), 0
    try:
        for batch in read_rows([source], [*schema.names, RECORD_COLUMN]):
            rows = _aligned(duplicates.apply(batch), schema)
            writer.write_batch(rows)
            count += rows.num_rows
    finally:
        writer.close()
    return count


def csv_lines(batch: pa.RecordBatch, null: str = NULL) -> pa.Array:
    """The rows as lines without their ends: values between tabs, without quotes."""
    texts = [_texts(column, null) for column in batch.columns]
    return pc.binary_join_element_wise(*texts, "\t")


class _CsvWriter:
    def __init__(self, target: Path, compression: Compression, null: str) -> None:
        open_file = partial(gzip.open, target) if compression == "GZIP" else target.open
        self.file, self.null = cast("IO[bytes]", open_file("wb")), null

    def write_batch(self, batch: pa.RecordBatch) -> None:
        lines = csv_lines(batch, self.null).to_pylist()
        self.file.write("".join(f"{line}\n" for line in lines).encode())

    def close(self) -> None:
        self.file.close()


class _OrcWriter:
    def __init__(self, target: Path, schema: pa.Schema, compression: Compression) -> None:
        self.writer = orc.ORCWriter(
            str(target), compression="uncompressed" if compression == "NONE" else "zlib"
        )
        self.writer.write(schema.empty_table())

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self.writer.write(pa.Table.from_batches([batch]))

    def close(self) -> None:
        self.writer.close()


def _open_writer(
    target: Path, format: FileFormat, compression: Compression, schema: pa.Schema, null: str
) -> RowWriter:
    if format == "csv":
        return _CsvWriter(target, compression, null)
    if format == "orc":
        return _OrcWriter(target, schema, compression)
    codec = "snappy" if compression == "NONE" else "gzip"
    parquet: RowWriter = pq.ParquetWriter(target, schema, compression=codec)
    return parquet


def _aligned(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with the columns of a schema in their order."""
    columns = [
        batch.column(field.name).cast(field.type)
        if field.name in batch.schema.names
        else pa.nulls(batch.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _texts(column: pa.Array, null: str) -> pa.Array:
    kind = column.type
    if pa.types.is_boolean(kind):
        texts = pc.if_else(column, "1", "0")
    elif pa.types.is_timestamp(kind):
        texts = pc.strftime(column.cast(pa.timestamp("ms"), safe=False), "%Y-%m-%d %H:%M:%S")
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        texts = pc.replace_substring_regex(column, _BLANKS, " ")
        if null == NULL:
            texts = pc.if_else(pc.equal(texts, NULL), rf"\{NULL}", texts)
    else:
        texts = column.cast(pa.string())
    return pc.fill_null(texts, null)

"""The files of rows in a run folder: staged rows written as CSV, JSON, Parquet or ORC."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import IO, Final, NamedTuple, Protocol, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc as orc
import pyarrow.parquet as pq

from trellis.dialects.snowplow.document.json_text import write_json
from trellis.dialects.snowplow.enriched.fields import ATOMIC_FIELDS
from trellis.dialects.snowplow.events.families import DATA, JSON_SIGN, RECORD_COLUMN, SCHEMA_COLUMNS
from trellis.dialects.snowplow.identity.keys import SchemaKey, SchemaVer
from trellis.dialects.snowplow.rows.csv import Event, legacy_document
from trellis.dialects.snowplow.runs.duplicates import Duplicates
from trellis.dialects.snowplow.runs.manifest import Compression, FileFormat
from trellis.engine.columnar.strict import joined_bytes
from trellis.errors import SchemaError

BATCH: Final = 20_000
BLOCK: Final = 4 << 20
NULL: Final = r"\N"
_BLANKS: Final = b"\t\n\r"
_BLANKS_COMPAT: Final = b"\t\n"
_ATOMIC: Final = frozenset(field.name for field in ATOMIC_FIELDS)
_ENDINGS: Final[Mapping[FileFormat, str]] = {"csv": "txt", "json": "txt", "parquet": "parquet", "orc": "orc"}


class RowWriter(Protocol):
    """Writes batches of one table into a file."""

    def write_batch(self, batch: pa.RecordBatch) -> None: ...

    def close(self) -> None: ...


def read_rows(paths: Sequence[str], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The staged rows of a table with these columns; a file that was staged before one came has NULL."""
    for path in paths:
        with pq.ParquetFile(path) as file:
            names = frozenset(file.schema_arrow.names)
            present = [name for name in columns if name in names]
            yield from file.iter_batches(BATCH, columns=present)


def distinct_rows(path: str, columns: Sequence[str]) -> set[tuple[str, ...]]:
    """The distinct rows of a staged file in columns of texts, the last of which has two values at most.

    Most files have one value in all others, so their statistics say it.
    """
    with pq.ParquetFile(path) as file:
        bounds = [_bounds(file, name) for name in columns]
        if all(bound and bound[0] == bound[1] for bound in bounds[:-1]) and bounds[-1]:
            constants = [bound[0] for bound in bounds[:-1] if bound]
            return {(*constants, text) for text in bounds[-1]}
        table = file.read(columns).group_by([*columns]).aggregate([])
    return {*zip(*table.to_pydict().values(), strict=True)}


def count_json_rows(path: str) -> int:
    """How many rows of a staged file are of self-describing JSON. Statistics say it of most files."""
    with pq.ParquetFile(path) as file:
        bounds = _bounds(file, RECORD_COLUMN)
        if bounds and bounds[1] < JSON_SIGN:
            return 0
        records = file.read([RECORD_COLUMN]).column(0)
    return int(pc.sum(pc.starts_with(records, JSON_SIGN)).as_py() or 0)


def _bounds(file: pq.ParquetFile, name: str) -> tuple[str, str] | None:
    """The least and the greatest text of a column without NULL; None where the file does not say it."""
    column = file.schema.names.index(name)
    groups = [file.metadata.row_group(group).column(column) for group in range(file.num_row_groups)]
    if not groups or not all(group.is_stats_set for group in groups):
        return None
    statistics = [group.statistics for group in groups]
    if not all(item.has_min_max and item.null_count == 0 for item in statistics):
        return None
    return min(item.min for item in statistics), max(item.max for item in statistics)


def read_blocks(path: Path) -> Iterator[bytes]:
    """The lines of a file of a run, some megabytes at a time."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block if block.endswith(b"\n") else block + file.readline()


def is_typed(path: Path) -> bool:
    """Whether the values of a file of a run have types."""
    return path.suffix in (".parquet", ".orc")


def unreadable(place: Path, reason: object) -> SchemaError:
    """The error for files of a run that are not what the shredder wrote."""
    return SchemaError(
        f"{place}: cannot be read ({reason}); it was changed after the run was shredded, shred the run again"
    )


def read_typed(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a file of a run in these columns. Raises SchemaError."""
    try:
        yield from _read_parquet(path, columns) if path.suffix == ".parquet" else _read_orc(path, columns)
    except (pa.ArrowException, OSError, KeyError) as error:
        raise unreadable(path, error) from None


def _read_parquet(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    for batch in read_rows([str(path)], columns):
        yield batch.select([*columns])


def _read_orc(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    file = orc.ORCFile(str(path))
    for stripe in range(file.nstripes):
        try:
            yield _in_microseconds(file.read_stripe(stripe, [*columns]).select([*columns]))
        except pa.ArrowInvalid as error:
            raise SchemaError(
                f"{path}: ORC is read for times of the years 1678 to 2261 ({error}); shred the run with "
                "--format csv or parquet"
            ) from None


def read_texts(path: Path, columns: Sequence[str], null: str) -> Iterator[pa.RecordBatch]:
    """The rows of a file of lines in these columns, as texts. A line feed alone ends a line."""
    for block in read_blocks(path):
        values = pc.split_pattern(pa.array(block.decode().removesuffix("\n").split("\n")), "\t")
        texts = [pc.list_element(values, place) for place in range(len(columns))]
        is_null = [pc.equal(column, null) for column in texts]
        yield pa.record_batch(
            [
                pc.if_else(condition, pa.scalar(None, pa.string()), column)
                for condition, column in zip(is_null, texts, strict=True)
            ],
            [*columns],
        )


@dataclass(frozen=True)
class RowFiles:
    """How the files of one table are written.

    In CSV, `null` stands for NULL, and with `keeps_returns` a carriage return stays what it is.
    """

    format: FileFormat
    compression: Compression
    schema: pa.Schema
    duplicates: Duplicates
    null: str = NULL
    keeps_returns: bool = False

    @property
    def ending(self) -> str:
        is_packed = self.compression == "GZIP" and self.format in ("csv", "json")
        return f"{_ENDINGS[self.format]}{'.gz' if is_packed else ''}"

    def write_file(self, sources: Sequence[str], target: str) -> int:
        """Write the rows of staged files as a file of the run; how many."""
        writer, count = self._open_writer(Path(target)), 0
        try:
            for batch in read_rows(sources, [*self.schema.names, RECORD_COLUMN]):
                rows = _aligned(self.duplicates.apply(batch), self.schema)
                writer.write_batch(rows)
                count += rows.num_rows
        finally:
            writer.close()
        return count

    def _open_writer(self, target: Path) -> RowWriter:
        if self.format == "csv":
            blanks = _BLANKS_COMPAT if self.keeps_returns else _BLANKS
            make_lines = partial(csv_lines, null=self.null, blanks=blanks)
            return _LineWriter(target, self.compression, make_lines)
        if self.format == "json":
            is_wide = DATA.name not in self.schema.names
            return _LineWriter(target, self.compression, wide_lines if is_wide else json_lines)
        if self.format == "orc":
            return _OrcWriter(target, self.schema, self.compression)
        codec = "snappy" if self.compression == "NONE" else "gzip"
        parquet: RowWriter = pq.ParquetWriter(target, self.schema, compression=codec)
        return parquet


class RunPart(NamedTuple):
    """A file of a run: its table, how the files of that are written, and the staged files of its rows."""

    table: str
    files: RowFiles
    sources: tuple[str, ...]
    target: str

    def staged_bytes(self) -> int:
        return sum(map(os.path.getsize, self.sources))


def write_parts(parts: Iterable[RunPart]) -> list[tuple[str, int]]:
    """Write files; the table and the number of rows of each."""
    return [(part.table, part.files.write_file(part.sources, part.target)) for part in parts]


def csv_lines(batch: pa.RecordBatch, null: str = NULL, blanks: bytes = _BLANKS) -> pa.Array:
    """The rows as lines without their ends: values between tabs, without quotes."""
    texts = [_texts(column, null, blanks) for column in batch.columns]
    return pc.binary_join_element_wise(*texts, "\t")


def json_lines(batch: pa.RecordBatch) -> pa.Array:
    """The rows of a table whose entities stay JSON, as loaders with JSONPaths files read them."""
    lines = []
    for row in batch.to_pylist():
        vendor, name, format, version = (row[column] for column in SCHEMA_COLUMNS)
        key = SchemaKey(vendor, name, format, SchemaVer.parse(version))
        event = Event(row["root_id"], row["root_tstamp"].replace(tzinfo=timezone.utc))
        document = legacy_document(key, event, None)
        schema, hierarchy = (write_json(document[part]) for part in ("schema", "hierarchy"))
        lines.append(f'{{"schema":{schema},"data":{row[DATA.name]},"hierarchy":{hierarchy}}}')
    return pa.array(lines, pa.string())


def wide_lines(batch: pa.RecordBatch) -> pa.Array:
    """Events with their entities as JSON, as loaders of Snowplow read wide rows. Fields of events that are
    empty are null, columns of entities without one are left out."""
    names = [name for name in batch.schema.names if name in _ATOMIC]
    entities = [name for name in batch.schema.names if name not in _ATOMIC]
    events, contents = batch.select(names).to_pylist(), batch.select(entities).to_pylist()
    lines = []
    for event, content in zip(events, contents, strict=True):
        fields = [f"{write_json(name)}:{write_json(_json_value(value))}" for name, value in event.items()]
        fields += [f"{write_json(name)}:{text}" for name, text in content.items() if text is not None]
        lines.append(f"{{{','.join(fields)}}}")
    return pa.array(lines, pa.string())


class _LineWriter:
    def __init__(
        self, target: Path, compression: Compression, make_lines: Callable[[pa.RecordBatch], pa.Array]
    ) -> None:
        open_file = partial(gzip.open, target) if compression == "GZIP" else target.open
        self.file, self.make_lines = cast("IO[bytes]", open_file("wb")), make_lines

    def write_batch(self, batch: pa.RecordBatch) -> None:
        lines = pc.binary_join_element_wise(self.make_lines(batch), "", "\n")
        self.file.write(joined_bytes(lines))

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


def _in_microseconds(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Times as tables have them; readers of ORC give nanoseconds."""
    fields = [
        field.with_type(pa.timestamp("us")) if pa.types.is_timestamp(field.type) else field
        for field in batch.schema
    ]
    return batch.cast(pa.schema(fields))


def _json_value(value: object) -> object:
    if isinstance(value, datetime):
        return f"{value.isoformat(timespec='milliseconds')}Z"
    return float(value) if isinstance(value, Decimal) else value


def _aligned(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with the columns of a schema in their order."""
    names = frozenset(batch.schema.names)
    columns = [
        batch.column(field.name).cast(field.type)
        if field.name in names
        else pa.nulls(batch.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _texts(column: pa.Array, null: str, blanks: bytes) -> pa.Array:
    kind = column.type
    if pa.types.is_boolean(kind):
        texts = pc.if_else(column, "1", "0")
    elif pa.types.is_timestamp(kind):
        texts = column.cast(pa.timestamp("ms"), safe=False).cast(pa.string())
    elif pa.types.is_string(kind):
        content = joined_bytes(column).to_pybytes()  # it is searched faster than each text
        texts = column
        for blank in blanks:
            if blank in content:
                texts = pc.replace_substring(texts, chr(blank), " ")
        if null == NULL:
            texts = pc.if_else(pc.equal(texts, NULL), rf"\{NULL}", texts)
    else:
        texts = column.cast(pa.string())
    return pc.fill_null(texts, null)

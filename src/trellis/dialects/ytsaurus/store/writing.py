"""Rows written to tables."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.format import Format
from trellis.dialects.ytsaurus.formats.row import ReadingNotes, Row
from trellis.dialects.ytsaurus.inference.writes import WritePlan, plan_write
from trellis.dialects.ytsaurus.paths.rich_path import RichPath, parse_path
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.store.catalog import TableInfo
from trellis.dialects.ytsaurus.store.chunks import ChunkWriter, Key, Slice
from trellis.dialects.ytsaurus.store.row_formats.arrow_rows import read_arrow, read_parquet
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.values.order import encode_key
from trellis.dialects.ytsaurus.values.rows import OrderValidator, RowValidator
from trellis.dialects.ytsaurus.values.validation import DEFAULT_FORMS, ValueForms

_GZIP: Final = b"\x1f\x8b"


def write_rows(store: Store, path: Any, rows: Iterable[Row], forms: ValueForms = DEFAULT_FORMS) -> int:
    """How many rows were written. All are there afterwards, or none and the error. Raises YtError."""
    rich_path = parse_path(path, store.switches)
    if rich_path.columns is not None or rich_path.ranges is not None:
        raise YtError(f"{rich_path.path}: columns and ranges are for reading")
    with store.command("write") as store:
        table = store.create_if_missing(rich_path.path)
        excludes = _plan(store, table, rich_path).excludes_others
        table = store.lock(table, "write", exclusive=excludes)
        plan = _plan(store, table, rich_path)
        if plan.excludes_others and not excludes:
            raise YtError(f"{table.path} was sorted by another command; write again")
        optimize_for = rich_path.optimize_for or table.optimize_for
        validator = RowValidator(plan.schema, forms)
        valid_rows = (validator.validate(row) for row in rows)
        last_key = last_row_key(store, table) if plan.append else None
        with (
            errors_in_table(table.path),
            written_chunks(store, plan.schema, optimize_for, valid_rows, last_key) as slices,
        ):
            commit_slices(store, table, plan, optimize_for, slices)
    return sum(part.rows for part in slices)


def parse_rows(format: Format, source: bytes | BinaryIO, notes: ReadingNotes | None = None) -> Iterator[Row]:
    """The rows of a document in any format, read as they are needed. Raises YtError with the place.

    `notes` has afterwards what the format left out.
    """
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    try:
        _check_compression(format, stream)
        match format.name:
            case "arrow":
                yield from read_arrow(stream)
            case "parquet":
                yield from read_parquet(stream)
            case _:
                yield from format.read_rows(stream, notes)
    except YtError as error:
        raise error.in_format(format.name) from None


def _check_compression(format: Format, stream: BinaryIO) -> None:
    """Raises YtError for gzip, which no format of text begins with."""
    match stream:
        case io.BufferedReader():
            start = stream.peek(2)[:2]
        case io.BytesIO():
            start = bytes(stream.getbuffer()[:2])
        case _:
            return
    if start == _GZIP and format.name != "skiff":
        raise YtError("the rows are compressed by gzip; decompress them first: gunzip -c FILE | ...")


@contextmanager
def errors_in_table(path: str) -> Iterator[None]:
    """Errors of rows with the table that these are written to."""
    try:
        yield
    except YtError as error:
        raise error.in_table(path) from None


@contextmanager
def written_chunks(
    store: Store, schema: TableSchema, optimize_for: str, rows: Iterable[Row], last_key: Key | None = None
) -> Iterator[list[Slice]]:
    """The chunks of valid rows, whose order is checked; an error removes them."""
    writer = ChunkWriter(store.files, schema, optimize_for)
    try:
        order = None
        if schema.is_sorted:
            orders = [key.sort_order for key in schema.keys]
            last = None if last_key is None else encode_key(_fit_key(last_key, len(orders)), orders)
            order = OrderValidator(schema, last)
        for row in rows:
            if order is not None:
                order.check(row)
            writer.append(row)
        yield writer.close()
    except BaseException:
        writer.abort()
        raise


def commit_slices(
    store: Store, table: TableInfo, plan: WritePlan, optimize_for: str, slices: Iterable[Slice]
) -> None:
    """The table with its new schema and rows, in one commit."""
    slices = list(slices)
    with store.catalog.transaction():
        store.files.check(part.chunk.id for part in slices)
        store.files.sync()
        if not plan.append:
            store.catalog.clear_slices(table.node.id)
        store.catalog.put_table(table.node.id, plan.schema, plan.mode, optimize_for)
        store.catalog.append_slices(table.node.id, slices)


def last_row_key(store: Store, table: TableInfo) -> Key | None:
    part = store.catalog.last_slice(table.node.id)
    return None if part is None else part.last_key


def _plan(store: Store, table: TableInfo, path: RichPath) -> WritePlan:
    is_empty = store.catalog.last_slice(table.node.id) is None
    return plan_write(path, table.schema, table.mode, is_empty=is_empty)


def _fit_key(key: Key, size: int) -> list[Any]:
    """A key under another number of key columns."""
    return [*key[:size], *[None] * (size - len(key))]

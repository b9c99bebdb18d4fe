"""The rows of tables in a format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.format import Format, TablePart
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.store.reading import TableSource
from trellis.dialects.ytsaurus.store.rewriting.conversion import BatchConverter
from trellis.dialects.ytsaurus.store.row_formats.arrow_rows import (
    check_declared,
    encode_batches,
    write_columns,
)
from trellis.dialects.ytsaurus.types.simple import plain_name
from trellis.dialects.ytsaurus.values.presentation import row_presenter
from trellis.dialects.ytsaurus.values.validation import DEFAULT_FORMS


def format_rows(source: TableSource, format: Format, controls: Mapping[str, Any]) -> Iterator[bytes]:
    """The bytes of the rows of all ranges, each after its marks if `controls` asks for some.

    Raises YtError with the table for values that the format does not have.
    """
    try:
        yield from _format_rows(source, format, controls)
    except YtError as error:
        raise error.at_path(source.version.info.path) from None


def _format_rows(source: TableSource, format: Format, controls: Mapping[str, Any]) -> Iterator[bytes]:
    present = row_presenter(source.schema, format.forms)
    parts = (
        TablePart(index, start, map(present, source.read_rows_between(start, end)))
        for index, (start, end) in enumerate(source.intervals())
        if start < end
    )
    if not format.is_arrow:
        return format.write_parts(parts, controls)
    format.check_controls(controls)
    if source.schema.strict and format.forms == DEFAULT_FORMS:
        return write_columns(format.name, _read_batches(source), source.schema)
    rows = check_declared(format.name, (row for part in parts for row in part.rows), source.schema)
    return write_columns(format.name, encode_batches(rows, source.schema), source.schema)


def _read_batches(table: TableSource) -> Iterator[pa.RecordBatch]:
    """The rows of all ranges of a strict table as columns, in the layout of chunks."""
    source = table.row_source
    columns = (replace(column, expression=None) for column in table.schema.columns)
    schema = replace(table.schema, columns=tuple(columns))
    parts = [part for start, end in table.intervals() for part in table.version.cut(start, end)]
    for part in parts:
        if _has_older_values(part.chunk.schema, source.schema):
            rows = source.files.read_rows(part, source.schema, source.stored_names)
            yield from encode_batches(map(source.select, rows), schema)
            continue
        converter = BatchConverter(part.chunk.schema, source, schema)
        for batch in source.files.read_batches(part, converter.needed):
            yield converter.convert(batch, part.start)


def _has_older_values(chunk: TableSchema, table: TableSchema) -> bool:
    """Whether YSON of a chunk may lack members that its types have in the table."""
    types = {column.identity: column.type for column in chunk.columns}
    return any(
        plain_name(column.type) is None and types.get(column.identity, column.type) != column.type
        for column in table.columns
    )

"""Rows inserted by their keys: they replace rows of the same keys, or are added to their values."""

from __future__ import annotations

import secrets
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.inference.writes import WritePlan
from trellis.dialects.ytsaurus.paths.rich_path import parse_path
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.store.chunks import Slice
from trellis.dialects.ytsaurus.store.columns import decode_rows, encode_rows
from trellis.dialects.ytsaurus.store.key_search import encode_bound
from trellis.dialects.ytsaurus.store.keys import encode_keys
from trellis.dialects.ytsaurus.store.reading import open_source
from trellis.dialects.ytsaurus.store.rewriting.execution import OutputFiles, sort_batches
from trellis.dialects.ytsaurus.store.rewriting.planning import Piece
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.store.writing import commit_slices, errors_in_table
from trellis.dialects.ytsaurus.values.aggregation import aggregate_values
from trellis.dialects.ytsaurus.values.order import encode_key
from trellis.dialects.ytsaurus.values.rows import RowValidator
from trellis.dialects.ytsaurus.values.validation import DEFAULT_FORMS, ValueForms


@dataclass(frozen=True)
class InsertRules:
    """What an inserted row does to that of the same key.

    It replaces it; with `update` the columns that it does not have stay as they were, with `aggregate` those
    that have an aggregate take its value in.
    """

    schema: TableSchema
    update: bool = False
    aggregate: bool = False

    def combine(self, row: Row, inserted: Row) -> Row:
        combined = {**row, **inserted} if self.update else dict(inserted)
        if self.aggregate:
            for column in self.schema.columns:
                if column.aggregate is not None:
                    state, delta = row.get(column.name), inserted.get(column.name)
                    combined[column.name] = aggregate_values(column.aggregate, state, delta)
        return combined


def insert_rows(
    store: Store,
    path: Any,
    rows: Iterable[Row],
    forms: ValueForms = DEFAULT_FORMS,
    *,
    update: bool = False,
    aggregate: bool = False,
) -> int:
    """How many rows were inserted; they are held in memory. Chunks without their keys stay unread.

    Raises YtError; the table stays as it was then.
    """
    name = parse_path(path, store.switches).path
    with store.command("insert rows into") as store:
        table = store.lock(store.table(name), "insert rows into")
        if not table.schema.unique_keys:
            raise YtError(
                f"rows are inserted by their keys, and those of {name} are not unique; expected a table "
                "whose schema has unique_keys=%true"
            )
        rules = InsertRules(table.schema, update, aggregate)
        with errors_in_table(name):
            inserted, count = _collect(rules, rows, forms)
        source = open_source(store, name)
        operation, kept = secrets.token_hex(8), list[str]()
        files = OutputFiles(store.files, table.schema, table.optimize_for, operation, (source.row_source,))
        try:
            slices = _merge(files, map(source.version.with_keys, source.version.slices), inserted)
            commit_slices(
                store, table, WritePlan(table.schema, table.mode, False), table.optimize_for, slices
            )
            kept += (part.chunk.id for part in slices)
        finally:
            store.files.delete_operation(operation, kept)
    return count


@dataclass(frozen=True)
class _InsertedRows:
    """One row for each key, in their order."""

    rules: InsertRules
    keys: Sequence[bytes]
    rows: Sequence[Row]

    def encode(self, start: int, end: int) -> pa.RecordBatch:
        return encode_rows(self.rules.schema, self.rows[start:end])


def _collect(rules: InsertRules, rows: Iterable[Row], forms: ValueForms) -> tuple[_InsertedRows, int]:
    validator = RowValidator(rules.schema, forms)
    orders = [key.sort_order for key in rules.schema.keys]
    by_key: dict[bytes, Row] = {}
    for row in rows:
        valid_row = validator.validate(row)
        if rules.update:
            valid_row = {**dict.fromkeys(row), **valid_row}  # a null is inserted, too
        key = encode_key([valid_row.get(column.name) for column in rules.schema.keys], orders)
        by_key[key] = rules.combine(by_key[key], valid_row) if key in by_key else valid_row
    keys = sorted(by_key)
    return _InsertedRows(rules, keys, [by_key[key] for key in keys]), validator.row_number


def _merge(files: OutputFiles, slices: Iterable[Slice], inserted: _InsertedRows) -> list[Slice]:
    """The rows of a table with those that are inserted."""
    keys, merged = files.schema.keys, list[Slice]()
    writer, position = files.writer(), 0
    for part in slices:
        start = bisect_left(inserted.keys, encode_bound(part.first_key, keys))
        end = bisect_right(inserted.keys, encode_bound(part.last_key, keys))
        writer.append_batch(inserted.encode(position, start))
        if start == end:
            merged += [*writer.close(), part]
            writer = files.writer()
        else:
            for batch in _merge_chunk(files, part, inserted, start, end):
                writer.append_batch(batch)
        position = end
    writer.append_batch(inserted.encode(position, len(inserted.keys)))
    return merged + writer.close()


def _merge_chunk(
    files: OutputFiles, part: Slice, inserted: _InsertedRows, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    schema, rules = files.schema, inserted.rules
    validator = RowValidator(schema)
    for _, batch in files.read_pieces([Piece(0, part, 0)]):
        keys = encode_keys(batch, schema, schema.keys)
        after = min(bisect_right(inserted.keys, keys[-1].as_py()), end)
        is_replaced = pc.is_in(keys, pa.array(inserted.keys[start:after], pa.binary()))
        replaced = zip(
            keys.filter(is_replaced).to_pylist(),
            decode_rows(schema, schema, batch.filter(is_replaced)),
            strict=True,
        )
        rows = dict(zip(inserted.keys[start:after], inserted.rows[start:after], strict=True))
        for key, row in replaced:
            rows[key] = validator.validate_row(rules.combine(row, rows[key]))
        yield from sort_batches(
            schema, [batch.filter(pc.invert(is_replaced)), encode_rows(schema, [*rows.values()])]
        )
        start = after

"""`_trellis_rejects` and `_trellis_discards`: what did not reach the tables, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone

from trellis.engine.plan import Discard, Reject
from trellis.engine.staging.batches import TableBatch, array_of
from trellis.schema.model import Column, DataType, Table

TEXT_LIMIT = 4096


def _table(name: str, columns: Sequence[tuple[str, DataType, bool]], description: str) -> Table:
    table_columns = {n: Column(n, t, nullable=not required) for n, t, required in columns}
    return Table(name, table_columns, description=description)


REJECTS = _table(
    "_trellis_rejects",
    (
        ("load_id", "text", True),
        ("file", "text", True),
        ("position", "bigint", True),
        ("text", "text", True),
        ("reason", "text", True),
        ("rejected_at", "timestamp", True),
    ),
    "Lines that are no records: file, line (or element of the array), the first 4 kB, why.",
)
DISCARDS = _table(
    "_trellis_discards",
    (
        ("load_id", "text", True),
        ("table_name", "text", True),
        ("column_name", "text", True),
        ("path", "text", True),
        ("value", "text", False),
        ("file", "text", True),
        ("position", "bigint", True),
        ("reason", "text", True),
        ("row", "text", False),
        ("discarded_at", "timestamp", True),
    ),
    "Values that have no place in the tables: where they stood, what they were, why they are here.",
)
DEAD_LETTER_TABLES = {table.name: table for table in (REJECTS, DISCARDS)}


PlaceOf = Callable[[int], tuple[str, int]]
"""The file and the position in it, counted from 0, of the record with a number."""


def reject_batch(
    rejects: Sequence[Reject], load_id: str, place_of: PlaceOf, limit: int | None = TEXT_LIMIT
) -> TableBatch:
    """`limit` is the number of bytes that are kept of a line, None all."""
    now = datetime.now(timezone.utc)
    rows = ((load_id, *place_of(r.line), text_excerpt(r.text, limit), r.reason, now) for r in rejects)
    return _batch(REJECTS, rows)


def discard_batch(discards: Sequence[Discard], load_id: str, place_of: PlaceOf) -> TableBatch:
    now = datetime.now(timezone.utc)
    rows = (
        (load_id, d.table, d.column, d.path, d.value, *place_of(d.line), d.reason, d.row, now)
        for d in discards
    )
    return _batch(DISCARDS, rows)


def text_excerpt(text: bytes, limit: int | None = TEXT_LIMIT) -> str:
    """The beginning of a line; bytes that are not UTF-8 are written as escapes."""
    return text[:limit].decode("utf-8", "backslashreplace")


def _batch(table: Table, rows: Iterable[tuple[object, ...]]) -> TableBatch:
    columns = list(zip(*rows, strict=True))
    batch = TableBatch(table.name, len(columns[0]) if columns else 0)
    for column, values in zip(table.complete_columns, columns, strict=False):
        batch.columns[column.name] = array_of(table, column, list(values))
    return batch

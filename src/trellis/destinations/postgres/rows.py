"""Rows of a table for people and tests: JSON as text, dates that Python has no value for as text too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from trellis.destinations.postgres.catalog import has_table
from trellis.destinations.postgres.names import name_of
from trellis.destinations.postgres.session import ErrorContext, Session
from trellis.destinations.sql.queries import count_by_query, empty_cells_query, newest_row_query

if TYPE_CHECKING:
    import psycopg

BATCH_ROWS = 16 * 1024
"""Rows that are read at once, as Python values."""


def read_rows(session: Session, dataset: str, table: str, limit: int | None = None) -> list[dict[str, Any]]:
    limited = "" if limit is None else f" LIMIT {int(limit)}"
    return _rows(session, dataset, table, f"SELECT * FROM {name_of(dataset, table)}{limited}")


def read_batches(session: Session, dataset: str, table: str) -> Iterator[pa.RecordBatch]:
    """All rows as they are at one moment, a part at a time."""
    _read_all(session.db)
    context, relation = _reading(dataset, table), name_of(dataset, table)
    with session.transaction():
        session.run(f"DECLARE rows_of_table NO SCROLL CURSOR FOR SELECT * FROM {relation}", context=context)
        while rows := (
            cursor := session.run(f"FETCH {BATCH_ROWS} FROM rows_of_table", context=context)
        ).fetchall():
            names = [column.name for column in cursor.description or ()]
            yield pa.RecordBatch.from_pydict(dict(zip(names, zip(*rows, strict=True), strict=True)))


def read_newest_row(
    session: Session, dataset: str, table: str, column: str, value: str, order: Sequence[str]
) -> dict[str, Any] | None:
    if not has_table(session, dataset, table):
        return None
    rows = _rows(session, dataset, table, newest_row_query(name_of(dataset, table), column, order), [value])
    return rows[0] if rows else None


def count_rows_by(
    session: Session, dataset: str, table: str, columns: Sequence[str], example: str
) -> list[tuple[Any, ...]]:
    query = count_by_query(name_of(dataset, table), columns, example)
    return session.run(query, context=_reading(dataset, table)).fetchall()


def find_empty_cells(
    session: Session, dataset: str, table: str, key: str, column: str, values: Sequence[str]
) -> set[str]:
    query = empty_cells_query(name_of(dataset, table), key, column)
    keys = session.run(query, [list(values)], context=_reading(dataset, table))
    return {str(text) for (text,) in keys}


def count_rows(session: Session, dataset: str, table: str) -> int:
    query = f"SELECT count(*) FROM {name_of(dataset, table)}"
    row = session.run(query, context=_reading(dataset, table)).fetchone()
    return int(row[0]) if row else 0


def _rows(
    session: Session, dataset: str, table: str, query: str, values: Sequence[Any] = ()
) -> list[dict[str, Any]]:
    _read_all(session.db)
    cursor = session.run(query, values, _reading(dataset, table))
    names = [column.name for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def _reading(dataset: str, table: str) -> ErrorContext:
    return ErrorContext(needs=f"GRANT SELECT ON {name_of(dataset, table)} TO {{user}}")


def _read_all(db: psycopg.Connection[Any]) -> None:
    from psycopg import DataError, adapt
    from psycopg.types import datetime, string

    def lenient(loader: type[adapt.Loader]) -> type[adapt.Loader]:
        class Lenient(loader):  # type: ignore[misc, valid-type]
            def load(self, data: Any) -> Any:
                try:
                    return super().load(data)
                except DataError:
                    return bytes(data).decode()

        return Lenient

    for name in ("json", "jsonb"):
        db.adapters.register_loader(name, string.TextLoader)
    for name, loader in (
        ("date", datetime.DateLoader),
        ("timestamp", datetime.TimestampLoader),
        ("timestamptz", datetime.TimestamptzLoader),
    ):
        db.adapters.register_loader(name, lenient(loader))

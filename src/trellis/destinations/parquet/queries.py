"""What is asked of the rows of Parquet files, answered by a DuckDB in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trellis.destinations.refusals import first_line
from trellis.destinations.scan.connections import configure_connection
from trellis.destinations.scan.relation import files_relation
from trellis.destinations.sql.queries import count_by_query, empty_cells_query, newest_row_query
from trellis.schema.model import Column


def count_by(paths: Sequence[str], columns: Sequence[str], example: str) -> list[tuple[Any, ...]]:
    """Rows of files per values of columns, and the least text in another one. Raises FileNotFoundError."""
    import duckdb

    needed = dict.fromkeys((*columns, example))
    source = files_relation(paths, map(Column, needed), needed)
    try:
        with duckdb.connect(":memory:") as db:
            return db.execute(count_by_query(source, columns, example)).fetchall()
    except duckdb.IOException as bad:
        raise FileNotFoundError(first_line(bad)) from bad


def empty_cells(paths: Sequence[str], key: str, column: str, values: Sequence[str]) -> set[str]:
    """Those of the values, as text, that one row of files has as its key, without a value in a column.

    Raises FileNotFoundError.
    """
    import duckdb

    source = files_relation(paths, map(Column, (key, column)), (key, column))
    query = empty_cells_query(source, key, column)
    try:
        with duckdb.connect(":memory:") as db:
            return {str(text) for (text,) in db.execute(query, [list(values)]).fetchall()}
    except duckdb.IOException as bad:
        raise FileNotFoundError(first_line(bad)) from bad


def newest_row(
    paths: Sequence[str], columns: Sequence[str], column: str, value: str, order: Sequence[str]
) -> dict[str, Any] | None:
    """The last row by the columns of `order` of those with a text in a column. Raises FileNotFoundError."""
    import duckdb

    query = newest_row_query(files_relation(paths, map(Column, columns), columns), column, order)
    try:
        with duckdb.connect(":memory:") as db:
            configure_connection(db)
            rows: list[dict[str, Any]] = db.sql(query, params=[value]).to_arrow_table().to_pylist()
            return rows[0] if rows else None
    except duckdb.IOException as bad:
        raise FileNotFoundError(first_line(bad)) from bad

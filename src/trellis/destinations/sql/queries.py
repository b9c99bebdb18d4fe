"""Queries of single tables that DuckDB and PostgreSQL share. A relation is an item of a FROM clause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trellis.destinations.sql.names import quoted


def load_query(loads: str, load_id: str) -> str:
    """A query that has a row if the load $1 is recorded; `load_id` is the column of its id."""
    return f"SELECT 1 FROM {loads} WHERE {quoted(load_id)} = $1 LIMIT 1"


def newest_version_query(versions: str, column: str) -> str:
    """A query of a column of the newest stored version of the schema $1."""
    return (
        f"SELECT {quoted(column)} FROM {versions} "
        'WHERE "schema_name" = $1 ORDER BY "version" DESC, "inserted_at" DESC LIMIT 1'
    )


def version_order(row: Mapping[str, Any]) -> tuple[Any, Any]:
    """The sort key of rows with stored versions: the newest is the last one."""
    return row["version"], row["inserted_at"]


def newest_row_query(relation: str, column: str, order: Iterable[str]) -> str:
    """A query of the last row, by the columns of `order`, of those in which a column is $1."""
    by = ", ".join(f"{quoted(name)} DESC NULLS LAST" for name in order)
    return f"SELECT * FROM {relation} WHERE {quoted(column)} = $1 ORDER BY {by} LIMIT 1"


def count_by_query(relation: str, columns: Sequence[str], example: str) -> str:
    """A query of the values of columns, how many rows have them, and the least text in another column."""
    by = ", ".join(map(quoted, columns))
    least = f'min({_text(example)} COLLATE "C")'
    return f"SELECT {by}, count(*), {least} FROM {relation} GROUP BY {by}"


def empty_cells_query(relation: str, key: str, column: str) -> str:
    """A query of the keys, as text, among those in $1 that one row has, with NULL in a column."""
    text = _text(key)
    once = f"GROUP BY {text} HAVING count(*) = 1 AND count({quoted(column)}) = 0"
    return f"SELECT {text} FROM {relation} WHERE {text} = ANY(CAST($1 AS VARCHAR[])) {once}"


def _text(column: str) -> str:
    return f"CAST({quoted(column)} AS VARCHAR)"

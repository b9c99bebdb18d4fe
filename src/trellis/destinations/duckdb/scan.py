"""Parquet files as an SQL relation of DuckDB: the columns of a table by name, in the order of the input."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from trellis.destinations.sql.names import quoted
from trellis.errors import SchemaError
from trellis.schema.model import Column
from trellis.warehouses.catalog.databases import DUCKDB


def literal(text: str) -> str:
    """An SQL string.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def relation(paths: Sequence[str], columns: Iterable[Column], there: Collection[str]) -> str:
    """What stands in a FROM clause: these columns of these files, NULL where no file has one of them."""
    if not paths:
        return f"(SELECT {', '.join(map(_null, columns))} WHERE FALSE)"
    picked = ", ".join(_read(c) if c.name in there else _null(c) for c in columns)
    files = ", ".join(literal(_no_pattern(path)) for path in paths)
    return f"(SELECT {picked} FROM read_parquet([{files}], union_by_name = true, hive_partitioning = false))"


def newest_of(relation: str, column: str, order: Iterable[str]) -> str:
    """A query of the last row, by the columns of `order`, of those in which a column is $1."""
    by = ", ".join(f"{quoted(name)} DESC NULLS LAST" for name in order)
    return f"SELECT * FROM {relation} WHERE {quoted(column)} = $1 ORDER BY {by} LIMIT 1"


def _read(column: Column) -> str:
    return quoted(column.name)


def _null(column: Column) -> str:
    null = f"CAST(NULL AS {_read_as(column)})" if column.complete else "NULL"
    return f"{null} AS {quoted(column.name)}"


def _read_as(column: Column) -> str:
    """The type in which DuckDB reads a column of a file: doubles, where it has no decimals so wide."""
    try:
        return DUCKDB.type_of(column)
    except SchemaError:
        return "DOUBLE"


def _no_pattern(path: str) -> str:
    """A path that DuckDB does not take for a pattern.

    >>> _no_pattern("what?/[a]/x.parquet")
    'what[?]/[[]a]/x.parquet'
    """
    return "".join(f"[{c}]" if c in "[*?" else c for c in path)

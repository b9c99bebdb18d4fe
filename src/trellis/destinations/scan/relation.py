"""Parquet files as an SQL relation of DuckDB: the columns of a table by name, in the order of the input."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import pyarrow.parquet as pq

from trellis.destinations.sql.literals import string_literal
from trellis.destinations.sql.names import quoted
from trellis.errors import SchemaError
from trellis.schema.model import Column
from trellis.warehouses.catalog.databases import DUCKDB


def files_relation(paths: Sequence[str], columns: Iterable[Column], present: Collection[str]) -> str:
    """An item of a FROM clause: these columns of these files, NULL for those that are not `present`."""
    if not paths:
        return f"(SELECT {', '.join(map(_null, columns))} WHERE FALSE)"
    selected = ", ".join(quoted(c.name) if c.name in present else _null(c) for c in columns)
    files = ", ".join(string_literal(_escape_pattern(path)) for path in paths)
    return (
        f"(SELECT {selected} FROM read_parquet([{files}], union_by_name = true, hive_partitioning = false))"
    )


def column_names(paths: Iterable[str]) -> set[str]:
    """The columns that some of the files have."""
    return {name for path in paths for name in pq.read_schema(path).names}


def _null(column: Column) -> str:
    null = f"CAST(NULL AS {_readable_type(column)})" if column.complete else "NULL"
    return f"{null} AS {quoted(column.name)}"


def _readable_type(column: Column) -> str:
    """The type in which DuckDB reads a column of a file: doubles, where it has no decimals so wide."""
    try:
        return DUCKDB.type_of(column)
    except SchemaError:
        return "DOUBLE"


def _escape_pattern(path: str) -> str:
    """A path that DuckDB does not take for a pattern.

    >>> _escape_pattern("what?/[a]/x.parquet")
    'what[?]/[[]a]/x.parquet'
    """
    return "".join(f"[{c}]" if c in "[*?" else c for c in path)

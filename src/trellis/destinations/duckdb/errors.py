"""Errors of DuckDB as one sentence that names the table and the column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from trellis.destinations.refusals import first_line, null_violation, type_mismatch
from trellis.destinations.scan.relation import files_relation
from trellis.destinations.sql.names import quoted
from trellis.errors import SchemaError, TrellisError
from trellis.schema.model import Table
from trellis.warehouses.catalog.databases import DUCKDB

if TYPE_CHECKING:
    import duckdb


def refusal(
    db: duckdb.DuckDBPyConnection,
    bad: Exception,
    table: Table,
    real: Mapping[str, str],
    paths: Sequence[str],
) -> TrellisError:
    """The error for rows that do not fit the table as it really is."""
    missing = re.search(r"NOT NULL constraint failed: (.*)", first_line(bad))
    if missing:
        return null_violation(table.name, _last_name(missing[1]))
    return _misfit(db, table, real, paths) or SchemaError(
        f"table {table.name}: the rows do not fit the table in the destination ({first_line(bad)}); "
        "nothing was loaded",
        table=table.name,
    )


def _misfit(
    db: duckdb.DuckDBPyConnection, table: Table, real: Mapping[str, str], paths: Sequence[str]
) -> SchemaError | None:
    """The first column that cannot be cast, with a value. The transaction is over, so another asks."""
    import duckdb

    types = {name.lower(): type_ for name, type_ in real.items()}
    other = db.cursor()
    try:
        for column in table.complete_columns:
            target_type, name = DUCKDB.type_of(column), quoted(column.name)
            real_type = types.get(column.name.lower(), target_type)
            if real_type != target_type and paths:
                source = files_relation(paths, [column], {column.name})
                misfit = f"{name} IS NOT NULL AND TRY_CAST({name} AS {real_type}) IS NULL"
                query = f"SELECT {name} FROM {source} WHERE {misfit} LIMIT 1"
                try:
                    row = other.execute(query).fetchone()
                except duckdb.Error:
                    continue
                if row:
                    return type_mismatch(table.name, column.name, real_type, target_type, row[0])
    finally:
        other.close()
    return None


def _last_name(qualified: str) -> str:
    """The last part of a name that DuckDB quoted where it had to.

    >>> _last_name("orders.id"), _last_name('"b.c"."q ""r"')
    ('id', 'q "r')
    """
    last = re.search(r'("(?:[^"]|"")*"|[^."]+)$', qualified.strip())
    name = last[1] if last else qualified
    return name[1:-1].replace('""', '"') if name.startswith('"') else name

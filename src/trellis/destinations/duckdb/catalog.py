"""The tables of a dataset as DuckDB knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.destinations.base import CatalogTable
from trellis.warehouses.catalog.databases import DUCKDB

if TYPE_CHECKING:
    import duckdb


def read_catalog(db: duckdb.DuckDBPyConnection, dataset: str) -> dict[str, CatalogTable]:
    columns_by_table: dict[str, dict[str, str]] = {}
    required: dict[str, set[str]] = {}
    comments: dict[str, dict[str, str]] = {}
    rows = db.execute(
        "SELECT table_name, column_name, data_type, is_nullable, comment FROM duckdb_columns() "
        "WHERE database_name = current_database() AND schema_name = ? ORDER BY table_name, column_index",
        [dataset],
    ).fetchall()
    for table, column, type_, nullable, comment in rows:
        columns_by_table.setdefault(table, {})[column] = type_
        required.setdefault(table, set()).update(() if nullable else (column,))
        comments.setdefault(table, {}).update({column: comment} if comment else {})
    tables = db.execute(
        "SELECT table_name, comment FROM duckdb_tables() WHERE database_name = current_database() "
        "AND schema_name = ? AND comment IS NOT NULL",
        [dataset],
    ).fetchall()
    for table, comment in tables:
        comments[table][""] = comment
    views = db.execute(
        "SELECT view_name FROM duckdb_views() WHERE database_name = current_database() AND schema_name = ?",
        [dataset],
    ).fetchall()
    return {
        name: CatalogTable(
            name,
            columns,
            {column: DUCKDB.data_type(type_) for column, type_ in columns.items()},
            (name,) in views,
            required[name],
            comments[name],
        )
        for name, columns in columns_by_table.items()
    }

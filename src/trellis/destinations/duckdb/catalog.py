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
    rows = db.execute(
        "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() "
        "WHERE database_name = current_database() AND schema_name = ? ORDER BY table_name, column_index",
        [dataset],
    ).fetchall()
    for table, column, type_, nullable in rows:
        columns_by_table.setdefault(table, {})[column] = type_
        required.setdefault(table, set()).update(() if nullable else (column,))
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
        )
        for name, columns in columns_by_table.items()
    }

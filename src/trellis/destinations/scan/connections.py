"""Settings of each connection to DuckDB, that of a destination as those that read and write files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


def configure_connection(connection: duckdb.DuckDBPyConnection) -> None:
    """Times in UTC, and no progress bar.

    The bar is turned off only where it is on: in a notebook without ipywidgets it is off, and DuckDB refuses
    every change of the setting.
    """
    connection.execute("SET TimeZone = 'UTC'")
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        connection.execute("SET enable_progress_bar = false")

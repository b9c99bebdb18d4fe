"""Connections to DuckDB, that of a destination as those that read and write files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import duckdb

_HELD: Final = ("Could not set lock on file", "file handle conflict")
"""By another process; by a thread of this one that is just opening or closing it."""


def configure_connection(connection: duckdb.DuckDBPyConnection) -> None:
    """Times in UTC, and no progress bar.

    The bar is turned off only where it is on: in a notebook without ipywidgets it is off, and DuckDB refuses
    every change of the setting.
    """
    connection.execute("SET TimeZone = 'UTC'")
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        connection.execute("SET enable_progress_bar = false")


def lock_holder(message: str) -> str | None:
    """Who holds the file that an error of DuckDB is about; None where it is about something else."""
    if not any(sign in message for sign in _HELD):
        return None
    holder = message.partition("Conflicting lock is held in ")[2].partition(". ")[0]
    return holder or "it is locked"

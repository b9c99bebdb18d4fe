"""Connections to DuckDB, that of a destination as those that read and write files."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import duckdb

MEMORY: Final = ":memory:"
_HELD: Final = ("Could not set lock on file", "file handle conflict")
"""By another process; by a thread of this one that is just opening or closing it."""


def connect_to(path: str) -> duckdb.DuckDBPyConnection:
    """A connection to the database in a file, which is made where there is none, or to one in memory.

    Raises duckdb.Error.
    """
    import duckdb

    if path != MEMORY and not os.path.exists(path) and not os.path.exists(f"{path}.wal"):
        _create_file(path)
    return duckdb.connect(path)


def _create_file(path: str) -> None:
    """Make an empty database that is seen once it is complete, unless another process makes one first.

    DuckDB looks whether there is a file, then opens, locks and writes it: of two processes that do so at one
    moment one may find an empty file, which it refuses, or make its own over what the other has committed.
    """
    import duckdb

    # Where the folder is missing or its file system has no links, DuckDB makes the file or says why not.
    with suppress(duckdb.Error, OSError):
        complete = f"{path}.{secrets.token_hex(6)}.new"
        try:
            duckdb.connect(complete).close()
            os.link(complete, os.path.realpath(path))
        finally:
            os.unlink(complete)


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

"""SQLite and PostgreSQL behind one interface: transactions that run statements."""

from __future__ import annotations

import queue
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from trellis.errors import SourceError, UsageError

Row = tuple[Any, ...]
Execute = Callable[..., list[Row]]
"""Runs a statement with its values, which stand for `?` in it, and returns its rows."""

POOL_SIZE: Final = 8
LOCK_WAIT: Final = 60
"""How many seconds a transaction waits for those of others."""
_WRITERS: Final = 0x7472656C
"""The number of the lock that writers of one PostgreSQL database share."""


class StoreUnavailable(SourceError):
    """The database of a registry cannot be reached, is locked, or refuses."""


class Database(Protocol):
    kind: str

    def transaction(self, *, write: bool = False) -> AbstractContextManager[Execute]:
        """Committed at the end, rolled back after an error. Only one at a time writes, in all processes.

        Raises StoreUnavailable.
        """


def open_database(url: str) -> Database:
    """The database of `sqlite:FILE` or `postgresql://...`. Raises UsageError, StoreUnavailable."""
    if url.startswith("sqlite:") and (path := url.removeprefix("sqlite:")):
        if not Path(path).absolute().parent.is_dir():
            raise UsageError(f"{url}: no folder {Path(path).absolute().parent}; make it first")
        return SqliteDatabase(path)
    if url.startswith(("postgresql://", "postgres://")):
        return PostgresDatabase(url)
    raise UsageError(f"{redact(url)!r} is no store: expected sqlite:FILE or postgresql://HOST/DATABASE")


def redact(url: str) -> str:
    """
    >>> redact("postgresql://me:secret@host/registry")
    'postgresql://me:***@host/registry'
    """
    return re.sub(r"^(\w+://[^/@:]*):.*@", r"\1:***@", url)


@dataclass
class _Pool:
    """Connections that are used again, at most POOL_SIZE of them at a time, but not after an `error`."""

    connect: Callable[[], Any]
    error: type[Exception]
    idle: queue.LifoQueue[Any] = field(default_factory=queue.LifoQueue)

    def __post_init__(self) -> None:
        for _ in range(POOL_SIZE):
            self.idle.put(None)

    @contextmanager
    def connection(self) -> Iterator[Any]:
        connection = self.idle.get()
        try:
            connection = connection or self.connect()
            yield connection
        except self.error:
            if connection is not None:
                connection.close()
                connection = None
            raise
        finally:
            self.idle.put(connection)


class SqliteDatabase:
    kind = "sqlite"

    def __init__(self, path: str) -> None:
        self._path = path
        self._pool = _Pool(self._connect, sqlite3.Error)

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Execute]:
        try:
            with self._pool.connection() as connection:

                def execute(statement: str, *values: object) -> list[Row]:
                    rows: list[Row] = connection.execute(statement, values).fetchall()
                    return rows

                execute("BEGIN IMMEDIATE" if write else "BEGIN")
                try:
                    yield execute
                except BaseException:
                    connection.rollback()
                    raise
                execute("COMMIT")
        except sqlite3.Error as error:
            raise StoreUnavailable(f"sqlite:{self._path}: {error}") from error

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=LOCK_WAIT, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        return connection


class PostgresDatabase:
    kind = "postgresql"

    def __init__(self, url: str) -> None:
        """Raises UsageError without the driver."""
        try:
            import psycopg
        except ImportError:
            raise UsageError(
                "a store in PostgreSQL needs psycopg: install trellis-spark[registry], which brings it"
            ) from None
        self._url = url
        self._driver = psycopg
        self._pool = _Pool(self._connect, psycopg.Error)

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Execute]:
        try:
            with self._pool.connection() as connection, connection.transaction():

                def execute(statement: str, *values: object) -> list[Row]:
                    cursor = connection.execute(statement.replace("?", "%s"), values)
                    return cursor.fetchall() if cursor.description else []

                if write:
                    execute("SELECT pg_advisory_xact_lock(?)", _WRITERS)
                yield execute
        except self._driver.Error as error:
            first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise StoreUnavailable(f"{redact(self._url)}: {first_line}") from error

    def _connect(self) -> Any:
        return self._driver.connect(self._url, autocommit=True, connect_timeout=10)

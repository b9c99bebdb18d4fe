"""The database of a catalogue: SQLite in the folder of the store, or PostgreSQL."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from trellis.errors import StorageError, UsageError

Record = tuple[Any, ...]

LOCK_WAIT: Final = 60
"""How many seconds a change waits for those of others."""
_WRITERS: Final = 0x7472_7974
"""The number of the lock that writers of one PostgreSQL database share."""
_SCHEMA: Final = "trellis_yt"
_NEEDED_ROOM: Final = 2**17
"""Bytes that SQLite needs beside its file even for reading."""


class Database(Protocol):
    """One connection. Statements have `?` for their values. All methods raise StorageError."""

    place: str
    blob: str
    """The type of columns of bytes."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statement: str, *values: object) -> list[Record]: ...

    def execute_many(self, statement: str, records: Sequence[Sequence[object]]) -> None:
        """The statement with the values of each record."""

    def has_table(self, name: str) -> bool: ...

    def transaction(self) -> AbstractContextManager[None]:
        """All changes inside, or none. Only one at a time changes anything, in all processes."""

    def snapshot(self) -> AbstractContextManager[None]:
        """All reads inside see one state."""

    def close(self) -> None: ...


class SqliteDatabase:
    blob = "BLOB"

    def __init__(self, file: Path) -> None:
        self.place = str(file)
        self._folder = file.parent
        try:
            self._connection = sqlite3.connect(file, timeout=LOCK_WAIT, isolation_level=None)
        except sqlite3.Error as error:
            raise self._failure(error) from error
        self.execute("PRAGMA journal_mode = WAL")
        # A commit survives the death of the process. It need not reach the disk before its chunks do.
        self.execute("PRAGMA synchronous = NORMAL")

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def execute(self, statement: str, *values: object) -> list[Record]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def execute_many(self, statement: str, records: Sequence[Sequence[object]]) -> None:
        try:
            self._connection.executemany(statement, records)
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _failure(self, error: sqlite3.Error) -> StorageError:
        """SQLite calls it an I/O error where there is no room for its journal."""
        is_full = shutil.disk_usage(self._folder).free < _NEEDED_ROOM
        advice = "; make room on its disk and run this again" if is_full else ""
        return StorageError(f"the catalogue {self.place} cannot be used: {error}{advice}")

    def has_table(self, name: str) -> bool:
        return bool(self.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self.in_transaction:  # SQLite rolls back by itself where the disk is full
                self._connection.rollback()
            raise
        self.execute("COMMIT")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        self.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.rollback()

    def close(self) -> None:
        self._connection.close()


class PostgresDatabase:
    """The tables are in a schema of their own."""

    blob = "BYTEA"

    def __init__(self, url: str) -> None:
        """Raises UsageError without the driver."""
        try:
            import psycopg
        except ImportError:
            raise UsageError(
                "a catalogue in PostgreSQL needs a driver that is not installed: "
                "pip install 'trellis-spark[postgres]'"
            ) from None
        self.place = redact(url)
        self._error = psycopg.Error
        self._idle = psycopg.pq.TransactionStatus.IDLE
        try:
            self._connection = psycopg.connect(url, autocommit=True, connect_timeout=10)
        except psycopg.Error as error:
            raise self._failure(error) from error
        self.execute(f"SET search_path = {_SCHEMA}")
        if self.execute("SELECT to_regnamespace(?)::text", _SCHEMA) == [(None,)]:
            with self.transaction():
                self.execute(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")

    @property
    def in_transaction(self) -> bool:
        return self._connection.info.transaction_status != self._idle

    def execute(self, statement: str, *values: object) -> list[Record]:
        try:
            cursor = self._connection.execute(statement.replace("?", "%s").encode(), values)
            return cursor.fetchall() if cursor.description else []
        except self._error as error:
            raise self._failure(error) from error

    def execute_many(self, statement: str, records: Sequence[Sequence[object]]) -> None:
        try:
            self._connection.cursor().executemany(statement.replace("?", "%s").encode(), records)
        except self._error as error:
            raise self._failure(error) from error

    def has_table(self, name: str) -> bool:
        return self.execute("SELECT to_regclass(?)::text", f"{_SCHEMA}.{name}") != [(None,)]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.execute("BEGIN")
        try:
            self.execute("SELECT pg_advisory_xact_lock(?)", _WRITERS)
            yield
        except BaseException:
            self._connection.rollback()
            raise
        self.execute("COMMIT")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        self.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            self._connection.rollback()

    def close(self) -> None:
        self._connection.close()

    def _failure(self, error: Exception) -> StorageError:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        return StorageError(f"the catalogue {self.place} cannot be used: {reason}")


def redact(url: str) -> str:
    """
    >>> redact("postgresql://me:secret@host/tables")
    'postgresql://me:***@host/tables'
    """
    return re.sub(r"^(\w+://[^/@:]*):.*@", r"\1:***@", url)

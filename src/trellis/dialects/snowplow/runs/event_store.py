"""The events of earlier runs, so that copies which arrive in a later run are told."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, Protocol

from trellis.destinations.url import redacted
from trellis.errors import DestinationError

_EXPIRES: Final = 180 * 86_400
_BATCH: Final = 10_000
_LOCK_WAIT: Final = 600.0
_SQLITE_TABLE: Final = "events"
_POSTGRES_TABLE: Final = "trellis_events"
_ARRIVALS: Final = "CREATE TEMP TABLE arrivals (record TEXT, event_id TEXT, fingerprint TEXT)"


class Arrival(NamedTuple):
    """An event of a run with its place in it."""

    record: str
    event_id: str
    fingerprint: str


class EventStore(Protocol):
    """Remembers events for 180 days."""

    def claim(self, arrivals: Iterable[Arrival], batch: str) -> set[str]:
        """Remember events as those of a batch; the places of those that another batch brought before.

        A batch that is claimed again keeps its events, so a run can be repeated. Raises DestinationError.
        """
        ...


def open_event_store(text: str) -> EventStore:
    """The store of a URL of PostgreSQL, or else of a file of SQLite."""
    if text.startswith(("postgresql://", "postgres://")):
        return PostgresEventStore(text)
    return SqliteEventStore(text.removeprefix("sqlite:"))


@dataclass(frozen=True)
class SqliteEventStore:
    """A file, for shredders of one machine."""

    path: str

    def claim(self, arrivals: Iterable[Arrival], batch: str) -> set[str]:
        known: set[str] = set()
        remaining = iter(arrivals)
        try:
            with closing(sqlite3.connect(self.path, timeout=_LOCK_WAIT)) as connection, connection:
                connection.execute(
                    f"CREATE TABLE IF NOT EXISTS {_SQLITE_TABLE} (event_id TEXT, fingerprint TEXT, "
                    "batch TEXT, seen_at REAL, PRIMARY KEY (event_id, fingerprint)) WITHOUT ROWID"
                )
                connection.execute(_ARRIVALS)
                connection.execute(
                    f"DELETE FROM {_SQLITE_TABLE} WHERE seen_at < ?", (time.time() - _EXPIRES,)
                )
                while some := list(islice(remaining, _BATCH)):
                    connection.execute("DELETE FROM arrivals")
                    connection.executemany("INSERT INTO arrivals VALUES (?, ?, ?)", some)
                    connection.execute(
                        f"INSERT OR IGNORE INTO {_SQLITE_TABLE} "
                        "SELECT event_id, fingerprint, ?, ? FROM arrivals",
                        (batch, time.time()),
                    )
                    rows = connection.execute(_known_query(_SQLITE_TABLE, "?"), (batch,))
                    known.update(record for (record,) in rows)
        except sqlite3.Error as error:
            raise DestinationError(
                f"{self.path}: the store of events cannot be used ({error}); check the file, its rights and "
                "the free space"
            ) from None
        return known


@dataclass(frozen=True)
class PostgresEventStore:
    """A table of PostgreSQL, for shredders of many machines."""

    url: str

    def claim(self, arrivals: Iterable[Arrival], batch: str) -> set[str]:
        import psycopg

        known: set[str] = set()
        remaining = iter(arrivals)
        try:
            with psycopg.connect(self.url) as connection:
                connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (_POSTGRES_TABLE,))
                connection.execute(
                    f"CREATE TABLE IF NOT EXISTS {_POSTGRES_TABLE} (event_id TEXT, fingerprint TEXT, "
                    "batch TEXT, seen_at TIMESTAMPTZ DEFAULT now(), PRIMARY KEY (event_id, fingerprint))"
                )
                connection.execute(f"{_ARRIVALS} ON COMMIT DROP")
                connection.execute(
                    f"DELETE FROM {_POSTGRES_TABLE} WHERE seen_at < now() - make_interval(secs => %s)",
                    (_EXPIRES,),
                )
                while some := list(islice(remaining, _BATCH)):
                    connection.execute("TRUNCATE arrivals")
                    with connection.cursor() as cursor, cursor.copy("COPY arrivals FROM STDIN") as copy:
                        for arrival in some:
                            copy.write_row([text.replace("\0", "\ufffd") for text in arrival])
                    connection.execute(
                        f"INSERT INTO {_POSTGRES_TABLE} SELECT event_id, fingerprint, %s FROM arrivals "
                        "ON CONFLICT DO NOTHING",
                        (batch,),
                    )
                    rows = connection.execute(_known_query(_POSTGRES_TABLE, "%s"), (batch,))
                    known.update(record for (record,) in rows)
        except psycopg.Error as error:
            raise DestinationError(
                f"{redacted(self.url)}: the store of events cannot be used "
                f"({str(error).partition(chr(10))[0]}); check the URL, and that the user may create tables"
            ) from None
        return known


def _known_query(table: str, mark: str) -> str:
    """The places of arrivals that another batch brought."""
    joined = f"arrivals JOIN {table} USING (event_id, fingerprint)"
    return f"SELECT record FROM {joined} WHERE {table}.batch <> {mark}"

"""The events of earlier runs, so that copies which arrive in a later run are told."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from trellis.errors import DestinationError

_EXPIRES: Final = 180 * 86_400
_BATCH: Final = 10_000
_LOCK_WAIT: Final = 600.0
_CREATE: Final = """
    CREATE TABLE IF NOT EXISTS events (
        event_id TEXT, fingerprint TEXT, batch TEXT, seen_at REAL, PRIMARY KEY (event_id, fingerprint)
    ) WITHOUT ROWID
"""
_ARRIVALS: Final = """
    CREATE TEMP TABLE IF NOT EXISTS arrivals (record TEXT, event_id TEXT, fingerprint TEXT)
"""
_ADD: Final = "INSERT OR IGNORE INTO events SELECT event_id, fingerprint, ?, ? FROM arrivals"
_KNOWN: Final = """
    SELECT record FROM arrivals JOIN events USING (event_id, fingerprint) WHERE events.batch <> ?
"""


class Arrival(NamedTuple):
    """An event of a run with its place in it."""

    record: str
    event_id: str
    fingerprint: str


@dataclass(frozen=True)
class EventStore:
    """A SQLite file. An event is remembered for 180 days."""

    path: str

    def claim(self, arrivals: Iterable[Arrival], batch: str) -> set[str]:
        """Remember events as those of a batch; the places of those that another batch brought before.

        A batch that is claimed again keeps its events, so a run can be repeated. Raises DestinationError.
        """
        known: set[str] = set()
        remaining = iter(arrivals)
        try:
            with closing(sqlite3.connect(self.path, timeout=_LOCK_WAIT)) as connection, connection:
                connection.execute(_CREATE)
                connection.execute(_ARRIVALS)
                connection.execute("DELETE FROM events WHERE seen_at < ?", (time.time() - _EXPIRES,))
                while some := list(islice(remaining, _BATCH)):
                    connection.execute("DELETE FROM arrivals")
                    connection.executemany("INSERT INTO arrivals VALUES (?, ?, ?)", some)
                    connection.execute(_ADD, (batch, time.time()))
                    known.update(record for (record,) in connection.execute(_KNOWN, (batch,)))
        except sqlite3.Error as error:
            raise DestinationError(
                f"{self.path}: the store of events cannot be used ({error}); check the file, its rights and "
                "the free space"
            ) from None
        return known

"""A connection to PostgreSQL as loads and readers use it; what goes wrong on it is Lost or Refused."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.destinations.postgres.errors import IS_STARTING, cannot_connect
from trellis.destinations.refusals import first_line

if TYPE_CHECKING:
    import psycopg

LOCK_WAIT = 60
"""Seconds that a load waits for a table, if the user's settings say nothing: others queue up behind it."""
STARTUP_WAIT = 30.0
_POLL = 0.2
_DEFAULTS: Mapping[str, Any] = {
    "connect_timeout": 10,
    "fallback_application_name": "trellis",
    "keepalives_idle": 60,
    "keepalives_interval": 10,
    "keepalives_count": 6,
    "client_encoding": "UTF8",
}
_SETTINGS = """
    SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET bytea_output = 'hex'; SET extra_float_digits = 1;
    SET standard_conforming_strings = on; SET statement_timeout = 0;
    SET idle_in_transaction_session_timeout = 0;
"""
_WATCHFUL = (
    "client_connection_check_interval = '5s'",
    "tcp_keepalives_idle = 60; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 6",
)
"""So that the server sees soon that a load is dead, ends what it was doing and lets go of its locks."""
_LOST = ("57P01", "57P02", "57P03", "57P05", "08000", "08003", "08006", "08P01")
"""The server ends or ended, or the connection broke."""


class Lost(Exception):
    """The connection is gone. `unknown`: it went while the transaction was being committed."""

    def __init__(self, reason: str, unknown: bool = False) -> None:
        super().__init__(reason)
        self.unknown = unknown


@dataclass(frozen=True)
class Aim:
    """What a statement is about: a table and its quoted name, and what would give the right to run it."""

    table: str = ""
    relation: str = ""
    needs: str = ""


NOTHING = Aim()


class Refused(Exception):
    """The server ran a statement and refused it."""

    def __init__(self, bad: psycopg.Error, aim: Aim = NOTHING) -> None:
        super().__init__(first_line(bad))
        self.bad = bad
        self.code = bad.sqlstate or ""
        self.aim = aim


@dataclass(frozen=True)
class Session:
    """An open connection; each statement commits by itself unless told to BEGIN."""

    db: psycopg.Connection[tuple[Any, ...]]
    shown: str

    @property
    def user(self) -> str:
        return self.db.info.user

    @property
    def parameters(self) -> dict[str, Any]:
        """How to reach the very server that answered, also from another machine; with the password."""
        info = self.db.info
        found: dict[str, Any] = {
            **info.get_parameters(),
            "host": info.host,
            "port": info.port,
            "password": info.password,
        }
        if "hostaddr" in found:
            found["hostaddr"] = info.hostaddr
        return {name: value for name, value in found.items() if value}

    def run(
        self, statement: str, values: Sequence[Any] = (), aim: Aim = NOTHING
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        """Values stand as $1, $2 in the statement. Raises Lost, Refused."""
        import psycopg

        try:
            return self.db.execute(statement.encode(), values or None)
        except psycopg.Error as bad:
            raise failed(self.db, bad, aim) from bad

    def value(self, query: str, values: Sequence[Any] = ()) -> Any:
        """The first column of the first row, or None."""
        found = self.run(query, values).fetchone()
        return None if found is None else found[0]

    @contextmanager
    def transaction(self, decisive: bool = False) -> Iterator[None]:
        """What is done inside is done together, or not at all; `decisive`: with it goes the load."""
        self.run("BEGIN ISOLATION LEVEL READ COMMITTED")
        try:
            yield
        except BaseException:
            with suppress(Exception):
                self.db.execute(b"ROLLBACK")
            raise
        try:
            self.run("COMMIT")
        except Lost as lost:
            raise Lost(str(lost), unknown=decisive) from lost


def failed(db: psycopg.Connection[Any], bad: psycopg.Error, aim: Aim = NOTHING) -> Lost | Refused:
    """What an error on a connection means."""
    return Lost(first_line(bad)) if db.closed or bad.sqlstate in _LOST else Refused(bad, aim)


def connect(parameters: Mapping[str, Any], shown: str, patience: float = 0.0) -> Session:
    """A session; `patience`: seconds to wait for a server that does not answer. Raises Unreachable."""
    import psycopg

    began = time.monotonic()
    while True:
        try:
            db = psycopg.connect(
                **{**_DEFAULTS, **parameters},
                autocommit=True,
                prepare_threshold=None,
                cursor_factory=psycopg.RawCursor,
            )
            _prepare(db)
            return Session(db, shown)
        except psycopg.Error as bad:
            starting = any(sign in str(bad) for sign in IS_STARTING)
            if time.monotonic() - began >= max(patience, STARTUP_WAIT if starting else 0.0):
                raise cannot_connect(bad, shown) from bad
            time.sleep(_POLL)


def _prepare(db: psycopg.Connection[Any]) -> None:
    import psycopg

    recent = db.info.server_version >= 140000
    endless = "SET idle_session_timeout = 0;" if recent else ""
    waits = f"SELECT set_config('lock_timeout', '{LOCK_WAIT}s', false)"
    unsaid = "current_setting('lock_timeout') = '0'"
    db.execute(f"{_SETTINGS} {endless} {waits} WHERE {unsaid}".encode())
    for setting in _WATCHFUL if recent else _WATCHFUL[1:]:
        with suppress(psycopg.errors.InvalidParameterValue):  # the system of the server may not know how
            db.execute(f"SET {setting}".encode())

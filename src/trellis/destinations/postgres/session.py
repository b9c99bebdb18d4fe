"""A connection to PostgreSQL as loads and readers use it.

What goes wrong on it is a ConnectionLost or a StatementError.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.destinations.postgres.errors import IS_STARTING, cannot_connect
from trellis.destinations.refusals import first_line
from trellis.destinations.url import redacted
from trellis.errors import UsageError, nearest

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
_LIVENESS_CHECKS = (
    "client_connection_check_interval = '5s'",
    "tcp_keepalives_idle = 60; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 6",
)
"""So that the server sees soon that a load is dead, ends what it was doing and lets go of its locks."""
_LOST = ("57P01", "57P02", "57P03", "57P05", "08000", "08003", "08006", "08P01")
"""The server ends or ended, or the connection broke."""


class ConnectionLost(Exception):
    """The connection broke. `unknown`: during COMMIT, so that nobody knows whether it counts."""

    def __init__(self, reason: str, unknown: bool = False) -> None:
        super().__init__(reason)
        self.unknown = unknown


@dataclass(frozen=True)
class ErrorContext:
    """What errors say of a statement: its table, the quoted name of it, and the GRANT that allows it."""

    table: str = ""
    relation: str = ""
    needs: str = ""


NOTHING = ErrorContext()


class StatementError(Exception):
    """The server refused a statement."""

    def __init__(self, bad: psycopg.Error, context: ErrorContext = NOTHING) -> None:
        super().__init__(first_line(bad))
        self.bad = bad
        self.code = bad.sqlstate or ""
        self.context = context


@dataclass(frozen=True)
class Session:
    """An open connection; each statement is a transaction outside of BEGIN and COMMIT."""

    db: psycopg.Connection[tuple[Any, ...]]
    shown: str

    @property
    def user(self) -> str:
        return self.db.info.user

    @property
    def parameters(self) -> dict[str, Any]:
        """How to reach the very server that answered, also from another machine; with the password."""
        info = self.db.info
        parameters: dict[str, Any] = {
            **info.get_parameters(),
            "host": info.host,
            "port": info.port,
            "password": info.password,
        }
        if "hostaddr" in parameters:
            parameters["hostaddr"] = info.hostaddr
        return {name: value for name, value in parameters.items() if value}

    def run(
        self, statement: str, values: Sequence[Any] = (), context: ErrorContext = NOTHING
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        """Values are bound as $1, $2. Raises ConnectionLost, StatementError."""
        import psycopg

        try:
            return self.db.execute(statement.encode(), values or None)
        except psycopg.Error as bad:
            raise classify_error(self.db, bad, context) from bad

    def value(self, query: str, values: Sequence[Any] = ()) -> Any:
        """The first column of the first row, or None."""
        row = self.run(query, values).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def transaction(self, decisive: bool = False) -> Iterator[None]:
        """A transaction around the statements inside; `decisive`: the one that commits the load."""
        self.run("BEGIN ISOLATION LEVEL READ COMMITTED")
        try:
            yield
        except BaseException:
            with suppress(Exception):
                self.db.execute(b"ROLLBACK")
            raise
        try:
            self.run("COMMIT")
        except ConnectionLost as lost:
            raise ConnectionLost(str(lost), unknown=decisive) from lost


def classify_error(
    db: psycopg.Connection[Any], bad: psycopg.Error, context: ErrorContext = NOTHING
) -> ConnectionLost | StatementError:
    """What an error on a connection means."""
    if db.closed or bad.sqlstate in _LOST:
        return ConnectionLost(first_line(bad))
    return StatementError(bad, context)


def connection_parameters(url: str) -> dict[str, Any]:
    """The parameters of a connection that a URL names, those of its query string too. Raises UsageError."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        parameters = dict(conninfo_to_dict(url))
        if "@" not in str(parameters.get("host") or ""):  # else the rest of a password
            return parameters
    except psycopg.ProgrammingError as bad:
        option = re.fullmatch(r'invalid URI query parameter: "([^"]*)"', str(bad).strip())
        if option:
            known = [default.keyword.decode() for default in psycopg.pq.Conninfo.get_defaults()]
            raise UsageError(
                f"{redacted(url)}: PostgreSQL has no connection option {option[1]!r}"
                f"{nearest(option[1], known)}"
            ) from None
    raise UsageError(
        f"{redacted(url)}: it is not a URL that PostgreSQL understands; write "
        "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for @, %3A for : and %2F for / in a password"
    )


def connect(parameters: Mapping[str, Any], shown: str, patience: float = 0.0) -> Session:
    """A new session. Raises ServerUnreachable.

    `patience`: how many seconds it waits for a server that does not answer.
    """
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
    for setting in _LIVENESS_CHECKS if recent else _LIVENESS_CHECKS[1:]:
        with suppress(psycopg.errors.InvalidParameterValue):  # the system of the server may not know how
            db.execute(f"SET {setting}".encode())

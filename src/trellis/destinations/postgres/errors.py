"""Errors of PostgreSQL as one sentence with the next step."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from trellis.destinations.refusals import first_line, null_violation
from trellis.destinations.sql.names import quoted
from trellis.errors import ContractError, DestinationError, SchemaError, TrellisError

if TYPE_CHECKING:
    from trellis.destinations.postgres.session import Session, StatementError

IS_STARTING = (
    "the database system is starting up",
    "the database system is shutting down",
    "the database system is in recovery mode",
    "the database system is not yet accepting connections",
)
_QUERY_SHOWN = 100
_CANNOT_CONNECT: tuple[tuple[str, str], ...] = (
    ("Connection refused", "no server answers there; start PostgreSQL, or correct host and port"),
    ("No such file or directory", "no server answers there; start PostgreSQL, or correct the host"),
    ("timeout expired", "the server does not answer; check host, port and the firewalls on the way"),
    ("Network is unreachable", "the server cannot be reached; check the host and the network"),
    ("resolve host", "the host is not known; correct its name"),
    ("could not translate host name", "the host is not known; correct its name"),
    (
        "password authentication failed",
        "the server does not take this user or password; correct them in the URL (%40 for @, %2F for /)",
    ),
    (
        "no password supplied",
        "the server wants a password; add it to the URL, or put it into PGPASSWORD or ~/.pgpass",
    ),
    ("no pg_hba.conf entry", "the server does not let this user in from here; add a line to its pg_hba.conf"),
    ("too many clients", "the server has no connection left; raise its max_connections, or load again later"),
    ("remaining connection slots", "the server has no connection left; raise its max_connections"),
)
_REFUSED_LOGINS = ("password authentication failed", "no password supplied", "no pg_hba.conf entry")
_VIEW = re.compile(r"on (?:materialized )?view (.+) depends on")


class ServerUnreachable(DestinationError):
    """No connection could be opened."""


def cannot_connect(bad: Exception, shown: str) -> ServerUnreachable:
    message = str(bad)
    for name, make in (("database", "CREATE DATABASE"), ("role", "CREATE ROLE")):
        missing = re.search(rf'{name} "(.*)" does not exist', message)
        if missing:
            return ServerUnreachable(
                f"{shown}: the server has no {name} {missing[1]}; correct its name, or create it with "
                f"{make} {quoted(missing[1])}",
                retryable=False,
            )
    for sign, sentence in _CANNOT_CONNECT:
        if sign in message:
            return ServerUnreachable(f"{shown}: {sentence}", retryable=sign not in _REFUSED_LOGINS)
    return ServerUnreachable(f"{shown}: PostgreSQL cannot be reached ({first_line(bad)}); check the URL")


def explain_error(error: StatementError, session: Session) -> TrellisError:
    """The error for a statement that the server refused. No transaction may be open."""
    make = _EXPLANATIONS.get(error.code) or _EXPLANATIONS.get(error.code[:2]) or _unknown_error
    explained = make(error, session)
    if isinstance(explained, (SchemaError, ContractError)):
        explained.table = error.context.table
    return explained


def _nothing_loaded(error: StatementError) -> str:
    return "; nothing was loaded" if error.context.table else ""


def _table_place(error: StatementError) -> str:
    return f"table {error.context.table}" if error.context.table else "PostgreSQL"


def _insufficient_privilege(error: StatementError, session: Session) -> TrellisError:
    needs = error.context.needs.replace("{user}", quoted(session.user))
    what = f"; let its owner or a superuser run: {needs}" if needs else "; ask its owner for the right"
    return DestinationError(
        f"{session.shown}: user {session.user} may not do that ({error}){what}{_nothing_loaded(error)}",
        retryable=False,
    )


def _read_only(error: StatementError, session: Session) -> TrellisError:
    return DestinationError(
        f"{session.shown}: nothing can be written there ({error}); name the primary server, add "
        "?target_session_attrs=read-write to the URL, or take default_transaction_read_only off the user",
        retryable=False,
    )


def _disk_full(error: StatementError, session: Session) -> TrellisError:
    return DestinationError(
        f"{session.shown}: the disk of the server is full ({error}); free some space there and load again; "
        "nothing was loaded"
    )


def _out_of_resources(error: StatementError, session: Session) -> TrellisError:
    return DestinationError(
        f"{session.shown}: the server lacks memory, locks or connections ({error}); load again later, or "
        f"raise the setting that it names{_nothing_loaded(error)}"
    )


def _locked(error: StatementError, session: Session) -> TrellisError:
    """Who holds the table, as far as this user may see it."""
    query = (
        "SELECT a.pid, a.usename, a.state, a.query FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
        "WHERE l.relation = to_regclass($1)::oid AND l.granted AND l.pid <> pg_backend_pid() "
        "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
        "ORDER BY l.mode = 'AccessShareLock', a.xact_start LIMIT 1"
    )
    holder = session.run(query, [error.context.relation]).fetchone()
    waited = session.value("SELECT current_setting('lock_timeout')")
    return DestinationError(_lock_message(f"table {error.context.table}", holder, waited))


def lock_held(session: Session, key: int, what: str, waited: str) -> DestinationError:
    """The error for an advisory lock that was not released in time."""
    query = (
        "SELECT a.pid, a.usename, a.state, a.query FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
        "WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted "
        "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
        "AND (l.classid::bigint << 32) | l.objid::bigint = $1::bigint LIMIT 1"
    )
    return DestinationError(
        f"{session.shown}: {_lock_message(what, session.run(query, [key]).fetchone(), waited)}"
    )


def _lock_message(what: str, holder: tuple[Any, ...] | None, waited: str) -> str:
    if holder is None:
        return f"{what}: another process held it for more than {waited}; load again; nothing was loaded"
    pid, user, state, query = holder
    shown_query = " ".join((query or "").split())[:_QUERY_SHOWN]
    return (
        f"{what}: process {pid} of user {user} ({state or 'unknown state'}, {shown_query!r}) held it for "
        f"more than {waited}; let it finish, or end it with SELECT pg_terminate_backend({pid}), and load "
        "again; nothing was loaded"
    )


def _null_violation(error: StatementError, session: Session) -> TrellisError:
    diag = error.bad.diag
    return null_violation(diag.table_name or error.context.table, diag.column_name or "?")


def _constraint_violation(error: StatementError, session: Session) -> TrellisError:
    diag = error.bad.diag
    detail = f" ({diag.message_detail})" if diag.message_detail else ""
    return SchemaError(
        f"table {diag.table_name or error.context.table}: rows of this load break its constraint "
        f"{diag.constraint_name}{detail}; correct the rows, or drop the constraint; nothing was loaded"
    )


def _unsupported(error: StatementError, session: Session) -> TrellisError:
    detail = error.bad.diag.message_detail or ""
    view = _VIEW.search(detail)
    if view is None:
        return _unknown_error(error, session)
    return SchemaError(
        f"table {error.context.table}: view {view[1]} depends on a column that must get another type "
        f"({detail}); drop the view, load, and create it again; nothing was loaded"
    )


def _dependent_objects(error: StatementError, session: Session) -> TrellisError:
    detail = (error.bad.diag.message_detail or "").replace("\n", ", ")
    return SchemaError(
        f"{_table_place(error)}: it is to be dropped, but other things depend on it ({detail}); drop those, "
        "load, and create them again; nothing was loaded"
    )


def _invalid_value(error: StatementError, session: Session) -> TrellisError:
    """A value that a column does not take; while rows are copied the server tells which."""
    context = error.bad.diag.context or ""
    column = re.search(r'COPY .*, line \d+, column (.*?)(?:: "(.*)"| *$)', context, re.DOTALL)
    where = f"{_table_place(error)}, column {column[1]}" if column else _table_place(error)
    example = f" in {column[2][:80]!r}" if column and column[2] else ""
    return SchemaError(
        f"{where}: PostgreSQL does not take a value of this load ({error}{example}); correct it, or "
        "load into another column or table; nothing was loaded"
    )


def _reserved(error: StatementError, session: Session) -> TrellisError:
    return SchemaError(
        f"{_table_place(error)}: a column has a name that PostgreSQL keeps for itself or has already "
        f"({error}); give it another name; nothing was loaded"
    )


def _bad_dataset(error: StatementError, session: Session) -> TrellisError:
    return SchemaError(f"{session.shown}: {error}; give the dataset a name that does not begin with pg_")


def _too_large(error: StatementError, session: Session) -> TrellisError:
    return SchemaError(
        f"{_table_place(error)}: it is more than a table of PostgreSQL holds ({error}); keep deep or rare "
        "values in one JSON column (max_nesting), or load into several tables; nothing was loaded"
    )


def _unknown_error(error: StatementError, session: Session) -> TrellisError:
    return DestinationError(
        f"{session.shown}: {_table_place(error)} refused: {error}{_nothing_loaded(error)}"
    )


_EXPLANATIONS: Mapping[str, Callable[[StatementError, Session], TrellisError]] = {
    "42501": _insufficient_privilege,
    "42939": _bad_dataset,
    "25006": _read_only,
    "53100": _disk_full,
    "53": _out_of_resources,
    "55P03": _locked,
    "23502": _null_violation,
    "23": _constraint_violation,
    "0A000": _unsupported,
    "2BP01": _dependent_objects,
    "22": _invalid_value,
    "42804": _invalid_value,
    "42846": _invalid_value,
    "42701": _reserved,
    "54": _too_large,
}

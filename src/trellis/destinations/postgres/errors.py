"""What PostgreSQL says, as one sentence that tells what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from trellis.destinations.refusals import first_line, null_in
from trellis.destinations.sql.names import quoted
from trellis.errors import DestinationError, SchemaError, TrellisError

if TYPE_CHECKING:
    from trellis.destinations.postgres.session import Refused, Session

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
_VIEW = re.compile(r"on (?:materialized )?view (.+) depends on")


class Unreachable(DestinationError):
    """No connection came about."""


def cannot_connect(bad: Exception, shown: str) -> Unreachable:
    said = str(bad)
    for name, make in (("database", "CREATE DATABASE"), ("role", "CREATE ROLE")):
        missing = re.search(rf'{name} "(.*)" does not exist', said)
        if missing:
            return Unreachable(
                f"{shown}: the server has no {name} {missing[1]}; correct its name, or create it with "
                f"{make} {quoted(missing[1])}"
            )
    for sign, sentence in _CANNOT_CONNECT:
        if sign in said:
            return Unreachable(f"{shown}: {sentence}")
    return Unreachable(f"{shown}: PostgreSQL cannot be reached ({first_line(bad)}); check the URL")


def explained(refused: Refused, session: Session) -> TrellisError:
    """The error for a statement that was refused. No transaction may be open."""
    make = _SENTENCES.get(refused.code) or _SENTENCES.get(refused.code[:2]) or _other
    return make(refused, session)


def _nothing(refused: Refused) -> str:
    return "; nothing was loaded" if refused.aim.table else ""


def _of_table(refused: Refused) -> str:
    return f"table {refused.aim.table}" if refused.aim.table else "PostgreSQL"


def _no_right(refused: Refused, session: Session) -> TrellisError:
    needs = refused.aim.needs.replace("{user}", quoted(session.user))
    what = f"; let its owner or a superuser run: {needs}" if needs else "; ask its owner for the right"
    return DestinationError(
        f"{session.shown}: user {session.user} may not do that ({refused}){what}{_nothing(refused)}"
    )


def _read_only(refused: Refused, session: Session) -> TrellisError:
    return DestinationError(
        f"{session.shown}: nothing can be written there ({refused}); name the primary server, add "
        "?target_session_attrs=read-write to the URL, or take default_transaction_read_only off the user"
    )


def _full(refused: Refused, session: Session) -> TrellisError:
    return DestinationError(
        f"{session.shown}: the disk of the server is full ({refused}); free some space there and load again; "
        "nothing was loaded"
    )


def _no_memory(refused: Refused, session: Session) -> TrellisError:
    return DestinationError(
        f"{session.shown}: the server lacks memory, locks or connections ({refused}); load again later, or "
        f"raise the setting that it names{_nothing(refused)}"
    )


def _locked(refused: Refused, session: Session) -> TrellisError:
    """Who holds the table, as far as this user may see it."""
    query = (
        "SELECT a.pid, a.usename, a.state, a.query FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
        "WHERE l.relation = to_regclass($1)::oid AND l.granted AND l.pid <> pg_backend_pid() "
        "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
        "ORDER BY l.mode = 'AccessShareLock', a.xact_start LIMIT 1"
    )
    holder = session.run(query, [refused.aim.relation]).fetchone()
    waited = session.value("SELECT current_setting('lock_timeout')")
    return DestinationError(_held(f"table {refused.aim.table}", holder, waited))


def lock_held(session: Session, key: int, what: str, waited: str) -> DestinationError:
    """The error for an advisory lock that did not come free."""
    query = (
        "SELECT a.pid, a.usename, a.state, a.query FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
        "WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted "
        "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
        "AND (l.classid::bigint << 32) | l.objid::bigint = $1::bigint LIMIT 1"
    )
    return DestinationError(f"{session.shown}: {_held(what, session.run(query, [key]).fetchone(), waited)}")


def _held(what: str, holder: tuple[Any, ...] | None, waited: str) -> str:
    if holder is None:
        return f"{what}: another process held it for more than {waited}; load again; nothing was loaded"
    pid, user, state, query = holder
    said = " ".join((query or "").split())[:_QUERY_SHOWN]
    return (
        f"{what}: process {pid} of user {user} ({state or 'unknown state'}, {said!r}) held it for more than "
        f"{waited}; let it finish, or end it with SELECT pg_terminate_backend({pid}), and load again; "
        "nothing was loaded"
    )


def _null(refused: Refused, session: Session) -> TrellisError:
    diag = refused.bad.diag
    return null_in(diag.table_name or refused.aim.table, diag.column_name or "?")


def _constraint(refused: Refused, session: Session) -> TrellisError:
    diag = refused.bad.diag
    detail = f" ({diag.message_detail})" if diag.message_detail else ""
    return SchemaError(
        f"table {diag.table_name or refused.aim.table}: rows of this load break its constraint "
        f"{diag.constraint_name}{detail}; correct the rows, or drop the constraint; nothing was loaded"
    )


def _unsupported(refused: Refused, session: Session) -> TrellisError:
    detail = refused.bad.diag.message_detail or ""
    view = _VIEW.search(detail)
    if view is None:
        return _other(refused, session)
    return SchemaError(
        f"table {refused.aim.table}: view {view[1]} depends on a column that must get another type "
        f"({detail}); drop the view, load, and create it again; nothing was loaded"
    )


def _depended(refused: Refused, session: Session) -> TrellisError:
    detail = (refused.bad.diag.message_detail or "").replace("\n", ", ")
    return SchemaError(
        f"{_of_table(refused)}: it is to be dropped, but other things depend on it ({detail}); drop those, "
        "load, and create them again; nothing was loaded"
    )


def _misfit(refused: Refused, session: Session) -> TrellisError:
    """A value that a column does not take; while rows are copied the server tells which."""
    context = refused.bad.diag.context or ""
    column = re.search(r'COPY .*, line \d+, column (.*?)(?:: "(.*)"| *$)', context, re.DOTALL)
    where = f"{_of_table(refused)}, column {column[1]}" if column else _of_table(refused)
    example = f" in {column[2][:80]!r}" if column and column[2] else ""
    return SchemaError(
        f"{where}: PostgreSQL does not take a value of this load ({refused}{example}); correct it, or "
        "load into another column or table; nothing was loaded"
    )


def _reserved(refused: Refused, session: Session) -> TrellisError:
    return SchemaError(
        f"{_of_table(refused)}: a column has a name that PostgreSQL keeps for itself or has already "
        f"({refused}); give it another name; nothing was loaded"
    )


def _bad_dataset(refused: Refused, session: Session) -> TrellisError:
    return SchemaError(f"{session.shown}: {refused}; give the dataset a name that does not begin with pg_")


def _too_large(refused: Refused, session: Session) -> TrellisError:
    return SchemaError(
        f"{_of_table(refused)}: it is more than a table of PostgreSQL holds ({refused}); keep deep or rare "
        "values in one JSON column (max_nesting), or load into several tables; nothing was loaded"
    )


def _other(refused: Refused, session: Session) -> TrellisError:
    return DestinationError(f"{session.shown}: {_of_table(refused)} refused: {refused}{_nothing(refused)}")


_SENTENCES: Mapping[str, Callable[[Refused, Session], TrellisError]] = {
    "42501": _no_right,
    "42939": _bad_dataset,
    "25006": _read_only,
    "53100": _full,
    "53": _no_memory,
    "55P03": _locked,
    "23502": _null,
    "23": _constraint,
    "0A000": _unsupported,
    "2BP01": _depended,
    "22": _misfit,
    "42804": _misfit,
    "42846": _misfit,
    "42701": _reserved,
    "54": _too_large,
}

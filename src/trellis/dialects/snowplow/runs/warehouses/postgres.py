"""Runs into PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from trellis.destinations.refusals import first_line
from trellis.destinations.sql.literals import string_literal
from trellis.destinations.sql.names import quoted
from trellis.destinations.url import redacted
from trellis.dialects.snowplow.columns.profiles import PROFILES
from trellis.dialects.snowplow.runs.row_files import NULL, unreadable
from trellis.dialects.snowplow.runs.warehouses.base import CopyColumn, CopyJob, WarehouseUnavailable
from trellis.dialects.snowplow.runs.warehouses.casts import BEGIN_OF_VALUE
from trellis.dialects.snowplow.runs.warehouses.copy_blocks import UnusualText, copy_blocks, usual_blocks
from trellis.dialects.snowplow.runs.warehouses.lock_watch import WATCH_PAUSE, watched_locks
from trellis.dialects.snowplow.runs.warehouses.sql import SqlCommit, SqlWarehouse, Staging
from trellis.dialects.snowplow.runs.warehouses.tables import RealTable, group_columns
from trellis.engine.parallel import prefetch
from trellis.errors import DestinationError

LOCK_WAIT: Final = 600
"""Seconds that a statement waits for a table that another session has locked."""
_LOCK: Final = 0x736E6F77
"""The first number of the lock that loads of runs into one dataset share."""
_COLUMNS: Final = """
    SELECT relname, obj_description(pg_class.oid, 'pg_class'), attname, format_type(atttypid, atttypmod),
        NOT attnotnull
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = $1 AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
    ORDER BY relname, attnum
"""


class PostgresWarehouse(SqlWarehouse):
    def __init__(self, url: str, lock_wait: float = LOCK_WAIT, watch_pause: float = WATCH_PAUSE) -> None:
        self.profile, self.shown = PROFILES["postgres"], redacted(url)
        self.url, self.lock_wait, self.watch_pause = url, lock_wait, watch_pause
        self.connection: Any = None
        self.reconnect()

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._explained():
            cursor = self.connection.execute(statement.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def tables(self, dataset: str) -> Mapping[str, RealTable]:
        return group_columns(self.execute(_COLUMNS, (dataset,)))

    def stage_texts(self, job: CopyJob) -> Staging:
        staging = Staging.beside(job.sources)
        names = ", ".join(map(quoted, job.sources))
        texts = ", ".join(f"{quoted(name)} text" for name in job.sources)
        number = f"{staging.row_number} bigint GENERATED ALWAYS AS IDENTITY (START 0 MINVALUE 0)"
        self.execute(f"DROP TABLE IF EXISTS pg_temp.{staging.table}")
        self.execute(f"CREATE TEMP TABLE {staging.table} ({texts}, {number})")
        with self._copying(f"pg_temp.{staging.table} ({names})", job.null, job.folder) as copy:
            for path in job.files:
                for block in copy_blocks(path, job.sources, job.null):
                    copy.write(block)
        return Staging(f"pg_temp.{staging.table}", staging.row_number)

    def validity(self, column: CopyColumn) -> str:
        """Texts of the usual form are valid; others are tried."""
        name = quoted(column.source)
        usual = string_literal(_USUAL.get(column.type.partition(" ")[0], "^$"))
        tried = f"{self._is_valid}({name}, {string_literal(_TRIED.get(column.type, column.type))})"
        odd = f"{name} !~ {BEGIN_OF_VALUE}"
        return f"CASE WHEN {name} ~ {usual} THEN true WHEN {odd} THEN false ELSE {tried} END"

    def copy_fitting(self, target: str, job: CopyJob) -> int | None:
        """What COPY would take for something else than a cast does is seen before it is sent, and what does
        not fit is an error."""
        names = [column.name for column in job.columns]
        listed = ", ".join(map(quoted, [*names, job.time_column] if job.time_column else names))
        rows = 0
        self.execute("SAVEPOINT q_fitting")
        try:
            with self._copying(f"{target} ({listed})", job.null) as copy:
                for lines, count in prefetch(usual_blocks(job, _COPIED)):
                    copy.write(lines)
                    rows += count
            return rows
        except WarehouseUnavailable:
            raise
        except (DestinationError, UnusualText):
            self.execute("ROLLBACK TO SAVEPOINT q_fitting")
            return None

    def insert_fitting(self, statement: str, job: CopyJob, staging: Staging) -> bool:
        """What looks odd is found without a regular expression for each text, and what else does not fit is
        an error."""
        conditions = " OR ".join(filter(None, map(_odd, job.columns)))
        [(is_odd,)] = self.execute(f"SELECT EXISTS (SELECT FROM {staging.table} WHERE {conditions})")
        if is_odd:
            return False
        self.execute("SAVEPOINT q_fitting")
        try:
            self.execute(statement)
        except WarehouseUnavailable:
            raise
        except DestinationError:
            self.execute("ROLLBACK TO SAVEPOINT q_fitting")
            return False
        return True

    def append_rows(self, reference: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        listed = ", ".join(map(quoted, names))
        with self._copying(f"{reference} ({listed})", NULL) as copy:
            for row in rows:
                copy.write_row([_storable(value) for value in row])

    @contextmanager
    def commit(self, dataset: str, label: str) -> Iterator[SqlCommit]:
        with self._explained():
            session = self.connection.info.backend_pid
        watch = watched_locks(self.url, self.shown, session, self.watch_pause)
        with watch, super().commit(dataset, label) as commit:
            yield commit

    def lock(self, dataset: str) -> None:
        self.execute("SELECT pg_advisory_xact_lock($1, hashtext($2))", (_LOCK, dataset))

    def reconnect(self) -> None:
        import psycopg

        self.close()
        try:
            self.connection = psycopg.connect(self.url, autocommit=True, cursor_factory=psycopg.RawCursor)
        except psycopg.Error as error:
            raise WarehouseUnavailable(
                f"{self.shown}: PostgreSQL does not let this user in: {first_line(error)}; check the URL and "
                "that the server runs"
            ) from None
        self.execute(_SETTINGS)
        self.execute(f"SET lock_timeout = '{self.lock_wait:g}s'")
        self._is_valid = "pg_input_is_valid"
        if self.connection.info.server_version < _HAS_VALIDITY:
            self._is_valid = "pg_temp.q_is_valid"
            self.execute(_VALIDITY)

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()

    @contextmanager
    def _copying(self, target: str, null: str, files: Path | None = None) -> Iterator[Any]:
        command = f"COPY {target} FROM STDIN (NULL {string_literal(null)})"
        with (
            self._explained(files),
            self.connection.cursor() as cursor,
            cursor.copy(command.encode()) as copy,
        ):
            yield copy

    @contextmanager
    def _explained(self, files: Path | None = None) -> Iterator[None]:
        """An operational error may pass; a full disk, too, but not within minutes. `files` are those whose
        texts are sent, as texts."""
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            if files is not None and isinstance(error, psycopg.DataError):
                raise unreadable(files, first_line(error)) from None
            hint = ""
            if isinstance(error, psycopg.errors.InsufficientPrivilege):
                hint = "; grant this user the right, or load as a user who has it"
            elif isinstance(error, psycopg.errors.DiskFull):
                hint = "; make room there and load again, nothing of the run was loaded"
            passes = isinstance(error, psycopg.OperationalError) and not hint
            refusal = WarehouseUnavailable if passes else DestinationError
            raise refusal(f"{self.shown}: PostgreSQL refused: {first_line(error)}{hint}") from None


_SETTINGS: Final = """
    SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET standard_conforming_strings = on;
    SET client_encoding = 'UTF8'
"""
_HAS_VALIDITY: Final = 160000
"""The first server that has pg_input_is_valid."""
_VALIDITY: Final = """
    CREATE FUNCTION pg_temp.q_is_valid(value text, type text) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
        EXECUTE format('SELECT %L::%s', value, type);
        RETURN true;
    EXCEPTION WHEN others THEN
        RETURN value IS NULL;
    END $$
"""
_TRIED: Final = {"TIMESTAMP": "timestamptz"}
"""Texts of times may have an offset, which timestamp passes over."""
_DAY: Final = (
    "[12][0-9]{3}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    "|02-(0[1-9]|1[0-9]|2[0-8]))"
)
_USUAL: Final = {
    "SMALLINT": "^-?[0-9]{1,4}$",
    "INT": "^-?[0-9]{1,9}$",
    "BIGINT": "^-?[0-9]{1,18}$",
    "DOUBLE": r"^-?[0-9]{1,17}(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,2})?$",
    "BOOLEAN": "^[01]$",
    "TIMESTAMP": rf"^{_DAY}[T ]([01][0-9]|2[0-3])(:[0-5][0-9]){{2}}(\.[0-9]{{1,6}})?Z?$",
    "DATE": f"^{_DAY}$",
}
_COPIED: Final = {**_USUAL, "DECIMAL": r"^-?[0-9]{1,30}(\.[0-9]{1,15})?$"}
"""Texts that COPY converts as a cast does, or refuses."""


def _odd(column: CopyColumn) -> str:
    """The condition under which a text may be too long, or is a word such as now; "" for none."""
    name = quoted(column.source)
    if column.is_text:
        return f"octet_length({name}) > {column.length}" if column.length else ""
    return f"ascii({name}) NOT BETWEEN 48 AND 57 AND {name} !~ {BEGIN_OF_VALUE}"


def _storable(value: Any) -> Any:
    return value.replace("\0", " ") if isinstance(value, str) else value

"""Warehouses as the loader of runs talks to them: a transaction, the catalog, files into tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from trellis.destinations.sql.literals import string_literal
from trellis.destinations.sql.names import quoted
from trellis.destinations.url import path_of, redacted
from trellis.dialects.snowplow.columns.profiles import PROFILES, Profile
from trellis.dialects.snowplow.runs.row_files import NULL, read_blocks
from trellis.errors import DestinationError, UsageError

_STAGING: Final = "q_rows"
_BEGIN_OF_VALUE: Final = "'^([-+]?[.0-9]|true$|false$)'"
"""Not that of words that warehouses take for numbers and times: nan, infinity, now, yesterday."""
_LONGEST_LINE: Final = 64 << 20


@dataclass(frozen=True)
class RealColumn:
    """A column as the catalog of the warehouse has it."""

    name: str
    type: str


@dataclass(frozen=True)
class CopyColumn:
    """A column that a file fills; texts of the file are converted into its type."""

    name: str
    type: str

    @property
    def is_text(self) -> bool:
        return self.type.startswith(("VARCHAR", "CHAR"))

    @property
    def length(self) -> int | None:
        """The most characters of a text; None where it may have any number."""
        size = self.type.partition("(")[2].rstrip(")")
        return int(size) if self.is_text and size else None


class RunWarehouse(Protocol):
    """One connection to a warehouse."""

    profile: Profile
    shown: str

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a statement; values are bound as $1, $2. Raises DestinationError."""
        ...

    def columns(self, dataset: str, table: str) -> list[RealColumn]:
        """The columns of a table in their order; none where there is no table."""
        ...

    def comment(self, dataset: str, table: str) -> str | None: ...

    def stage_texts(self, columns: Sequence[str], files: Sequence[Path], null: str) -> str:
        """A temporary table with the texts of these files; its name."""
        ...

    def validity(self, column: CopyColumn) -> str:
        """The condition under which the text in a column can be converted into its type."""
        ...

    def close(self) -> None: ...


def open_warehouse(url: str) -> RunWarehouse:
    """Raises UsageError, DestinationError."""
    if url.startswith("duckdb:"):
        return DuckDBWarehouse(path_of(url, "duckdb:PATH"))
    if url.startswith(("postgresql:", "postgres:")):
        return PostgresWarehouse(url)
    raise UsageError(
        f"{redacted(url)}: runs are loaded into duckdb:PATH and postgresql://...; other warehouses take "
        "events with `trellis load --dialect snowplow`"
    )


@contextmanager
def transaction(warehouse: RunWarehouse) -> Iterator[None]:
    """All statements inside count, or none does."""
    warehouse.execute("BEGIN TRANSACTION")
    try:
        yield
    except BaseException:
        warehouse.execute("ROLLBACK")
        raise
    warehouse.execute("COMMIT")


class DuckDBWarehouse:
    def __init__(self, path: str) -> None:
        import duckdb

        self.profile, self.shown = PROFILES["duckdb"], path
        try:
            self.connection = duckdb.connect(path)
        except duckdb.Error as error:
            raise DestinationError(
                f"{path}: DuckDB cannot open it ({error}); close other programs that hold the file"
            ) from None
        self.execute("SET TimeZone = 'UTC'")

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        import duckdb

        try:
            return self.connection.execute(statement, [*values]).fetchall()
        except duckdb.Error as error:
            raise DestinationError(f"{self.shown}: DuckDB refused: {first_line(error)}") from None

    def columns(self, dataset: str, table: str) -> list[RealColumn]:
        rows = self.execute(
            "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = current_database() "
            "AND schema_name = $1 AND table_name = $2 ORDER BY column_index",
            (dataset, table),
        )
        return [RealColumn(*row) for row in rows]

    def comment(self, dataset: str, table: str) -> str | None:
        rows = self.execute(
            "SELECT comment FROM duckdb_tables() WHERE database_name = current_database() "
            "AND schema_name = $1 AND table_name = $2",
            (dataset, table),
        )
        return rows[0][0] if rows else None

    def stage_texts(self, columns: Sequence[str], files: Sequence[Path], null: str) -> str:
        paths = ", ".join(string_literal(str(path)) for path in files)
        if files[0].suffix == ".parquet":
            texts = ", ".join(f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" for name in columns)
            source = f"read_parquet([{paths}], union_by_name=true)"
        else:
            texts = ", ".join(
                f"CASE {quoted(name)} WHEN '\\\\N' THEN '\\N' ELSE {quoted(name)} END AS {quoted(name)}"
                for name in columns
            )
            types = ", ".join(f"{string_literal(name)}: 'VARCHAR'" for name in columns)
            source = (
                f"read_csv([{paths}], delim='\t', quote='', escape='', header=false, auto_detect=false, "
                f"nullstr={string_literal(null)}, max_line_size={_LONGEST_LINE}, strict_mode=false, "
                f"columns={{{types}}})"
            )
        self.execute(f"CREATE OR REPLACE TEMP TABLE {_STAGING} AS SELECT {texts} FROM {source}")
        return _STAGING

    def validity(self, column: CopyColumn) -> str:
        name = quoted(column.name)
        converts = f"TRY_CAST({name} AS {column.type}) IS NOT NULL"
        return f"regexp_matches({name}, {_BEGIN_OF_VALUE}) AND {converts}"

    def close(self) -> None:
        self.connection.close()


class PostgresWarehouse:
    def __init__(self, url: str) -> None:
        import psycopg

        self.profile, self.shown = PROFILES["postgres"], redacted(url)
        try:
            self.connection = psycopg.connect(url, autocommit=True, cursor_factory=psycopg.RawCursor)
        except psycopg.Error as error:
            raise DestinationError(
                f"{self.shown}: PostgreSQL does not let this user in: {first_line(error)}; check the URL and "
                "that the server runs"
            ) from None
        self.execute(_SETTINGS)
        self._is_valid = "pg_input_is_valid"
        if self.connection.info.server_version < _HAS_VALIDITY:
            self._is_valid = "pg_temp.q_is_valid"
            self.execute(_VALIDITY)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._explained():
            cursor = self.connection.execute(statement.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def _explained(self) -> Iterator[None]:
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            raise DestinationError(f"{self.shown}: PostgreSQL refused: {first_line(error)}") from None

    def columns(self, dataset: str, table: str) -> list[RealColumn]:
        rows = self.execute(
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
            "JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace "
            "WHERE nspname = $1 AND relname = $2 AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            (dataset, table),
        )
        return [RealColumn(*row) for row in rows]

    def comment(self, dataset: str, table: str) -> str | None:
        rows = self.execute(
            "SELECT obj_description(pg_class.oid, 'pg_class') FROM pg_class "
            "JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relname = $2",
            (dataset, table),
        )
        return rows[0][0] if rows else None

    def stage_texts(self, columns: Sequence[str], files: Sequence[Path], null: str) -> str:
        names = ", ".join(f"{quoted(name)} text" for name in columns)
        self.execute(f"DROP TABLE IF EXISTS pg_temp.{_STAGING}")
        self.execute(f"CREATE TEMP TABLE {_STAGING} ({names})")
        command = f"COPY pg_temp.{_STAGING} FROM STDIN (NULL {string_literal(null)})"
        with self._explained(), self.connection.cursor() as cursor, cursor.copy(command.encode()) as copy:
            for path in files:
                for block in read_blocks(path, columns, null):
                    copy.write(copy_text(block, null))
        return f"pg_temp.{_STAGING}"

    def validity(self, column: CopyColumn) -> str:
        """Texts of the usual form are valid; others are tried."""
        name = quoted(column.name)
        usual = string_literal(_USUAL.get(column.type.partition(" ")[0], "^$"))
        tried = f"{self._is_valid}({name}, {string_literal(_TRIED.get(column.type, column.type))})"
        odd = f"{name} !~ {_BEGIN_OF_VALUE}"
        return f"CASE WHEN {name} ~ {usual} THEN true WHEN {odd} THEN false ELSE {tried} END"

    def close(self) -> None:
        self.connection.close()


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
_USUAL: Final = {
    "SMALLINT": "^-?[0-9]{1,4}$",
    "INT": "^-?[0-9]{1,9}$",
    "BIGINT": "^-?[0-9]{1,18}$",
    "DOUBLE": r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$",
    "BOOLEAN": "^[01]$",
    "TIMESTAMP": "^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])[T ]([01][0-9]|2[0-3])(:[0-5][0-9]){2}"
    r"(\.[0-9]{1,6})?Z?$",
    "DATE": "^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$",
}
_NULL_FIELD: Final = re.compile(rb"(?<![^\t\n])\\\\(\\\\)?N(?![^\t\n])")
"""The field for NULL, and the text that looks like it, once their backslashes are doubled."""


def copy_text(block: bytes, null: str = NULL) -> bytes:
    """Lines of a run as COPY reads them, for which a backslash begins an escape."""
    escaped = block.replace(b"\\", b"\\\\").replace(b"\0", b" ")
    if null != NULL:
        return escaped
    return _NULL_FIELD.sub(lambda match: rb"\\N" if match[1] else rb"\N", escaped)


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]

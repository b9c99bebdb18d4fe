"""Runs into a DuckDB file."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal

from trellis.destinations.refusals import first_line
from trellis.destinations.scan.connections import MEMORY, connect_to, lock_holder
from trellis.destinations.sql.literals import string_literal
from trellis.destinations.sql.names import quoted
from trellis.dialects.snowplow.columns.profiles import PROFILES
from trellis.dialects.snowplow.runs.row_files import is_typed, read_texts, read_typed, unreadable
from trellis.dialects.snowplow.runs.warehouses.base import CopyColumn, CopyJob, WarehouseUnavailable
from trellis.dialects.snowplow.runs.warehouses.casts import BEGIN_OF_VALUE
from trellis.dialects.snowplow.runs.warehouses.sql import SqlWarehouse, Staging
from trellis.dialects.snowplow.runs.warehouses.tables import RealTable, group_columns
from trellis.errors import DestinationError

MissingFile = Literal["make", "refuse", "empty"]
"""What becomes of a file that is not there: it is made, refused, or counts as an empty one."""
_LONGEST_LINE: Final = 64 << 20
_INTEGERS: Final = ("SMALLINT", "INT", "BIGINT")
_INTEGER: Final = "'^[-+]?[0-9]+$'"
_FILES: Final = "q_files"
_COLUMNS: Final = """
    SELECT q_column.table_name, q_table.comment, column_name, data_type, is_nullable
    FROM duckdb_columns() AS q_column
    JOIN duckdb_tables() AS q_table USING (database_name, schema_name, table_name)
    WHERE database_name = current_database() AND schema_name = $1
    ORDER BY q_column.table_name, column_index
"""


_NO_ROOM: Final = tuple(os.strerror(number) for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


class DuckDBWarehouse(SqlWarehouse):
    """The file at `path`, or a database in memory."""

    def __init__(self, path: str, *, read_only: bool = False, missing: MissingFile = "make") -> None:
        self.profile, self.shown = PROFILES["duckdb"], path
        self.read_only, self.missing = read_only, missing
        self.reconnect()

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        import duckdb

        try:
            return self.connection.execute(statement, [*values]).fetchall()
        except duckdb.Error as error:
            raise self._refused(error) from None

    def _refused(self, error: Exception) -> DestinationError:
        has_room = not any(text in str(error) for text in _NO_ROOM)
        hint = "" if has_room else "; make room for it and load again, nothing of the run was loaded"
        return DestinationError(f"{self.shown}: DuckDB refused: {first_line(error)}{hint}")

    def tables(self, dataset: str) -> Mapping[str, RealTable]:
        return group_columns(self.execute(_COLUMNS, (dataset,)))

    def stage_texts(self, job: CopyJob) -> Staging:
        import duckdb

        staging = Staging.beside(job.sources)
        with self._source(job) as source:
            statement = (
                f"CREATE OR REPLACE TEMP TABLE {staging.table} AS "
                f"SELECT {', '.join(_texts(job))}, row_number() OVER () - 1 AS {staging.row_number} "
                f"FROM {source}"
            )
            try:
                self.connection.execute(statement)
            except duckdb.InvalidInputException as error:
                raise unreadable(job.folder, first_line(error)) from None
            except duckdb.Error as error:
                raise self._refused(error) from None
        return staging

    def validity(self, column: CopyColumn) -> str:
        """DuckDB would round a text such as 2.5 into an integer, and take 1e400 for an infinite double."""
        name = quoted(column.source)
        form = _INTEGER if column.type in _INTEGERS else BEGIN_OF_VALUE
        value = f"TRY_CAST({name} AS {column.type})"
        finite = f" AND isfinite({value})" if column.type.startswith("DOUBLE") else ""
        return f"regexp_matches({name}, {form}) AND {value} IS NOT NULL{finite}"

    def append_rows(self, reference: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        import pyarrow as pa

        if rows:
            appended = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
            self.connection.register("q_appended", appended)
            listed = ", ".join(map(quoted, names))
            self.execute(f"INSERT INTO {reference} ({listed}) SELECT {listed} FROM q_appended")
            self.connection.unregister("q_appended")

    @contextmanager
    def _source(self, job: CopyJob) -> Iterator[str]:
        """The relation of the files. DuckDB has no reader of ORC, and to that of CSV a carriage return ends a
        line, wherever it is."""
        import pyarrow as pa

        is_orc = job.files[0].suffix == ".orc"
        if not is_orc and not job.has_returns:
            yield _files(job)
            return
        batches = (
            batch
            for path in job.files
            for batch in (
                read_typed(path, job.sources) if is_typed(path) else read_texts(path, job.sources, job.null)
            )
        )
        first = next(batches, None)
        rows = [] if first is None else chain([first], batches)
        schema = pa.schema([(name, pa.string()) for name in job.sources]) if first is None else first.schema
        self.connection.register(_FILES, pa.RecordBatchReader.from_batches(schema, rows))
        try:
            yield _FILES
        finally:
            self.connection.unregister(_FILES)

    def lock(self, dataset: str) -> None:
        """One process alone has the file open."""

    def reconnect(self) -> None:
        import duckdb

        is_missing = self.missing != "make" and not Path(self.shown).exists()
        if is_missing and self.missing == "refuse":
            raise DestinationError(
                f"{self.shown}: no such file; expected the DuckDB file that runs are loaded into"
            )
        try:
            if is_missing:
                self.connection = duckdb.connect(MEMORY)
            elif self.read_only:
                self.connection = duckdb.connect(self.shown, read_only=True)
            else:
                self.connection = connect_to(self.shown)
        except duckdb.Error as error:
            raise WarehouseUnavailable(f"{self.shown}: {_reason(error)}") from None
        self.execute("SET TimeZone = 'UTC'")
        self.execute("SET disabled_optimizers = 'common_subexpressions'")  # minutes for 3,000 columns

    def close(self) -> None:
        self.connection.close()


def _reason(error: Exception) -> str:
    if holder := lock_holder(str(error)):
        return f"another process holds the file ({holder}); close it and try again"
    return f"DuckDB cannot open it ({first_line(error)}); check the path, its rights and the free space"


def _texts(job: CopyJob) -> list[str]:
    """The expressions of columns as texts."""
    if is_typed(job.files[0]):
        return [f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" for name in job.sources]
    return [
        f"CASE {quoted(name)} WHEN '\\\\N' THEN '\\N' ELSE {quoted(name)} END AS {quoted(name)}"
        for name in job.sources
    ]


def _files(job: CopyJob) -> str:
    """The relation of files that DuckDB reads by itself."""
    paths = ", ".join(string_literal(str(path)) for path in job.files)
    if is_typed(job.files[0]):
        return f"read_parquet([{paths}], union_by_name=true)"
    types = ", ".join(f"{string_literal(name)}: 'VARCHAR'" for name in job.sources)
    return (
        f"read_csv([{paths}], delim='\t', quote='', escape='', header=false, auto_detect=false, "
        f"nullstr={string_literal(job.null)}, max_line_size={_LONGEST_LINE}, strict_mode=false, "
        f"columns={{{types}}})"
    )

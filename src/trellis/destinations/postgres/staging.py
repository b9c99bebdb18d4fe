"""The staging tables of one load: created, filled, checked and dropped; those of dead loads are dropped, too.

They are in a schema beside the dataset. Their names begin with a digest of the load, which is also the
number of an advisory lock that the load holds for as long as its connection lives: tables whose lock is
free are abandoned.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from trellis.destinations.base import Parallel
from trellis.destinations.postgres.catalog import has_schema
from trellis.destinations.postgres.copy import (
    CopyTask,
    RowGroup,
    group_into_tasks,
    row_groups_of,
    run_copy_task,
    staged_columns,
)
from trellis.destinations.postgres.errors import lock_held
from trellis.destinations.postgres.names import digest, lock_number, name_of, staging_schema
from trellis.destinations.postgres.session import ConnectionLost, ErrorContext, Session, StatementError
from trellis.destinations.sql.names import alias_prefix, quoted
from trellis.engine.staging.stage import StagedFile
from trellis.schema.model import Column, Table
from trellis.warehouses.catalog.databases import POSTGRES
from trellis.warehouses.types import UNLIMITED

LOAD_WAIT = "600s"
"""How long a load waits for another one; no other session waits for that."""
_DROP_WAIT = "1s"
_TABLES_PER_DROP = 100
_WORTH_STATISTICS = 5000
_STAGING_TABLE = re.compile(r"[0-9a-f]{16}_[0-9a-f]{8}_")
_JSON = ("json", "jsonb")

Staged = Sequence[tuple[Table, Sequence[StagedFile]]]


def acquire_lock(session: Session, digits: str, what: str, function: str) -> None:
    """Take an advisory lock. Raises DestinationError, with no transaction open."""
    with _waiting(session, LOAD_WAIT):
        try:
            session.run(f"SELECT {function}($1::bigint)", [lock_number(digits)])
        except StatementError as error:
            if error.code != "55P03":
                raise
            session.run("ROLLBACK")
            raise lock_held(session, lock_number(digits), what, LOAD_WAIT) from error


@contextmanager
def _waiting(session: Session, limit: str) -> Iterator[None]:
    """Wait for locks no longer than that."""
    before = session.value("SELECT current_setting('lock_timeout')")
    session.run(f"SET lock_timeout = '{limit}'")
    yield
    session.run("SELECT set_config('lock_timeout', $1, false)", [before])


def drop_staging_tables(session: Session, dataset: str, load_id: str) -> None:
    """Drop what a load left behind that was killed, or cut off, after its commit."""
    schema, owner = staging_schema(dataset), digest("load", dataset, load_id)
    left = _tables(session, schema, f"{owner}_")
    if left and session.value("SELECT pg_try_advisory_lock($1::bigint)", [lock_number(owner)]):
        _drop(session, schema, left)
        session.run("SELECT pg_advisory_unlock($1::bigint)", [lock_number(owner)])


def drop_abandoned_tables(session: Session, schema: str, owner_of_load: str) -> None:
    """Drop the tables of dead loads, and those of earlier attempts at our own."""
    tables_by_owner: dict[str, list[str]] = {}
    for name in _tables(session, schema):
        if _STAGING_TABLE.match(name):
            tables_by_owner.setdefault(name[:16], []).append(name)
    for owner, names in tables_by_owner.items():
        if owner == owner_of_load:
            _drop(session, schema, names)
        elif session.value("SELECT pg_try_advisory_lock($1::bigint)", [lock_number(owner)]):
            _drop(session, schema, names)
            session.run("SELECT pg_advisory_unlock($1::bigint)", [lock_number(owner)])


def _tables(session: Session, schema: str, prefix: str = "") -> list[str]:
    query = (
        "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = $1 AND c.relkind = 'r' AND starts_with(c.relname::text, $2::text)"
    )
    return [name for (name,) in session.run(query, [schema, prefix])]


def _drop(session: Session, schema: str, names: Sequence[str]) -> None:
    """Drop tables; what cannot be dropped now is left to a later load."""
    with _waiting(session, _DROP_WAIT):
        for start in range(0, len(names), _TABLES_PER_DROP):
            listed = ", ".join(name_of(schema, name) for name in names[start : start + _TABLES_PER_DROP])
            with suppress(StatementError):
                session.run(f"DROP TABLE IF EXISTS {listed}")


@dataclass
class Staging:
    """Tables with the columns of the load, each row with its place in the input. Use as a context.

    `type_of` gives the type of a column; `relations` the quoted name of the staging table of a table.
    """

    session: Session
    dataset: str
    load_id: str
    staged: Staged
    type_of: Callable[[Column], str]
    relations: dict[str, str] = field(default_factory=dict)
    tasks: list[CopyTask] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.schema = staging_schema(self.dataset)
        self.owner = digest("load", self.dataset, self.load_id)
        self.prefix = f"{self.owner}_{secrets.token_hex(4)}_"
        columns = (column.name for table, _ in self.staged for column in table.complete_columns)
        self.place = f"{alias_prefix(columns)}place"
        self.staged = [(_with_room_for_place(table, files), files) for table, files in self.staged]

    def name(self, suffix: str) -> str:
        """The quoted name of a table here, for the time of this load."""
        return name_of(self.schema, self.prefix + suffix)

    def columns(self, table: str) -> set[str]:
        """The columns that staged files of a table and its staging table have."""
        known, files = next(staged for staged in self.staged if staged[0].name == table)
        return staged_columns(files) & known.columns.keys()

    def staged_table(self, table: Table) -> Table:
        """The table with the columns of its staging table."""
        return next((known for known, _ in self.staged if known.name == table.name), table)

    def non_null_columns(self, table: str) -> set[str]:
        """Those of them that are not NULL everywhere."""
        row_groups = (row_group for task in self.tasks for row_group in task.row_groups)
        return {name for row_group in row_groups if row_group.table == table for name in row_group.columns}

    def __enter__(self) -> Staging:
        acquire_lock(self.session, self.owner, f"load {self.load_id}", "pg_advisory_lock")
        self._create_schema()
        drop_abandoned_tables(self.session, self.schema, self.owner)
        self._create_tables()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ConnectionLost, StatementError):
            _drop(self.session, self.schema, _tables(self.session, self.schema, self.prefix))

    def copy_files(self, parallel: Parallel) -> None:
        """Copy the staged files. Raises ConnectionLost and what else keeps rows from being copied."""
        results = list(parallel(run_copy_task, self.tasks))
        for result in results:
            if result.error is not None:
                raise result.error
        for result in results:
            if result.lost is not None:
                raise ConnectionLost(result.lost)

    def analyze_columns(self, columns: Mapping[str, Collection[str]]) -> None:
        """Let the planner know what is in these columns of staging tables: of all it would take long."""
        for table, files in self.staged:
            staged_columns = self.columns(table.name).intersection(columns.get(table.name, ()))
            if staged_columns and sum(file.rows for file in files) >= _WORTH_STATISTICS:
                listed = ", ".join(map(quoted, sorted({*staged_columns, self.place})))
                self.session.run(f"ANALYZE {self.relations[table.name]} ({listed})")

    def check(self) -> None:
        """Raises ConnectionLost if rows are missing: a crash of the server empties these tables."""
        counts = self.session.run(
            f"SELECT count(*), coalesce(sum(rows), 0) FROM {self.name('items')}"
        ).fetchone()
        if counts != (len(self.tasks), sum(task.rows for task in self.tasks)):
            raise ConnectionLost("the server lost the rows that were staged")

    def _create_schema(self) -> None:
        if has_schema(self.session, self.schema):
            return
        database = quoted(self.session.db.info.dbname)
        needs = (
            f"GRANT CREATE ON DATABASE {database} TO {{user}}, "
            f"or CREATE SCHEMA {quoted(self.schema)} AUTHORIZATION {{user}}"
        )
        with self.session.transaction():
            acquire_lock(self.session, digest("schema", self.schema), self.schema, "pg_advisory_xact_lock")
            if not has_schema(self.session, self.schema):
                self.session.run(f"CREATE SCHEMA {quoted(self.schema)}", context=ErrorContext(needs=needs))

    def _create_tables(self) -> None:
        needs = f"GRANT USAGE, CREATE ON SCHEMA {quoted(self.schema)} TO {{user}}"
        with self.session.transaction():
            for number, (table, _) in enumerate(self.staged):
                self.relations[table.name] = relation = self.name(str(number))
                columns = [f"{quoted(c.name)} {self.type_of(c)}" for c in table.complete_columns]
                listed = ", ".join([*columns, f"{quoted(self.place)} bigint NOT NULL"])
                context = ErrorContext(table.name, relation, needs)
                self.session.run(f"CREATE UNLOGGED TABLE {relation} ({listed})", context=context)
            ledger = f"CREATE UNLOGGED TABLE {self.name('items')} (item bigint PRIMARY KEY, rows bigint)"
            self.session.run(ledger, context=ErrorContext(needs=needs))
        parameters = self.session.parameters
        self.tasks = [
            CopyTask(
                number,
                parameters,
                self.session.shown,
                self.schema,
                f"{self.prefix}items",
                self.place,
                row_groups,
            )
            for number, row_groups in enumerate(group_into_tasks(self._row_groups()))
        ]

    def _row_groups(self) -> Iterator[tuple[RowGroup, int]]:
        for number, (table, files) in enumerate(self.staged):
            as_json = frozenset(c.name for c in table.complete_columns if self.type_of(c) in _JSON)
            yield from row_groups_of(table, files, f"{self.prefix}{number}", as_json)


def _with_room_for_place(table: Table, files: Sequence[StagedFile]) -> Table:
    """The table; where it has as many columns as can be, without one in which no staged row has a value."""
    excess = len(table.complete_columns) + 1 - (POSTGRES.max_columns or UNLIMITED)
    if excess <= 0:
        return table
    row_groups = (row_group for row_group, _ in row_groups_of(table, files, "", frozenset()))
    filled = {name for row_group in row_groups for name in row_group.columns}
    empty = [c.name for c in table.complete_columns if c.name not in filled and not c.hints][:excess]
    return replace(table, columns={name: c for name, c in table.columns.items() if name not in empty})

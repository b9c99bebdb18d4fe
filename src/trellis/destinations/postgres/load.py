"""One load in one transaction of PostgreSQL: migrate, move the staged rows in, record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from trellis.destinations.base import (
    CatalogTable,
    Commit,
    CommitConflict,
    IdentityRules,
    KeyedWrite,
    Parallel,
)
from trellis.destinations.postgres.casts import CastProbe, Casts
from trellis.destinations.postgres.catalog import has_schema, read_catalog
from trellis.destinations.postgres.errors import explain_error
from trellis.destinations.postgres.literals import render_literal
from trellis.destinations.postgres.metadata_tables import has_load, newest_version
from trellis.destinations.postgres.names import digest, name_of, refuse_names
from trellis.destinations.postgres.rows import read_newest_row
from trellis.destinations.postgres.session import ErrorContext, Session, StatementError
from trellis.destinations.postgres.staging import Staging, acquire_lock, drop_staging_tables
from trellis.destinations.refusals import refuse_required, type_mismatch
from trellis.destinations.row_changes import RowChanges
from trellis.destinations.sql.identities import IdentityStatements, resolve_rows
from trellis.destinations.sql.keyed import POSTGRES, KeyedStatements
from trellis.destinations.sql.load import SqlLoad
from trellis.destinations.sql.migration import Migration
from trellis.destinations.sql.names import quoted
from trellis.destinations.sql.preconditions import catalog_has_changed, check_base_states
from trellis.destinations.sql.roots import MergeNames, merge_columns
from trellis.errors import SchemaError, TrellisError
from trellis.schema.model import NOTHING, Column, Table
from trellis.warehouses.catalog import databases
from trellis.warehouses.warehouse import Warehouse

if TYPE_CHECKING:
    import psycopg

    Cursor = psycopg.Cursor[tuple[Any, ...]]

TEMP = "pg_temp."
ATTEMPTS = 5
"""How often a transaction is begun that the server rolls back because of another one."""
_CANNOT_CAST = ("42804", "42846", "42883")
_SERIALIZATION_FAILURES = ("40P01", "40001")


class _Rehearsed(Exception):
    """Ends a transaction that is not to be committed."""


def commit_load(
    session: Session, commit: Commit, parallel: Parallel, rehearsal: bool = False
) -> Mapping[str, RowChanges]:
    """Stage and commit, unless the load is there. Raises CommitConflict, ConnectionLost, TrellisError.

    A rehearsal takes back what it did.
    """
    tables = tables_of(commit)
    refuse_names(commit.dataset, tables)
    if is_committed(session, commit):
        drop_staging_tables(session, commit.dataset, commit.load_id)
        return {}
    staged = [(table, commit.files[table.name]) for table in tables if commit.files.get(table.name)]
    with ExitStack() as held:
        staging = Staging(session, commit.dataset, commit.load_id, staged, lambda c: type_of(commit, c))
        if staged:
            held.enter_context(staging)
            staging.copy_files(parallel)
            staging.analyze_columns(_compared_columns(commit))
        for attempt in range(1, ATTEMPTS + 1):
            load = PostgresLoad(session, commit, staging)
            try:
                with session.transaction(decisive=True):
                    load.run()
                    if rehearsal:
                        raise _Rehearsed
                return load.row_changes()
            except _Rehearsed:
                return load.row_changes()
            except StatementError as error:
                if error.code not in _SERIALIZATION_FAILURES or attempt == ATTEMPTS:
                    raise load.explain(error) from error
    raise AssertionError("unreachable")


def tables_of(commit: Commit) -> list[Table]:
    known = (*commit.schema.tables.values(), *commit.extra_tables)
    return [table for table in known if table.complete_columns]


def type_of(commit: Commit, column: Column) -> str:
    return databases.POSTGRES.type_of(column, names=commit.native)


def is_committed(session: Session, commit: Commit) -> bool:
    """Whether the load is in the dataset already. Raises CommitConflict where the dataset has changed."""
    if has_load(session, commit.dataset, commit.load_id, commit.metadata):
        return True
    stored = newest_version(session, commit.dataset, "version_hash", commit.schema.name, commit.metadata)
    if stored != commit.base_hash:
        raise CommitConflict
    if commit.catalog is not None:
        catalog = read_catalog(session, commit.dataset).tables
        if catalog_has_changed(commit, catalog):
            raise CommitConflict
    return False


def _compared_columns(commit: Commit) -> dict[str, set[str]]:
    """The columns in which staged rows are compared with others, by table."""
    columns: dict[str, set[str]] = {}
    for chain in commit.chains:
        if chain.mode == "merge":
            columns[chain.root] = merge_columns(commit.schema.tables[chain.root], chain)
            for table in commit.schema.chain(chain.root):
                columns.setdefault(table.name, set()).update(commit.keys[table.name].columns)
    for load in commit.keyed:
        columns.setdefault(load.table, set()).update(load.keys, filter(None, [load.latest]))
    return columns


@dataclass
class PostgresLoad(SqlLoad):
    """The transaction of a load, which is open when it runs."""

    session: Session
    commit: Commit
    staging: Staging
    casts: dict[str, Casts] = field(default_factory=dict)

    def run(self) -> None:
        commit = self.commit
        what = f"dataset {commit.dataset}"
        acquire_lock(self.session, digest("dataset", commit.dataset), what, "pg_advisory_xact_lock")
        if is_committed(self.session, commit):
            return
        check_base_states(commit, partial(read_newest_row, self.session, commit.dataset))
        if self.staging.staged:
            self.staging.check()
        self.catalog = read_catalog(self.session, commit.dataset)
        self._create_dataset()
        self.execute()

    def explain(self, error: StatementError) -> TrellisError:
        """The error for a statement that the server refused, after the transaction is over."""
        mismatch, table = None, error.context.table
        if error.code.startswith("22") or error.code in _CANNOT_CAST:
            casts = self.casts.get(table)
            mismatch = casts.find_mismatch(self.session) if casts else self._find_retyped_mismatch(table)
        return mismatch or explain_error(error, self.session)

    def _find_retyped_mismatch(self, table: str) -> SchemaError | None:
        """A value in a table that does not fit the new type of its column."""
        for name in self.commit.retyped.get(table, ()):
            target_type = type_of(self.commit, self.commit.schema.tables[table].columns[name])
            cast = f"CAST({quoted(name)} AS {target_type})"
            probe = CastProbe(self.session, target_type, cast, self._name(table))
            if not probe.accepts():
                real = self.catalog.tables[table].columns[name]
                return type_mismatch(table, name, real, target_type, probe.find_example(quoted(name)))
        return None

    def _create_dataset(self) -> None:
        dataset = self.commit.dataset
        if not has_schema(self.session, dataset):
            database = quoted(self.session.db.info.dbname)
            context = ErrorContext(needs=f"GRANT CREATE ON DATABASE {database} TO {{user}}")
            self.session.run(f"CREATE SCHEMA {quoted(dataset)}", context=context)

    @property
    def _catalog(self) -> Mapping[str, CatalogTable]:
        return self.catalog.tables

    @property
    def _warehouse(self) -> Warehouse:
        return databases.POSTGRES

    @property
    def _names(self) -> MergeNames:
        place = f"{self._prefix}staged.{quoted(self.staging.place)}"
        return MergeNames(self._prefix, lambda column: type_of(self.commit, column), TEMP, place)

    def _read_catalog(self) -> None:
        self.catalog = read_catalog(self.session, self.commit.dataset)

    def _remove_from_catalog(self, table: str) -> None:
        self.catalog = self.catalog.without(table)

    def _retype(self) -> None:
        """The migration does."""

    def _migrate(self) -> None:
        for table in self._tables():
            self._migrate_one(table)

    def _migrate_one(self, table: Table) -> None:
        commit, known = self.commit, self.catalog.tables
        plan = Migration(
            databases.POSTGRES,
            known,
            lambda c: type_of(commit, c),
            render_literal,
            self._name,
            commit.retyped,
            commit.filled,
        )
        if table.name in known:
            missing = plan.without_value(table)
            rows = f"SELECT EXISTS (SELECT 1 FROM {self._name(table.name)})"
            if missing and self._run(rows, table).fetchone() == (True,):
                refuse_required(table, missing)
        for statement in plan.of_table(table):
            self._run(statement, table, owner=table.name in known)
        self.casts[table.name] = casts = self._casts(table)
        casts.check(self.session, self._context(table.name))

    def _casts(self, table: Table) -> Casts:
        """How the staged columns of a table become its real ones."""
        commit = self.commit
        real = self.catalog.tables.get(table.name, CatalogTable(table.name))
        retyped = commit.retyped.get(table.name, ())
        return Casts(
            self.staging.staged_table(table),
            self.staging.relations.get(table.name, ""),
            self.staging.place,
            {c.name: type_of(commit, c) for c in table.complete_columns},
            {name: type_ for name, type_ in real.columns.items() if name not in retyped},
            real.types,
            self.catalog.computed.get(table.name, frozenset()),
        )

    def _write_keyed(self, load: KeyedWrite) -> None:
        table = self.commit.schema.tables[load.table]
        real = self.catalog.tables.get(table.name, CatalogTable(table.name)).columns
        computed = self.catalog.computed.get(table.name, frozenset())
        writable = {*real, *(column.name for column in table.complete_columns)} - computed
        filled = {*load.keys, *self.staging.non_null_columns(table.name)}
        keyed = KeyedStatements(
            load,
            self._name(table.name),
            self._staged(table.name),
            [name for name in self._columns(table) if name in filled],
            writable,
            self.staging.place,
            self._prefix,
            POSTGRES,
        )
        self._execute_keyed(keyed, table)

    def _resolve_identities(self, links: IdentityRules) -> None:
        commit, mappings = self.commit, self.commit.schema.tables[links.mappings]
        statements = IdentityStatements(
            links,
            self._staged(links.rules),
            self._name(links.mappings),
            commit.now,
            self.staging.place,
            self._prefix,
            TEMP,
        )
        changes = resolve_rows(self._run(statements.open_rules(), mappings).fetchall(), commit.load_id)
        new_identities = [(*pair, identity) for pair, identity in changes.new_identities.items()]
        self._create_text_table(statements.new_identities, statements.new_identity_columns, new_identities)
        self._create_text_table(statements.merged, statements.merged_columns, list(changes.merged.items()))
        for statement in statements.write_statements():
            self._run(statement, mappings)

    def _create_text_table(self, name: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
        """Make a temporary table of texts."""
        listed = ", ".join(f"{column} text" for column in columns)
        self.session.run(f"CREATE TEMP TABLE {name} ({listed}) ON COMMIT DROP")
        marks = ", ".join(f"${number}::text[]" for number in range(1, len(columns) + 1))
        values = [list(column) for column in zip(*rows, strict=True)]
        if values:
            self.session.run(f"INSERT INTO {name} SELECT * FROM unnest({marks})", values)

    def _insert(self, table: Table, where: str = "TRUE", written: Mapping[str, str] = NOTHING) -> int:
        if not self._files(table.name):
            return 0
        row = self._names.staged_row
        values = {**{name: f"{row}.{quoted(name)}" for name in self._columns(table)}, **written}
        into = f"INSERT INTO {self._name(table.name)} ({', '.join(map(quoted, values))})"
        source = f"{self._staged(table.name)} AS {row}"
        rows = f"SELECT {', '.join(values.values())} FROM {source} WHERE {where}"
        return self._change_rows(f"{into} {rows}", table)

    def _insert_positions(self, table: Table, places: str, written: Mapping[str, str]) -> int:
        return self._insert(table, f"{self._names.place} IN ({places})", written)

    def _columns(self, table: Table) -> list[str]:
        """The columns that staged files have and the table takes; the others get their defaults."""
        none: frozenset[str] = frozenset()
        left_out = self.catalog.computed.get(table.name, none) | (
            self.catalog.defaulted.get(table.name, none) - self.staging.non_null_columns(table.name)
        )
        present = self.staging.columns(table.name) - left_out
        return [column.name for column in table.complete_columns if column.name in present]

    def _staged(self, table: str) -> str:
        return self.casts[table].relation

    def _name(self, table: str) -> str:
        return name_of(self.commit.dataset, table)

    def _type(self, column: Column) -> str:
        return type_of(self.commit, column)

    def _counts(self, query: str, table: Table) -> tuple[int, ...]:
        return tuple(map(int, self._run(query, table).fetchone() or ()))

    def _change_rows(self, statement: str, table: Table) -> int:
        return self._run(statement, table).rowcount

    def _run(
        self, statement: str, table: Table, values: Sequence[Any] = (), *, owner: bool = False
    ) -> Cursor:
        needs = ""
        if owner:
            needs = f"ALTER TABLE {self._name(table.name)} OWNER TO {{user}}"
        elif statement.startswith("CREATE TABLE"):
            needs = f"GRANT USAGE, CREATE ON SCHEMA {quoted(self.commit.dataset)} TO {{user}}"
        elif statement.startswith("CREATE TEMP"):
            needs = f"GRANT TEMPORARY ON DATABASE {quoted(self.session.db.info.dbname)} TO {{user}}"
        storable = [_storable(value) for value in values]
        return self.session.run(statement, storable, self._context(table.name, needs))

    def _context(self, table: str, needs: str = "") -> ErrorContext:
        relation = self._name(table)
        return ErrorContext(
            table, relation, needs or f"GRANT SELECT, INSERT, UPDATE, DELETE ON {relation} TO {{user}}"
        )


def _storable(value: Any) -> Any:
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value

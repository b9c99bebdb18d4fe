"""A DuckDB file as the warehouse. The file is held only while it is read and while a load commits."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from trellis.destinations.base import Abilities, CatalogTable, ChainLoad, Commit, Moved
from trellis.destinations.duckdb_types import duckdb_type
from trellis.destinations.merge import Chain, quoted
from trellis.errors import ContractError, DestinationError
from trellis.evolution.dialect import Journal
from trellis.flow.stage import StagedFile
from trellis.schema.model import Schema, Table

if TYPE_CHECKING:
    import duckdb

LOCK_WAIT = 60.0
_LOCK_POLL = 0.1


class DuckDB:
    """`duckdb:PATH`."""

    abilities = Abilities(max_identifier=65536, case_sensitive=False, default_dataset="main")

    def __init__(self, path: str, lock_wait: float = LOCK_WAIT) -> None:
        self.path = path
        self.url = f"duckdb:{path}"
        self.lock_wait = lock_wait

    def staging(self, load_id: str) -> str:
        return os.path.join(f"{self.path}.staging", load_id)

    def stored_schema(self, dataset: str, name: str, journal: Journal) -> str | None:
        if not os.path.exists(self.path):
            return None
        with self._open() as db:
            if journal.versions not in self._tables(db, dataset):
                return None
            found = db.execute(
                f"SELECT schema FROM {_name(dataset, journal.versions)} WHERE schema_name = ? "
                "ORDER BY version DESC, inserted_at DESC LIMIT 1",
                [name],
            ).fetchone()
        return None if found is None else str(found[0])

    def has_load(self, dataset: str, load_id: str, journal: Journal) -> bool:
        if not os.path.exists(self.path):
            return False
        with self._open() as db:
            return self._has_load(db, dataset, load_id, journal)

    def catalog(self, dataset: str) -> Mapping[str, CatalogTable]:
        if not os.path.exists(self.path):
            return {}
        with self._open() as db:
            return self._tables(db, dataset)

    def migration(self, dataset: str, schema: Schema) -> list[str]:
        return migration(dataset, schema.tables.values(), self.catalog(dataset))

    def commit(self, commit: Commit) -> None:
        with self._open() as db:
            db.execute("BEGIN")
            try:
                self._commit(db, commit)
                db.execute("COMMIT")
            except BaseException:
                db.execute("ROLLBACK")
                raise

    def query(self, dataset: str, table: str, limit: int | None = None) -> list[dict[str, Any]]:
        with self._open() as db:
            found = db.sql(
                f"SELECT * FROM {_name(dataset, table)}" + (f" LIMIT {int(limit)}" if limit is not None else "")
            )
            rows: list[dict[str, Any]] = found.to_arrow_table().to_pylist()
            return rows

    def row_counts(self, dataset: str) -> Mapping[str, int]:
        if not os.path.exists(self.path):
            return {}
        with self._open() as db:
            counts = {}
            for table in self._tables(db, dataset):
                found = db.execute(f"SELECT count(*) FROM {_name(dataset, table)}").fetchone()
                counts[table] = int(found[0]) if found else 0
            return counts

    def history(self, dataset: str, journal: Journal) -> list[dict[str, Any]]:
        if not os.path.exists(self.path) or journal.versions not in self.catalog(dataset):
            return []
        rows = self.query(dataset, journal.versions)
        return sorted(rows, key=lambda row: (row["version"], row["inserted_at"]))

    def _commit(self, db: duckdb.DuckDBPyConnection, commit: Commit) -> None:
        dataset = commit.dataset
        db.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(dataset)}")
        catalog = self._tables(db, dataset)
        if commit.journal.loads in catalog and self._has_load(db, dataset, commit.load_id, commit.journal):
            return
        if self._newest_hash(db, dataset, commit, catalog) != commit.base_hash:
            raise Moved
        tables = [*commit.schema.tables.values(), *commit.extra_tables]
        for statement in migration(dataset, tables, catalog):
            self._run(db, statement)
        for chain in commit.chains:
            self._chain(db, commit, chain)
        for table in commit.extra_tables:
            self._insert(db, dataset, table, _scan(commit.files.get(table.name, ())))
        for name, rows in commit.records.items():
            for row in rows:
                marks = ", ".join("?" * len(row))
                db.execute(
                    f"INSERT INTO {_name(dataset, name)} ({', '.join(map(quoted, row))}) VALUES ({marks})",
                    list(row.values()),
                )

    def _chain(self, db: duckdb.DuckDBPyConnection, commit: Commit, load: ChainLoad) -> None:
        tables = [t for t in commit.schema.chain(load.root) if t.complete_columns]
        dataset = commit.dataset
        if load.mode == "append":
            for table in tables:
                self._insert(db, dataset, table, _scan(commit.files.get(table.name, ())))
            return
        if load.mode == "replace":
            for table in tables:
                db.execute(f"DELETE FROM {_name(dataset, table.name)}")
                self._insert(db, dataset, table, _scan(commit.files.get(table.name, ())))
            return
        root = commit.schema.tables[load.root]
        if not commit.files.get(load.root):
            return
        for number, table in enumerate(tables):
            scan = _scan(commit.files.get(table.name, ()), ordered=True)
            if scan:
                db.execute(f"CREATE OR REPLACE TEMP VIEW staged_{number} AS {scan}")
        names = {t.name: f"staged_{n}" for n, t in enumerate(tables) if commit.files.get(t.name)}
        chain = Chain(
            commit.schema,
            root,
            commit.keys.__getitem__,
            current=lambda name: _name(dataset, name),
            staged=lambda name: names[name],
        )
        if load.strategy == "upsert":
            self._refuse_double_keys(db, chain)
        db.execute(f"CREATE OR REPLACE TEMP TABLE leaving AS {chain.leaving(load.strategy)}")
        db.execute(f"CREATE OR REPLACE TEMP TABLE coming AS {chain.coming(load.strategy)}")
        for table in reversed(tables):
            where = chain.members(table.name, lambda name: _name(dataset, name), "leaving")
            db.execute(f"DELETE FROM {_name(dataset, table.name)} WHERE {where}")
        for table in tables:
            if table.name in names:
                where = chain.members(table.name, lambda name: names[name], "coming")
                self._insert(db, dataset, table, names[table.name], where)
        for relation in ("leaving", "coming"):
            db.execute(f"DROP TABLE {relation}")
        for view in names.values():
            db.execute(f"DROP VIEW {view}")

    def _refuse_double_keys(self, db: duckdb.DuckDBPyConnection, chain: Chain) -> None:
        found = db.execute(chain.double_keys()).fetchone()
        if found and found[0]:
            raise ContractError(
                f"table {chain.root.name}: {found[0]} primary keys stand twice in the load, which upsert does not "
                "allow; remove the duplicates, or use the delete-insert strategy"
            )

    def _insert(
        self, db: duckdb.DuckDBPyConnection, dataset: str, table: Table, source: str, where: str = "TRUE"
    ) -> None:
        """Insert the columns that the source has; the others are NULL."""
        if not source:
            return
        there = {column[0] for column in db.execute(f"SELECT * FROM {_relation(source)} LIMIT 0").description or ()}
        into = ", ".join(quoted(c.name) for c in table.complete_columns if c.name in there)
        self._run(
            db,
            f"INSERT INTO {_name(dataset, table.name)} ({into}) SELECT {into} FROM {_relation(source)} WHERE {where}",
        )

    def _run(self, db: duckdb.DuckDBPyConnection, statement: str) -> None:
        import duckdb

        try:
            db.execute(statement)
        except duckdb.Error as bad:
            first = str(bad).strip().splitlines()[0]
            raise DestinationError(f"{self.path}: DuckDB refused the load: {first}; nothing was loaded") from bad

    def _newest_hash(
        self, db: duckdb.DuckDBPyConnection, dataset: str, commit: Commit, catalog: Mapping[str, CatalogTable]
    ) -> str | None:
        if commit.journal.versions not in catalog:
            return None
        found = db.execute(
            f"SELECT version_hash FROM {_name(dataset, commit.journal.versions)} WHERE schema_name = ? "
            "ORDER BY version DESC, inserted_at DESC LIMIT 1",
            [commit.schema.name],
        ).fetchone()
        return None if found is None else str(found[0])

    def _has_load(self, db: duckdb.DuckDBPyConnection, dataset: str, load_id: str, journal: Journal) -> bool:
        if journal.loads not in self._tables(db, dataset):
            return False
        found = db.execute(
            f"SELECT 1 FROM {_name(dataset, journal.loads)} WHERE {quoted(journal.load_id)} = ? LIMIT 1", [load_id]
        ).fetchone()
        return found is not None

    def _tables(self, db: duckdb.DuckDBPyConnection, dataset: str) -> dict[str, CatalogTable]:
        found: dict[str, dict[str, str]] = {}
        rows = db.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() "
            "WHERE database_name = current_database() AND schema_name = ? ORDER BY table_name, column_index",
            [dataset],
        ).fetchall()
        for table, column, data_type in rows:
            found.setdefault(table, {})[column] = data_type
        return {name: CatalogTable(name, columns) for name, columns in found.items()}

    @contextmanager
    def _open(self) -> Iterator[duckdb.DuckDBPyConnection]:
        import duckdb

        limit = time.monotonic() + self.lock_wait
        while True:
            try:
                db = duckdb.connect(self.path)
                break
            except duckdb.IOException as bad:
                message = str(bad)
                if "lock" not in message.lower():
                    raise DestinationError(_cannot_open(self.path, message)) from bad
                if time.monotonic() >= limit:
                    raise DestinationError(
                        f"{self.path}: another process holds the file ({_holder(message)}) and did not let go "
                        f"within {self.lock_wait:.0f} seconds; close it and load again"
                    ) from bad
                time.sleep(_LOCK_POLL)
            except duckdb.Error as bad:
                raise DestinationError(_cannot_open(self.path, str(bad))) from bad
        try:
            db.execute("SET TimeZone = 'UTC'")
            db.execute("SET enable_progress_bar = false")
            yield db
        except duckdb.Error as bad:
            first = str(bad).strip().splitlines()[0]
            raise DestinationError(f"{self.path}: DuckDB refused: {first}; nothing was loaded") from bad
        finally:
            db.close()


def migration(dataset: str, tables: Iterable[Table], catalog: Mapping[str, CatalogTable]) -> list[str]:
    """CREATE TABLE for what is missing, ADD COLUMN for missing columns; nothing else is touched."""
    statements = []
    for table in tables:
        columns = table.complete_columns
        if not columns:
            continue
        real = catalog.get(table.name)
        if real is None:
            listed = ", ".join(_column(c.name, duckdb_type(c), c.required) for c in columns)
            statements.append(f"CREATE TABLE {_name(dataset, table.name)} ({listed})")
            continue
        there = {name.lower() for name in real.columns}
        for column in columns:
            if column.name.lower() not in there:
                what = _column(column.name, duckdb_type(column), column.required)
                statements.append(f"ALTER TABLE {_name(dataset, table.name)} ADD COLUMN {what}")
    return statements


def _column(name: str, type_: str, required: bool) -> str:
    return f"{quoted(name)} {type_}" + (" NOT NULL" if required else "")


def _name(dataset: str, table: str) -> str:
    return f"{quoted(dataset)}.{quoted(table)}"


def _scan(files: Sequence[StagedFile], ordered: bool = False) -> str:
    """A query of the rows of staged files; `ordered` adds `staged_at`, the place of each in the input."""
    if not files:
        return ""
    listed = ", ".join("'" + file.path.replace("'", "''") + "'" for file in files)
    if not ordered:
        return f"SELECT * FROM read_parquet([{listed}], union_by_name = true)"
    return (
        "SELECT *, (staged_file, file_row_number) AS staged_at "
        f"FROM read_parquet([{listed}], union_by_name = true, filename = 'staged_file', file_row_number = true)"
    )


def _relation(source: str) -> str:
    return f"({source})" if source.startswith("SELECT") else source


def _holder(message: str) -> str:
    at = message.find("Conflicting lock is held in ")
    return message[at + len("Conflicting lock is held in ") :].split(". ")[0] if at >= 0 else "it is locked"


def _cannot_open(path: str, message: str) -> str:
    first = message.strip().splitlines()[0]
    return f"{path}: DuckDB cannot open it ({first}); check the path, its rights and the free space"

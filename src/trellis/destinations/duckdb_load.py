"""One load in one transaction of DuckDB: migrate, move the staged rows in, record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from trellis.destinations.base import CatalogTable, ChainLoad, Commit, KeyedLoad, Links
from trellis.destinations.duckdb_errors import one_line, refusal
from trellis.destinations.duckdb_links import find_changes
from trellis.destinations.duckdb_types import duckdb_type
from trellis.destinations.keyed import Keyed
from trellis.destinations.merge import COMING, LEAVING, Chain, quoted
from trellis.destinations.migration import Migration, refuse_views
from trellis.destinations.placed import Placed
from trellis.destinations.refusal import double_keys, refuse_required, refuse_twins, type_clash
from trellis.destinations.scan import relation
from trellis.errors import DestinationError
from trellis.flow.stage import StagedFile
from trellis.schema.model import Column, Table

if TYPE_CHECKING:
    import duckdb


def table_name(database: str, dataset: str, table: str) -> str:
    """With the database, as a dataset may be called like it, or like one of DuckDB's own."""
    return f"{quoted(database)}.{quoted(dataset)}.{quoted(table)}"


def database_of(db: duckdb.DuckDBPyConnection) -> str:
    (name,) = db.execute("SELECT current_database()").fetchall()[0]
    return str(name)


@dataclass
class Load:
    """`catalog` is what stands in the dataset as the transaction begins."""

    db: duckdb.DuckDBPyConnection
    path: str
    commit: Commit
    catalog: Mapping[str, CatalogTable]
    _there: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.database = database_of(self.db)

    def run(self) -> None:
        commit = self.commit
        tables = [*commit.schema.tables.values(), *commit.extra_tables]
        refuse_views(tables, self.catalog)
        self._retype()  # first, as DuckDB up to 1.5 does not commit a change of rows before one of a type
        for chain in commit.chains:
            if chain.mode == "replace":
                self._empty(chain)
        self._migrate(tables)
        for chain in commit.chains:
            if chain.mode == "merge":
                self._merge(chain)
            else:
                for table in commit.schema.chain(chain.root):
                    self._insert(table)
        for load in commit.keyed:
            if self._files(load.table):
                self._key(load)
        if commit.links and self._files(commit.links.rules):
            self._link(commit.links)
        for table in commit.extra_tables:
            self._insert(table)
        for name, rows in commit.records.items():
            for row in rows:
                columns, marks = ", ".join(map(quoted, row)), ", ".join("?" * len(row))
                into = f"INSERT INTO {self._name(name)} ({columns})"
                self.db.execute(f"{into} VALUES ({marks})", list(row.values()))

    def _empty(self, chain: ChainLoad) -> None:
        for table in self.commit.schema.chain(chain.root):
            if table.name in self.catalog:
                self.db.execute(f"DELETE FROM {self._name(table.name)}")

    def _migrate(self, tables: Sequence[Table]) -> None:
        refuse_twins(tables, self.catalog)
        plan = Migration(self.catalog, self._type, self._name)
        for table in tables:
            missing = plan.missing(table) if table.name in self.catalog else []
            counted = f"SELECT count(*) FROM {self._name(table.name)}"
            if any(c.required for c in missing) and self._count(counted):
                refuse_required(table, missing)
            for statement in plan.of_table(table):
                self._run(statement, table)

    def _retype(self) -> None:
        """Give columns another type. Raises SchemaError where they hold what does not fit."""
        emptied = {chain.root for chain in self.commit.chains if chain.mode == "replace"}
        for name, columns in self.commit.retyped.items():
            table, real = self.commit.schema.tables[name], self.catalog.get(name, CatalogTable(name))
            for column in columns:
                wanted, there = self._type(table.columns[column]), real.columns.get(column)
                if there is None or there == wanted:
                    continue
                if name not in emptied:
                    self._refuse_misfit(table, column, there, wanted)
                cast = f"TRY_CAST({quoted(column)} AS {wanted})"
                alter = f"ALTER TABLE {self._name(name)} ALTER COLUMN {quoted(column)}"
                self._run(f"{alter} TYPE {wanted} USING {cast}", table)

    def _refuse_misfit(self, table: Table, column: str, there: str, wanted: str) -> None:
        misfit = f"{quoted(column)} IS NOT NULL AND TRY_CAST({quoted(column)} AS {wanted}) IS NULL"
        query = f"SELECT {quoted(column)} FROM {self._name(table.name)} WHERE {misfit} LIMIT 1"
        unfit = self.db.execute(query).fetchone()
        if unfit:
            raise type_clash(table.name, column, there, wanted, unfit[0])

    def _type(self, column: Column) -> str:
        return duckdb_type(column, self.commit.native)

    def _merge(self, load: ChainLoad) -> None:
        schema = self.commit.schema
        tables = [t for t in schema.chain(load.root) if t.complete_columns]
        root, keys = schema.tables[load.root], self.commit.keys.__getitem__
        chain = Chain(schema, root, keys, self._name, self._staged)
        chain.check(load.strategy)
        staged = [t for t in tables if self._files(t.name)]
        if not self._files(load.root):
            return
        if load.strategy == "upsert":
            twice = self._count(chain.double_keys())
            if twice:
                raise double_keys(chain.root.name, twice)
        self._run(f"CREATE OR REPLACE TEMP TABLE {LEAVING} AS {chain.leaving(load.strategy)}", chain.root)
        self._run(f"CREATE OR REPLACE TEMP TABLE {COMING} AS {chain.coming(load.strategy)}", chain.root)
        for table in reversed(tables):
            where = chain.members(table.name, self._name, LEAVING)
            self._run(f"DELETE FROM {self._name(table.name)} WHERE {where}", table)
        for table in staged:
            if self._count(chain.has_double_ids(table.name)):
                self._insert_places(table, chain.places_coming(table.name, once=True))
            else:
                self._insert(table, chain.members(table.name, self._staged, COMING))
        for kept in (LEAVING, COMING):
            self.db.execute(f"DROP TABLE {kept}")

    def _key(self, load: KeyedLoad) -> None:
        table = self.commit.schema.tables[load.table]
        staged = Placed.staged(self._files(table.name), table)
        columns = [column.name for column in staged.columns]
        there = [column.name for column in table.complete_columns]
        relation = staged.relation(self._real_types(table, columns))
        keyed = Keyed(load, self._name(table.name), relation, columns, there, staged.place)
        for statement in keyed.statements(self._count):
            self._run(statement, table)

    def _real_types(self, table: Table, columns: Sequence[str]) -> dict[str, str]:
        """The types that columns of a table have by now."""
        rows = self.db.execute(f"DESCRIBE {self._name(table.name)}").fetchall()
        real = {str(row[0]).lower(): str(row[1]) for row in rows}
        return {name: real[name.lower()] for name in columns}

    def _link(self, links: Links) -> None:
        rules, mappings = (self.commit.schema.tables[name] for name in (links.rules, links.mappings))
        staged = Placed.staged(self._files(rules.name), rules)
        linking = find_changes(self.db, self.commit, staged, self._name(mappings.name))
        for statement in linking.statements():
            self._run(statement, mappings)

    def _insert(self, table: Table, where: str = "TRUE") -> None:
        if self._files(table.name):
            self._insert_from(table, self._staged(table.name), where)

    def _insert_places(self, table: Table, places: str) -> None:
        """Insert staged rows by their place, for which a name is found that no column has."""
        place = "place"
        while place in {name.lower() for name in table.columns}:
            place += "_"
        picked = f"{self._columns(table)}, row_number() OVER () AS {place}"
        self._insert_from(
            table, f"(SELECT {picked} FROM {self._staged(table.name)})", f"{place} IN ({places})"
        )

    def _insert_from(self, table: Table, source: str, where: str) -> None:
        into = self._columns(table)
        into_table = f"INSERT INTO {self._name(table.name)} ({into})"
        self._run(f"{into_table} SELECT {into} FROM {source} WHERE {where}", table)

    def _files(self, table: str) -> Sequence[StagedFile]:
        return self.commit.files.get(table, ())

    def _columns(self, table: Table) -> str:
        """The columns that staged files have; the others are NULL."""
        there = self._staged_columns(table.name)
        return ", ".join(quoted(c.name) for c in table.complete_columns if c.name in there)

    def _staged(self, table: str) -> str:
        known = self.commit.schema.tables.get(table)
        columns = known or next(t for t in self.commit.extra_tables if t.name == table)
        paths = [file.path for file in self._files(table)]
        return relation(paths, columns.complete_columns, self._staged_columns(table))

    def _staged_columns(self, table: str) -> set[str]:
        if table not in self._there:
            self._there[table] = {name for f in self._files(table) for name in pq.read_schema(f.path).names}
        return self._there[table]

    def _name(self, table: str) -> str:
        return table_name(self.database, self.commit.dataset, table)

    def _count(self, query: str) -> int:
        found = self.db.execute(query).fetchone()
        return int(found[0]) if found else 0

    def _run(self, statement: str, table: Table) -> None:
        import duckdb

        try:
            self.db.execute(statement)
        except (duckdb.ConstraintException, duckdb.ConversionException) as bad:
            real = self.catalog.get(table.name)
            paths = [file.path for file in self._files(table.name)]
            raise refusal(self.db, bad, table, real.columns if real else {}, paths) from bad
        except duckdb.Error as bad:
            raise DestinationError(
                f"{self.path}: DuckDB refused table {table.name}: {one_line(bad)}; nothing was loaded"
            ) from bad

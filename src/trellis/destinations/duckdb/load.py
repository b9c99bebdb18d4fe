"""One load in one transaction of DuckDB: migrate, move the staged rows in, record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trellis.destinations.base import CatalogTable, Commit, IdentityRules, KeyedWrite
from trellis.destinations.duckdb.catalog import read_catalog
from trellis.destinations.duckdb.errors import refusal
from trellis.destinations.duckdb.identities import prepare_identity_changes
from trellis.destinations.duckdb.types import is_same_type, type_name
from trellis.destinations.refusals import first_line, refuse_case_variants, refuse_required, type_mismatch
from trellis.destinations.scan.literals import render_literal
from trellis.destinations.scan.positions import positioned_rows
from trellis.destinations.scan.relation import column_names, files_relation
from trellis.destinations.sql.keyed import KeyedStatements
from trellis.destinations.sql.load import SqlLoad
from trellis.destinations.sql.migration import Migration
from trellis.destinations.sql.names import quoted
from trellis.destinations.sql.preconditions import tables_to_empty
from trellis.destinations.sql.roots import MergeNames
from trellis.errors import DestinationError
from trellis.schema.model import NOTHING, Column, Table
from trellis.warehouses.catalog.databases import DUCKDB
from trellis.warehouses.warehouse import Warehouse

if TYPE_CHECKING:
    import duckdb


def table_name(database: str, dataset: str, table: str) -> str:
    """With the database, as a dataset may be called like it, or like one of DuckDB's own."""
    return DUCKDB.quote(database, dataset, table)


def database_of(db: duckdb.DuckDBPyConnection) -> str:
    (name,) = db.execute("SELECT current_database()").fetchall()[0]
    return str(name)


@dataclass
class DuckDBLoad(SqlLoad):
    """`catalog` has the tables of the dataset as the transaction begins."""

    db: duckdb.DuckDBPyConnection
    path: str
    commit: Commit
    catalog: Mapping[str, CatalogTable]
    _columns_by_table: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.database = database_of(self.db)

    @property
    def _catalog(self) -> Mapping[str, CatalogTable]:
        return self.catalog

    @property
    def _warehouse(self) -> Warehouse:
        return DUCKDB

    @property
    def _names(self) -> MergeNames:
        return MergeNames(self._prefix, type_of=self._type)

    def _read_catalog(self) -> None:
        self.catalog = read_catalog(self.db, self.commit.dataset)

    def _remove_from_catalog(self, table: str) -> None:
        self.catalog = {name: known for name, known in self.catalog.items() if name != table}

    def _migrate(self) -> None:
        tables = list(self._tables())
        refuse_case_variants(tables, self.catalog)
        plan = Migration(
            DUCKDB, self.catalog, self._type, render_literal, self._name, filled=self.commit.filled
        )
        for table in tables:
            missing = plan.without_value(table) if table.name in self.catalog else []
            counted = f"SELECT count(*) FROM {self._name(table.name)}"
            if missing and self._count(counted, table):
                refuse_required(table, missing)
            for statement in plan.of_table(table):
                self._run(statement, table)
            self._refuse_loss(table)

    def _refuse_loss(self, table: Table) -> None:
        """Raises SchemaError for a staged value that a column of another type would hold as another one."""
        real = {name.lower(): type_ for name, type_ in self._known_columns(table).items()}
        for column in table.complete_columns if self._files(table.name) else ():
            target_type, real_type = self._type(column), real.get(column.name.lower())
            if (
                real_type is None
                or is_same_type(real_type, target_type)
                or column.name not in self._staged_columns(table.name)
            ):
                continue
            value = quoted(column.name)
            stored = f"TRY_CAST(TRY_CAST({value} AS {real_type}) AS {target_type})"
            query = f"SELECT {value} FROM {self._staged(table.name)} WHERE {stored} IS DISTINCT FROM {value}"
            misfit_row = self.db.execute(f"{query} LIMIT 1").fetchone()
            if misfit_row:
                raise type_mismatch(table.name, column.name, str(real_type), target_type, misfit_row[0])

    def _known_columns(self, table: Table) -> Mapping[str, str]:
        """The columns of a table as it was found, but for those that the load retypes."""
        known = self.catalog.get(table.name)
        retyped = self.commit.retyped.get(table.name, ())
        return {n: t for n, t in known.columns.items() if n not in retyped} if known else {}

    def _retype(self) -> None:
        """Raises SchemaError where a value does not fit the new type of its column.

        DuckDB up to 1.5 does not commit a change of rows before one of a type, so tables are not empty yet.
        """
        without_rows = tables_to_empty(self.commit)
        for name, columns in self.commit.retyped.items():
            table, real = self.commit.schema.tables[name], self.catalog.get(name, CatalogTable(name))
            for column in columns:
                target_type, real_type = self._type(table.columns[column]), real.columns.get(column)
                if real_type is None or is_same_type(real_type, target_type):
                    continue
                if name not in without_rows:
                    self._refuse_misfit(table, column, real_type, target_type)
                cast = f"TRY_CAST({quoted(column)} AS {target_type})"
                alter = f"ALTER TABLE {self._name(name)} ALTER COLUMN {quoted(column)}"
                self._run(f"{alter} TYPE {target_type} USING {cast}", table)

    def _refuse_misfit(self, table: Table, column: str, real_type: str, target_type: str) -> None:
        misfit = f"{quoted(column)} IS NOT NULL AND TRY_CAST({quoted(column)} AS {target_type}) IS NULL"
        query = f"SELECT {quoted(column)} FROM {self._name(table.name)} WHERE {misfit} LIMIT 1"
        misfit_row = self.db.execute(query).fetchone()
        if misfit_row:
            raise type_mismatch(table.name, column, real_type, target_type, misfit_row[0])

    def _type(self, column: Column) -> str:
        return type_name(column, self.commit.native)

    def _write_keyed(self, load: KeyedWrite) -> None:
        table = self.commit.schema.tables[load.table]
        staged = positioned_rows(self._files(table.name), table, self._place)
        columns = [column.name for column in staged.columns]
        table_columns = [column.name for column in table.complete_columns]
        relation = staged.relation(self._real_types(table, columns))
        name = self._name(table.name)
        keyed = KeyedStatements(load, name, relation, columns, table_columns, staged.position, self._prefix)
        self._execute_keyed(keyed, table)

    def _real_types(self, table: Table, columns: Sequence[str]) -> dict[str, str]:
        """The types that columns of a table have by now."""
        rows = self.db.execute(f"DESCRIBE {self._name(table.name)}").fetchall()
        real = {str(row[0]).lower(): str(row[1]) for row in rows}
        return {name: real[name.lower()] for name in columns}

    def _resolve_identities(self, links: IdentityRules) -> None:
        rules, mappings = (self.commit.schema.tables[name] for name in (links.rules, links.mappings))
        staged = positioned_rows(self._files(rules.name), rules, self._place)
        statements = prepare_identity_changes(
            self.db, self.commit, staged, self._name(mappings.name), self._prefix
        )
        for statement in statements.write_statements():
            self._run(statement, mappings)

    def _insert(self, table: Table, where: str = "TRUE", written: Mapping[str, str] = NOTHING) -> int:
        if not self._files(table.name):
            return 0
        return self._insert_from(table, self._staged(table.name), where, written)

    def _insert_positions(self, table: Table, places: str, written: Mapping[str, str]) -> int:
        listed = ", ".join(map(quoted, self._columns(table)))
        placed = f"(SELECT {listed}, row_number() OVER () AS {self._place} FROM {self._staged(table.name)})"
        where = f"{self._names.staged_row}.{self._place} IN ({places})"
        return self._insert_from(table, placed, where, written)

    def _insert_from(self, table: Table, source: str, where: str, written: Mapping[str, str]) -> int:
        row = self._names.staged_row
        values = {**{name: f"{row}.{quoted(name)}" for name in self._columns(table)}, **written}
        into = f"INSERT INTO {self._name(table.name)} ({', '.join(map(quoted, values))})"
        rows = f"SELECT {', '.join(values.values())} FROM {source} AS {row} WHERE {where}"
        return self._change_rows(f"{into} {rows}", table)

    @property
    def _place(self) -> str:
        """What the column with the place of a staged row is called."""
        return f"{self._prefix}place"

    def _columns(self, table: Table) -> list[str]:
        """The columns that staged files have; the others are NULL."""
        staged_columns = self._staged_columns(table.name)
        return [column.name for column in table.complete_columns if column.name in staged_columns]

    def _staged(self, table: str) -> str:
        known = self.commit.schema.tables.get(table)
        columns = known or next(t for t in self.commit.extra_tables if t.name == table)
        paths = [file.path for file in self._files(table)]
        return files_relation(paths, columns.complete_columns, self._staged_columns(table))

    def _staged_columns(self, table: str) -> set[str]:
        if table not in self._columns_by_table:
            self._columns_by_table[table] = column_names(file.path for file in self._files(table))
        return self._columns_by_table[table]

    def _name(self, table: str) -> str:
        return table_name(self.database, self.commit.dataset, table)

    def _counts(self, query: str, table: Table) -> tuple[int, ...]:
        return tuple(map(int, self.db.execute(query).fetchone() or ()))

    def _change_rows(self, statement: str, table: Table) -> int:
        (rows,) = self._run(statement, table).fetchall()[0]
        return int(rows)

    def _run(
        self, statement: str, table: Table, values: Sequence[Any] = (), *, owner: bool = False
    ) -> duckdb.DuckDBPyConnection:
        import duckdb

        try:
            return self.db.execute(statement, list(values))
        except (duckdb.ConstraintException, duckdb.ConversionException) as bad:
            real = self.catalog.get(table.name)
            paths = [file.path for file in self._files(table.name)]
            raise refusal(self.db, bad, table, real.columns if real else {}, paths) from bad
        except duckdb.Error as bad:
            raise DestinationError(
                f"{self.path}: DuckDB refused table {table.name}: {first_line(bad)}; nothing was loaded"
            ) from bad

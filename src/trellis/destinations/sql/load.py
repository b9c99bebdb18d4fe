"""What loads into SQL databases have in common: the order of the steps, resets, merges and records.

Statements here run unchanged on DuckDB and PostgreSQL; values are bound as $1, $2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from trellis.destinations.base import CatalogTable, Commit, IdentityRules, KeyedWrite, TableTreeWrite
from trellis.destinations.refusals import duplicate_keys, null_values
from trellis.destinations.row_changes import RowChanges, RowTally
from trellis.destinations.sql.keyed import KeyedStatements
from trellis.destinations.sql.merge import TableTreeStatements
from trellis.destinations.sql.names import alias_prefix, quoted
from trellis.destinations.sql.preconditions import refuse_views, tables_to_empty
from trellis.destinations.sql.roots import MergeNames
from trellis.engine.staging.stage import StagedFile
from trellis.schema.model import NOTHING, Column, Table
from trellis.warehouses.alterations import AlterationWriter
from trellis.warehouses.warehouse import Warehouse


class SqlLoad(ABC):
    """A load in an open transaction of a database. A subclass knows how its database does each step."""

    commit: Commit

    def execute(self) -> None:
        """Reset, migrate, move the staged rows in, record."""
        commit = self.commit
        reset = [Table(name) for name in (*commit.reset.drop, *commit.reset.empty)]
        refuse_views([*self._tables(), *reset], self._catalog)
        for name in commit.reset.drop:
            if name in self._catalog:
                self._run(f"DROP TABLE {self._name(name)}", Table(name), owner=True)
                self._remove_from_catalog(name)
        self._alter(required=False)
        self._retype()
        self._empty_tables()
        self._migrate()
        self._alter(required=True)
        for chain in commit.chains:
            if chain.mode == "merge":
                self._merge_tree(chain)
            else:
                for table in commit.schema.chain(chain.root):
                    self._tallies[table.name].inserted += self._insert(table)
        for load in commit.keyed:
            if self._files(load.table):
                self._write_keyed(load)
        if commit.links and self._files(commit.links.rules):
            self._resolve_identities(commit.links)
        for table in commit.extra_tables:
            self._insert(table)
        for name, rows in commit.records.items():
            for row in rows:
                self._append_record(name, row)

    def row_changes(self) -> dict[str, RowChanges]:
        """What the load did to the rows of its tables, once it was executed."""
        return {
            name: tally.changes(sum(file.rows for file in self._files(name)))
            for name, tally in self._tallies.items()
        }

    def _tables(self) -> Iterator[Table]:
        """The tables that the load needs."""
        known = (*self.commit.schema.tables.values(), *self.commit.extra_tables)
        return (table for table in known if table.complete_columns)

    def _alter(self, *, required: bool) -> None:
        """Make the alterations: columns get NOT NULL once they have their type, everything else before."""
        alterations = [
            alteration
            for alteration in self.commit.alterations
            if (alteration.kind == "set not null") == required
        ]
        writer = AlterationWriter(self._warehouse, self._name)
        for alteration in alterations:
            table = self.commit.schema.tables.get(alteration.table, Table(alteration.table))
            column = table.columns.get(alteration.column)
            type_ = self._type(column) if column is not None else ""
            if required and alteration.fill is None:
                self._refuse_nulls(table, alteration.column)
            for statement in writer.statements(alteration, type_):
                self._run(statement, table, owner=True)
        if alterations:
            self._read_catalog()

    def _refuse_nulls(self, table: Table, column: str) -> None:
        """Raises SchemaError where rows have NULL in a column that is to have none."""
        nulls = self._count(
            f"SELECT count(*) FROM {self._name(table.name)} WHERE {quoted(column)} IS NULL", table
        )
        if nulls:
            raise null_values(table.name, column, nulls)

    def _empty_tables(self) -> None:
        for name in tables_to_empty(self.commit):
            if name in self._catalog:
                emptied = f"DELETE FROM {self._name(name)}"
                self._tallies[name].removed += self._change_rows(emptied, Table(name))
        versions = self.commit.metadata.versions
        if self.commit.reset.versions and versions in self._catalog:
            delete = f"DELETE FROM {self._name(versions)} WHERE {quoted('schema_name')} = $1"
            self._run(delete, Table(versions), [self.commit.schema.name])

    def _merge_tree(self, load: TableTreeWrite) -> None:
        chain = TableTreeStatements(
            self.commit.schema,
            load,
            self.commit.keys.__getitem__,
            self._name,
            self._staged,
            self._names,
        )
        root, roots = chain.root, chain.roots
        roots.check()
        if not any(file.rows for file in self._files(root.name)):
            return
        if load.strategy == "upsert" and (duplicates := self._count(roots.duplicate_keys(), root)):
            raise duplicate_keys(root.name, duplicates)
        names, tally = chain.names, self._tallies[root.name]
        if counts := roots.write_counts():
            tally.replaced, tally.marked = self._counts(counts, root)
        self._run(f"CREATE TEMP TABLE {names.rows_to_insert} AS {roots.rows_to_insert()}", root)
        written: Mapping[str, str] = NOTHING
        if chain.replaces:
            self._run(f"CREATE TEMP TABLE {names.rows_to_delete} AS {roots.rows_to_delete()}", root)
            for table in reversed(chain.tables):
                rows = f"{self._name(table.name)} AS {names.current_row}"
                deleted = f"DELETE FROM {rows} WHERE {chain.is_deleted(table.name)}"
                self._tallies[table.name].removed += self._change_rows(deleted, table)
            self._run(f"DROP TABLE {names.rows_to_delete}", root)
        elif versions := roots.versions:
            rows = f"{self._name(root.name)} AS {names.current_row}"
            ended = f"{quoted(versions.history.valid_to)} = {versions.ended}"
            update = f"UPDATE {rows} SET {ended} WHERE {roots.is_ended(versions)}"
            tally.ended += self._change_rows(update, root)
            written = versions.written
        for table in chain.tables:
            self._insert_merged(chain, table, written if table == root else NOTHING)
        if roots.replaces_by_key:
            tally.replaced = min(tally.inserted, tally.removed)
        self._run(f"DROP TABLE {names.rows_to_insert}", root)

    def _insert_merged(self, chain: TableTreeStatements, table: Table, written: Mapping[str, str]) -> None:
        """Insert the merged rows of one table; `written` are values of columns that the load sets."""
        if not self._files(table.name):
            return
        apart = chain.replaces or table == chain.root
        if apart and self._count(chain.duplicate_id_count(table.name), table):
            places = chain.positions_to_insert(table.name, once=chain.replaces)
            inserted = self._insert_positions(table, places, written)
        else:
            inserted = self._insert(table, chain.is_inserted(table.name), written)
        self._tallies[table.name].inserted += inserted

    def _execute_keyed(self, keyed: KeyedStatements, table: Table) -> None:
        tally = self._tallies[table.name]
        for statement, effect in keyed.statements(lambda query: self._count(query, table)):
            if effect is None:
                self._run(statement, table)
                continue
            rows = self._change_rows(statement, table)
            if effect == "insert":
                tally.inserted += rows
            elif effect == "update":
                tally.changed += rows
            else:
                tally.removed += rows
        tally.replaced = min(tally.inserted, tally.removed)

    def _append_record(self, name: str, row: Mapping[str, Any]) -> None:
        columns = ", ".join(map(quoted, row))
        marks = ", ".join(f"${number}" for number in range(1, len(row) + 1))
        into = f"INSERT INTO {self._name(name)} ({columns}) VALUES ({marks})"
        self._run(into, Table(name), list(row.values()))

    def _files(self, table: str) -> Sequence[StagedFile]:
        return self.commit.files.get(table, ())

    def _count(self, query: str, table: Table) -> int:
        return self._counts(query, table)[0]

    @cached_property
    def _tallies(self) -> defaultdict[str, RowTally]:
        return defaultdict(RowTally)

    @cached_property
    def _prefix(self) -> str:
        """What every name begins with that a statement adds; no column of the dataset does."""
        commit = self.commit
        declared = (table.columns for table in (*commit.schema.tables.values(), *commit.extra_tables))
        real = (table.columns for table in self._catalog.values())
        return alias_prefix(name for columns in (*declared, *real) for name in columns)

    @property
    @abstractmethod
    def _catalog(self) -> Mapping[str, CatalogTable]:
        """The tables of the dataset."""

    @property
    @abstractmethod
    def _warehouse(self) -> Warehouse: ...

    @property
    @abstractmethod
    def _names(self) -> MergeNames: ...

    @abstractmethod
    def _read_catalog(self) -> None:
        """Look at the tables of the dataset again."""

    @abstractmethod
    def _remove_from_catalog(self, table: str) -> None:
        """Take a table that was dropped out of what is known."""

    @abstractmethod
    def _retype(self) -> None:
        """Give columns another type, where the migration does not."""

    @abstractmethod
    def _migrate(self) -> None: ...

    @abstractmethod
    def _write_keyed(self, load: KeyedWrite) -> None: ...

    @abstractmethod
    def _resolve_identities(self, links: IdentityRules) -> None: ...

    @abstractmethod
    def _insert(self, table: Table, where: str = "TRUE", written: Mapping[str, str] = NOTHING) -> int:
        """Insert the staged rows of a table for which a condition holds; `MergeNames` has their alias.

        Returns how many.
        """

    @abstractmethod
    def _insert_positions(self, table: Table, places: str, written: Mapping[str, str]) -> int:
        """Insert the staged rows of a table at the positions that a query gives, and return how many."""

    @abstractmethod
    def _staged(self, table: str) -> str:
        """The staged rows of a table as an item of a FROM clause."""

    @abstractmethod
    def _name(self, table: str) -> str: ...

    @abstractmethod
    def _type(self, column: Column) -> str: ...

    @abstractmethod
    def _counts(self, query: str, table: Table) -> tuple[int, ...]:
        """The numbers in the one row of a query."""

    @abstractmethod
    def _change_rows(self, statement: str, table: Table) -> int:
        """Execute a statement that inserts, updates or deletes rows, and return how many."""

    @abstractmethod
    def _run(
        self, statement: str, table: Table, values: Sequence[Any] = (), *, owner: bool = False
    ) -> object:
        """Execute a statement about a table; `owner`: only its owner may."""

"""From the real catalog to the schema: tables to create, columns to add or to give another type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trellis.destinations.base import CatalogTable, Commit, Filled, OtherRun
from trellis.destinations.sql.literals import Written, duckdb_value
from trellis.destinations.sql.names import quoted
from trellis.errors import SchemaError
from trellis.schema.model import Column, Table
from trellis.warehouses import statements as sql
from trellis.warehouses.statements import ColumnDefinition
from trellis.warehouses.warehouse import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Migration:
    """`type_of` and `name_of` give the types of columns and the quoted names of tables in the warehouse.

    `retyped` names columns, by table, that are there and get the type that the schema says; `filled` holds
    what rows that are there get in new columns, and `written` writes such a value down.
    """

    warehouse: Warehouse
    catalog: Mapping[str, CatalogTable]
    type_of: Callable[[Column], str]
    name_of: Callable[[str], str] = quoted
    retyped: Mapping[str, Sequence[str]] = field(default_factory=dict)
    filled: Filled = field(default_factory=dict)
    written: Written = duckdb_value

    def statements(self, tables: Iterable[Table]) -> list[str]:
        return [statement for table in tables for statement in self.of_table(table)]

    def of_table(self, table: Table) -> list[str]:
        columns = table.complete_columns
        if not columns:
            return []
        name = self.name_of(table.name)
        if table.name not in self.catalog:
            definitions = [ColumnDefinition(c.name, self.type_of(c), c.required) for c in columns]
            return [sql.create_table(self.warehouse, name, definitions)]
        statements: list[str] = []
        missing = self.missing(table)
        for column in missing:
            statements += self._added(name, column, self.filled.get(table.name, {}).get(column.name))
        retyped = self.retyped.get(table.name, ())
        for column in columns:
            if column.name in retyped and column not in missing:
                statements.append(sql.set_type(self.warehouse, name, column.name, self.type_of(column)))
        return statements

    def missing(self, table: Table) -> list[Column]:
        """Columns of the schema that a real table lacks."""
        key, real = self.warehouse.identifiers.key, self.catalog.get(table.name)
        known = {key(name) for name in real.columns} if real else set()
        return [column for column in table.complete_columns if key(column.name) not in known]

    def _added(self, name: str, column: Column, value: pa.Scalar | None) -> list[str]:
        """That it is required is said last, when the rows that are there have a value."""
        type_ = self.type_of(column)
        default = "" if value is None else f"DEFAULT {self.written(value, type_)}"
        definition = ColumnDefinition(column.name, type_, constraint=default)
        statements = sql.add_columns(self.warehouse, name, [definition])
        if default:
            statements.append(sql.drop_default(self.warehouse, name, column.name))
        if column.required:
            statements.append(sql.set_not_null(self.warehouse, name, column.name))
        return statements


def refuse_views(tables: Iterable[Table], catalog: Mapping[str, CatalogTable]) -> None:
    """Raises SchemaError where a table that gets rows or columns is a view."""
    for table in tables:
        if table.name in catalog and catalog[table.name].is_view:
            raise SchemaError(
                f"table {table.name}: it is a view in the destination, and a load needs a table; rename the "
                "one or the other; nothing was loaded"
            )


def emptied(commit: Commit) -> tuple[str, ...]:
    """The tables all of whose rows go before the load brings any."""
    replaced = (chain.root for chain in commit.chains if chain.mode == "replace")
    chained = (table.name for root in replaced for table in commit.schema.chain(root))
    return tuple(dict.fromkeys((*chained, *commit.reset.empty)))


def refuse_other_run(
    commit: Commit, newest: Callable[[str, str, str, Sequence[str]], Mapping[str, Any] | None]
) -> None:
    """Raises OtherRun where the state is not any more the one that the run began with.

    `newest` gives the last row of a table with a text in a column, by an order. Must be called where no other
    load can come between.
    """
    if commit.recalled is None:
        return
    pipeline, journal = commit.recalled.pipeline, commit.journal
    row = newest(journal.states, "pipeline_name", pipeline, journal.newest)
    if (str(row["version_hash"]) if row else None) != commit.recalled.version_hash:
        raise OtherRun(
            f"pipeline {pipeline}: another run moved its cursors or its state while this one ran; "
            "nothing was loaded, run again"
        )


def has_moved(commit: Commit, now: Mapping[str, CatalogTable]) -> bool:
    """Whether a table of the load does not look any more as it did when the load was planned."""
    if commit.catalog is None:
        return False
    chained = (table.name for chain in commit.chains for table in commit.schema.chain(chain.root))
    linked = [commit.links.mappings] if commit.links else []
    touched = {*commit.files, *chained, *(load.table for load in commit.keyed), *linked}
    return any(_look(commit.catalog.get(name)) != _look(now.get(name)) for name in touched)


def _look(table: CatalogTable | None) -> object:
    return None if table is None else (dict(table.columns), table.is_view)

"""From the real catalog to the schema: tables to create, columns to add or to give another type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.destinations.base import CatalogTable, FillValues
from trellis.destinations.refusals import refuse_case_variants
from trellis.destinations.sql.literals import LiteralRenderer
from trellis.destinations.sql.names import quoted
from trellis.destinations.sql.preconditions import refuse_views
from trellis.dialects import system_prefixes
from trellis.schema.model import Column, Schema, Table
from trellis.schema.personal_data import comment_of
from trellis.schema.system import is_system
from trellis.warehouses import statements as sql
from trellis.warehouses.statements import ColumnDefinition
from trellis.warehouses.warehouse import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa


def changed_comments(
    table: Table, stored: Mapping[str, str], key: Callable[[str], str] = str
) -> dict[str, str]:
    """Comments that are to be what the schema describes, by column, the empty name being the table.

    Where it describes nothing, any may stand. Bookkeeping has none: every load of a dataset that is there
    already would write them first.
    """
    if is_system(table.name, *system_prefixes()):
        return {}
    known = {key(column): comment for column, comment in stored.items()}
    described = {"": table.description, **{c.name: comment_of(c) for c in table.complete_columns}}
    return {name: text for name, text in described.items() if text and known.get(key(name)) != text}


@dataclass(frozen=True)
class Migration:
    """`type_of` and `name_of` give the types of columns and the quoted names of tables in the warehouse.

    `retyped` names existing columns, by table, that get the type of the schema; `filled` holds
    what existing rows get in new columns, which `render_literal` writes as SQL.
    """

    warehouse: Warehouse
    catalog: Mapping[str, CatalogTable]
    type_of: Callable[[Column], str]
    render_literal: LiteralRenderer
    name_of: Callable[[str], str] = quoted
    retyped: Mapping[str, Sequence[str]] = field(default_factory=dict)
    filled: FillValues = field(default_factory=dict)
    comments: bool = True
    """Whether descriptions become comments, where the warehouse has any."""

    def of_schema(self, schema: Schema) -> list[str]:
        """Raises SchemaError for names that differ only in case, and for views in the place of tables."""
        tables = [table for table in schema.tables.values() if table.complete_columns]
        refuse_case_variants(tables, self.catalog)
        refuse_views(tables, self.catalog)
        return self.statements(tables)

    def statements(self, tables: Iterable[Table]) -> list[str]:
        return [statement for table in tables for statement in self.of_table(table)]

    def of_table(self, table: Table) -> list[str]:
        columns = table.complete_columns
        if not columns:
            return []
        name = self.name_of(table.name)
        if table.name not in self.catalog:
            definitions = [ColumnDefinition(c.name, self.type_of(c), c.required) for c in columns]
            return [sql.create_table(self.warehouse, name, definitions), *self._comments(table, {})]
        statements: list[str] = []
        missing = self.missing(table)
        for column in missing:
            statements += self._added(name, column, self.filled.get(table.name, {}).get(column.name))
        retyped = self.retyped.get(table.name, ())
        for column in columns:
            if column.name in retyped and column not in missing:
                statements.append(sql.set_type(self.warehouse, name, column.name, self.type_of(column)))
        comments = self.catalog[table.name].comments
        return statements if comments is None else [*statements, *self._comments(table, comments)]

    def _comments(self, table: Table, stored: Mapping[str, str]) -> Iterator[str]:
        if self.comments:
            for column, text in changed_comments(table, stored, self.warehouse.identifiers.key).items():
                yield from sql.comment_on(self.warehouse, self.name_of(table.name), column, text)

    def missing(self, table: Table) -> list[Column]:
        """Columns of the schema that a real table lacks."""
        key, real = self.warehouse.identifiers.key, self.catalog.get(table.name)
        known = {key(name) for name in real.columns} if real else set()
        return [column for column in table.complete_columns if key(column.name) not in known]

    def without_value(self, table: Table) -> list[Column]:
        """Missing columns that must have a value, and that rows which are there get none for."""
        filled = self.filled.get(table.name, {})
        return [column for column in self.missing(table) if column.required and column.name not in filled]

    def _added(self, name: str, column: Column, value: pa.Scalar | None) -> list[str]:
        """NOT NULL comes last, when the existing rows have a value."""
        type_ = self.type_of(column)
        default = "" if value is None else f"DEFAULT {self.render_literal(value, type_)}"
        definition = ColumnDefinition(column.name, type_, constraint=default)
        statements = sql.add_columns(self.warehouse, name, [definition])
        if default:
            statements.append(sql.drop_default(self.warehouse, name, column.name))
        if column.required:
            statements.append(sql.set_not_null(self.warehouse, name, column.name))
        return statements

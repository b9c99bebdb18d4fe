"""Schemas written as documents of a format."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from trellis.dialects import system_prefixes
from trellis.errors import UsageError, nearest
from trellis.schema.documents.schema_format import SchemaFormat
from trellis.schema.model import Schema, Table
from trellis.schema.system import is_system

Documents = dict[str, str | bytes]
"""Documents by the names of their files."""


def user_tables(schema: Schema, tables: Collection[str] = (), *, system_columns: bool = True) -> Schema:
    """The schema with the tables of the user, or with those named. Raises UsageError for unknown names.

    Without `system_columns`, columns that a dialect keeps for itself are left out.
    """
    prefixes = system_prefixes()
    names = [name for name in schema.tables if not is_system(name, *prefixes)]
    for name in tables:
        if name not in schema.tables:
            raise UsageError(f"schema {schema.name} has no table {name!r}{nearest(name, names)}")

    def chosen(table: Table) -> Table:
        if system_columns:
            return table
        columns = {name: column for name, column in table.columns.items() if not is_system(name, *prefixes)}
        return replace(table, columns=columns)

    return replace(schema, tables={name: chosen(schema.tables[name]) for name in tables or names})


def documents_of(schema: Schema, target: SchemaFormat) -> Documents:
    """The documents of the schema's tables: one for each, or one for all."""
    if not target.one_table:
        return {f"{schema.name}{target.suffix}": target.write(schema)}
    return {
        f"{target.rename_table(table.name)}{target.suffix}": target.write(
            replace(schema, tables={table.name: table})
        )
        for table in schema.tables.values()
        if table.complete_columns
    }

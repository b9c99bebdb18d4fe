"""The tables of a dataset as PostgreSQL knows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trellis.destinations.base import CatalogTable
from trellis.destinations.postgres.session import Session
from trellis.destinations.postgres.types import data_type
from trellis.schema.model import DataType

_COLUMNS = """
    SELECT c.relname, c.relkind IN ('v', 'm'), a.attname, format_type(a.atttypid, a.atttypmod),
        CASE WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname::text ELSE '' END,
        a.atttypmod >= 0, a.attgenerated <> '' OR a.attidentity = 'a',
        a.attnotnull AND (a.atthasdef OR a.attidentity <> ''), a.attnotnull,
        pg_has_role(c.relowner, 'USAGE'), obj_description(c.oid, 'pg_class'), col_description(c.oid, a.attnum)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_type t ON t.oid = a.atttypid
    WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
    ORDER BY c.relname, a.attnum
"""


@dataclass(frozen=True)
class Catalog:
    """`computed` are the columns, by table, whose values the server makes itself.

    `defaulted` are those that cannot be NULL, and get a value where they are left out.
    """

    tables: Mapping[str, CatalogTable]
    computed: Mapping[str, frozenset[str]]
    defaulted: Mapping[str, frozenset[str]]

    def without(self, table: str) -> Catalog:
        others = self.tables.keys() - {table}
        return Catalog(
            {name: self.tables[name] for name in others},
            {name: self.computed[name] for name in others},
            {name: self.defaulted[name] for name in others},
        )


def read_catalog(session: Session, dataset: str) -> Catalog:
    columns: dict[str, dict[str, str]] = {}
    types: dict[str, dict[str, DataType | None]] = {}
    computed: dict[str, set[str]] = {}
    defaulted: dict[str, set[str]] = {}
    required: dict[str, set[str]] = {}
    views = set()
    comments: dict[str, dict[str, str]] = {}
    rows = session.run(_COLUMNS, [dataset])
    for table, is_view, column, shown, type_, bounded, is_computed, default, not_null, *commented in rows:
        columns.setdefault(table, {})
        types.setdefault(table, {})
        is_own, table_comment, column_comment = commented
        if is_own:
            of_table = comments.setdefault(table, {"": table_comment} if table_comment else {})
            of_table.update({column: column_comment} if column_comment else {})
        if is_view:
            views.add(table)
        if column is not None:
            columns[table][column] = shown
            types[table][column] = None if is_computed else data_type(type_, bounded)
        if is_computed:
            computed.setdefault(table, set()).add(column)
        if not_null:
            required.setdefault(table, set()).add(column)
        if default:
            defaulted.setdefault(table, set()).add(column)
    return Catalog(
        {
            name: CatalogTable(
                name,
                columns[name],
                types[name],
                name in views,
                required.get(name, ()),
                comments.get(name),
            )
            for name in columns
        },
        {name: frozenset(computed.get(name, ())) for name in columns},
        {name: frozenset(defaulted.get(name, ())) for name in columns},
    )


def has_schema(session: Session, name: str) -> bool:
    return session.value("SELECT 1 FROM pg_namespace WHERE nspname = $1", [name]) is not None


def has_table(session: Session, dataset: str, table: str) -> bool:
    query = (
        "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = $1 AND c.relname = $2"
    )
    return session.value(query, [dataset, table]) is not None

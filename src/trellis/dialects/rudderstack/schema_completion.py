"""The tables and columns that a schema has besides those of events."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from trellis.dialects.rudderstack.identifiers.standard import (
    FULL_EVENT,
    NOT_IN_USERS,
    NOT_IN_USERS_OF_LAKES,
    USERS,
)
from trellis.dialects.rudderstack.identifiers.standard_names import StandardNames
from trellis.dialects.rudderstack.options import Options
from trellis.dialects.rudderstack.schema_document import IDENTIFIES, NATIVE
from trellis.schema.model import Column, Schema, Table


def complete_schema(before: Schema, after: Schema, touched: Collection[str], options: Options) -> Schema:
    """The schema with the tables that always exist, and the shared columns of users and identifies."""
    named = StandardNames.of(options)
    tables = [named.discards_table()]
    if options.identity_resolution and options.warehouse.identities:
        tables += [named.rules_table(), named.mappings_table()]
    for table in tables:
        after = _add_columns(after, table)
    users, identifies = named.table(USERS), named.table(IDENTIFIES)
    if users in touched and identifies in touched:
        excluded = _columns_not_in_users(named, options)
        known = before.tables[users] if users in before.tables else Table(users)
        after = _add_columns(after, _shared_columns(known, excluded), into=identifies)
        after = _add_columns(after, _shared_columns(after.tables[identifies], excluded), into=users)
    return after


def shared_column(schema: Schema, table: str, column: str, options: Options) -> Column | None:
    """The column of identifies that one of users is like, and the other way round."""
    named = StandardNames.of(options)
    users, identifies = named.table(USERS), named.table(IDENTIFIES)
    id_, user_id = named.columns("id", "user_id")
    if table == users and column == id_:
        other, name = identifies, user_id
    elif table in (users, identifies) and column not in (id_, *_columns_of_identifies(named, options)):
        other, name = (identifies if table == users else users), column
    else:
        return None
    model = schema.tables[other].columns.get(name) if other in schema.tables else None
    if model is None or not model.complete or NATIVE in model.hints:
        return None
    return replace(model, name=column)


def _columns_of_identifies(named: StandardNames, options: Options) -> set[str]:
    """The columns that users never has."""
    return {*named.columns("user_id", *(() if options.users_anonymous_id else NOT_IN_USERS))}


def _columns_not_in_users(named: StandardNames, options: Options) -> set[str]:
    """The columns that users does not get from identifies."""
    of_lakes = (FULL_EVENT, *NOT_IN_USERS_OF_LAKES) if options.warehouse.lake else ()
    return {*_columns_of_identifies(named, options), *named.columns(*of_lakes)}


def _add_columns(schema: Schema, source: Table, into: str = "") -> Schema:
    """The schema with the columns of a table, in it or in another, as far as they are missing."""
    known = schema.tables.get(into or source.name)
    if known is None:
        return schema.with_tables(source)
    missing = [column for name, column in source.columns.items() if name not in known.columns]
    return schema.with_tables(known.with_columns(*missing)) if missing else schema


def _shared_columns(table: Table, names: Collection[str]) -> Table:
    """The table without these columns, and without those of types that only the warehouse knows."""
    left = {n: c for n, c in table.columns.items() if n not in names and NATIVE not in c.hints}
    return replace(table, columns=left)

"""PostgreSQL carries out what is rendered for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from destinations.postgres_server import Server, database, postgres
from dialects.snowplow.families import document, text
from dialects.snowplow.schemas import edited, objects
from trellis.dialects.snowplow.columns.declarations import METADATA
from trellis.dialects.snowplow.columns.family_table import FamilyTable, merge_family
from trellis.dialects.snowplow.columns.profiles import PROFILES
from trellis.dialects.snowplow.ddl.migrations import Migration
from trellis.dialects.snowplow.ddl.tables import TableStatements
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.identity.keys import SchemaVer

__all__ = ["database", "postgres"]

psycopg = pytest.importorskip("psycopg")

POSTGRES = PROFILES["postgres"]
COLUMNS = """
    SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute
    WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum
"""
numbers = count()


@pytest.fixture
def connection(postgres: Server, database: str) -> Iterator[Any]:
    with psycopg.connect(postgres.url(database), autocommit=True) as connection:
        yield connection


def create(connection: Any, table: FamilyTable) -> str:
    """The name of a new schema that holds the table."""
    dataset = f"Dataset {next(numbers)}"
    connection.execute(f'CREATE SCHEMA "{dataset}"')
    connection.execute(TableStatements(POSTGRES, dataset, table.name).create(table.columns, table.key))
    return dataset


def columns(connection: Any, dataset: str, table: FamilyTable) -> list[tuple[str, str, bool]]:
    return [*connection.execute(COLUMNS, (f'"{dataset}".{table.name}',))]


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_500_tables_and_their_scripts_make_the_later_tables(connection: Any, data: st.DataObject) -> None:
    bodies = [data.draw(objects(1))]
    for _ in range(3):
        bodies.append(data.draw(edited(bodies[-1])))
    key = document("1-0-0", {}).key
    documents = [
        SchemaDocument(key.with_version(SchemaVer(1, 0, number)), body) for number, body in enumerate(bodies)
    ]
    before, after = merge_family(documents[:1], POSTGRES), merge_family(documents, POSTGRES)
    migrated, created = create(connection, before), create(connection, after)
    connection.execute(Migration.between(before, after).script(POSTGRES, migrated))
    catalog = columns(connection, created, after)
    assert columns(connection, migrated, after) == catalog
    assert [(name, required) for name, _, required in catalog] == [
        (column.name, not column.nullable) for column in (*METADATA, *after.columns)
    ]
    for dataset in (migrated, created):
        comment = connection.execute(
            "SELECT obj_description(%s::regclass, 'pg_class')", (f'"{dataset}".{after.name}',)
        ).fetchone()
        assert comment == (str(after.key),)
        connection.execute(f'DROP SCHEMA "{dataset}" CASCADE')


def test_names_that_need_care(connection: Any) -> None:
    keys = ['a"b', "%s", "日本", "user", "x" * 70, "y" * 70, "-- a", "a\nb"]
    table = merge_family([document("1-0-0", dict.fromkeys(keys, text(5)))], POSTGRES)
    catalog = columns(connection, create(connection, table), table)
    assert [name for name, *_ in catalog[len(METADATA) :]] == [column.name for column in table.columns]
    assert len(table.columns) == len(keys)

"""The catalogue as such: its statements parse, its types are read back, changes have their cost."""

from __future__ import annotations

import re

import duckdb
import pytest
from sqlglot import ErrorLevel, exp, parse_one

from destinations.postgres_server import Server, database, postgres
from trellis.destinations.parquet.types import type_name
from trellis.errors import SchemaError
from trellis.schema.model import DATA_TYPES, Column
from trellis.warehouses.catalog import WAREHOUSES
from trellis.warehouses.catalog.databases import DUCKDB, POSTGRES
from trellis.warehouses.catalog.lakes import PARQUET
from trellis.warehouses.statements import (
    ColumnDefinition,
    add_columns,
    cost_of,
    create_schema,
    create_table,
    set_type,
)
from trellis.warehouses.warehouse import Warehouse
from warehouses.columns import every_column

__all__ = ["database", "postgres"]

PARSERS = {"mssql": "tsql", "synapse": "tsql", "delta": "databricks", "iceberg": "spark"}
WITH_STATEMENTS = [name for name in WAREHOUSES if name != "parquet"]
COLUMNS = [ColumnDefinition("id", "INT", True), ColumnDefinition("note", "INT")]


def parsed(warehouse: str, statement: str) -> exp.Expression:
    tree = parse_one(statement, dialect=PARSERS.get(warehouse, warehouse), error_level=ErrorLevel.RAISE)
    assert not list(tree.find_all(exp.Command)), statement
    return tree


@pytest.mark.parametrize("name", WITH_STATEMENTS)
@pytest.mark.parametrize("if_missing", [False, True])
def test_statements_parse(name: str, if_missing: bool) -> None:
    warehouse = WAREHOUSES[name]
    table = warehouse.quote("shop", 'a"b`c]d')
    created = parsed(name, create_table(warehouse, table, COLUMNS, if_missing=if_missing))
    assert [column.name for column in created.find_all(exp.ColumnDef)] == ["id", "note"]
    assert next(iter(created.find_all(exp.Table))).name == 'a"b`c]d'
    added = add_columns(warehouse, table, COLUMNS, if_missing=if_missing)
    assert len(added) == {"duckdb": 3, "redshift": 2}.get(name, 1)
    for statement in added:
        parsed(name, statement)
    assert add_columns(warehouse, table, []) == []
    parsed(name, set_type(warehouse, table, "id", "INT"))
    assert len(create_schema(warehouse, "shop")) == 1


def test_statements_hold_at_most_so_many_columns() -> None:
    columns = [ColumnDefinition(f"c{number}", "bigint") for number in range(5)]
    statements = add_columns(POSTGRES, '"t"', columns, at_once=2)
    assert [re.findall(r"c\d", statement) for statement in statements] == [["c0", "c1"], ["c2", "c3"], ["c4"]]


def test_duckdb_and_postgresql_take_what_adds_and_retypes(postgres: Server, database: str) -> None:
    def statements(warehouse: Warehouse) -> list[str]:
        return [
            create_table(warehouse, '"t"', [ColumnDefinition("a", "INTEGER")]),
            *add_columns(warehouse, '"t"', COLUMNS, if_missing=True),
            set_type(warehouse, '"t"', "a", "VARCHAR"),
        ]

    with duckdb.connect() as db:
        for statement in statements(DUCKDB):
            db.execute(statement)
        assert [row[:3] for row in db.execute("DESCRIBE t").fetchall()] == [
            ("a", "VARCHAR", "YES"),
            ("id", "INTEGER", "NO"),
            ("note", "INTEGER", "YES"),
        ]
    postgres.run(*statements(POSTGRES), database=database)
    assert postgres.run(
        "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = 't' "
        "ORDER BY ordinal_position",
        database=database,
    ) == [("a", "character varying", "YES"), ("id", "integer", "NO"), ("note", "integer", "YES")]


# --- Types ----------------------------------------------------------------------------------------------


def test_files_get_the_types_of_the_catalogue() -> None:
    """What Arrow makes of a column is what the catalogue says, and what one refuses the other does."""
    for column in every_column():
        try:
            expected = PARQUET.type_of(column)
        except SchemaError:
            with pytest.raises(SchemaError):
                type_name(column)
        else:
            assert type_name(column) == expected


WEI = {"wei": "decimal"}
SHARED = {
    **dict.fromkeys(("duckdb", "postgres", "redshift", "snowflake", "mssql"), WEI),
    "databricks": {"time": "text", "json": "text", **WEI},
    "clickhouse": {"time": "text", "binary": "text", "json": "text", **WEI},
    "synapse": {"json": "text", **WEI},
    "athena": {"time": "text", "json": "text", **WEI},
    "parquet": {"json": "text", **WEI},
    "delta": {"time": "text", "json": "text", "wei": "text"},
    "iceberg": {"json": "text", "wei": "text"},
}
"""Data types that a warehouse stores as another one."""


@pytest.mark.parametrize("name", WAREHOUSES)
def test_types_are_read_back(name: str) -> None:
    warehouse = WAREHOUSES[name]
    types = {
        data_type: warehouse.data_type(warehouse.type_of(Column("a", data_type))) for data_type in DATA_TYPES
    }
    assert types == {data_type: SHARED.get(name, {}).get(data_type, data_type) for data_type in DATA_TYPES}
    assert warehouse.data_type("no type") is None


# --- Changes --------------------------------------------------------------------------------------------

CHANGES: dict[str, tuple[Column | None, Column]] = {
    "a column": (None, Column("a", "bigint")),
    "a required one": (None, Column("a", "bigint", nullable=False)),
    "more bits": (Column("a", "bigint", precision=32), Column("a", "bigint")),
    "longer text": (Column("a", "text", precision=20), Column("a", "text", precision=40)),
    "shorter text": (Column("a", "text", precision=40), Column("a", "text", precision=20)),
    "more digits": (
        Column("a", "decimal", precision=10, scale=2),
        Column("a", "decimal", precision=12, scale=2),
    ),
    "another scale": (
        Column("a", "decimal", precision=10, scale=2),
        Column("a", "decimal", precision=12, scale=4),
    ),
    "bigint to double": (Column("a", "bigint"), Column("a", "double")),
    "text to bigint": (Column("a", "text"), Column("a", "bigint")),
    "nullable": (Column("a", "bigint", nullable=False), Column("a", "bigint")),
}
COSTS = {
    # In the order of CHANGES: `-` touches no row, `r` rewrites them, `x` is impossible.
    "duckdb": "- - r - - r r r r -",
    "postgres": "- - r - r - r r r -",
    "redshift": "- x x - x x x x x x",
    "snowflake": "- - - - x - x x x -",
    "bigquery": "- x - - x - x - x -",
    "databricks": "- x - - - - x - x -",
    "clickhouse": "- - r - - r r r r r",
    "mssql": "- - r - r r r r r -",
    "synapse": "- - r - r r r r r -",
    "athena": "- x - - - x x x x -",
    "parquet": "- - r - - r r r r -",
    "delta": "- x - - - - x - x r",
    "iceberg": "- x - - - - x x x -",
}


@pytest.mark.parametrize("name", WAREHOUSES)
def test_what_a_change_costs(name: str) -> None:
    signs = {"metadata": "-", "rewrite": "r", "impossible": "x"}
    costs = (cost_of(WAREHOUSES[name], *change) for change in CHANGES.values())
    assert " ".join(signs[cost] for cost in costs) == COSTS[name]


def test_the_dearest_part_of_a_change_counts() -> None:
    before, after = Column("a", "bigint", nullable=False), Column("a", "text")
    assert cost_of(POSTGRES, before, after) == "rewrite"
    assert cost_of(WAREHOUSES["redshift"], before, Column("a", "bigint")) == "impossible"


RETYPED: list[tuple[Column, Column]] = [
    *((before, after) for before, after in CHANGES.values() if before is not None),
    (Column("a", "timestamp", precision=3), Column("a", "timestamp", precision=6)),
    (Column("a", "timestamp", precision=6), Column("a", "timestamp", precision=3)),
    (Column("a", "time", precision=3), Column("a", "time", precision=6)),
    (Column("a", "text", precision=3), Column("a", "text")),
    (Column("a", "double", precision=24), Column("a", "double")),
]


def test_postgresql_rewrites_what_the_catalogue_says(postgres: Server, database: str) -> None:
    """A table that is written anew has another file."""
    file = "SELECT pg_relation_filenode('t')"
    for before, after in RETYPED:
        native, wider = POSTGRES.type_of(before), POSTGRES.type_of(after)
        postgres.run("DROP TABLE IF EXISTS t", f"CREATE TABLE t (a {native})", database=database)
        first = postgres.run(file, database=database)
        if native != wider:
            postgres.run(set_type(POSTGRES, "t", "a", wider), database=database)
        cost = "metadata" if postgres.run(file, database=database) == first else "rewrite"
        assert (native, wider, cost) == (native, wider, cost_of(POSTGRES, before, after))

"""What a schema describes stands as comments in databases, and changes with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from destinations.postgres_server import Server, database, postgres
from trellis.dialects import get_dialect
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.pipelines.schema_versions import changes_of
from trellis.schema.model import Column
from trellis.schema.personal_data import PII
from trellis.warehouses.migration_plan import MigrationPlan

__all__ = ["database", "postgres"]

Comments = Callable[[], dict[str, str | None]]
ROWS = [{"id": 1, "email": "zoe@example.com"}]
ID = Column("id", "bigint", description="who's id")
EMAIL = Column("email", "text", description="Where to write to").with_hints(**{PII: True})
DESCRIBED = {"": None, "email": "Where to write to (personal data)", "id": "who's id"}


@pytest.fixture
def duck(tmp_path: Path) -> tuple[Pipeline, Comments]:
    def comments() -> dict[str, str | None]:
        with duckdb.connect(f"{tmp_path}/crm.duckdb", read_only=True) as db:
            columns = "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'people'"
            table = "SELECT '', comment FROM duckdb_tables() WHERE table_name = 'people'"
            stored = dict(db.execute(f"{columns} UNION ALL {table}").fetchall())
            return {name: comment for name, comment in stored.items() if name[:1] != "_"}

    return pipeline("crm", f"duckdb:{tmp_path}/crm.duckdb", engine="inline"), comments


@pytest.fixture
def server(postgres: Server, database: str) -> tuple[Pipeline, Comments]:
    def comments() -> dict[str, str | None]:
        query = (
            "SELECT coalesce(a.attname::text, ''), d.description FROM pg_class c "
            "LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 "
            "LEFT JOIN pg_description d ON d.objoid = c.oid AND d.objsubid = a.attnum "
            "WHERE c.relname = 'people' AND c.relkind = 'r' "
            "UNION ALL SELECT '', obj_description('crm.people'::regclass)"
        )
        stored = dict(postgres.run(query, database=database))
        return {name: comment for name, comment in stored.items() if name[:1] != "_"}

    return pipeline("crm", postgres.url(database), dataset="crm", engine="inline"), comments


@pytest.fixture(params=["duck", "server"])
def crm(request: pytest.FixtureRequest) -> tuple[Pipeline, Comments]:
    crm: tuple[Pipeline, Comments] = request.getfixturevalue(request.param)
    return crm


def statements_of(crm: Pipeline, *columns: Column) -> list[str]:
    report = crm.plan(ROWS, table="people", columns=columns)
    return [statement for statement in report.statements if "people" in statement]


def test_comments_come_with_columns_and_change_with_descriptions(crm: tuple[Pipeline, Comments]) -> None:
    people, comments = crm
    people.load(ROWS, table="people", columns=(ID, EMAIL))
    assert comments() == DESCRIBED
    catalog = people.destination.catalog(people.dataset)
    assert not [name for name, table in catalog.items() if name[0] == "_" and table.comments]
    assert statements_of(people, ID, EMAIL) == []

    number = replace(ID, description="their number")
    city = Column("city", "text", description="Where to go")
    people.load(ROWS, table="people", columns=(number, EMAIL, city), mode="replace")
    assert comments() == {**DESCRIBED, "id": "their number", "city": "Where to go"}
    assert statements_of(people, number, EMAIL, city) == []


@pytest.mark.parametrize("to", ["delta", "iceberg"])
def test_comments_of_a_lake_follow_the_schema(to: str, tmp_path: Path) -> None:
    people = pipeline("crm", f"{to}:{tmp_path}/lake", engine="inline")

    def comments() -> dict[str, str]:
        stored = people.destination.catalog(people.dataset)["people"].comments or {}
        return {name: text for name, text in stored.items() if name[:1] != "_"}

    people.load(ROWS, table="people", columns=(ID, EMAIL))
    described = {"id": "who's id", "email": "Where to write to (personal data)"}
    assert comments() == described
    assert statements_of(people, ID, EMAIL) == []
    number = replace(ID, description="their number")
    (statement,) = statements_of(people, number, EMAIL)
    assert statement.endswith("ALTER COLUMN `id` COMMENT 'their number'")
    people.load(ROWS, table="people", columns=(number, EMAIL))
    assert comments() == {**described, "id": "their number"}

    before = people.schema
    table = replace(before.tables["people"], description="Who buys").with_columns(
        replace(before.tables["people"].columns["id"], description=None),
        replace(before.tables["people"].columns["email"], description=None),
    )
    after = before.with_tables(table)
    plan = MigrationPlan(people.destination.abilities.warehouse, "crm", before, after)
    people.save_schema(after, changes_of(plan, get_dialect("dlt")))
    assert comments() == {"": "Who buys", "email": "Personal data"}
    assert people.destination.row_counts(people.dataset)["people"] == 2


def test_comments_of_others_stay_where_a_schema_describes_nothing(
    tmp_path: Path, duck: tuple[Pipeline, Comments]
) -> None:
    people, comments = duck
    people.load(ROWS, table="people")
    with duckdb.connect(f"{tmp_path}/crm.duckdb") as db:
        db.execute("COMMENT ON COLUMN main.people.email IS 'by hand'")
    people.load(ROWS, table="people")
    assert comments() == {"": None, "id": None, "email": "by hand"}


def test_a_plan_writes_comments_and_takes_them_back(crm: tuple[Pipeline, Comments]) -> None:
    people, comments = crm
    people.load(ROWS, table="people", columns=(ID, EMAIL))
    before = people.schema
    table = replace(before.tables["people"], description="Who buys").with_columns(
        replace(before.tables["people"].columns["id"], description=None),
        replace(before.tables["people"].columns["email"], description="For bills"),
    )
    after = before.with_tables(table)
    plan = MigrationPlan(people.destination.abilities.warehouse, "crm", before, after)
    assert [(step.text, step.cost, step.statements) for step in plan.steps] == [
        (
            "people: description was not set, is Who buys",
            "metadata",
            ('COMMENT ON TABLE "crm"."people" IS \'Who buys\'',),
        ),
        (
            "people.id: description was who's id, is not set",
            "metadata",
            ('COMMENT ON COLUMN "crm"."people"."id" IS NULL',),
        ),
        (
            "people.email: description was Where to write to, is For bills",
            "metadata",
            ('COMMENT ON COLUMN "crm"."people"."email" IS \'For bills (personal data)\'',),
        ),
    ]
    people.save_schema(after, changes_of(plan, get_dialect("dlt")))
    assert comments() == {"": "Who buys", "id": None, "email": "For bills (personal data)"}

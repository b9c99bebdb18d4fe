"""A schema with a column more: what the rows that are there get in it, in every destination."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import trellis
from dialects.pinot import every_type
from trellis.pipelines.pipeline import Pipeline

Load = Callable[..., Pipeline]
BEFORE: dict[str, Any] = {
    "schemaName": "rides",
    "dimensionFieldSpecs": [{"name": "id", "dataType": "INT"}],
}
AFTER = every_type.schema("rides") | {"enableColumnBasedNullHandling": False}


@pytest.fixture
def load(place: str, tmp_path: Path) -> Load:
    def loaded(schema: dict[str, Any], *records: dict[str, Any], **options: Any) -> Pipeline:
        pipe = trellis.pipeline("farm", to=place, dialect="pinot", settings=options)
        document = tmp_path / "schema.json"
        document.write_text(json.dumps(schema))
        pipe.load(list(records), schema=document)
        return pipe

    return loaded


def rows(pipe: Pipeline) -> list[dict[str, Any]]:
    stored = pipe.destination.query(pipe.dataset, "rides")
    return sorted(stored, key=lambda row: row["id"])


def with_column(**column: Any) -> dict[str, Any]:
    return {**BEFORE, "dimensionFieldSpecs": [*BEFORE["dimensionFieldSpecs"], {"name": "added", **column}]}


def test_u01_rows_that_are_there_get_the_default_of_every_type(load: Load) -> None:
    load(BEFORE, {"id": 1}, {"id": 2})
    pipe = load(AFTER, {"id": 3})
    first, second, third = rows(pipe)
    assert (first["one_int"], first["one_string"], first["one_boolean"], first["amount"]) == (
        -2147483648, "null", False, 0.0,
    )  # fmt: skip
    assert None not in third.values()
    assert first == {**third, "id": 1}
    assert second == {**third, "id": 2}


def test_only_rows_that_were_there_get_it(load: Load) -> None:
    load(BEFORE, {"id": 1})
    pipe = load(with_column(dataType="STRING", defaultNullValue='it\'s \\ "x"'), {"id": 2, "added": "new"})
    assert [row["added"] for row in rows(pipe)] == ['it\'s \\ "x"', "new"]
    pipe = load(with_column(dataType="STRING", defaultNullValue="later"), {"id": 3})
    assert [row["added"] for row in rows(pipe)] == ['it\'s \\ "x"', "new", "later"]


def test_the_nullable_view_has_null_in_them(load: Load) -> None:
    load(BEFORE, {"id": 1}, view="nullable")
    pipe = load(with_column(dataType="INT"), {"id": 2}, view="nullable")
    assert rows(pipe) == [{"id": 1, "added": None}, {"id": 2, "added": None}]


@pytest.mark.parametrize("place", ["duckdb", "postgres"], indirect=True)
def test_an_added_column_in_a_table_that_is_merged(load: Load) -> None:
    keyed = {"primaryKeyColumns": ["id"]}
    load({**BEFORE, **keyed}, {"id": 1}, {"id": 2})
    after = {**with_column(dataType="INT", defaultNullValue=5), **keyed}
    pipe = load(after)
    pipe.load([{"id": 2, "added": 9}], mode="merge")
    assert rows(pipe) == [{"id": 1, "added": 5}, {"id": 2, "added": 9}]


def test_the_plan_says_it(load: Load, place: str, tmp_path: Path) -> None:
    pipe = load(BEFORE, {"id": 1})
    document = tmp_path / "after.json"
    document.write_text(json.dumps(with_column(dataType="INT")))
    report = pipe.plan([{"id": 2}], schema=document)
    type_ = {"duckdb": "INTEGER", "postgresql": "integer", "parquet": "int32"}[place.partition(":")[0]]
    added, dropped = report.statements
    assert added.endswith(f"ADD COLUMN \"added\" {type_} DEFAULT CAST('-2147483648' AS {type_})")
    assert dropped.endswith('ALTER COLUMN "added" DROP DEFAULT')

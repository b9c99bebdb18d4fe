"""The strategy insert-only, in every destination: rows W17 and W18, and what lies around them."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from destinations.commits import Warehouse, table
from destinations.conftest import merging
from destinations.postgres_server import Server
from trellis.destinations.base import TableTreeWrite
from trellis.errors import SchemaError
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.schema.model import Column, DataType, Table

RowsOf = Callable[..., list[dict[str, Any]]]
Rows = list[dict[str, Any]]
FLAG = Column("gone", "bool").with_hints(hard_delete=True)


def insert_only(shop: Pipeline, rows: Rows, keys: tuple[str, ...] = ("id",), **options: Any) -> None:
    report = shop.load(rows, table="t", mode="merge", strategy="insert-only", keys=keys, **options)
    assert report.balanced


@merging
def test_w17_insert_only(shop: Pipeline, rows_of: RowsOf) -> None:
    insert_only(shop, [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}])
    insert_only(shop, [{"id": 1, "v": "A"}, {"id": 3, "v": "c"}])
    assert rows_of(shop, "t") == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}, {"id": 3, "v": "c"}]


@merging
def test_w18_insert_only_hard_delete(shop: Pipeline, rows_of: RowsOf) -> None:
    insert_only(shop, [{"id": 1, "v": "a", "gone": None, "k": [1]}], columns=(FLAG,))
    second = [
        {"id": 1, "v": "A", "gone": True, "k": [7, 8]},
        {"id": 3, "v": "c", "gone": True, "k": [3]},
        {"id": 4, "v": "d", "gone": False, "k": [4]},
    ]
    insert_only(shop, second)
    assert rows_of(shop, "t", "id", "v") == [{"id": 1, "v": "a"}, {"id": 4, "v": "d"}]
    assert rows_of(shop, "t__k", "value") == [{"value": 1}, {"value": 4}]


@merging
def test_flag_that_is_a_time(shop: Pipeline, rows_of: RowsOf) -> None:
    columns = (Column("gone", "timestamp").with_hints(hard_delete=True),)
    insert_only(shop, [{"id": 1, "gone": "2026-01-01T00:00:00Z"}, {"id": 2}], columns=columns)
    assert rows_of(shop, "t", "id") == [{"id": 2}]


@merging
def test_nested_rows_come_with_new_roots_only(shop: Pipeline, rows_of: RowsOf) -> None:
    insert_only(shop, [{"id": 1, "k": [{"a": 1, "g": [1]}]}])
    insert_only(
        shop, [{"id": 1, "k": [{"a": 8}, {"a": 9, "g": [9]}]}, {"id": 2, "k": [{"a": 2, "g": [2, 3]}]}]
    )
    assert rows_of(shop, "t", "id") == [{"id": 1}, {"id": 2}]
    assert rows_of(shop, "t__k", "a") == [{"a": 1}, {"a": 2}]
    assert rows_of(shop, "t__k__g", "value") == [{"value": 1}, {"value": 2}, {"value": 3}]


@merging
def test_compound_key(shop: Pipeline, rows_of: RowsOf) -> None:
    keys = ("shop", "sku")
    insert_only(shop, [{"shop": "x", "sku": 1, "v": "a"}], keys)
    rows = [
        {"shop": "x", "sku": 1, "v": "A"},
        {"shop": "x", "sku": 2, "v": "b"},
        {"shop": "y", "sku": 1, "v": "c"},
    ]
    insert_only(shop, rows, keys)
    assert [row["v"] for row in rows_of(shop, "t", "v")] == ["a", "b", "c"]


@merging
def test_null_in_a_key_is_equal_to_nothing(destination_url: str, tmp_path: Path) -> None:
    """Records without their whole key are refused before, so this is a load made by hand."""
    warehouse = Warehouse(destination_url, tmp_path)
    columns: dict[str, DataType] = {"a": "bigint", "b": "text"}
    keys = {name: Column(name, kind).with_hints(primary_key=True) for name, kind in columns.items()}
    roots = Table("t", {**keys, "row": Column("row", "text")})
    below = table("t__k", value="bigint", parent="text", row="text")
    chain = (TableTreeWrite("t", "merge", "insert-only"),)
    for number in range(2):
        rows = [{"a": 1, "b": None, "row": f"r{number}"}, {"a": 1, "b": "x", "row": "x"}]
        nested = [{"value": number, "parent": f"r{number}", "row": f"k{number}"}, {"value": 9, "parent": "x"}]
        warehouse.run(
            [roots, replace(below, parent="t")],
            {"t": [rows], "t__k": [nested]},
            chains=chain,
            keys={"t": RowKeys("row"), "t__k": RowKeys("row", parent_id="parent")},
        )
    assert warehouse.rows("t", "a", "b") == [(1, "x"), (1, None), (1, None)]
    assert warehouse.rows("t__k", "value") == [(0,), (1,), (9,)]


@merging
def test_one_key_twice_in_a_load(shop: Pipeline, rows_of: RowsOf) -> None:
    """As in dlt, where the statement MERGE looks at the table only."""
    insert_only(shop, [{"id": 1, "v": "a"}])
    insert_only(shop, [{"id": 2, "v": "b", "k": [1, 2]}, {"id": 2, "v": "c", "k": [3]}, {"id": 1, "v": "z"}])
    assert [row["v"] for row in rows_of(shop, "t", "v")] == ["a", "b", "c"]
    assert rows_of(shop, "t__k", "value") == [{"value": 1}, {"value": 2}, {"value": 3}]


@merging
def test_one_key_flagged_and_not(shop: Pipeline, rows_of: RowsOf) -> None:
    rows = [{"id": 1, "v": "a", "gone": True}, {"id": 1, "v": "b"}, {"id": 1, "v": "c", "gone": False}]
    insert_only(shop, rows, columns=(FLAG,))
    assert rows_of(shop, "t", "v") == [{"v": "b"}, {"v": "c"}]


@merging
def test_without_key(shop: Pipeline) -> None:
    with pytest.raises(SchemaError, match="table t: insert-only needs a primary key; name one with --key"):
        insert_only(shop, [{"id": 1}], ())
    assert "t" not in shop.destination.catalog(shop.dataset)


@merging
def test_same_load_again(shop: Pipeline, rows_of: RowsOf) -> None:
    for _ in range(2):
        insert_only(shop, [{"id": 1}, {"id": 1}], load_id="1700000000.5")
    assert rows_of(shop, "t") == [{"id": 1}, {"id": 1}]


@merging
def test_new_column_is_null_in_old_rows(shop: Pipeline, rows_of: RowsOf) -> None:
    insert_only(shop, [{"id": 1}])
    insert_only(shop, [{"id": 1, "v": "A"}, {"id": 2, "v": "b"}])
    assert rows_of(shop, "t", "id", "v") == [{"id": 1, "v": None}, {"id": 2, "v": "b"}]


RECORD = st.fixed_dictionaries(
    {"id": st.integers(0, 3), "part": st.integers(0, 1), "v": st.integers(0, 99)},
    optional={"gone": st.booleans(), "k": st.lists(st.integers(0, 9), max_size=2)},
)


def expected(now: Rows, coming: Rows) -> Rows:
    known = {(row["id"], row["part"]) for row in now}
    return now + [row for row in coming if not row.get("gone") and (row["id"], row["part"]) not in known]


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(RECORD, max_size=6), min_size=1, max_size=3))
def test_any_sequence_of_loads(postgres: Server, database: str, loads: list[Rows]) -> None:
    seed = [{"id": 99, "part": 9, "v": 0, "gone": False, "k": [1]}]
    with tempfile.TemporaryDirectory() as folder:
        for url in (f"duckdb:{folder}/shop.duckdb", postgres.url(database)):
            # one name for each example, as all of them share the one database
            pipe, now = pipeline("shop", to=url, dataset=f"d{secrets.token_hex(4)}"), list[dict[str, Any]]()
            for rows in (seed, *loads):
                # of the rows of one key all are flagged or none: their nested rows have the same ids
                flags = {(row["id"], row["part"]): row.get("gone", False) for row in rows}
                rows = [{**row, "gone": flags[row["id"], row["part"]]} for row in rows]
                insert_only(pipe, rows, ("id", "part"), columns=(FLAG,))
                now = expected(now, rows)
            stored = pipe.destination.query(pipe.dataset, "t")
            assert shown(stored) == shown(now), url
            nested = pipe.destination.query(pipe.dataset, "t__k")
            values = sorted(row["value"] for row in nested)
            assert values == sorted(value for row in now for value in row.get("k", ())), url
            assert {row["_dlt_parent_id"] for row in nested} <= {row["_dlt_id"] for row in stored}, url


def shown(rows: Rows) -> list[str]:
    return sorted(repr((row["id"], row["part"], row["v"])) for row in rows)

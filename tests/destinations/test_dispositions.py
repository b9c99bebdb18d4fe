"""Rows W01-W16, W25, W26 and M02-M05 of the conformance table of dlt, in every destination."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import pytest

from destinations.conftest import merging
from trellis.errors import ContractError, SchemaError
from trellis.pipelines.pipeline import Pipeline, pipeline
from trellis.schema.model import Column, Schema, Table

RowsOf = Callable[..., list[dict[str, Any]]]
NOON = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)


def merge(shop: Pipeline, rows: list[dict[str, Any]], **options: Any) -> None:
    assert shop.load(rows, table="t", mode="merge", **options).balanced


def hinted(name: str, **hints: Any) -> Column:
    return Column(name).with_hints(**hints)


@merging
def test_w01_delete_insert(shop: Pipeline, rows_of: RowsOf) -> None:
    merge(shop, [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}], keys=("id",))
    merge(shop, [{"id": 2, "v": "c"}, {"id": 3, "v": "d"}], keys=("id",))
    assert rows_of(shop, "t") == [{"id": 1, "v": "a"}, {"id": 2, "v": "c"}, {"id": 3, "v": "d"}]


@merging
@pytest.mark.parametrize(
    ("direction", "rows", "chosen"),
    [
        ("desc", [("a", 1), ("b", 3), ("c", 2)], "b"),
        ("asc", [("a", 1), ("b", 3), ("c", 2)], "a"),
        ("desc", [("n", None), ("a", 1), ("b", 3)], "b"),
        ("asc", [("n", None), ("b", 3), ("a", 1)], "a"),
    ],
)
def test_w02_dedup_sort(shop: Pipeline, rows_of: RowsOf, direction: str, rows: Any, chosen: str) -> None:
    columns = (hinted("s", dedup_sort=direction),)
    merge(shop, [{"id": 1, "v": v, "s": s} for v, s in rows], keys=("id",), columns=columns)
    assert [row["v"] for row in rows_of(shop, "t")] == [chosen]


@merging
def test_w03_merge_key(shop: Pipeline, rows_of: RowsOf) -> None:
    merge(shop, [{"day": d, "v": v} for d, v in [("d1", 1), ("d1", 2), ("d2", 3)]], merge_keys=("day",))
    merge(shop, [{"day": "d1", "v": 9}], merge_keys=("day",))
    assert rows_of(shop, "t") == [{"day": "d1", "v": 9}, {"day": "d2", "v": 3}]


@merging
def test_w04_primary_and_merge_key(shop: Pipeline, rows_of: RowsOf) -> None:
    keys: Any = {"keys": ("id",), "merge_keys": ("day",)}
    merge(shop, [{"id": i, "day": d} for i, d in [(1, "x"), (2, "x"), (3, "y"), (4, "z")]], **keys)
    merge(shop, [{"id": 3, "day": "x"}], **keys)
    assert rows_of(shop, "t", "id", "day") == [{"id": 3, "day": "x"}, {"id": 4, "day": "z"}]


@merging
def test_w05_merge_without_keys(shop: Pipeline, rows_of: RowsOf) -> None:
    merge(shop, [{"a": 1}])
    merge(shop, [{"a": 1}])
    assert rows_of(shop, "t") == [{"a": 1}, {"a": 1}]


@merging
def test_w06_delete_insert_nested(shop: Pipeline, rows_of: RowsOf) -> None:
    first = [{"id": 1, "k": [{"a": 1, "g": [1, 2]}, {"a": 2}]}, {"id": 2, "k": [{"a": 3}]}]
    merge(shop, first, keys=("id",))
    assert rows_of(shop, "t__k__g", "value") == [{"value": 1}, {"value": 2}]
    merge(shop, [{"id": 1, "k": [{"a": 10}]}], keys=("id",))
    assert rows_of(shop, "t__k", "a") == [{"a": 10}, {"a": 3}]
    assert rows_of(shop, "t__k__g") == []
    assert linked(shop, "t", "t__k")


def linked(shop: Pipeline, parent: str, child: str) -> bool:
    """Whether every nested row has its parent row."""
    dataset = shop.dataset
    ids = {row["_dlt_id"] for row in shop.destination.query(dataset, parent)}
    return {row["_dlt_parent_id"] for row in shop.destination.query(dataset, child)} <= ids


@merging
def test_w07_hard_delete_bool(shop: Pipeline, rows_of: RowsOf) -> None:
    columns = (hinted("gone", hard_delete=True),)
    first = [{"id": 1, "gone": False, "v": "a", "k": [1]}, {"id": 2, "gone": None, "v": "b", "k": [2]}]
    merge(shop, first, keys=("id",), columns=columns)
    assert len(rows_of(shop, "t__k")) == 2
    second = [{"id": 1, "gone": True}, {"id": 2, "gone": False, "v": "new"}, {"id": 9, "gone": True}]
    merge(shop, second, keys=("id",))
    assert rows_of(shop, "t", "id", "v") == [{"id": 2, "v": "new"}]
    assert rows_of(shop, "t__k") == []


@merging
def test_w08_merge_key_and_hard_delete_timestamp(shop: Pipeline, rows_of: RowsOf) -> None:
    columns = (Column("gone", "timestamp").with_hints(hard_delete=True),)
    merge(shop, [{"n": 1}, {"n": 1}, {"n": 2}], merge_keys=("n",), columns=columns)
    merge(shop, [{"n": 1, "gone": NOON}], merge_keys=("n",))
    assert rows_of(shop, "t", "n") == [{"n": 2}]


@merging
def test_w09_dedup_before_hard_delete(shop: Pipeline, rows_of: RowsOf) -> None:
    columns = (hinted("s", dedup_sort="desc"), hinted("gone", hard_delete=True))
    rows = [(1, "a", 1, None), (1, "b", 3, None), (1, "c", 2, True), (2, "d", 1, None), (2, "e", 2, True)]
    records = [{"id": i, "v": v, "s": s, "gone": g} for i, v, s, g in rows]
    merge(shop, records, keys=("id",), columns=columns)
    assert rows_of(shop, "t", "id", "v") == [{"id": 1, "v": "b"}]


@merging
def test_w10_deduplicated(shop: Pipeline, rows_of: RowsOf) -> None:
    table = Table("t").with_hints(**{"x-stage-data-deduplicated": True})
    merge(shop, [{"id": 1, "v": "a"}, {"id": 1, "v": "b"}], keys=("id",), schema=Schema("shop", {"t": table}))
    assert rows_of(shop, "t", "v") == [{"v": "a"}, {"v": "b"}]


@merging
def test_w11_hard_delete_without_keys(shop: Pipeline, rows_of: RowsOf) -> None:
    columns = (hinted("gone", hard_delete=True),)
    merge(shop, [{"v": "a", "gone": True}, {"v": "b", "gone": False}, {"v": "c"}], columns=columns)
    assert rows_of(shop, "t", "v") == [{"v": "b"}, {"v": "c"}]


UPSERT: Any = {"keys": ("id",), "strategy": "upsert"}


@merging
def test_w12_upsert(shop: Pipeline, rows_of: RowsOf) -> None:
    merge(shop, [{"id": 1, "k": [1, 2, 3]}, {"id": 2, "k": [7]}], **UPSERT)
    merge(shop, [{"id": 1, "k": [9]}, {"id": 3}], **UPSERT)
    assert rows_of(shop, "t", "id") == [{"id": 1}, {"id": 2}, {"id": 3}]
    assert rows_of(shop, "t__k", "value") == [{"value": 7}, {"value": 9}]
    assert linked(shop, "t", "t__k")


@merging
def test_w13_upsert_missing_column(shop: Pipeline, rows_of: RowsOf) -> None:
    merge(shop, [{"id": 1, "a": "x", "b": "y"}], **UPSERT)
    merge(shop, [{"id": 1, "a": "z"}], **UPSERT)
    assert rows_of(shop, "t") == [{"id": 1, "a": "z", "b": None}]


@merging
def test_w14_w15_upsert_hard_delete(shop: Pipeline, rows_of: RowsOf) -> None:
    columns = (hinted("gone", hard_delete=True),)
    merge(
        shop,
        [{"id": 1, "gone": None, "k": [1]}, {"id": 2, "gone": False, "k": [2]}],
        columns=columns,
        **UPSERT,
    )
    merge(shop, [{"id": 1, "gone": True, "k": [5]}, {"id": 9, "gone": True}], **UPSERT)
    assert rows_of(shop, "t", "id") == [{"id": 2}]
    assert rows_of(shop, "t__k", "value") == [{"value": 2}]


@merging
def test_w16_upsert_double_key(shop: Pipeline, rows_of: RowsOf) -> None:
    merge(shop, [{"id": 1, "v": "a"}], **UPSERT)
    with pytest.raises(ContractError, match="table t: 1 primary key occurs more than once"):
        merge(shop, [{"id": 1, "v": "b"}, {"id": 1, "v": "c"}], **UPSERT)
    assert rows_of(shop, "t", "v") == [{"v": "a"}]


@merging
def test_w16_upsert_without_key(shop: Pipeline) -> None:
    with pytest.raises(SchemaError, match="upsert needs a primary key"):
        merge(shop, [{"id": 1}], strategy="upsert")
    assert "t" not in shop.destination.catalog(shop.dataset)


def test_w25_replace(shop: Pipeline, rows_of: RowsOf) -> None:
    shop.load([{"a": 1, "k": [1, 2]}, {"a": 2}], table="t", mode="replace")
    assert len(rows_of(shop, "t__k")) == 2
    shop.load([{"a": 9}], table="t", mode="replace")
    assert rows_of(shop, "t") == [{"a": 9}]
    assert rows_of(shop, "t__k") == []
    shop.load(iter(()), table="t", mode="replace")
    assert rows_of(shop, "t") == rows_of(shop, "t__k") == []
    assert set(shop.destination.catalog(shop.dataset)["t"].columns) >= {"a", "_dlt_id"}


def test_w26_append(shop: Pipeline, rows_of: RowsOf) -> None:
    shop.load([{"a": 1}], table="t")
    shop.load([{"a": 1}], table="t")
    assert rows_of(shop, "t") == [{"a": 1}, {"a": 1}]


def test_m02_column_disappears(shop: Pipeline, rows_of: RowsOf) -> None:
    shop.load([{"a": 1, "b": 2}], table="t")
    shop.load([{"a": 2}], table="t")
    assert rows_of(shop, "t") == [{"a": 1, "b": 2}, {"a": 2, "b": None}]


def test_m03_required_column_on_rows(shop: Pipeline, rows_of: RowsOf) -> None:
    shop.load([{"a": 1}], table="t")
    with pytest.raises(SchemaError, match="table t, column b: it is required"):
        shop.load([{"a": 2, "b": 2}], table="t", columns=(Column("b", "bigint", nullable=False),))
    assert rows_of(shop, "t") == [{"a": 1}]
    shop.load([{"a": 2, "b": 2}], table="t", mode="replace", columns=(Column("b", "bigint", nullable=False),))
    assert rows_of(shop, "t") == [{"a": 2, "b": 2}]


def test_m04_two_pipelines_share_a_table(shop: Pipeline, destination_url: str, rows_of: RowsOf) -> None:
    other = pipeline("other", to=destination_url)
    shop.load([{"a": 1}], table="t")
    other.load([{"a": 2, "b": "x"}], table="t")
    shop.load([{"a": 3}], table="t")
    other.load([{"b": "y"}], table="t")
    assert rows_of(shop, "t", "a", "b") == [
        {"a": 1, "b": None},
        {"a": 2, "b": "x"},
        {"a": 3, "b": None},
        {"a": None, "b": "y"},
    ]
    shop.load([{"a": 4}], table="t", mode="replace")
    assert rows_of(shop, "t", "a", "b") == [{"a": 4, "b": None}]


def test_m05_fresh_reader_gets_the_schema(shop: Pipeline, destination_url: str) -> None:
    report = shop.load([{"a": 1, "k": [{"b": "x"}]}], table="t")
    fresh = pipeline("shop", to=destination_url).schema
    assert fresh == report.schema
    history = shop.destination.history(shop.dataset, shop._dialect.metadata.tables())
    assert [row["version_hash"] for row in history] == [fresh.stored_hash]

"""What reports say became of the rows of a load: inserted, updated, deleted, deduplicated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from destinations.conftest import merging
from trellis.destinations.base import RowChanges
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.report import Report
from trellis.schema.model import Column

RowsOf = Callable[..., list[dict[str, Any]]]
KEY: Any = {"table": "t", "mode": "merge", "keys": ("id",)}


def changes(report: Report) -> dict[str, tuple[int, int, int, int]]:
    """(inserted, updated, deleted, deduplicated) by table."""
    counted = {table.name: table.changes or RowChanges() for table in report.tables}
    return {n: (c.inserted, c.updated, c.deleted, c.deduplicated) for n, c in counted.items()}


@merging
def test_a_merge_of_a_key_that_occurs_twice(shop: Pipeline) -> None:
    first = shop.load([{"id": 1, "v": "a"}, {"id": 1, "v": "b"}, {"id": 2, "v": "c"}], **KEY)
    assert changes(first) == {"t": (2, 0, 0, 1)}
    assert first.rows.loaded == 3
    second = shop.load([{"id": 2, "v": "d"}, {"id": 3, "v": "e"}], **KEY)
    assert changes(second) == {"t": (1, 1, 0, 0)}
    table = second.to_dict()["tables"][0]
    assert {key: table[key] for key in ("rows", "inserted", "updated", "deleted", "deduplicated")} == {
        "rows": 2,
        "inserted": 1,
        "updated": 1,
        "deleted": 0,
        "deduplicated": 0,
    }
    assert "  t: 2 rows: 1 inserted, 1 updated" in str(second).splitlines()


@merging
def test_a_plan_says_what_the_load_would_do(shop: Pipeline, rows_of: RowsOf) -> None:
    shop.load([{"id": 1, "v": "a"}], **KEY)
    assert changes(shop.plan([{"id": 1, "v": "b"}, {"id": 2, "v": "c"}], **KEY)) == {"t": (1, 1, 0, 0)}
    assert rows_of(shop, "t", "v") == [{"v": "a"}]


def test_appends_and_replaces(shop: Pipeline) -> None:
    assert changes(shop.load([{"id": 1, "k": [1, 2]}], table="t")) == {
        "t": (1, 0, 0, 0),
        "t__k": (2, 0, 0, 0),
    }
    replaced = shop.load([{"id": 2}, {"id": 3}, {"id": 4}], table="t", mode="replace")
    assert changes(replaced) == {"t": (3, 0, 1, 0), "t__k": (0, 0, 2, 0)}


@merging
def test_nested_rows_are_deleted_and_inserted(shop: Pipeline) -> None:
    shop.load([{"id": 1, "k": [1, 2]}, {"id": 2, "k": [3]}], **KEY)
    merged = shop.load([{"id": 1, "k": [7]}, {"id": 1, "k": [8, 9]}], **KEY)
    assert changes(merged) == {"t": (0, 1, 0, 1), "t__k": (1, 0, 2, 2)}


@merging
def test_deletions_by_a_mark(shop: Pipeline) -> None:
    columns = (Column("gone").with_hints(hard_delete=True),)
    shop.load([{"id": n, "gone": False} for n in (1, 2, 3)], columns=columns, **KEY)
    rows = [
        {"id": 1, "gone": True},
        {"id": 2, "gone": False},
        {"id": 3, "gone": True},
        {"id": 3, "gone": True},
        {"id": 4, "gone": False},
        {"id": 9, "gone": True},
    ]
    assert changes(shop.load(rows, **KEY)) == {"t": (1, 1, 2, 1)}


@merging
def test_deletions_by_a_merge_key(shop: Pipeline) -> None:
    by_day: Any = {"table": "t", "mode": "merge", "merge_keys": ("day",)}
    shop.load([{"day": "a", "id": 1}, {"day": "a", "id": 2}, {"day": "b", "id": 3}], **by_day)
    assert changes(shop.load([{"day": "a", "id": 9}], **by_day)) == {"t": (1, 0, 2, 0)}
    both = shop.load([{"day": "b", "id": 9}], keys=("id",), **by_day)
    assert changes(both) == {"t": (0, 1, 1, 0)}


@merging
def test_upsert_and_insert_only(shop: Pipeline) -> None:
    shop.load([{"id": 1}, {"id": 2}], strategy="upsert", **KEY)
    assert changes(shop.load([{"id": 2}, {"id": 3}], strategy="upsert", **KEY)) == {"t": (1, 1, 0, 0)}
    assert changes(shop.load([{"id": 3}, {"id": 4}], strategy="insert-only", **KEY)) == {"t": (1, 0, 0, 1)}


@merging
def test_versions_of_rows(shop: Pipeline) -> None:
    scd2: Any = {"table": "t", "mode": "merge", "strategy": "scd2"}
    shop.load([{"id": 1, "v": "a"}, {"id": 2, "v": "b"}], **scd2)
    changed = shop.load([{"id": 1, "v": "a"}, {"id": 2, "v": "c"}], **scd2)
    assert changes(changed) == {"t": (1, 1, 0, 1)}

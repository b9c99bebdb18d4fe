"""Drift where the dialect follows the tables as they are."""

from __future__ import annotations

from pathlib import Path

import duckdb

import trellis
from trellis.pipelines.drift import drift


def test_where_the_warehouse_is_the_truth_the_next_load_goes_on_with_it(tmp_path: Path) -> None:
    url, settings = f"duckdb:{tmp_path}/shop.duckdb", {"provider": "POSTGRES"}
    events = trellis.pipeline("shop", to=url, dialect="rudderstack", settings=settings)
    event = {
        "type": "track",
        "event": "Order Done",
        "messageId": "m1",
        "properties": {"total": 1, "note": "a"},
        "originalTimestamp": "2024-01-01T00:00:00Z",
    }
    events.load([event])
    assert drift(events) == ()
    with duckdb.connect(f"{tmp_path}/shop.duckdb") as db:
        (dataset,) = db.execute(
            "SELECT schema_name FROM duckdb_tables() WHERE table_name = 'order_done'"
        ).fetchall()[0]
        for change in ("DROP COLUMN note", "ADD COLUMN extra VARCHAR", "ALTER COLUMN total TYPE DOUBLE"):
            db.execute(f'ALTER TABLE "{dataset}".order_done {change}')
        db.execute(f'CREATE TABLE "{dataset}".mine (a VARCHAR)')
    assert sorted(difference.describe() for difference in drift(events)) == [
        "mine: the schema does not know it; the next load goes on with it",
        "order_done.extra: the schema does not know it; the next load goes on with it",
        "order_done.note: it is not there; the next load adds it when a value comes",
        "order_done.total: its data_type is double, in the schema bigint; the next load goes on with that",
    ]

"""What a load takes away before it brings anything, in every destination, and the newest row of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from destinations.commits import KEPT, Row, Warehouse, table
from destinations.conftest import merging
from trellis.destinations.base import Commit, CommitConflict, Reset, TableTreeWrite
from trellis.errors import SchemaError
from trellis.evolution.dialect.system_columns import RowKeys
from trellis.schema.model import Column, DataType, Schema, Table

ORDERS = table("orders", id="bigint", note="text", row="text")
LINES = replace(table("lines", n="bigint", parent="text", row="text"), parent="orders")
OTHER = table("other", id="bigint")
KEYS = {"orders": RowKeys("row"), "lines": RowKeys("row", parent_id="parent"), "other": RowKeys("row")}
NOTES: dict[str, DataType] = {"name": "text", "n": "bigint", "at": "timestamp", "text": "text"}


@pytest.fixture
def warehouse(destination_url: str, tmp_path: Path) -> Warehouse:
    return Warehouse(destination_url, tmp_path)


def append(warehouse: Warehouse, rows: dict[str, Sequence[Row]], *tables: Table, **more: Any) -> Commit:
    known = tables or (ORDERS, LINES, OTHER)
    chains = tuple(TableTreeWrite(t.name, "append") for t in known if t.parent is None)
    return warehouse.run(
        known, {name: [table_rows] for name, table_rows in rows.items()}, chains=chains, keys=KEYS, **more
    )


def fill(warehouse: Warehouse) -> Commit:
    rows: dict[str, Sequence[Row]] = {
        "orders": [{"id": 1, "note": "a", "row": "r1"}, {"id": 2, "note": "b", "row": "r2"}],
        "lines": [{"n": 1, "parent": "r1", "row": "l1"}],
        "other": [{"id": 7}],
    }
    return append(warehouse, rows)


def names(warehouse: Warehouse) -> set[str]:
    catalog = warehouse.destination.catalog(warehouse.dataset)
    return {name for name in catalog if not name.startswith("_")}


def test_dropped_tables_are_made_anew_as_the_schema_has_them(warehouse: Warehouse) -> None:
    fill(warehouse)
    now = table("orders", id="text")
    append(warehouse, {"orders": [{"id": "x"}]}, now, OTHER, reset=Reset(drop=("orders", "lines", "nothing")))
    assert names(warehouse) == {"orders", "other"}
    assert warehouse.rows("orders") == [("x",)]
    assert warehouse.destination.catalog(warehouse.dataset)["orders"].types == {"id": "text"}
    assert warehouse.rows("other") == [(7,)]
    assert warehouse.destination.row_counts(warehouse.dataset)["_loads"] == 2


def test_dropped_tables_stay_away_if_the_schema_has_them_not(warehouse: Warehouse) -> None:
    fill(warehouse)
    append(warehouse, {}, OTHER, reset=Reset(drop=("orders", "lines")))
    assert names(warehouse) == {"other"}
    append(warehouse, {"orders": [{"id": 5}]}, ORDERS, OTHER)
    assert warehouse.rows("orders", "id") == [(5,)]


def test_dropped_table_without_rows_in_the_load(warehouse: Warehouse) -> None:
    fill(warehouse)
    append(warehouse, {}, reset=Reset(drop=("orders", "lines")))
    counts = warehouse.destination.row_counts(warehouse.dataset)
    assert (counts["orders"], counts["lines"], counts["other"]) == (0, 0, 1)


def test_files_of_dropped_tables_are_removed(tmp_path: Path) -> None:
    warehouse = Warehouse(f"parquet:{tmp_path}/lake", tmp_path)
    fill(warehouse)
    append(warehouse, {}, OTHER, reset=Reset(drop=("orders",), empty=("lines",)))
    assert not list((tmp_path / "lake" / "orders").rglob("*.parquet"))
    assert len(list((tmp_path / "lake" / "lines").rglob("*.parquet"))) == 1  # which has the columns


def test_emptied_tables_keep_their_columns(warehouse: Warehouse) -> None:
    fill(warehouse)
    now = table("orders", id="bigint", row="text", more="text")
    append(
        warehouse,
        {"orders": [{"id": 3, "more": "m"}]},
        now,
        OTHER,
        reset=Reset(empty=("orders", "lines", "nothing")),
    )
    assert warehouse.rows("orders", "id", "note", "more") == [(3, None, "m")]
    assert warehouse.rows("lines") == []  # the schema does not know it any more
    catalog = warehouse.destination.catalog(warehouse.dataset)
    assert {*catalog["lines"].columns} == {"n", "parent", "row"}
    assert warehouse.rows("other") == [(7,)]


def test_emptied_table_can_get_a_required_column(warehouse: Warehouse) -> None:
    fill(warehouse)
    now = ORDERS.with_columns(Column("must", "bigint", nullable=False))
    append(warehouse, {"orders": [{"id": 3, "must": 1}]}, now, OTHER, reset=Reset(empty=("orders",)))
    assert warehouse.rows("orders", "id", "must") == [(3, 1)]


def test_emptied_table_can_get_another_type(warehouse: Warehouse) -> None:
    fill(warehouse)
    now = table("orders", id="bigint", note="bigint", row="text")
    append(
        warehouse,
        {"orders": [{"id": 3, "note": 5}]},
        now,
        OTHER,
        reset=Reset(empty=("orders",)),
        retyped={"orders": ("note",)},
    )
    assert warehouse.rows("orders", "id", "note") == [(3, 5)]


@merging
def test_merge_into_what_a_reset_left(warehouse: Warehouse) -> None:
    fill(warehouse)
    keyed = ORDERS.with_columns(Column("id", "bigint").with_hints(primary_key=True))
    rows = {"orders": [[{"id": 1, "note": "new", "row": "r9"}]]}
    chains = (TableTreeWrite("orders", "merge", "insert-only"),)
    reset = Reset(empty=("orders", "lines"))
    warehouse.run((keyed, LINES), rows, chains=chains, keys=KEYS, reset=reset)
    assert warehouse.rows("orders", "id", "note") == [(1, "new")]
    assert warehouse.rows("lines") == []


def version(number: int, schema: str, of: str) -> dict[str, Any]:
    return {"version": number, "inserted_at": None, "schema_name": schema, "version_hash": of}


def test_old_versions_of_the_schema_go(warehouse: Warehouse) -> None:
    fill(warehouse)
    others = {"_versions": [version(1, "garden", "g")], "_loads": [{"load_id": "load-g"}]}
    garden = Schema("garden", {t.name: t for t in (*KEPT, OTHER)}, stored_hash="g")
    append(warehouse, {}, OTHER, load_id="load-g", schema=garden, base_hash=None, records=others)
    records = {"_versions": [version(5, "shop", "w")], "_loads": [{"load_id": "load-w"}]}
    shop = Schema("shop", {t.name: t for t in (*KEPT, OTHER)}, stored_hash="w")
    more: Any = {"load_id": "load-w", "schema": shop, "records": records, "reset": Reset(versions=True)}
    append(warehouse, {}, OTHER, **more)
    versions = warehouse.rows("_versions", "schema_name", "version", "version_hash")
    assert versions == [("garden", 1, "g"), ("shop", 5, "w")]
    warehouse.base = "w"
    append(warehouse, {"other": [{"id": 8}]}, OTHER, schema=replace(shop, stored_hash="w"))
    assert warehouse.rows("other") == [(7,), (8,)]


def test_versions_go_once(warehouse: Warehouse) -> None:
    """The same load again finds itself and takes nothing away."""
    fill(warehouse)
    records = {"_versions": [version(2, "shop", "v")], "_loads": [{"load_id": "load-w"}]}
    for _ in range(2):
        append(
            warehouse,
            {"orders": [{"id": 9}]},
            load_id="load-w",
            records=records,
            reset=Reset(("orders",), ("other",), True),
        )
    assert warehouse.rows("orders", "id") == [(9,)]
    assert warehouse.rows("other") == []
    assert warehouse.rows("_versions", "version") == [(2,)]


def test_reset_of_what_has_moved(warehouse: Warehouse) -> None:
    fill(warehouse)
    with pytest.raises(CommitConflict):
        append(warehouse, {}, reset=Reset(("orders",), ("other",), True), base_hash="older")
    assert len(warehouse.rows("orders")) == 2
    assert warehouse.rows("other") == [(7,)]


def test_reset_that_fails_takes_nothing(warehouse: Warehouse) -> None:
    fill(warehouse)
    now = table("orders", id="bigint").with_columns(Column("must", "bigint", nullable=False))
    with pytest.raises(Exception, match="column must"):
        append(
            warehouse,
            {"orders": [{"id": 1, "must": None}]},
            now,
            OTHER,
            reset=Reset(("orders", "lines"), ("other",), True),
        )
    assert warehouse.rows("orders", "id") == [(1,), (2,)]
    assert warehouse.rows("lines", "n") == [(1,)]
    assert warehouse.rows("other") == [(7,)]
    assert warehouse.rows("_versions", "version") == [(1,)]


def test_table_that_a_view_reads(destination_url: str, warehouse: Warehouse, request: Any) -> None:
    if not destination_url.startswith("postgresql"):
        pytest.skip("the others drop it")
    fill(warehouse)
    server = request.getfixturevalue("postgres")
    name = request.getfixturevalue("database")
    server.run("CREATE VIEW seen AS SELECT id FROM orders", database=name)
    with pytest.raises(SchemaError, match=r"table orders: it is to be dropped, but .*view seen depends on"):
        append(warehouse, {}, reset=Reset(drop=("orders",)))
    assert len(warehouse.rows("orders")) == 2


def test_newest_row(warehouse: Warehouse) -> None:
    def newest(name: str, order: Sequence[str], of: str = "notes", column: str = "name") -> Any:
        return warehouse.destination.newest_row(warehouse.dataset, of, column, name, order)

    assert newest("a", ["n"]) is None
    at = datetime(2026, 1, 1, tzinfo=timezone.utc)
    notes = Table("notes", {name: Column(name, kind) for name, kind in NOTES.items()})
    rows = [
        {"name": "a", "n": 1, "at": at, "text": "first"},
        {"name": "a", "n": 2, "at": at, "text": "second"},
        {"name": "a", "n": 2, "at": at.replace(year=2027), "text": "it's last"},
        {"name": "a", "n": None, "at": at.replace(year=2028), "text": "without"},
        {"name": "b'", "n": 9, "at": None, "text": None},
    ]
    warehouse.run([notes], {"notes": [rows[:2], rows[2:]]}, chains=(TableTreeWrite("notes", "append"),))
    wider = notes.with_columns(Column("more", "bigint"))
    warehouse.run(
        [wider], {"notes": [[{"name": "c", "more": 1}]]}, chains=(TableTreeWrite("notes", "append"),)
    )
    row = newest("a", ["n", "at"])
    assert row == {"name": "a", "n": 2, "at": at.replace(year=2027), "text": "it's last", "more": None}
    assert newest("a", ["at"])["text"] == "without"
    assert newest("b'", ["n", "at"])["n"] == 9
    assert newest("c", ["n"])["more"] == 1
    assert newest("z", ["n"]) is None
    assert newest("a", ["n"], column="nothing") is None
    assert newest("a", ["n"], of="nothing") is None

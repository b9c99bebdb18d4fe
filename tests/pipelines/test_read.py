"""Tables read back: whole or of one load, with nested rows as lists, as Arrow, pandas, DuckDB and Spark."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from datetime import time as time_of_day
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import trellis
from doc_blocks import blocks
from trellis.errors import UsageError
from trellis.pipelines.pipeline import Pipeline, pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = [
    {"id": 1, "tags": ["new", "gift"], "lines": [{"sku": "a", "parts": [{"n": 1}, {"n": 2}]}, {"sku": "b"}]},
    {"id": 2, "tags": []},
]
NESTED = [
    {
        "id": 1,
        "tags": ["new", "gift"],
        "lines": [{"sku": "a", "parts": [{"n": 1}, {"n": 2}]}, {"sku": "b", "parts": None}],
    },
    {"id": 2, "tags": None, "lines": None},
]


@pytest.fixture(params=["duckdb", "parquet"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Pipeline:
    to = {"duckdb": f"duckdb:{tmp_path}/shop.duckdb", "parquet": f"parquet:{tmp_path}/lake"}[request.param]
    shop = pipeline("shop", to, engine="inline")
    shop.load(ORDERS, table="orders", load_id="first")
    return shop


def test_a_table_as_it_is(shop: Pipeline) -> None:
    table = shop.read("orders").arrow()
    assert table.column_names == ["id", "_dlt_load_id", "_dlt_id"]
    assert shop.read("orders", system_columns=False).pandas().to_dict("list") == {"id": [1, 2]}
    assert repr(shop.read("orders")) == (
        "StoredTable(name='orders', load_id=None, nested=False, system_columns=True)"
    )


def test_nested_rows_are_lists(shop: Pipeline) -> None:
    orders = shop.read("orders", nested=True, system_columns=False)
    assert sorted(orders.arrow().to_pylist(), key=lambda row: row["id"]) == NESTED
    first_parts = "SELECT id, lines[1].parts[2].n FROM orders ORDER BY id"
    assert orders.duckdb().query("orders", first_parts).fetchall() == [(1, 2), (2, None)]


def test_the_rows_of_one_load(shop: Pipeline) -> None:
    until = datetime.now(timezone.utc)
    time.sleep(0.01)
    shop.load([{"id": 3, "lines": [{"sku": "c"}], "late": True}], table="orders", load_id="second")
    assert ids(shop, "last") == ids(shop, "second") == [3]
    assert ids(shop, until) == ids(shop, "first") == [1, 2]
    assert ids(shop, None) == [1, 2, 3]
    lines = shop.read("orders__lines", load="second", system_columns=False)
    assert lines.arrow().to_pylist() == [{"sku": "c"}]


def ids(shop: Pipeline, load: Any) -> list[int]:
    return sorted(shop.read("orders", load=load).arrow().column("id").to_pylist())


def test_a_table_or_load_that_is_not_there(shop: Pipeline) -> None:
    with pytest.raises(UsageError, match="there is no table 'order': did you mean 'orders'"):
        shop.read("order")
    with pytest.raises(UsageError, match="there is no complete load 'furst': did you mean 'first'"):
        shop.read("orders", load="furst")
    with pytest.raises(UsageError, match=r"no load was completed up to 2020-01-01T00:00:00\+00:00"):
        shop.read("orders", load=datetime(2020, 1, 1))


def test_a_dialect_that_does_not_keep_loads(tmp_path: Path) -> None:
    events = pipeline("web", f"duckdb:{tmp_path}/web.duckdb", dialect="rudderstack", engine="inline")
    events.load([{"type": "track", "event": "Sale", "messageId": "m1", "userId": "u"}])
    assert trellis.read(events.to, "sale", dataset=events.dataset).pandas()["id"].tolist() == ["m1"]
    with pytest.raises(
        UsageError, match="table sale: the dialect rudderstack does not keep which load brought"
    ):
        events.read("sale", load="last")


def test_columns_whose_names_are_in_the_way(spark: SparkSession, tmp_path: Path) -> None:
    odd = pipeline("odd", f"duckdb:{tmp_path}/odd.duckdb", naming="direct", engine="inline")
    odd.load([{"q_row \"`{x}'": 1, "q_items": [{"q_parent": "p", "}": 3}], "0": 2}], table="odd")
    row = {"q_row _`{x}_": 1, "0": 2, "q_items": [{"q_parent": "p", "}": 3}]}
    table = trellis.read(odd.to, "odd", nested=True, system_columns=False)
    (arrow,), (spark_row,) = table.arrow().to_pylist(), table.spark().collect()
    assert arrow == spark_row.asDict(recursive=True) == row


def test_spark(spark: SparkSession, shop: Pipeline) -> None:
    shop.load([{"id": 3, "lines": [{"sku": "c"}], "late": True}], table="orders", load_id="second")
    frame = shop.read("orders", nested=True, system_columns=False).spark()
    assert frame.columns == ["id", "late", "tags", "lines"]
    rows = [row.asDict(recursive=True) for row in frame.orderBy("id").collect()]
    late = {"id": 3, "tags": None, "lines": [{"sku": "c", "parts": None}], "late": True}
    assert rows == [*({**row, "late": None} for row in NESTED), late]
    lines = trellis.read(shop.to, "orders__lines", load="first", system_columns=False).spark()
    assert sorted(row.sku for row in lines.collect()) == ["a", "b"]


def test_types_that_spark_has_not(spark: SparkSession, tmp_path: Path) -> None:
    lake = pipeline("lake", f"parquet:{tmp_path}/lake", engine="inline")
    columns = [
        {"name": "w", "data_type": "decimal", "precision": 60, "scale": 0},
        {"name": "t", "data_type": "time"},
    ]
    lake.run([{"w": Decimal(10**50), "t": time_of_day(1, 2, 3)}], table_name="odd", columns=columns)
    (row,) = lake.read("odd", system_columns=False).spark().collect()
    assert row.asDict() == {"w": str(10**50), "t": "01:02:03.000000"}


def test_an_empty_table(shop: Pipeline) -> None:
    shop.load([{"id": 1}], table="gone")
    shop.load([], table="gone", mode="replace")
    assert shop.read("gone", system_columns=False).arrow().to_pydict() == {"id": []}


def test_the_page(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.jsonl").write_text('{"id": 1, "lines": [{"sku": "a"}, {"sku": "b"}]}\n{"id": 2}\n')
    pipeline("shop", "duckdb:shop.duckdb", engine="inline").load("orders.jsonl", load_id="first")
    snippets = [block for block in blocks() if block.page == "docs/read.md" and block.language == "python"]
    assert len(snippets) == 3
    for block in snippets:
        exec(compile(block.text, str(block), "exec"), {"trellis": trellis})

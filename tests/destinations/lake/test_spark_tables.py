"""Tables that Spark commits: Iceberg, a catalog of the session, and what Spark reads of Delta tables."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import trellis
from trellis.destinations.iceberg.session import iceberg_catalog
from trellis.destinations.lake.store import TableSize
from trellis.destinations.row_changes import RowChanges
from trellis.errors import DestinationError, TrellisError
from trellis.pipelines.report import Report

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.lake

Rows = list[dict[str, Any]]


def rows_of(spark: SparkSession, query: str) -> Rows:
    return [row.asDict() for row in spark.sql(query).collect()]


def test_spark_reads_delta_tables_that_no_jvm_wrote(spark: SparkSession, root: Path) -> None:
    shop = trellis.pipeline("shop", to=f"delta:{root}")
    shop.load([{"id": 1, "at": "2026-01-01T00:00:00Z"}], table="orders")
    shop.load([{"id": 2, "late": 1.5}], table="orders")
    orders = f"delta.`{root}/orders`"
    assert rows_of(spark, f"SELECT id, CAST(at AS STRING) AS at, late FROM {orders} ORDER BY id") == [
        {"id": 1, "at": "2026-01-01 00:00:00", "late": None},
        {"id": 2, "at": None, "late": 1.5},
    ]
    assert rows_of(spark, f"SELECT id FROM {orders} WHERE id > 1") == [{"id": 2}]


def test_times_that_spark_wrote_in_96_bits_are_read(spark: SparkSession, root: Path) -> None:
    shop = trellis.pipeline("shop", to=f"delta:{root}")
    shop.load([{"id": 1, "at": "2026-01-01T00:00:00.000001Z"}], table="orders")
    spark.sql(f"UPDATE delta.`{root}/orders` SET at = TIMESTAMP '9999-12-31 23:59:59.999999Z'")
    (row,) = shop.read("orders", system_columns=False).arrow().to_pylist()
    assert row == {"id": 1, "at": datetime(9999, 12, 31, 23, 59, 59, 999999, timezone.utc)}


def test_iceberg_tables_grow_and_are_merged_and_replaced(spark: SparkSession, root: Path) -> None:
    shop = trellis.pipeline("shop", to=f"iceberg:{root}")
    keyed: dict[str, Any] = {"table": "orders", "mode": "merge", "keys": ("id",)}
    shop.load([{"id": 1, "tags": ["a"]}, {"id": 2}], load_id="one", **keyed)
    orders = f"{iceberg_catalog(str(root))}.main.orders"
    assert rows_of(spark, f"SELECT id FROM {orders} ORDER BY id") == [{"id": 1}, {"id": 2}]
    second = [{"id": 2, "late": True, "tags": ["b", "c"]}, {"id": 3}]
    assert shop.load(second, load_id="two", **keyed).rows.loaded == 2
    assert shop.load(second, load_id="two", **keyed).already_loaded
    assert rows_of(spark, f"SELECT id, late FROM {orders} ORDER BY id") == [
        {"id": 1, "late": None},
        {"id": 2, "late": True},
        {"id": 3, "late": None},
    ]
    labels = rows_of(spark, f"SELECT summary['trellis.label'] AS label FROM {orders}.snapshots")
    assert [row["label"] for row in labels] == ["trellis-load-one", "trellis-load-two"]
    shop.load([{"id": 9, "tags": []}], table="orders", mode="replace", load_id="three")
    assert rows_of(spark, f"SELECT id FROM {orders}") == [{"id": 9}]
    assert shop.destination.row_counts("main")["_dlt_loads"] == 3


def test_a_catalog_of_the_session_gets_tables_of_its_format(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.catalog.mine", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set("spark.sql.catalog.mine.type", "hadoop")
    spark.conf.set("spark.sql.catalog.mine.warehouse", str(tmp_path / "mine"))
    shop = trellis.pipeline("shop", to="spark:mine.shop")
    shop.load([{"id": 1}], table="orders")
    assert rows_of(spark, "SELECT id FROM mine.shop.orders") == [{"id": 1}]
    with pytest.raises(DestinationError) as refused:
        trellis.pipeline("shop", to="spark:unknown.shop").load([{"id": 1}], table="orders")
    assert str(refused.value) == (
        "catalog unknown: the Spark session has no catalog of that name whose tables commit, such as one of "
        "Delta Lake or Iceberg; set spark.sql.catalog.unknown to its class"
    )


@pytest.fixture
def mart(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A schema of Spark's own catalog with tables and views that no load made, or that nobody can read."""
    for statement in (
        f"CREATE SCHEMA mart LOCATION '{tmp_path}/mart'",
        "CREATE TABLE mart.plain (a INT, b STRING) USING parquet",
        "INSERT INTO mart.plain VALUES (1, 'x')",
        "CREATE TABLE mart.known (Provider STRING, id BIGINT) USING delta",
        "CREATE VIEW mart.shown AS SELECT a FROM mart.plain",
        "CREATE TABLE mart.gone (a INT) USING delta",
        "CREATE VIEW mart.broken AS SELECT a FROM mart.gone",
        "DROP TABLE mart.gone",
        f"CREATE TABLE mart.lost (a INT) USING delta LOCATION '{tmp_path}/lost'",
    ):
        spark.sql(statement)
    shutil.rmtree(tmp_path / "lost")
    yield "spark:spark_catalog.mart"
    spark.sql("DROP SCHEMA mart CASCADE")


def test_what_else_is_in_a_schema_does_not_stop_loads(spark: SparkSession, mart: str) -> None:
    shop = trellis.pipeline("shop", to=mart)
    for _ in range(2):
        assert shop.load([{"n": 1, "tags": ["a"]}], table="orders").rows.loaded == 1
    assert rows_of(spark, "SELECT n FROM mart.orders") == [{"n": 1}, {"n": 1}]
    assert shop.plan([{"n": 1}], table="orders").rows.loaded == 1
    nested = trellis.read(mart, "orders", nested=True, system_columns=False).arrow()
    assert nested.to_pylist() == [{"n": 1, "tags": ["a"]}, {"n": 1, "tags": ["a"]}]


def test_a_load_says_which_table_of_a_schema_cannot_take_its_rows(
    spark: SparkSession, mart: str, tmp_path: Path
) -> None:
    shop = trellis.pipeline("shop", to=mart)
    refusals = dict[str, str]()
    for table in ("plain", "shown", "broken", "lost"):
        with pytest.raises(TrellisError) as refused:
            shop.load([{"a": 2}], table=table)
        refusals[table] = str(refused.value)
    is_view = "it is a view in the destination, and a load needs a table; rename the one or the other"
    assert refusals == {
        "plain": "spark_catalog.mart, table plain: it is a table of parquet, and loads need one of Delta "
        "Lake, which keeps what each commit brought; convert it, or load into another",
        "shown": f"table shown: {is_view}; nothing was loaded",
        "broken": f"table broken: {is_view}; nothing was loaded",
        "lost": f"spark_catalog.mart: Spark refused: file:{tmp_path}/lost doesn't exist, or is not a Delta "
        "table",
    }
    assert shop.load([{"id": 1, "Provider": "p"}], table="known").rows.loaded == 1
    assert trellis.read(mart, "plain").arrow().to_pylist() == [{"a": 1, "b": "x"}]
    assert trellis.read(mart, "shown").arrow().to_pylist() == [{"a": 1}]


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_spark_reads_the_tables_of_a_lake_themselves(spark: SparkSession, root: Path, kind: str) -> None:
    shop = trellis.pipeline("shop", to=f"{kind}:{root}")
    shop.load([{"id": 1, "tags": ["a"]}], table="orders")
    shop.load([{"id": 2}], table="orders", load_id="two")
    nested = shop.read("orders", nested=True, system_columns=False).spark().orderBy("id")
    assert [row.asDict() for row in nested.collect()] == [{"id": 1, "tags": ["a"]}, {"id": 2, "tags": None}]
    last = trellis.read(f"{kind}:{root}", "orders", load="last").spark()
    assert [row["id"] for row in last.collect()] == [2]


def changes_of(report: Report) -> dict[str, tuple[int, int, int, int]]:
    counted = {table.name: table.changes or RowChanges() for table in report.tables}
    return {n: (c.inserted, c.updated, c.deleted, c.deduplicated) for n, c in counted.items()}


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_reports_say_what_merges_changed(spark: SparkSession, root: Path, kind: str) -> None:
    shop = trellis.pipeline("shop", to=f"{kind}:{root}")
    keyed: dict[str, Any] = {"table": "t", "mode": "merge", "keys": ("id",)}
    assert changes_of(shop.load([{"id": 1, "k": [1, 2]}, {"id": 2, "k": [3]}], **keyed)) == {
        "t": (2, 0, 0, 0),
        "t__k": (3, 0, 0, 0),
    }
    merged = shop.load([{"id": 1, "k": [7]}, {"id": 1, "k": [8, 9]}, {"id": 3}], **keyed)
    assert changes_of(merged) == {"t": (1, 1, 0, 1), "t__k": (1, 0, 2, 2)}
    upsert: dict[str, Any] = {**keyed, "table": "u", "strategy": "upsert"}
    shop.load([{"id": 1}, {"id": 2}], **upsert)
    assert changes_of(shop.load([{"id": 2}, {"id": 3}], **upsert)) == {"u": (1, 1, 0, 0)}
    scd2: dict[str, Any] = {"table": "v", "mode": "merge", "strategy": "scd2"}
    shop.load([{"id": 1, "v": "a"}, {"id": 2, "v": "b"}], **scd2)
    changed = shop.load([{"id": 1, "v": "a"}, {"id": 2, "v": "c"}], **scd2)
    assert changes_of(changed) == {"v": (1, 1, 0, 1)}


@pytest.mark.parametrize(
    ("kind", "partitions", "in_one", "in_merge"),
    [
        ("delta", "200", TableSize(1000, 1 << 20), "8"),
        ("iceberg", "200", TableSize(1000, 1 << 20), "8"),
        ("delta", "4", TableSize(1000, 1 << 20), "4"),
        ("delta", "200", TableSize(1, 1 << 20), "9"),
        ("delta", "200", TableSize(1000, 1), "200"),
        ("spark", "200", TableSize(1000, 1 << 20), "200"),
    ],
    ids=["delta", "iceberg", "fewer-in-the-session", "many-rows", "many-bytes", "size-unknown"],
)
def test_a_merge_has_no_more_partitions_than_its_rows_need(
    spark: SparkSession,
    root: Path,
    mart: str,
    kind: str,
    partitions: str,
    in_one: TableSize,
    in_merge: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four for each of the two cores at least, and never more than the session's own number."""
    setting, seen, run_sql = "spark.sql.shuffle.partitions", list[str](), type(spark).sql

    def watch(session: SparkSession, statement: str) -> DataFrame:
        if statement.startswith("MERGE"):
            seen.append(session.conf.get(setting))
        return run_sql(session, statement)

    monkeypatch.setattr("trellis.destinations.lake.spark_sql._PARTITION_SIZE", in_one)
    shop = trellis.pipeline("shop", to=mart if kind == "spark" else f"{kind}:{root}")
    keyed: dict[str, Any] = {"table": "t", "mode": "merge", "keys": ("id",)}
    shop.load([{"id": id_} for id_ in range(7)], **keyed)
    before = spark.conf.get(setting)
    spark.conf.set(setting, partitions)
    try:
        monkeypatch.setattr(type(spark), "sql", watch)
        shop.load([{"id": 6}, {"id": 7}], **keyed)
        assert (seen, spark.conf.get(setting)) == ([in_merge], partitions)
    finally:
        spark.conf.set(setting, before)
    assert shop.read("t").arrow().num_rows == 8


@pytest.mark.parametrize("looked_through", [0, 9], ids=["by-spark", "here"])
@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_keys_that_occur_once_or_twice_are_replaced(
    spark: SparkSession, root: Path, kind: str, looked_through: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trellis.destinations.lake.merge.COUNTED_ROWS", looked_through)
    shop = trellis.pipeline("shop", to=f"{kind}:{root}")
    shop.load([{"id": id_, "v": "old"} for id_ in (1, 1, 2)], table="t")
    keyed: dict[str, Any] = {"table": "t", "mode": "merge", "keys": ("id",)}
    shop.load([{"id": 1, "v": "once", "k": [2]}, {"id": 3, "v": "new"}], **keyed)
    twice = shop.load([{"id": 1, "v": "a", "k": [3]}, {"id": 1, "v": "b"}], **keyed)
    assert changes_of(twice) == {"t": (0, 1, 0, 1), "t__k": (1, 0, 1, 0)}
    rows = shop.read("t", system_columns=False).arrow().to_pylist()
    assert sorted((row["id"], row["v"]) for row in rows) == [(1, "a"), (2, "old"), (3, "new")]
    assert [row["value"] for row in shop.read("t__k", system_columns=False).arrow().to_pylist()] == [3]

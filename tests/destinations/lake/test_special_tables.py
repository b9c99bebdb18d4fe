"""Delta tables whose protocol asks more of a writer than files: loads go on, through Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable

from trellis.pipelines.pipeline import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lake

Rows = list[dict[str, Any]]
SYSTEM = "_dlt_load_id STRING, _dlt_id STRING"
SPECIAL = {
    "partitions": "CREATE TABLE {} (id BIGINT, day STRING, {}) USING DELTA PARTITIONED BY (day)",
    "column mapping": "CREATE TABLE {} (id BIGINT, day STRING, {}) USING DELTA "
    "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "deletion vectors": "CREATE TABLE {} (id BIGINT, day STRING, {}) USING DELTA "
    "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
    "type widening": "CREATE TABLE {} (id INT, day STRING, {}) USING DELTA "
    "TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
    "generated columns": "CREATE TABLE {} (id BIGINT, day STRING, {}, month STRING GENERATED ALWAYS AS "
    "(substring(day, 1, 7))) USING DELTA",
    "clusters": "CREATE TABLE {} (id BIGINT, day STRING, {}) USING DELTA CLUSTER BY (day)",
    "change feed": "CREATE TABLE {} (id BIGINT, day STRING, {}) USING DELTA "
    "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
}
"""Tables as their owners make them with Spark."""


def rows_of(spark: SparkSession, root: Path, *columns: str) -> Rows:
    query = f"SELECT {', '.join(columns)} FROM delta.`{root}/orders` ORDER BY ALL"
    return [row.asDict() for row in spark.sql(query).collect()]


@pytest.fixture(params=SPECIAL)
def special(request: pytest.FixtureRequest, spark: SparkSession, root: Path) -> str:
    """A special table with two rows, of which one was deleted."""
    orders = f"delta.`{root}/orders`"
    spark.sql(SPECIAL[request.param].format(orders, SYSTEM))
    if request.param == "type widening":
        spark.sql(f"INSERT INTO {orders} VALUES (1, '2026-01-01', 'by hand', 'a')")
        spark.sql(f"ALTER TABLE {orders} ALTER COLUMN id TYPE BIGINT")
    columns = "id, day, _dlt_load_id, _dlt_id"
    rows = "(1, '2026-01-01', 'by hand', 'a'), (2, '2026-01-02', 'by hand', 'b')"
    spark.sql(f"INSERT INTO {orders} ({columns}) VALUES {rows}")
    spark.sql(f"DELETE FROM {orders} WHERE id = 2")
    if request.param == "type widening":
        spark.sql(f"DELETE FROM {orders} WHERE _dlt_load_id = 'by hand'")
        spark.sql(f"INSERT INTO {orders} ({columns}) VALUES (1, '2026-01-01', 'by hand', 'a')")
    return str(request.param)


def test_rows_are_appended_once(spark: SparkSession, root: Path, delta: Pipeline, special: str) -> None:
    rows = [{"id": 3, "day": "2026-02-01"}]
    assert delta.load(rows, table="orders", load_id="one").rows.loaded == 1
    assert delta.load(rows, table="orders", load_id="one").already_loaded
    assert rows_of(spark, root, "id", "day") == [
        {"id": 1, "day": "2026-01-01"},
        {"id": 3, "day": "2026-02-01"},
    ]
    assert [row["id"] for row in delta.destination.query("", "orders")] in ([1, 3], [3, 1])
    assert delta.destination.row_counts("")["orders"] == 2


def test_rows_get_a_new_column_and_are_merged(
    spark: SparkSession, root: Path, delta: Pipeline, special: str
) -> None:
    keyed: dict[str, Any] = {"table": "orders", "mode": "merge", "keys": ("id",)}
    delta.load([{"id": 1, "day": "2026-01-03", "late": True}, {"id": 4, "day": "2026-01-04"}], **keyed)
    assert rows_of(spark, root, "id", "day", "late") == [
        {"id": 1, "day": "2026-01-03", "late": True},
        {"id": 4, "day": "2026-01-04", "late": None},
    ]
    delta.load([{"id": 9, "day": "2026-01-09"}], table="orders", mode="replace")
    assert rows_of(spark, root, "id") == [{"id": 9}]


def test_a_load_that_broke_off_passes_over_a_special_table(
    spark: SparkSession, root: Path, delta: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trellis.destinations.lake.delta import DeltaStore
    from trellis.errors import DestinationError

    spark.sql(SPECIAL["partitions"].format(f"delta.`{root}/orders`", SYSTEM))
    write_files = DeltaStore.write_files

    def fail(store: DeltaStore, name: Any, *args: Any, **options: Any) -> None:
        if name.table == "_dlt_loads":
            raise DestinationError("the network is down")
        write_files(store, name, *args, **options)

    monkeypatch.setattr(DeltaStore, "write_files", fail)
    rows = [{"id": 3, "day": "2026-02-01"}]
    with pytest.raises(DestinationError):
        delta.load(rows, table="orders", load_id="one")
    monkeypatch.undo()
    assert delta.load(rows, table="orders", load_id="one").rows.loaded == 1
    assert rows_of(spark, root, "id", "day") == [{"id": 3, "day": "2026-02-01"}]
    versions = DeltaTable(root / "orders").history()
    assert [version["operation"] for version in versions] == ["WRITE", "CREATE TABLE"]


def test_a_column_that_gets_another_type_keeps_the_layout_of_the_table(
    spark: SparkSession, root: Path, special: str
) -> None:
    from trellis.destinations.lake.delta import DeltaStore
    from trellis.destinations.lake.store import TableAlteration, TableName

    query = f"DESCRIBE DETAIL delta.`{root}/orders`"
    layout = "clusteringColumns", "partitionColumns", "properties"
    (detail,) = spark.sql(query).select(*layout).collect()
    DeltaStore(str(root)).alter_table(TableName("", "orders"), TableAlteration(types={"id": "STRING"}))
    assert rows_of(spark, root, "id", "day") == [{"id": "1", "day": "2026-01-01"}]
    (after,) = spark.sql(query).select(*layout).collect()
    kept = {name: value for name, value in detail["properties"].items() if not name.endswith("maxColumnId")}
    assert (after["partitionColumns"], after["clusteringColumns"]) == (
        detail["partitionColumns"],
        detail["clusteringColumns"],
    )
    assert kept.items() <= after["properties"].items()


def test_structs_of_a_special_table_get_further_fields(spark: SparkSession, root: Path) -> None:
    from trellis.destinations.lake.delta import DeltaStore
    from trellis.destinations.lake.store import TableName

    orders = f"delta.`{root}/orders`"
    columns = "day STRING, s STRUCT<a: BIGINT>, l ARRAY<STRUCT<a: BIGINT>>"
    spark.sql(f"CREATE TABLE {orders} ({columns}) USING DELTA PARTITIONED BY (day)")
    spark.sql(f"INSERT INTO {orders} VALUES ('a', struct(1), array(struct(2)))")
    grown = {
        "s": "STRUCT<a: BIGINT, b: STRUCT<c: STRING>>",
        "l": "ARRAY<STRUCT<a: BIGINT, b: STRING>>",
        "n": "STRING",
    }
    DeltaStore(str(root)).add_columns(TableName("", "orders"), grown)
    (row,) = spark.sql(f"SELECT * FROM {orders}").collect()
    assert row.asDict(recursive=True) == {
        "day": "a",
        "s": {"a": 1, "b": None},
        "l": [{"a": 2, "b": None}],
        "n": None,
    }

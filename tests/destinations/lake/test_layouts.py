"""What the hints of a schema make of a new table in a lake: partitions, clusters, properties, comments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from pyiceberg.table import StaticTable

import trellis
from trellis.errors import SchemaError
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import Column, Schema, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROPERTIES = {"delta.logRetentionDuration": "interval 7 days", "delta.enableTypeWidening": True}


def hinted(*columns: Column, **hints: Any) -> Schema:
    table = Table("orders", {column.name: column for column in columns}, description="What was bought")
    return Schema("shop", {"orders": table.with_hints(**hints)})


DAY = Column("day", "text", description="When, in UTC").with_hints(partition=True)
AT = Column("at", "timestamp").with_hints(partition=True)


def test_comments_are_those_of_the_schema(delta: Pipeline, root: Path) -> None:
    delta.load(
        [{"day": "a", "id": 1}], table="orders", schema=hinted(Column("day", "text", description="When"))
    )
    table = DeltaTable(root / "orders")
    assert table.metadata().description == "What was bought"
    assert {field.name: field.metadata for field in table.schema().fields}["day"] == {"comment": "When"}


def test_iceberg_tables_have_comments_and_properties(root: Path) -> None:
    shop = trellis.pipeline("shop", to=f"iceberg:{root}")
    properties = {"x-table-properties": {"write.metadata.previous-versions-max": 5}}
    column = Column("day", "text", description="When")
    shop.load([{"day": "a"}], table="orders", schema=hinted(column, **properties))
    table = StaticTable.from_metadata(str(root / "main" / "orders"))
    assert table.properties["write.metadata.previous-versions-max"] == "5"
    assert (table.properties["comment"], table.schema().find_field("day").doc) == ("What was bought", "When")


def test_properties_that_are_none_are_refused(delta: Pipeline) -> None:
    with pytest.raises(SchemaError) as refused:
        delta.load([{"day": "a"}], table="orders", schema=hinted(DAY, **{"x-table-properties": "fast"}))
    assert str(refused.value) == (
        "table orders: x-table-properties is 'fast', not names with values; write for example "
        "{'delta.logRetentionDuration': 'interval 7 days'}"
    )


@pytest.mark.lake
def test_delta_tables_are_partitioned(spark: SparkSession, delta: Pipeline, root: Path) -> None:
    delta.load([{"day": "a", "id": 1}, {"day": "b", "id": 2}], table="orders", schema=hinted(DAY))
    delta.load([{"day": "b", "id": 3}], table="orders")
    table = DeltaTable(root / "orders")
    assert table.metadata().partition_columns == ["day"]
    assert sorted(partition["day"] for partition in table.partitions()) == ["a", "b"]
    rows = spark.sql(f"SELECT day, id FROM delta.`{root}/orders` ORDER BY id").collect()
    assert [tuple(row) for row in rows] == [("a", 1), ("b", 2), ("b", 3)]


@pytest.mark.lake
def test_iceberg_tables_are_partitioned(spark: SparkSession, root: Path) -> None:
    shop = trellis.pipeline("shop", to=f"iceberg:{root}")
    rows = [{"day": "a", "at": "2026-01-01T10:00:00Z"}, {"day": "b", "at": "2026-01-02T10:00:00Z"}]
    shop.load(rows, table="orders", schema=hinted(DAY, AT))
    table = StaticTable.from_metadata(str(root / "main" / "orders"))
    assert [str(field.transform) for field in table.spec().fields] == ["identity", "day"]
    assert len([*table.scan(row_filter="day = 'a'").plan_files()]) == 1
    assert sorted(row["day"] for row in shop.destination.query("main", "orders")) == ["a", "b"]


@pytest.mark.lake
def test_delta_tables_are_clustered_and_have_properties(
    spark: SparkSession, delta: Pipeline, root: Path
) -> None:
    columns = (
        Column("day", "text", description="it's when").with_hints(cluster=True),
        Column("id", "bigint", precision=32),
    )
    delta.load(
        [{"day": "a", "id": 1}], table="orders", schema=hinted(*columns, **{"x-table-properties": PROPERTIES})
    )
    (detail,) = spark.sql(f"DESCRIBE DETAIL delta.`{root}/orders`").collect()
    assert (detail["clusteringColumns"], detail["description"]) == (["day"], "What was bought")
    assert detail["properties"]["delta.logRetentionDuration"] == "interval 7 days"
    fields = spark.sql(f"DESCRIBE TABLE delta.`{root}/orders`").collect()
    assert ("day", "string", "it's when") in [tuple(field) for field in fields]


@pytest.mark.lake
@pytest.mark.parametrize("catalog", ["spark_catalog", "described"])
def test_comments_in_a_catalog_follow_the_schema(spark: SparkSession, root: Path, catalog: str) -> None:
    spark.conf.set("spark.sql.catalog.described", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set("spark.sql.catalog.described.type", "hadoop")
    spark.conf.set("spark.sql.catalog.described.warehouse", str(root))
    shop = trellis.pipeline("shop", to=f"spark:{catalog}.comments")
    try:
        shop.load([{"day": "a"}], table="orders", schema=hinted(Column("day", "text", description="When")))
        described = shop.destination.catalog("comments")["orders"]
        assert described.comments == {"": "What was bought", "day": "When"}
        shop.load([{"day": "b"}], table="orders", columns=[Column("day", "text", description="it's the day")])
        described = shop.destination.catalog("comments")["orders"]
        assert described.comments == {"": "What was bought", "day": "it's the day"}
        fields = spark.sql(f"DESCRIBE TABLE {catalog}.comments.orders").collect()
        assert ("day", "string", "it's the day") in [tuple(field) for field in fields]
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {catalog}.comments.orders")
        for name in ("", ".type", ".warehouse"):
            spark.conf.unset(f"spark.sql.catalog.described{name}")


@pytest.mark.lake
def test_a_delta_table_has_either_partitions_or_clusters(delta: Pipeline, spark: SparkSession) -> None:
    with pytest.raises(SchemaError) as refused:
        delta.load([{"day": "a"}], table="orders", schema=hinted(DAY.with_hints(cluster=True)))
    assert str(refused.value) == (
        "table orders: Delta Lake takes either partitions or clusters; take the hint partition or the hint "
        "cluster from its columns"
    )

"""Merges into tables on an object store, which Spark carries out over s3a."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import trellis
from s3_server import S3Server
from trellis.destinations.iceberg.session import iceberg_catalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lake

KEYED: Any = {"table": "orders", "mode": "merge", "keys": ("id",)}
FIRST = [{"id": 1, "tags": ["a"]}, {"id": 2, "tags": ["b", "c"]}]
SECOND = [{"id": 2, "late": True, "tags": ["d"]}, {"id": 3}]


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_tables_in_a_bucket_are_merged(spark: SparkSession, s3: S3Server, bucket: str, kind: str) -> None:
    root = f"s3a://{bucket}/lake"
    shop = trellis.pipeline("shop", to=f"{kind}:{root}")
    shop.load(FIRST, load_id="one", **KEYED)
    assert shop.load(SECOND, load_id="two", **KEYED).rows.loaded == 2
    assert shop.load(SECOND, load_id="two", **KEYED).already_loaded
    relation = shop.read("orders", system_columns=False).spark().orderBy("id")
    assert [row.asDict() for row in relation.collect()] == [
        {"id": 1, "late": None},
        {"id": 2, "late": True},
        {"id": 3, "late": None},
    ]
    name = f"delta.`{root}/orders__tags`" if kind == "delta" else f"{iceberg_catalog(root)}.main.orders__tags"
    assert [row["value"] for row in spark.sql(f"SELECT value FROM {name} ORDER BY value").collect()] == [
        "a",
        "d",
    ]
    assert not [key for key in s3.objects(bucket) if key.startswith("lake/_trellis/")]

"""Lakes on an object store: tables, staged rows and their commits, without a JVM."""

from __future__ import annotations

from typing import Any

import pytest
from deltalake import DeltaTable

import trellis
from s3_server import ACCESS_KEY, SECRET_KEY, S3Server
from trellis.destinations.iceberg.hadoop_catalog import HadoopCatalog
from trellis.errors import TrellisError, UsageError

Rows = list[dict[str, Any]]


def options(s3: S3Server) -> dict[str, str]:
    """How deltalake itself reaches the server."""
    return {
        "AWS_ENDPOINT_URL": s3.endpoint,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }


def delta_rows(s3: S3Server, location: str, *columns: str) -> Rows:
    stored = DeltaTable(location, storage_options=options(s3)).to_pyarrow_table(columns=list(columns))
    return sorted(stored.to_pylist(), key=repr)


@pytest.mark.parametrize("scheme", ["s3a", "s3"])
def test_delta_tables_in_a_bucket_grow_and_are_replaced(s3: S3Server, bucket: str, scheme: str) -> None:
    root = f"{scheme}://{bucket}/lake"
    shop = trellis.pipeline("shop", to=f"delta:{root}")
    shop.load([{"id": 1, "tags": ["a"]}, {"id": 2}], table="orders", load_id="one")
    assert shop.load([{"id": 1}], table="orders", load_id="one").already_loaded
    shop.load([{"id": 3, "late": True}], table="orders", load_id="two")
    orders = f"s3://{bucket}/lake/orders"
    assert delta_rows(s3, orders, "id", "late") == [
        {"id": 1, "late": None},
        {"id": 2, "late": None},
        {"id": 3, "late": True},
    ]
    assert delta_rows(s3, f"{orders}__tags", "value") == [{"value": "a"}]
    assert not [key for key in s3.objects(bucket) if key.startswith("lake/_trellis/")]
    shop.load([{"id": 9}], table="orders", mode="replace")
    assert delta_rows(s3, orders, "id") == [{"id": 9}]
    assert delta_rows(s3, f"{orders}__tags", "value") == []
    assert shop.destination.row_counts("")["_dlt_loads"] == 3
    assert [row["id"] for row in shop.read("orders").arrow().to_pylist()] == [9]


def test_iceberg_tables_in_a_bucket_grow_and_are_replaced(s3: S3Server, bucket: str) -> None:
    root = f"s3a://{bucket}/lake"
    shop = trellis.pipeline("shop", to=f"iceberg:{root}")
    shop.load([{"id": 1, "tags": ["a"]}, {"id": 2}], table="orders", load_id="one")
    assert shop.load([{"id": 1}], table="orders", load_id="one").already_loaded
    shop.load([{"id": 3, "late": True}], table="orders", load_id="two")
    orders = HadoopCatalog(root).load_table(("main", "orders"))
    rows = orders.scan(selected_fields=("id", "late")).to_arrow().to_pylist()
    assert sorted(rows, key=repr) == [
        {"id": 1, "late": None},
        {"id": 2, "late": None},
        {"id": 3, "late": True},
    ]
    shop.load([{"id": 9}], table="orders", mode="replace")
    assert [row["id"] for row in shop.destination.query("main", "orders")] == [9]
    assert not [key for key in s3.objects(bucket) if key.startswith("lake/_trellis/")]


def test_rows_of_a_local_lake_may_be_staged_in_a_bucket(s3: S3Server, bucket: str, tmp_path: Any) -> None:
    shop = trellis.pipeline("shop", to=f"delta:{tmp_path}/lake", staging=f"s3a://{bucket}/stage")
    shop.load([{"id": 1}, {"id": 2}], table="orders")
    assert [row["id"] for row in shop.destination.query("", "orders")] == [1, 2]
    assert s3.objects(bucket) == []


def test_a_bucket_that_is_not_there_is_named(s3: S3Server) -> None:
    with pytest.raises(TrellisError) as refused:
        trellis.pipeline("shop", to="delta:s3a://no-such-bucket/lake").load([{"id": 1}], table="orders")
    assert "no-such-bucket" in str(refused.value)


def test_a_store_without_delta_tables_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        trellis.pipeline("shop", to="delta:hdfs://node:8020/lake").load([{"id": 1}], table="orders")
    assert str(refused.value) == (
        "hdfs://node:8020: Delta tables are written to local paths, s3a://, gs:// and abfss://; name one of "
        "these, or a catalog of your Spark session with spark:CATALOG.SCHEMA"
    )

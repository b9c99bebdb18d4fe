"""Loads at the same time through a catalog of Spark: all arrive, and no column is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

import trellis
from trellis.pipelines.pipeline import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lake

LOADS = 3
CHILD = """
import sys
from pathlib import Path
from conftest import start_spark
import trellis
folder, warehouse, writer, mode = sys.argv[1:]
session = start_spark(Path(folder))
session.conf.set("spark.sql.catalog.shared", "org.apache.iceberg.spark.SparkCatalog")
session.conf.set("spark.sql.catalog.shared.type", "hadoop")
session.conf.set("spark.sql.catalog.shared.warehouse", warehouse)
session.conf.set("spark.sql.catalog.shared.cache-enabled", "false")
options = {"mode": mode, "keys": ("id",)} if mode == "merge" else {}
print("ready", flush=True)
sys.stdin.readline()
for n in range(3):
    rows = [{"id": f"{writer}{n}", writer: n, "k": [n]}]
    trellis.pipeline("shop", to="spark:shared.shop").load(rows, table="t", **options)
"""


def assert_all_arrived(shop: Pipeline, writers: str) -> None:
    rows = shop.destination.query(shop.dataset, "t")
    ids = [f"{writer}{n}" for writer in writers for n in range(LOADS)]
    assert sorted(row["id"] for row in rows) == ids
    assert {row["id"]: row[row["id"][0]] for row in rows} == {id_: int(id_[1]) for id_ in ids}
    counts = shop.destination.row_counts(shop.dataset)
    assert (counts["t__k"], counts["_dlt_loads"]) == (len(ids), len(ids))
    versions = [
        row["version"] for row in shop.destination.history(shop.dataset, shop._dialect.metadata.tables())
    ]
    assert versions == list(range(versions[0], versions[0] + len(versions)))


@pytest.mark.parametrize("mode", ["append", "merge"])
def test_processes_write_into_an_iceberg_catalog(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    package, tests = Path(trellis.__file__).parent.parent, Path(__file__).parent.parent.parent
    environment = {**os.environ, "PYTHONPATH": f"{package}{os.pathsep}{tests}"}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path / writer), str(tmp_path / "lake"), writer, mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**environment, "TRELLIS_STAGING": str(tmp_path / f"staging-{writer}")},
        )
        for writer in "ab"
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        _, errors = child.communicate(timeout=600)
        assert child.returncode == 0, errors[-3000:]
    spark.conf.set("spark.sql.catalog.seen", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set("spark.sql.catalog.seen.type", "hadoop")
    spark.conf.set("spark.sql.catalog.seen.warehouse", str(tmp_path / "lake"))
    assert_all_arrived(trellis.pipeline("shop", to="spark:seen.shop"), "ab")
    spark.conf.unset("spark.sql.catalog.seen")


@pytest.mark.parametrize("mode", ["append", "merge"])
def test_threads_write_into_a_delta_catalog(spark: SparkSession, mode: str) -> None:
    dataset = f"shared_{mode}"
    start, options = Barrier(2), dict[str, Any](mode=mode, keys=("id",) if mode == "merge" else ())

    def load(writer: str) -> None:
        start.wait()
        for n in range(LOADS):
            rows = [{"id": f"{writer}{n}", writer: n, "k": [n]}]
            trellis.pipeline("shop", to=f"spark:spark_catalog.{dataset}").load(rows, table="t", **options)

    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(load, "ab"))
        assert_all_arrived(trellis.pipeline("shop", to=f"spark:spark_catalog.{dataset}"), "ab")
    finally:
        spark.sql(f"DROP SCHEMA IF EXISTS spark_catalog.{dataset} CASCADE")

"""Loads at the same time whose merges are jobs of Spark: all arrive, and no column is lost."""

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

LOADS = 2
STRATEGIES = ("delete-insert", "upsert", "insert-only", "scd2")
CHILD = """
import sys
from pathlib import Path
from conftest import start_spark
import trellis
folder, url, warehouse, writer, *modes = sys.argv[1:]
session = start_spark(Path(folder))
session.conf.set("spark.sql.catalog.shared", "org.apache.iceberg.spark.SparkCatalog")
session.conf.set("spark.sql.catalog.shared.type", "hadoop")
session.conf.set("spark.sql.catalog.shared.warehouse", warehouse)
session.conf.set("spark.sql.catalog.shared.cache-enabled", "false")
print("ready", flush=True)
sys.stdin.readline()
for n in range(2):
    rows = [{"id": f"{writer}{n}", writer: n, "k": [n]}]
    for mode in modes:
        merge = {"mode": "merge", "strategy": mode, "keys": ("id",) if mode != "scd2" else ()}
        options = {"mode": mode} if mode == "append" else merge
        trellis.pipeline("shop", to=url).load(rows, table=mode.replace("-", "_"), **options)
"""


def assert_all_arrived(shop: Pipeline, *modes: str) -> None:
    ids = [f"{writer}{n}" for writer in "ab" for n in range(LOADS)]
    counts = shop.destination.row_counts(shop.dataset)
    for table in (mode.replace("-", "_") for mode in modes):
        rows = shop.destination.query(shop.dataset, table)
        assert sorted(row["id"] for row in rows) == ids, table
        assert {row["id"]: row[row["id"][0]] for row in rows} == {id_: int(id_[1]) for id_ in ids}, table
        assert counts[f"{table}__k"] == len(ids), table
    assert counts["_dlt_loads"] == len(ids) * len(modes)
    history = shop.destination.history(shop.dataset, shop._dialect.metadata.tables())
    versions = [row["version"] for row in history]
    assert versions == sorted({*versions})


def load_in_two_processes(folder: Path, url: str, *modes: str) -> None:
    """Each has a Spark of its own; both begin at the same moment."""
    package, tests = Path(trellis.__file__).parent.parent, Path(__file__).parent.parent.parent
    environment = {**os.environ, "PYTHONPATH": f"{package}{os.pathsep}{tests}"}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(folder / writer), url, str(folder / "lake"), writer, *modes],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**environment, "TRELLIS_STAGING": str(folder / f"staging-{writer}")},
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
        _, errors = child.communicate(timeout=1800)
        assert child.returncode == 0, errors[-3000:]


def test_processes_write_into_an_iceberg_catalog(spark: SparkSession, tmp_path: Path) -> None:
    modes = ("append", "delete-insert")
    load_in_two_processes(tmp_path, "spark:shared.shop", *modes)
    spark.conf.set("spark.sql.catalog.seen", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set("spark.sql.catalog.seen.type", "hadoop")
    spark.conf.set("spark.sql.catalog.seen.warehouse", str(tmp_path / "lake"))
    assert_all_arrived(trellis.pipeline("shop", to="spark:seen.shop"), *modes)
    spark.conf.unset("spark.sql.catalog.seen")


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_processes_merge_into_a_lake_by_every_strategy(tmp_path: Path, kind: str) -> None:
    url = f"{kind}:{tmp_path}/lake"
    load_in_two_processes(tmp_path, url, *STRATEGIES)
    assert_all_arrived(trellis.pipeline("shop", to=url), *STRATEGIES)


@pytest.mark.parametrize("mode", ["append", "merge"])
def test_threads_write_into_a_delta_catalog(spark: SparkSession, mode: str) -> None:
    dataset = f"shared_{mode}"
    start, options = Barrier(2), dict[str, Any](mode=mode, keys=("id",) if mode == "merge" else ())

    def load(writer: str) -> None:
        start.wait()
        for n in range(LOADS):
            rows = [{"id": f"{writer}{n}", writer: n, "k": [n]}]
            trellis.pipeline("shop", to=f"spark:spark_catalog.{dataset}").load(rows, table=mode, **options)

    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(load, "ab"))
        assert_all_arrived(trellis.pipeline("shop", to=f"spark:spark_catalog.{dataset}"), mode)
    finally:
        spark.sql(f"DROP SCHEMA IF EXISTS spark_catalog.{dataset} CASCADE")

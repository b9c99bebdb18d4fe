"""Operations and tables through a Spark Connect server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dialects.ytsaurus.test_tables import T, create, read, schema_of
from spark.cluster import connect_server, environment
from trellis.dialects.ytsaurus.computed.farm_hash import farm_hash
from trellis.dialects.ytsaurus.store.store import Store

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("cluster")]
SCRIPT = f"""
import sys
from pyspark.sql import SparkSession
from trellis.dialects.ytsaurus.spark import enable_yt, merge_join

remote, url = sys.argv[1:]
spark = SparkSession.builder.remote(remote).getOrCreate()
enable_yt(spark, url)
frame = spark.read.yt("{T}").where("k > 1")
frame.write.sorted_by("k").yt("//tmp/copy")
frame.write.mode("overwrite").sorted_by("k").yt("//tmp/copy")
assert spark.read.format("yt").load("//tmp/copy").count() == 3
joined = merge_join(spark.read.yt("{T}"), spark.read.yt("//tmp/copy{{k}}"), "k")
assert joined.columns == ["k", "v"]
assert sorted(map(tuple, joined.collect())) == [(2, 3), (3, 1), (3, 1), (3, 4), (3, 4)]
assert "Exchange" not in joined._explain_string()
numbers = spark.range(4).withColumnRenamed("id", "k")
numbers.write.sorted_by("c", "h", "k").yt("//tmp/computed", mode="append")
"""


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> object:
    with connect_server(tmp_path_factory.mktemp("connect")) as address:
        yield address


def test_a_sort_and_a_frame_through_spark_connect(remote: str, store: Store, tmp_path: Path) -> None:
    create(store, "[v, k]", rows="{k=3;v=1};{k=1;v=2};{k=2;v=3};{k=3;v=4}")
    create(store, "[c:int64^=-k / 2, h:uint64^=farm_hash(k) % 2, k^]", "//tmp/computed")
    url = f"yt:{tmp_path}/store"
    sort = ("--src", T, "--dst", T, "--sort-by", "k", "--at", url, "--remote", remote)
    commands = [("-m", "trellis.cli", "table", "sort", *sort), ("-c", SCRIPT, remote, url)]
    for command in commands:
        completed = subprocess.run(
            [sys.executable, *command], env=environment(), capture_output=True, text=True, check=False
        )
        assert completed.returncode == 0, completed.stderr
    assert (schema_of(store), read(store)) == ("[k^, v] strong", "{k=1;v=2}{k=2;v=3}{k=3;v=1}{k=3;v=4}")
    assert (schema_of(store, "//tmp/copy"), read(store, "//tmp/copy")) == (
        "[k^, v] strong",
        "{k=2;v=3}{k=3;v=1}{k=3;v=4}",
    )
    hashes = [farm_hash(k) % 2 for k in range(4)]
    rows = sorted((-(k // 2), hashes[k], k) for k in range(4))
    assert read(store, "//tmp/computed") == "".join(f"{{c={c};h={h}u;k={k}}}" for c, h, k in rows)

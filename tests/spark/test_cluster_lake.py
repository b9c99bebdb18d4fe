"""Streams into lakes on a cluster that shares nothing but an object store."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trellis
from lake_jars import lake_settings
from s3_server import ACCESS_KEY, SECRET_KEY, S3Server
from spark.cluster import standalone

pytestmark = [pytest.mark.lake, pytest.mark.xdist_group("cluster")]

ROWS = 40_000
"""So many that tasks conform them; fewer are conformed in the driver."""

Run = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def run(tmp_path: Path, s3: S3Server) -> Iterator[Run]:
    """Runs a command in a folder of its own, with the cluster as its master."""
    settings = {
        **lake_settings(),
        "spark.hadoop.fs.s3a.endpoint": s3.endpoint,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.access.key": ACCESS_KEY,
        "spark.hadoop.fs.s3a.secret.key": SECRET_KEY,
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.sql.shuffle.partitions": "2",
    }
    driver = tmp_path / "driver"
    driver.mkdir()
    with standalone(tmp_path, settings) as (master, variables):

        def trellis_command(*arguments: str) -> list[dict[str, Any]]:
            command = [sys.executable, "-m", "trellis.cli", *arguments, "--master", master, "--json"]
            done = subprocess.run(
                command, cwd=driver, env=dict(variables), capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            return [json.loads(line) for line in done.stdout.splitlines()]

        yield trellis_command


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_a_stream_merges_what_arrives_in_a_bucket(kind: str, run: Run, s3: S3Server, bucket: str) -> None:
    lake = f"{kind}:s3a://{bucket}/lake"
    stream = (
        "stream",
        f"s3a://{bucket}/raw/",
        "--to",
        lake,
        "--table",
        "orders",
        "--trigger",
        "available-now",
    )
    keyed = (*stream, "--mode", "merge", "--key", "id")
    rows = (b'{"id":%d,"note":"%s","tags":["new"]}\n' % (n, b"x" * 90) for n in range(ROWS))
    s3.put(f"{bucket}/raw/1.jsonl", b"".join(rows))
    (first,) = run(*keyed)
    assert first["rows"] == {"in": ROWS, "loaded": ROWS, "rejected": 0, "dropped": 0}
    staged = {request for request in s3.requests if "/lake/_trellis/staging/" in request}
    assert any(request.startswith("PUT") and request.endswith(".parquet") for request in staged)

    s3.put(f"{bucket}/raw/2.jsonl", b'{"id":7,"note":"paid","coupon":"TEA"}\n{"id":-1,"tags":["late"]}\n')
    (second,) = run(*keyed)
    assert (second["batch"], second["rows"]["loaded"]) == (1, 2)
    assert second["drift"] == ["orders.coupon is new: text"]
    assert run(*keyed) == []

    shop = trellis.pipeline("lake", to=lake)
    counts = shop.destination.row_counts(shop.dataset)
    assert (counts["orders"], counts["orders__tags"], counts["_dlt_loads"]) == (ROWS + 1, ROWS, 2)
    stored = shop.destination.query(shop.dataset, "orders")
    assert {row["id"] for row in stored} == {-1, *range(ROWS)}
    assert [row["note"] for row in stored if row["coupon"] == "TEA"] == ["paid"]
    staging = [key for key in s3.objects(bucket) if key.startswith("lake/_trellis/staging/")]
    assert staging and all(key.startswith("lake/_trellis/staging/checkpoints/") for key in staging)

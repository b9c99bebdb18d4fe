"""Files that Spark's tasks open themselves, with what the conf of the session says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import trellis.engine.records.files
from s3_server import ACCESS_KEY, SECRET_KEY, S3Server
from trellis.errors import UsageError
from trellis.pipelines.pipeline import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCES = str(Path(__file__).parents[2] / "src")


@pytest.fixture
def session_conf(spark: SparkSession, s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Only the session knows the S3 server, not the environment."""
    for name in s3.environment:
        monkeypatch.delenv(name)
    conf = {
        "fs.s3a.endpoint": s3.endpoint,
        "fs.s3a.access.key": ACCESS_KEY,
        "fs.s3a.secret.key": SECRET_KEY,
        "fs.s3a.path.style.access": "true",
    }
    for name, value in conf.items():
        spark.conf.set(name, value)
    yield
    for name in conf:
        spark.conf.unset(name)


@pytest.fixture
def by_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small inputs too are several tasks of Spark."""
    monkeypatch.setenv("TRELLIS_ENGINE", "spark")
    monkeypatch.setattr(trellis.engine.records.files, "split_for", lambda *_: 200)


def test_tasks_read_and_stage_with_the_settings_of_the_session(
    session_conf: None, by_spark: None, s3: S3Server, bucket: str, tmp_path: Path
) -> None:
    s3.put(f"{bucket}/raw/a.jsonl", b"".join(b'{"id":%d,"k":[%d]}\n' % (n, n) for n in range(100)))
    shop = Pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", staging=f"s3a://{bucket}/stage")
    report = shop.load(f"s3a://{bucket}/raw", table="t")
    assert (report.rows.loaded, report.rows.rejected) == (100, 0)
    assert [row["id"] for row in shop.destination.query("main", "t")] == list(range(100))
    assert len({request for request in s3.requests if request.endswith(".parquet")}) > 2
    assert s3.objects(bucket) == ["raw/a.jsonl"]


def test_paths_are_those_of_the_driver_on_spark_too(
    spark: SparkSession, by_spark: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_bytes(b"".join(b'{"id":%d}\n' % n for n in range(100)))
    assert Pipeline("shop", "duckdb:shop.duckdb").load("a.jsonl", table="t").rows.loaded == 100


def test_without_the_settings_the_sentence_names_them(
    spark: SparkSession, s3: S3Server, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(
        UsageError, match=r"no credentials are set; set .* spark\.hadoop\.fs\.s3a\.access\.key"
    ):
        Pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb").load(f"s3a://{bucket}/a.jsonl", table="t")


def test_a_command_opens_buckets_with_the_settings_that_its_spark_starts_with(
    s3: S3Server, bucket: str, tmp_path: Path
) -> None:
    s3.put(f"{bucket}/raw/a.jsonl", b'{"id":1}\n{"id":2}\n')
    defaults = {
        "endpoint": s3.endpoint,
        "access.key": ACCESS_KEY,
        "secret.key": SECRET_KEY,
        "path.style.access": "true",
    }
    (tmp_path / "spark-defaults.conf").write_text(
        "".join(f"spark.hadoop.fs.s3a.{name} {value}\n" for name, value in defaults.items())
    )
    environment = {name: value for name, value in os.environ.items() if name not in s3.environment}
    environment |= {"SPARK_CONF_DIR": str(tmp_path), "TRELLIS_ENGINE": "spark", "PYTHONPATH": SOURCES}
    for source, staging in (
        (f"s3a://{bucket}/raw", str(tmp_path / "stage")),
        ("local.jsonl", f"s3a://{bucket}/stage"),
    ):
        (tmp_path / "local.jsonl").write_text('{"id":1}\n{"id":2}\n')
        options = ("--table", "t", "--staging", staging, "--json")
        done = subprocess.run(
            [sys.executable, "-m", "trellis.cli", "load", source, *options],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["rows"]["loaded"] == 2

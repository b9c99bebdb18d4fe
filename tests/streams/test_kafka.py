"""Topics of a real broker: loads and streams, places of rejects, keys and headers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streams.kafka import Broker, add_connector, running
from streams.stream_tables import counts_of, rejects_of, rows_of
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.streaming.report import BatchReport

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAIT = 60


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[Broker]:
    add_connector(spark)
    with running(tmp_path_factory.mktemp("kafka"), spark) as started:
        yield started


@pytest.fixture
def shop(tmp_path: Path, spark: SparkSession) -> Pipeline:
    return Pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="spark")


def drain(shop: Pipeline, source: Any, **options: Any) -> list[BatchReport]:
    batches: list[BatchReport] = []
    options = {"trigger": "available-now", "read_options": {"startingOffsets": "earliest"}, **options}
    assert shop.stream(source, on_batch=batches.append, **options).wait(WAIT)
    return batches


def test_a_topic_streams(broker: Broker, shop: Pipeline) -> None:
    """A late key in the third batch, rejects with topic, partition and offset, a tombstone."""
    topic = broker.topic()
    source = f"kafka://{broker.address}/{topic}"
    broker.write(topic, b'{"id": 1}', b"no", b'{"id": 2, "qty": "many"}')
    (batch,) = drain(shop, source, table="orders")
    assert counts_of(batch) == (3, 2, 1, 0)
    assert batch.lag == 0
    broker.write(topic, b'{"id": 3, "qty": 5}', None, partition=1)
    (batch,) = drain(shop, source, table="orders")
    assert counts_of(batch) == (2, 1, 1, 0)
    broker.write(topic, b'{"id": 4, "late": {"key": true}}', partition=1)
    (batch,) = drain(shop, source, table="orders")
    assert batch.drift == ("orders.late__key is new: bool",)
    assert drain(shop, source, table="orders") == []
    assert rejects_of(shop) == [(f"{topic}-0", 1, "no"), (f"{topic}-1", 1, "null")]
    assert rows_of(shop, "orders") == [
        {"id": 1, "qty": None, "late__key": None},
        {"id": 2, "qty": "many", "late__key": None},
        {"id": 3, "qty": "5", "late__key": None},
        {"id": 4, "qty": None, "late__key": True},
    ]


def test_lag_counts_what_is_still_to_come(broker: Broker, shop: Pipeline) -> None:
    topic = broker.topic()
    broker.write(topic, *(b'{"id": %d}' % number for number in range(10)))
    options = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": 4}
    batches = drain(shop, f"kafka://{broker.address}/{topic}", table="t", read_options=options)
    assert [(batch.rows["loaded"], batch.lag) for batch in batches] == [(4, 6), (4, 2), (2, 0)]


def test_a_topic_loads(broker: Broker, shop: Pipeline) -> None:
    topic = broker.topic()
    broker.write(topic, b'{"id": 1}', b"\xff")
    broker.write(topic, b'{"id": 2, "tags": ["a"]}', partition=1)
    report = shop.load(f"kafka://{broker.address}/{topic}", table="orders")
    assert (report.rows.read, report.rows.loaded, report.rows.rejected) == (3, 2, 1)
    assert rows_of(shop, "orders") == [{"id": 1}, {"id": 2}]
    assert rejects_of(shop) == [(f"{topic}-0", 1, "\\xff")]
    options = {"kafka.bootstrap.servers": broker.address}
    report = shop.load(topic, table="again", format="kafka", read_options=options)
    assert report.rows.loaded == 2

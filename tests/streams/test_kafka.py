"""Topics of a real broker: loads and streams, places of rejects, keys and headers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streams.kafka import Broker, add_connector, running
from streams.killing import assert_exactly_once, kill_again_and_again, record_of
from streams.stream_tables import counts_of, rejects_of, rows_of
from trellis.errors import UsageError
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.streaming.report import BatchReport

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAIT = 60
COUNT = 240


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


def test_key_headers_and_place_become_columns(broker: Broker, shop: Pipeline, spark: SparkSession) -> None:
    topic = broker.topic()
    values = (b'{"id": 1}', b" {}", b"[]", b'{"id": 2, "name": "\xff"}')
    headers: list[Any] = [[("trace", b"a"), ("trace", b"b")], [("raw", b"\xff")], None, None]
    broker.write(topic, *values, key=[b"k1", b"\xff", None, None], headers=headers)
    columns = ("partition", "offset", "key", "headers", "timestamp")
    (batch,) = drain(shop, f"kafka://{broker.address}/{topic}", table="t", kafka_columns=columns)
    assert counts_of(batch) == (4, 2, 2, 0)
    rows = shop.destination.query("main", "t")
    names = ("id", "_kafka__offset", "_kafka__partition", "_kafka__key", "_kafka__headers__trace")
    assert sorted(tuple(row[name] for name in names) for row in rows if row["id"]) == [(1, 0, 0, "k1", "b")]
    (empty,) = [row for row in rows if row["id"] is None]
    assert (empty["_kafka__key"], empty["_kafka__headers__raw"]) == ("base64:/w==", "base64:/w==")
    assert shop.schema.tables["t"].columns["_kafka__timestamp"].data_type == "timestamp"
    assert [(file, position) for file, position, _ in rejects_of(shop)] == [
        (f"{topic}-0", 2),
        (f"{topic}-0", 3),
    ]
    with pytest.raises(UsageError) as refused:
        drain(shop, f"kafka://{broker.address}/{topic}", table="t", kafka_columns="ofset")
    assert str(refused.value) == "kafka column 'ofset': there is none: did you mean 'offset'?"


def test_event_streams_take_their_tables_from_the_topic(broker: Broker, tmp_path: Path, spark: Any) -> None:
    events = Pipeline("e", f"duckdb:{tmp_path}/e.duckdb", dialect="rudderstack", engine="spark")
    topic = broker.topic()
    event = (
        '{"type": "track", "event": "Order Placed", "messageId": "m%d", "userId": "ada", "properties": {%s}}'
    )
    broker.write(topic, (event % (1, '"total": 5')).encode())
    source = f"kafka://{broker.address}/{topic}"
    drain(events, source)
    broker.write(topic, (event % (2, '"total": 7, "coupon": "TEA"')).encode())
    (batch,) = drain(events, source)
    assert batch.rows["loaded"] == 1
    rows = events.destination.query(events.dataset, "order_placed")
    assert sorted((row["id"], row["total"], row["coupon"]) for row in rows) == [
        ("m1", 5, None),
        ("m2", 7, "TEA"),
    ]


def test_a_frame_with_types_streams_without_a_payload(
    broker: Broker, shop: Pipeline, spark: SparkSession, tmp_path: Path
) -> None:
    topic = broker.topic()
    broker.write(topic, b"7", b"8.5")
    raw = spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker.address)
    frame = raw.option("subscribe", topic).option("startingOffsets", "earliest").load()
    typed = frame.selectExpr("offset AS id", "CAST(CAST(value AS STRING) AS DECIMAL(9, 2)) AS price")
    (batch,) = drain(shop, typed, table="prices", read_options={})
    assert counts_of(batch) == (2, 2, 0, 0)
    assert [(row["id"], str(row["price"])) for row in rows_of(shop, "prices")] == [(0, "7.00"), (1, "8.50")]


def test_a_killed_stream_of_a_topic_loads_each_record_once(broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic()
    for partition in (0, 1):
        numbers = range(partition, COUNT, 2)
        broker.write(topic, *(json.dumps(record_of(n, COUNT)).encode() for n in numbers), partition=partition)
    options = ("startingOffsets=earliest", "maxOffsetsPerTrigger=40")
    arguments = [word for option in options for word in ("--read-option", option)]
    url = f"duckdb:{tmp_path}/x.duckdb"
    kill_again_and_again(tmp_path, url, f"kafka://{broker.address}/{topic}", *arguments)
    assert_exactly_once(url, COUNT)

"""`kafka://broker/topic`: where the records of a topic are, as the URL of a source."""

from __future__ import annotations

import re
from typing import Final

from trellis.engine.input.read_options import ReadOptions
from trellis.errors import UsageError

KAFKA: Final = "kafka"
_URL: Final = re.compile(r"kafka://", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"kafka://([^/?#@\s]+)/([^/?#\s]+)", re.IGNORECASE)
_PORT: Final = 9092


def is_kafka_url(source: str) -> bool:
    """
    >>> is_kafka_url("kafka://broker/orders"), is_kafka_url("orders")
    (True, False)
    """
    return _URL.match(source) is not None


def read_kafka_url(source: str, options: ReadOptions) -> tuple[str, ReadOptions]:
    """The topics that a URL names, and the options with its brokers. Raises UsageError.

    >>> topics, options = read_kafka_url("kafka://one,two:9093/orders,returns", ReadOptions())
    >>> topics, options.options
    ('orders,returns', {'kafka.bootstrap.servers': 'one:9092,two:9093'})
    """
    address = _ADDRESS.fullmatch(source)
    if address is None:
        raise UsageError(
            f"{source}: write kafka://BROKER[:PORT][,BROKER...]/TOPIC[,TOPIC...]; user and password are read "
            "options (kafka.sasl.jaas.config)"
        )
    if options.format not in (None, KAFKA):
        raise UsageError(f"{source}: a topic has the format kafka, not {options.format}; leave --format out")
    brokers, topics = address.groups()
    servers = ",".join(broker if _has_port(broker) else f"{broker}:{_PORT}" for broker in brokers.split(","))
    return topics, ReadOptions(
        KAFKA, {"kafka.bootstrap.servers": servers, **options.options}, options.kafka_columns
    )


def _has_port(broker: str) -> bool:
    return re.search(r":\d+$", broker) is not None

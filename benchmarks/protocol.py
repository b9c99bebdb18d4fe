"""What a contender tells `run.py`, and the schemas that the floor is given."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from itertools import islice
from time import perf_counter
from typing import Any

from processes import cpu_seconds

_ITEM = (
    "STRUCT<sku: STRING, title: STRING, quantity: BIGINT, price: DOUBLE, "
    "discounts: ARRAY<STRUCT<code: STRING, percent: BIGINT, amount: DOUBLE>>>"
)
_SCHEMAS = {
    "flat": "id BIGINT, user_id BIGINT, event STRING, created_at TIMESTAMP, amount DOUBLE, quantity BIGINT, "
    "active BOOLEAN, name STRING, email STRING, country STRING, score DOUBLE, note STRING",
    "rides": "ride_id BIGINT, rider_id INT, driver_id INT, rider STRING, city STRING, country STRING, "
    "status STRING, paid BOOLEAN, shared BOOLEAN, plate STRING, vin STRING, note STRING, promo STRING, "
    "tags ARRAY<STRING>, stops ARRAY<INT>, legs ARRAY<DOUBLE>, vehicle STRING, signature STRING, app STRING, "
    "fare DOUBLE, tip DOUBLE, distance DOUBLE, rating INT, surge FLOAT, battery FLOAT, tax STRING, "
    "started_at TIMESTAMP, ended_at BIGINT, day STRING, hour INT",
    "shop": "event_id STRING, event STRING, occurred_at TIMESTAMP, "
    "user STRUCT<id: BIGINT, name: STRING, address: STRUCT<city: STRING, zip: STRING>>, "
    "context STRUCT<device: STRING, country: STRING>, referrer STRING, "
    "product STRUCT<sku: STRING, price: DOUBLE>, search STRUCT<query: STRING, results: BIGINT>, "
    "cart STRUCT<items: BIGINT, total: DOUBLE>, "
    "order STRUCT<number: BIGINT, total: DOUBLE, currency: STRING, "
    f"line_items: ARRAY<{_ITEM}>, tags: ARRAY<STRING>, "
    "refunds: ARRAY<STRUCT<amount: DOUBLE, reasons: ARRAY<STRING>>>>, "
    "coupon STRING, loyalty STRUCT<tier: STRING, points: BIGINT>, campaign_id BIGINT",
}
_TIMES = ("originalTimestamp", "sentAt", "receivedAt", "timestamp")
_SAMPLE = 5_000
_WIDE = {"int": "BIGINT", "text": "STRING", "double": "DOUBLE", "bool": "BOOLEAN", "date": "STRING"}


def spark_schema(profile: str, source: str) -> str:
    """The schema of a profile's records, as the columns of a Spark table."""
    if profile.partition("_")[0] in _SCHEMAS:
        return _SCHEMAS[profile.partition("_")[0]]
    with open(source, "rb") as lines:
        if profile.startswith("events") or profile in ("github", "real"):
            known: dict[str, Any] = {}
            for line in islice(lines, _SAMPLE):  # the first events have every key
                known = _with(known, json.loads(line))
            return _columns(known | dict.fromkeys(_TIMES, "TIMESTAMP"))
        first = json.loads(next(islice(lines, 1)))
    return ", ".join(f"{key} {_WIDE[key.partition('_')[2]]}" for key in first)


def _with(known: Any, value: Any) -> Any:
    """What is known of a value's type, with one more value: the first one decides, objects grow."""
    if isinstance(value, dict) and isinstance(known, dict | None):
        keys = (key for key in value if key == key.strip())
        return (known or {}) | {key: _with((known or {}).get(key), value[key]) for key in keys}
    if isinstance(value, list) and isinstance(known, list | None):
        inner = known[0] if known else None
        for each in value:
            inner = _with(inner, each)
        return [inner]
    return known or _SCALARS.get(type(value))


_SCALARS = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "STRING"}


def _columns(known: dict[str, Any], equals: str = " ") -> str:
    return ", ".join(f"`{key}`{equals}{_type(value)}" for key, value in known.items())


def _type(known: Any) -> str:
    if isinstance(known, list):
        return f"ARRAY<{_type(known[0])}>"
    if isinstance(known, dict) and known:
        return f"STRUCT<{_columns(known, ': ')}>"
    return known or "STRING"


def parser(about: str | None) -> argparse.ArgumentParser:
    """The options that every contender has."""
    made = argparse.ArgumentParser(description=about)
    made.add_argument("source")
    made.add_argument("folder")
    made.add_argument("--profile", default="flat")
    made.add_argument("--loads", type=int, default=2)
    made.add_argument("--next", metavar="FILE", help="what the loads after the first read (the same)")
    made.add_argument("--dialect", default="dlt")
    made.add_argument("--merge", metavar="STRATEGY", help="merge by id instead of appending")
    made.add_argument("--database", metavar="URL", help="a database of PostgreSQL")
    return made


def sources(options: argparse.Namespace) -> Iterator[str]:
    """What each load reads."""
    for number in range(options.loads):
        yield options.next if number and options.next else options.source


class Loads:
    """Times each load of a contender. Use as a context around one load, as often as there are loads."""

    def __init__(self, started: float) -> None:
        self.start = perf_counter() - started
        self.seconds: list[float] = []
        self.cpu: list[float] = []

    def __enter__(self) -> None:
        self._began = perf_counter(), cpu_seconds(os.getpid())

    def __exit__(self, *_: object) -> None:
        self.seconds.append(perf_counter() - self._began[0])
        self.cpu.append(cpu_seconds(os.getpid()) - self._began[1])

    def finish(self, rows: int | None, **more: Any) -> None:
        """Print the figures as the last line: start-up, each load, the rows of the first where known."""
        told = {"start": self.start, "seconds": self.seconds, "cpu": self.cpu, "rows": rows, **more}
        print(json.dumps(told), flush=True)

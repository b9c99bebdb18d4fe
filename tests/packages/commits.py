"""Commits as pipelines make them: of every dialect, in every mode, into new and into filled tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import trellis
from pinot.row.rows import column, document, map_column, several, time
from trellis.errors import DestinationError
from trellis.pipelines.packages import Package, Packages
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.report import Report
from trellis.pipelines.runner import Carrier

Load = Callable[[Pipeline], Report]

DUCKDB, PARQUET = "duckdb:{}/shop.duckdb", "parquet:{}/lake"


def refuse(*_: Any) -> None:
    raise DestinationError("the disk is full")


def always_keeping(carry_out: Callable[..., Report]) -> Callable[..., Report]:
    """`Carrier.carry_out` that keeps what the destination refuses, whatever is asked."""
    return lambda *args, **options: carry_out(*args, **{**options, "keeps": True})


@dataclass(frozen=True)
class Case:
    """A load of interest, after those that fill the tables first."""

    load: Load
    before: tuple[Load, ...] = ()
    dialect: str = "dlt"
    settings: Mapping[str, Any] = field(default_factory=dict)
    to: str = DUCKDB

    def pipeline(self, folder: Path) -> Pipeline:
        return trellis.pipeline(
            "shop", self.to.format(folder), dialect=self.dialect, settings=dict(self.settings)
        )

    def filled(self, folder: Path) -> Pipeline:
        """A pipeline whose tables are as the load finds them."""
        pipeline = self.pipeline(folder)
        for load in self.before:
            load(pipeline)
        return pipeline

    def keep(self, folder: Path) -> Package:
        """The load is refused, and kept beside the destination."""
        pipeline, kept = self.filled(folder), list[Package]()
        pipeline.destination.commit = refuse  # type: ignore[method-assign]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Carrier, "carry_out", always_keeping(Carrier.carry_out))
            keep = Packages.keep
            patch.setattr(Packages, "keep", lambda self, package: (kept.append(package), keep(self, package)))
            with pytest.raises(DestinationError, match="the disk is full; the rows are kept"):
                self.load(pipeline)
        return kept[0]


ORDERS = [
    {"id": 1, "qty": 2, "at": "2024-05-06T07:08:09Z", "lines": [{"sku": "a", "price": 1.5}], "none": None},
    {"id": 2, "qty": "two", "at": "2024-05-06T07:08:10Z", "lines": [], "customer": {"name": "Größe"}},
]
LATER = [{"id": 2, "qty": 5, "new": True, "lines": [{"sku": "b", "price": "1"}]}]


def orders(rows: Any = ORDERS, **options: Any) -> Load:
    return lambda pipeline: pipeline.load(rows, table="orders", **options)


def merged(strategy: str) -> Case:
    options = {"mode": "merge", "keys": ("id",), "strategy": strategy}
    return Case(orders(LATER, **options), (orders(**options),))


@trellis.source(name="farm")
def farm(last: int) -> Any:
    @trellis.resource(primary_key="id", write_disposition="merge")
    def eggs(cursor: Any = trellis.incremental("id", initial_value=0)) -> Iterator[Any]:
        trellis.current.resource_state()["price"] = Decimal("1.50")
        trellis.current.resource_state()["day"] = date(2024, 5, 6)
        yield [{"id": number, "hens": [number]} for number in range(last)]

    return eggs


def run(last: int, **options: Any) -> Load:
    return lambda pipeline: pipeline.run(farm(last), **options)


TYPED = pa.table(
    {
        "id": pa.array([1, 2], pa.int16()),
        "at": pa.array([1, None], pa.timestamp("ns")),
        "tags": pa.array([["a"], None], pa.list_(pa.string())),
        "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
    }
)


def event(kind: str, number: int, **fields: Any) -> dict[str, Any]:
    at = datetime(2024, 2, 29, 10, 0, number, tzinfo=timezone.utc).isoformat()
    return {"type": kind, "messageId": f"m{number}", "userId": "u", "receivedAt": at, **fields}


EVENTS = [
    event("identify", 1, traits={"plan": "free", "age": 3}),
    event("track", 2, event="Order Paid", properties={"total": 1.5, "coupon": "x"}),
    event("track", 3, event="Order Paid", properties={"total": "no number"}),
    event("page", 4, properties={"path": "/"}),
]
LATER_EVENTS = [event("track", 5, event="Order Paid", properties={"total": 2, "tax": True})]


def events(rows: Any = EVENTS) -> Load:
    return lambda pipeline: pipeline.load(rows)


def stream(provider: str, *before: Load, to: str = DUCKDB, **settings: Any) -> Case:
    return Case(events(LATER_EVENTS), before, "rudderstack", {"provider": provider, **settings}, to)


KEYED = document([column("n", "INT"), column("s", "STRING")], primaryKeyColumns=["n"])
ALL = document(
    [
        *(column(each, each) for each in ("INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "BOOLEAN")),
        *(column(each, each) for each in ("TIMESTAMP", "STRING", "JSON", "BYTES")),
        *(several(f"{each}s", each) for each in ("INT", "FLOAT", "TIMESTAMP", "STRING", "BYTES")),
        column("n", "INT"),
    ],
    [column("metric", "DOUBLE")],
    [time("day", "STRING", "SIMPLE_DATE_FORMAT|yyyy-MM-dd")],
    [map_column("map", "LONG")],
)
SMALL = document([column("n", "INT")])


def rides(schema: Any, rows: Any = ({"n": 1}, {"n": "no number"})) -> Load:
    return lambda pipeline: pipeline.load(list(rows), schema=schema)


def table(load: Load, *before: Load, to: str = DUCKDB) -> Case:
    return Case(load, before, "pinot", {"on_error": "null"}, to)


CASES = {
    "dlt-append": Case(orders()),
    "dlt-append-more": Case(orders(LATER), (orders(),)),
    "dlt-replace": Case(orders(LATER, mode="replace"), (orders(),)),
    "dlt-delete-insert": merged("delete-insert"),
    "dlt-upsert": merged("upsert"),
    "dlt-insert-only": merged("insert-only"),
    "dlt-scd2": merged("scd2"),
    "dlt-discards": Case(orders(LATER, contract={"columns": "discard_value"}), (orders(),)),
    "dlt-rejects": Case(orders([*LATER, {"id": "x"}], contract="discard_row"), (orders(),)),
    "dlt-widened": Case(orders([{"id": 1.5}]), (orders([{"id": 1}]),), settings={"widen": "bigint:double"}),
    "dlt-typed": Case(orders(TYPED), to=PARQUET),
    "dlt-nothing": Case(orders([])),
    "dlt-run": Case(run(3), (run(2),)),
    "dlt-run-refresh": Case(run(3, refresh="drop_sources"), (run(2),)),
    "dlt-run-empty": Case(run(3, refresh="drop_data"), (run(2),), to=PARQUET),
    "dlt-drop": Case(lambda pipeline: pipeline.drop(["eggs"], source="farm"), (run(2),)),
    "rudderstack-append": stream("BQ"),
    "rudderstack-merge": stream("RS", events()),
    "rudderstack-postgres": stream("POSTGRES", events(), to=PARQUET),
    "rudderstack-identities": stream("SNOWFLAKE", events(), identity_resolution=True),
    "rudderstack-discards": Case(events(EVENTS), (events(),), "rudderstack", {"provider": "RS"}),
    "pinot-append": table(rides(ALL)),
    "pinot-merge": table(rides(KEYED), rides(KEYED)),
    "pinot-new-columns": table(rides(ALL), rides(SMALL)),
    "pinot-new-columns-parquet": table(rides(ALL), rides(SMALL), to=PARQUET),
}

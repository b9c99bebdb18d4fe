"""Loads of every mode, into new and into filled tables, and loads of any records."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import trellis
from packages.commits import DUCKDB, PARQUET, Case, Load

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


CASES = {
    "append": Case(orders()),
    "append-more": Case(orders(LATER), (orders(),)),
    "replace": Case(orders(LATER, mode="replace"), (orders(),)),
    "delete-insert": merged("delete-insert"),
    "upsert": merged("upsert"),
    "insert-only": merged("insert-only"),
    "scd2": merged("scd2"),
    "discards": Case(orders(LATER, contract={"columns": "discard_value"}), (orders(),)),
    "rejects": Case(orders([*LATER, {"id": "x"}], contract="discard_row"), (orders(),)),
    "widened": Case(orders([{"id": 1.5}]), (orders([{"id": 1}]),), settings={"widen": "bigint:double"}),
    "typed": Case(orders(TYPED), to=PARQUET),
    "nothing": Case(orders([])),
    "run": Case(run(3), (run(2),)),
    "run-refresh": Case(run(3, refresh="drop_sources"), (run(2),)),
    "run-empty": Case(run(3, refresh="drop_data"), (run(2),)),
    "drop": Case(lambda pipeline: pipeline.drop(["eggs"], source="farm"), (run(2),)),
}

names = st.sampled_from(["id", "qty", "Größe", "Order Total", "nested", "x"])
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**65), 2**65)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.decimals(-(10**6), 10**6, places=2)
    | st.binary(max_size=3)
    | st.datetimes()
    | st.dates(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2),
    max_leaves=4,
)
records = st.lists(st.dictionaries(names, values, max_size=4), max_size=3).map(
    lambda rows: [{**row, "id": number} for number, row in enumerate(rows)]
)
options = st.sampled_from(
    [
        {"mode": "append"},
        {"mode": "replace"},
        *(
            {"mode": "merge", "keys": ("id",), "strategy": strategy}
            for strategy in ("delete-insert", "upsert", "insert-only", "scd2")
        ),
    ]
)
LOADS = st.builds(
    lambda before, rows, how, to: Case(
        orders(rows, **how),
        tuple(orders(part, **how) for part in before),
        to=DUCKDB if how["mode"] == "merge" else to,
    ),
    st.lists(records, max_size=1),
    records,
    options,
    st.sampled_from([DUCKDB, PARQUET]),
)

"""Loads of one moment into one table: both arrive, and their files fit the columns that are there."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import trellis
from trellis.destinations.lake.store import TableAlteration, TableName, TableStore
from trellis.pipelines.pipeline import Pipeline
from trellis.schema.model import Column

Meanwhile = Callable[[Callable[[], object]], None]


@pytest.fixture(params=["delta", "iceberg"])
def lake(request: pytest.FixtureRequest, root: Path) -> Pipeline:
    shop = trellis.pipeline("shop", to=f"{request.param}:{root}")
    price = Column("price", "decimal", precision=9, scale=2)
    shop.load([{"id": 0, "price": Decimal("0.50")}], table="orders", columns=[price])
    return shop


@pytest.fixture
def meanwhile(lake: Pipeline, monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Lets something happen once, when the next load has a file in its table that is not committed yet."""
    store = type(store_of(lake))
    add_file = store._add_file  # type: ignore[attr-defined]

    def plan(work: Callable[[], object]) -> None:
        def add_and_work(*arguments: Any) -> Any:
            added = add_file(*arguments)
            monkeypatch.setattr(store, "_add_file", add_file)
            work()
            return added

        monkeypatch.setattr(store, "_add_file", add_and_work)

    return plan


def store_of(lake: Pipeline) -> TableStore:
    store: TableStore = lake.destination.store  # type: ignore[attr-defined]
    return store


def other(lake: Pipeline) -> Pipeline:
    return trellis.pipeline("shop", to=lake.to)


def rows_of(lake: Pipeline, *columns: str) -> list[tuple[Any, ...]]:
    rows = lake.destination.query(lake.dataset, "orders")
    return sorted(tuple(row[column] for column in columns) for row in rows)


def test_rows_are_appended_while_the_table_gets_a_column(lake: Pipeline, meanwhile: Meanwhile) -> None:
    meanwhile(lambda: other(lake).load([{"id": 2, "late": True}], table="orders"))
    lake.load([{"id": 1}], table="orders")
    assert rows_of(lake, "id", "late") == [(0, None), (1, None), (2, True)]


def test_rows_are_appended_while_a_column_gets_another_type(lake: Pipeline, meanwhile: Meanwhile) -> None:
    orders, wider = TableName(lake.dataset, "orders"), TableAlteration(types={"price": "DECIMAL(12,2)"})
    meanwhile(lambda: store_of(lake).alter_table(orders, wider))
    lake.load([{"id": 1, "price": Decimal("1.50")}], table="orders")
    assert rows_of(lake, "id", "price") == [(0, Decimal("0.50")), (1, Decimal("1.50"))]
    assert lake.destination.catalog(lake.dataset)["orders"].columns["price"] == "DECIMAL(12,2)"


def test_of_two_loads_that_replace_the_rows_the_last_one_stays(lake: Pipeline, meanwhile: Meanwhile) -> None:
    meanwhile(lambda: other(lake).load([{"id": 2}], table="orders", mode="replace"))
    lake.load([{"id": 1}], table="orders", mode="replace")
    assert rows_of(lake, "id") == [(1,)]
    assert lake.destination.row_counts(lake.dataset)["_dlt_loads"] == 3

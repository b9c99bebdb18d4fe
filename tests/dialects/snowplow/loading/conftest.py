"""A warehouse that loads of runs go into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from destinations.postgres_server import database, postgres
from dialects.snowplow.conftest import folder, trellis
from trellis.dialects.snowplow.runs.warehouses.base import RunWarehouse
from trellis.dialects.snowplow.runs.warehouses.locator import open_warehouse
from trellis.dialects.snowplow.runs.warehouses.sql import SqlWarehouse

__all__ = ["database", "folder", "postgres", "trellis"]


@pytest.fixture(params=["duckdb", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return warehouse_url(request, tmp_path)


@pytest.fixture
def warehouse(url: str) -> Iterator[SqlWarehouse]:
    opened = open_warehouse(url)
    assert isinstance(opened, SqlWarehouse)
    yield opened
    opened.close()


@pytest.fixture(params=["duckdb", "postgres", "delta"])
def any_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return warehouse_url(request, tmp_path)


@pytest.fixture
def any_warehouse(any_url: str) -> Iterator[RunWarehouse]:
    opened = open_warehouse(any_url)
    yield opened
    opened.close()


def warehouse_url(request: pytest.FixtureRequest, folder: Path) -> str:
    """An empty warehouse of the kind that the parameter of a fixture names."""
    if request.param == "duckdb":
        return f"duckdb:{folder / 'shop.duckdb'}"
    if request.param == "delta":
        pytest.importorskip("deltalake")
        return f"delta:{folder / 'lake'}"
    pytest.importorskip("psycopg")
    server = request.getfixturevalue("postgres")
    place: str = server.url(request.getfixturevalue("database"))
    return place

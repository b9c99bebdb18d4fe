"""A warehouse that loads of runs go into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from destinations.postgres_server import database, postgres
from dialects.snowplow.conftest import folder, trellis
from trellis.dialects.snowplow.runs.warehouses.locator import open_warehouse
from trellis.dialects.snowplow.runs.warehouses.sql import SqlWarehouse

__all__ = ["database", "folder", "postgres", "trellis"]


@pytest.fixture(params=["duckdb", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "duckdb":
        return f"duckdb:{tmp_path / 'shop.duckdb'}"
    pytest.importorskip("psycopg")
    server = request.getfixturevalue("postgres")
    place: str = server.url(request.getfixturevalue("database"))
    return place


@pytest.fixture
def warehouse(url: str) -> Iterator[SqlWarehouse]:
    opened = open_warehouse(url)
    assert isinstance(opened, SqlWarehouse)
    yield opened
    opened.close()

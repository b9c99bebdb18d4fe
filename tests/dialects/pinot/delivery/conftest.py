"""A stand-in for the controller, and a client that does not wait between attempts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from destinations.postgres_server import Server, database, postgres
from dialects.pinot.delivery.standin import Standin, standin
from trellis.dialects.pinot.cluster.controller import Controller
from trellis.dialects.pinot.cluster.http import Http

__all__ = ["database", "postgres"]


@pytest.fixture
def cluster() -> Iterator[Standin]:
    with standin() as controller:
        yield controller


@pytest.fixture
def controller(cluster: Standin) -> Controller:
    return Controller(Http.of(cluster.url))


@pytest.fixture(params=["parquet", "duckdb", "postgres"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new dataset."""
    if request.param == "postgres":
        server: Server = request.getfixturevalue("postgres")
        return server.url(request.getfixturevalue("database"))
    return {"duckdb": f"duckdb:{tmp_path}/lake.duckdb", "parquet": f"parquet:{tmp_path}/lake"}[request.param]

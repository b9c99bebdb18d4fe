"""What the tests of destinations share: a new place per test, in each kind of destination."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from destinations.postgres_server import Server, database, postgres, private_postgres
from trellis.pipelines.pipeline import Pipeline, pipeline

__all__ = ["database", "postgres", "private_postgres"]

Rows = list[dict[str, Any]]


LAKES = [pytest.param(kind, marks=pytest.mark.lake) for kind in ("delta", "iceberg")]
"""Destinations whose merges are jobs of Spark; `make test-lake` runs their tests."""


merging = pytest.mark.parametrize("destination_url", ["duckdb", "postgres", *LAKES], indirect=True)
"""For tests that compare the rows of a load with others, which `parquet:` does not."""


@pytest.fixture(params=["duckdb", "parquet", "postgres", *LAKES])
def destination_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        server: Server = request.getfixturevalue("postgres")
        return server.url(request.getfixturevalue("database"))
    if request.param in ("delta", "iceberg"):
        request.getfixturevalue("spark")
    path = "shop.duckdb" if request.param == "duckdb" else "lake"
    return f"{request.param}:{tmp_path}/{path}"


@pytest.fixture
def shop(destination_url: str) -> Pipeline:
    return pipeline("shop", to=destination_url)


@pytest.fixture
def rows_of() -> Callable[..., Rows]:
    """Rows of a table, sorted, without bookkeeping columns (or only the named columns)."""

    def rows(pipe: Pipeline, table: str, *columns: str) -> Rows:
        stored = pipe.destination.query(pipe.dataset, table)
        names = columns or [name for name in (stored[0] if stored else ()) if not name.startswith("_dlt")]
        picked = [{name: row[name] for name in names} for row in stored]
        return sorted(picked, key=repr)

    return rows

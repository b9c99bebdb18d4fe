"""A new place for rows per test, in each kind of destination."""

from __future__ import annotations

from pathlib import Path

import pytest

from destinations.postgres_server import Server, database, postgres

__all__ = ["database", "postgres"]


@pytest.fixture(params=["duckdb", "parquet", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        server: Server = request.getfixturevalue("postgres")
        return server.url(request.getfixturevalue("database"))
    return {"duckdb": f"duckdb:{tmp_path}/pinot.duckdb", "parquet": f"parquet:{tmp_path}/lake"}[request.param]

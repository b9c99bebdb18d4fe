"""The ground the tests of loads stand on: a pipeline of events into a new DuckDB file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialects.rudderstack.conformance.loading import Opens, Shop


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "shop.duckdb")


@pytest.fixture
def open_shop(tmp_path: Path) -> Opens:
    """For tests that need another warehouse: `open_shop("SNOWFLAKE", users_merge="latest_row")`."""

    def opened(provider: str | None = "RS", file: str = "shop", **settings: Any) -> Shop:
        return Shop(tmp_path / f"{file}.duckdb", provider, **settings)

    return opened

"""The ground the conformance tests stand on: a pipeline into a new DuckDB file."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialects.dlt.conformance.warehouse import Opens, Warehouse


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "farm.duckdb")


@pytest.fixture
def open_warehouse(tmp_path: Path) -> Opens:
    """For tests that need several: `open_warehouse(name)` is another pipeline into the same file."""
    return lambda name="farm", file="farm": Warehouse(tmp_path / f"{file}.duckdb", name)

"""What the tests of lakes share: a new place per test, and what other readers see there."""

from __future__ import annotations

from pathlib import Path

import pytest

from trellis.pipelines.pipeline import Pipeline, pipeline


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "lake"


@pytest.fixture
def delta(root: Path) -> Pipeline:
    return pipeline("shop", to=f"delta:{root}")

"""A store in an empty folder, and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import folder, trellis
from trellis.dialects.ytsaurus.store.store import Store

__all__ = ["folder", "trellis"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"yt:{tmp_path}/store") as opened:
        yield opened

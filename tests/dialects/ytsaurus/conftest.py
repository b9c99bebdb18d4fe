"""A store in an empty folder, and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from cli.conftest import folder, trellis
from destinations.postgres_server import Server, database, postgres, private_postgres
from trellis.dialects.ytsaurus.store.store import Store

__all__ = ["database", "folder", "postgres", "private_postgres", "trellis"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"yt:{tmp_path}/store") as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new store with a catalogue of each kind."""
    if request.param == "sqlite":
        return f"yt:{tmp_path}/store"
    server: Server = request.getfixturevalue("postgres")
    return f"yt:{tmp_path}/store?catalog={quote(server.url(request.getfixturevalue('database')))}"

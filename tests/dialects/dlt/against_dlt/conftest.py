"""What the tests against the real dlt share: its own folder, no telemetry, a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from destinations.postgres_server import Server, database, postgres

pytest.importorskip("dlt")

__all__ = ["Server", "database", "postgres"]


@pytest.fixture(scope="session", autouse=True)
def quiet_dlt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """dlt keeps everything among the files of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DLT_DATA_DIR", str(tmp_path_factory.mktemp("dlt")))
        patch.setenv("RUNTIME__DLTHUB_TELEMETRY", "false")
        patch.setenv("RUNTIME__LOG_LEVEL", "CRITICAL")
        yield

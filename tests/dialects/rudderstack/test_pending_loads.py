"""Pending loads of events in every destination."""

from __future__ import annotations

from pathlib import Path

from destinations.conftest import merging
from dialects.rudderstack.pending_loads import events, stream
from packages.commits import assert_comes_back


@merging
def test_a_pending_load_of_every_destination(destination_url: str, tmp_path: Path) -> None:
    """PostgreSQL has types of its own, and a catalog that says which columns are required."""
    case = stream("POSTGRES", events(), to=destination_url.replace("{", "{{").replace("}", "}}"))
    assert_comes_back(case, tmp_path)
    assert case.pipeline(tmp_path).load_runner().deliver() is not None
    pipeline = case.pipeline(tmp_path)
    assert sum(pipeline.destination.row_counts(pipeline.dataset)[name] for name in ("tracks", "pages")) == 4

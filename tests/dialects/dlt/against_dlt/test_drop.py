"""Resources that are dropped by name and by pattern: what is left, in both programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dlt.pipeline.helpers import pipeline_drop

from dialects.dlt.against_dlt.test_python_api import places, source_of
from dialects.dlt.against_dlt.twins import disagreements


def make(lib: Any, batch: int) -> Any:
    def resource(name: str) -> Any:
        @lib.resource(name=name, primary_key="id", write_disposition="merge")
        def rows(at: Any = lib.sources.incremental("id", initial_value=0)) -> Iterator[Any]:  # noqa: B008
            lib.current.source_state().setdefault("read", []).append(name)
            yield {"id": batch + 1, "lines": [{"n": batch}]}

        return rows

    return source_of(lib, *map(resource, ("orders", "order_events", "users")))


@pytest.mark.parametrize(
    "names",
    [("orders",), ("re:^order",), ("re:.*s$",), ("re:.*",), ("re:^o.*s$", "users"), ()],
    ids=lambda names: " ".join(names) or "all",
)
@pytest.mark.parametrize("runs_again", [False, True], ids=["dropped", "and run again"])
def test_drop(tmp_path: Path, names: tuple[str, ...], runs_again: bool) -> None:
    theirs, ours = places(tmp_path)
    theirs.run("d", make, 0)
    ours.run("t", make, 0)
    pipeline_drop(theirs.dlt("home0"), resources=list(names), drop_all=not names)()
    ours.trellis().drop(names)
    if runs_again:
        theirs.run("d", make, 1)
        ours.run("t", make, 1)
    assert disagreements(theirs.read(), ours.read()) == []

"""`Pipeline.run` where dlt ran before, and dlt where Trellis did: the same source for both.

What stands there afterwards is what dlt alone makes of it: tables, rows, schemas, cursors and states.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from destinations.postgres_server import Server
from dialects.dlt.against_dlt.sources import SOURCES, Make, refreshed
from dialects.dlt.against_dlt.twins import Content, Place, disagreements

REFRESHES = ("drop_sources", "drop_resources", "drop_data")
ALONE = "ddd"
RENUMBERED = ("max_table_nesting of a resource",)
"""dlt forgets and learns again that the table has rows, which makes a version more."""


def played(place: Place, who: str, make: Make, refresh: str | None = None) -> Content:
    """Three batches, each on a machine of its own; `refresh` is asked with the second."""
    for batch, program in enumerate(who):
        place.run(program, make, batch, refresh if batch == 1 else None)
    return place.read()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Content]:
    """What dlt alone makes of a source, in DuckDB."""

    @cache
    def of(name: str) -> Content:
        folder = tmp_path_factory.mktemp("alone")
        return played(Place(f"duckdb:{folder}/x.duckdb", folder), ALONE, SOURCES[name])

    return of


PAIRS = [
    *((name, "dtd") for name in SOURCES),
    *((name, "tdt") for name in ("merge", "scd2", "several", "keyed lists", "settings", "root_key")),
]


@pytest.mark.parametrize(("name", "who"), PAIRS)
def test_in_turns(tmp_path: Path, alone: Callable[[str], Content], name: str, who: str) -> None:
    place = Place(f"duckdb:{tmp_path}/x.duckdb", tmp_path)
    ours = played(place, who, SOURCES[name])
    numbers = name not in RENUMBERED
    assert disagreements(alone(name), ours, numbers, states=numbers and who[0] == "d") == []


@pytest.mark.parametrize("who", ["dtd", "tdt"])
@pytest.mark.parametrize("name", ["upsert", "several"])
def test_in_turns_on_postgres(postgres: Server, database: str, tmp_path: Path, name: str, who: str) -> None:
    url = postgres.url(database)
    twin = played(Place(url, tmp_path / "twin", "twin"), ALONE, SOURCES[name])
    ours = played(Place(url, tmp_path / "ours", "ours"), who, SOURCES[name])
    assert disagreements(twin, ours, states=who[0] == "d") == []


@pytest.mark.parametrize("refresh", REFRESHES)
def test_refresh(tmp_path: Path, refresh: str) -> None:
    twin = Place(f"duckdb:{tmp_path}/twin.duckdb", tmp_path / "twin")
    ours = Place(f"duckdb:{tmp_path}/ours.duckdb", tmp_path / "ours")
    theirs = played(twin, ALONE, refreshed, refresh)
    assert disagreements(theirs, played(ours, "dtd", refreshed, refresh), numbers=False, states=False) == []

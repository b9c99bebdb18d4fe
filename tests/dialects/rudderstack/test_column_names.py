"""Events with properties named like what stands in our own statements."""

from __future__ import annotations

import duckdb
import psycopg

from destinations.conftest import merging
from destinations.test_column_names import (
    Words,
    cell_of,
    cells_of,
    held_open,
    names,
    statements,
    words,
)
from dialects.rudderstack.conformance.loading import identify, track
from trellis.destinations.lake.store import TableAlteration, TableName, TableStore
from trellis.pipelines.discards import replay_discards
from trellis.pipelines.pipeline import Pipeline

__all__ = ["names", "statements", "words"]


@merging
def test_events_with_properties_of_any_name(destination_url: str, names: list[str], words: Words) -> None:
    """Tracks are replaced, users are filled, and a discard goes back into its row."""
    one, two, three = (cell_of(words, number) for number in (1, 2, 3))
    paths = [f"{path}.{name}" for name in names for path in ("track.properties", "identify.traits")]
    settings = {"provider": "POSTGRES", "jsonPaths": paths}
    with held_open(destination_url):
        shop = Pipeline("shop", destination_url, dialect="rudderstack", settings=settings)
        tracks = [track(number, price=number, **dict.fromkeys(names, one)) for number in (1, 2)]
        shop.load([*tracks, identify("u", 1, plan="a", **dict.fromkeys(names, one))])
        tracks = [track(2, price="NA", **dict.fromkeys(names, two)), track(3, **dict.fromkeys(names, three))]
        shop.load([*tracks, identify("u", 2, plan="b")])
        rows = [(1, 1, one), (2, None, two), (3, None, three)]
        assert cells_of(shop, "sale", "id", "price") == rows
        assert cells_of(shop, "users", "id", "plan") == [("u", "b", one)]
        turn_into_text(shop, "sale", "price")
        assert replay_discards(shop).restored == {("sale", "price"): 1}
        rows = [(1, "1", one), (2, "NA", two), (3, None, three)]
        assert cells_of(shop, "sale", "id", "price") == rows


def turn_into_text(pipe: Pipeline, table: str, column: str) -> None:
    """Give a column another type by hand; in a lake as its store does it."""
    kind, _, path = pipe.to.partition(":")
    if kind in ("delta", "iceberg"):
        store: TableStore = pipe.destination.store  # type: ignore[attr-defined]
        store.alter_table(TableName(pipe.dataset, table), TableAlteration(types={column: "STRING"}))
        return
    with duckdb.connect(path) if kind == "duckdb" else psycopg.connect(pipe.to) as db:
        db.execute(f"ALTER TABLE {table} ALTER COLUMN {column} TYPE varchar")

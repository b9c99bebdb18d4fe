"""Pending loads of every dialect and mode: they come back as they were, and load what they would have."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packages.commits import CASES, DUCKDB, KEYED, PARQUET, Case, event, events, orders, rides, stream, table
from trellis.pipelines.packages import Packages
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.report import Report


def packages_of(pipeline: Pipeline) -> Packages:
    return pipeline._carrier.packages


def assert_comes_back(case: Case, folder: Path) -> None:
    kept = case.keep(folder)
    package = packages_of(case.pipeline(folder)).oldest()
    assert package == kept
    assert in_order(package) == in_order(kept)


def in_order(value: Any) -> Any:
    """The value taken apart, with the order of all that has one, which `==` ignores in mappings."""
    if dataclasses.is_dataclass(value):
        members = [(field.name, in_order(getattr(value, field.name))) for field in dataclasses.fields(value)]
        return type(value), members
    if isinstance(value, Mapping):
        return [(key, in_order(member)) for key, member in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [*map(in_order, value)]
    return type(value), value


def without_times(report: Report) -> Mapping[str, Any]:
    said = report.to_dict()
    return {key: said[key] for key in said if key not in ("load_id", "destination", "seconds", "notes")}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_pending_load_comes_back_as_it_was(case: Case, tmp_path: Path) -> None:
    assert_comes_back(case, tmp_path)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_pending_load_loads_what_the_load_would(case: Case, tmp_path: Path) -> None:
    for place in ("at once", "later"):
        (tmp_path / place).mkdir()
    pipeline = case.filled(tmp_path / "at once")
    report = case.load(pipeline)

    kept = case.keep(tmp_path / "later")
    other = case.pipeline(tmp_path / "later")
    delivered = other._carrier.deliver()
    assert delivered is not None
    assert without_times(delivered) == without_times(report)
    assert delivered.notes[:-1] == report.notes
    assert delivered.notes[-1] == (
        f"load {kept.commit.load_id}, which failed before, is in now; the rows of this run were not read: "
        "run again"
    )
    assert other.destination.row_counts(other.dataset) == pipeline.destination.row_counts(pipeline.dataset)
    assert other.schema == pipeline.schema
    folder = packages_of(other).folder
    assert (os.listdir(folder), os.listdir(folder.parent)) == ([], ["pending"])


def test_a_pending_load_of_every_destination(destination_url: str, tmp_path: Path) -> None:
    """PostgreSQL has types of its own, and a catalog that says which columns are required."""
    case = stream("POSTGRES", events(), to=destination_url.replace("{", "{{").replace("}", "}}"))
    assert_comes_back(case, tmp_path)
    assert case.pipeline(tmp_path)._carrier.deliver() is not None
    pipeline = case.pipeline(tmp_path)
    assert sum(pipeline.destination.row_counts(pipeline.dataset)[name] for name in ("tracks", "pages")) == 4


# --- whatever the records are

names = st.sampled_from(["id", "qty", "Größe", "Order Total", "nested", "x"])
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**65), 2**65)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.decimals(-(10**6), 10**6, places=2)
    | st.binary(max_size=3)
    | st.datetimes()
    | st.dates(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2),
    max_leaves=4,
)
records = st.lists(st.dictionaries(names, values, max_size=4).map(lambda row: {**row, "id": 1}), max_size=3)
options = st.sampled_from(
    [
        {"mode": "append"},
        {"mode": "replace"},
        *(
            {"mode": "merge", "keys": ("id",), "strategy": strategy}
            for strategy in ("delete-insert", "upsert", "insert-only", "scd2")
        ),
    ]
)
dlt_loads = st.builds(
    lambda before, rows, how, to: Case(
        orders(rows, **how), tuple(orders(part, **how) for part in before), to=to
    ),
    st.lists(records, max_size=1),
    records,
    options,
    st.sampled_from([DUCKDB, PARQUET]),
)
properties = st.dictionaries(names, st.integers(-5, 5) | st.text(max_size=3) | st.booleans(), max_size=3)
event_lists = st.lists(
    st.builds(
        lambda kind, number, fields: event(
            kind, number, event="Order Paid", properties=fields, traits=fields
        ),
        st.sampled_from(["track", "identify", "page"]),
        st.integers(0, 9),
        properties,
    ),
    max_size=3,
)
event_loads = st.builds(
    lambda provider, before, rows: replace(stream(provider, *map(events, before)), load=events(rows)),
    st.sampled_from(["RS", "BQ", "SNOWFLAKE", "POSTGRES"]),
    st.lists(event_lists, max_size=1),
    event_lists,
)
ride_rows = st.lists(
    st.fixed_dictionaries({"n": st.integers(-5, 5) | st.text(max_size=2), "s": st.text(max_size=3)}),
    max_size=3,
)
ride_loads = st.builds(
    lambda before, rows, to: table(rides(KEYED, rows), *(rides(KEYED, part) for part in before), to=to),
    st.lists(ride_rows, max_size=1),
    ride_rows,
    st.sampled_from([DUCKDB, PARQUET]),
)


@settings(max_examples=30)
@given(dlt_loads | event_loads | ride_loads)
def test_any_pending_load_comes_back_as_it_was(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert_comes_back(case, Path(folder))

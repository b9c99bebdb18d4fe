"""Pending loads of every dialect and mode: they come back as they were, and load what they would have.

Each dialect brings them in its module `pending_loads`: `CASES`, and `LOADS` for loads of any records.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packages.commits import Case, assert_comes_back, packages_of
from trellis.pipelines.report import Report

DIALECTS = {
    path.parent.name: import_module(f"dialects.{path.parent.name}.pending_loads")
    for path in sorted(Path(__file__).parents[1].glob("dialects/*/pending_loads.py"))
}
CASES = {f"{name}-{key}": case for name, module in DIALECTS.items() for key, case in module.CASES.items()}
assert CASES


def without_times(report: Report) -> Mapping[str, Any]:
    document = report.to_dict()
    return {
        key: document[key] for key in document if key not in ("load_id", "destination", "seconds", "notes")
    }


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
    delivered = other.load_runner().deliver()
    assert delivered is not None
    assert without_times(delivered) == without_times(report)
    assert delivered.notes[:-1] == report.notes
    assert delivered.notes[-1] == (
        f"load {kept.commit.load_id}, which failed before, is now loaded; the rows of this run were not "
        "read: run again"
    )
    assert other.destination.row_counts(other.dataset) == pipeline.destination.row_counts(pipeline.dataset)
    assert other.schema == pipeline.schema
    folder = packages_of(other).folder
    assert (os.listdir(folder), os.listdir(folder.parent)) == ([], ["pending"])


@settings(max_examples=30)
@given(st.one_of(*(module.LOADS for module in DIALECTS.values())))
def test_any_pending_load_comes_back_as_it_was(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert_comes_back(case, Path(folder))

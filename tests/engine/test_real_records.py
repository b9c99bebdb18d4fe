"""Responses of the public GitHub API: deep, optional, drifting.

The tables, rows and columns, their types and their order are those that dlt 1.31 makes of the same files.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from trellis.pipelines.pipeline import Pipeline

EVENTS = {
    "events": (99, 596),
    "events__payload__pull_request__base__repo__topics": (290, 4),
    "events__payload__commits": (77, 9),
    "events__payload__pull_request__requested_reviewers": (24, 21),
    "events__payload__pull_request__labels": (26, 10),
    "events__payload__issue__labels": (3, 10),
    "events__payload__issue__assignees": (1, 21),
}
ISSUES = {"issues": (100, 74), "issues__labels": (34, 10), "issues__assignees": (31, 21)}


@pytest.mark.parametrize(
    ("file", "table", "tables", "columns"),
    [
        ("github_events.json", "events", EVENTS, "ad41a0872dc3bdf6"),
        ("github_issues.json", "issues", ISSUES, "78feca0b743ab4f2"),
    ],
)
def test_github_records_become_the_tables_that_dlt_makes(
    tmp_path: Path, shared_data: Path, file: str, table: str, tables: dict[str, tuple[int, int]], columns: str
) -> None:
    shop = Pipeline("gh", f"duckdb:{tmp_path}/x.duckdb")
    report = shop.load(str(shared_data / file), table=table)
    assert {t.name: (t.rows, len(shop.schema.tables[t.name].columns)) for t in report.tables} == tables
    listed = [
        (name, column.name, column.data_type)
        for name, known in sorted(shop.schema.tables.items())
        if not name.startswith("_")
        for column in known.columns.values()
    ]
    assert hashlib.sha256(repr(listed).encode()).hexdigest()[:16] == columns

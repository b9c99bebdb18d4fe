"""The version of the schema that a report names is one that is stored."""

from __future__ import annotations

from pathlib import Path

from trellis.pipelines.pipeline import pipeline


def test_a_report_names_a_stored_version(tmp_path: Path) -> None:
    shop = pipeline("shop", f"duckdb:{tmp_path}/shop.duckdb", engine="inline")
    records = [{"id": 1}, {"id": 2, "new": 1}, {"id": 3}, {"id": 4, "newer": 1}]
    reports = [shop.load([record], table="orders") for record in records]
    rows = shop.destination.history("main", shop._dialect.metadata.tables())
    stored = {(row["version"], row["version_hash"]) for row in rows}
    reported = [(report.schema.stored_version, report.schema.stored_hash) for report in reports]
    assert {*reported} == stored
    assert reported[1] == reported[2]

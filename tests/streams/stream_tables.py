"""What the tables of a stream hold, without the columns that the dialect adds."""

from __future__ import annotations

from typing import Any

from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.streaming.report import BatchReport


def rows_of(pipeline: Pipeline, table: str) -> list[dict[str, Any]]:
    """The rows in the order of their ids."""
    rows = [
        {name: value for name, value in row.items() if not name.startswith("_dlt")}
        for row in pipeline.destination.query(pipeline.dataset, table)
    ]
    return sorted(rows, key=lambda row: str(row.get("id")))


def rejects_of(pipeline: Pipeline) -> list[tuple[str, int, str]]:
    rows = pipeline.destination.query(pipeline.dataset, "_trellis_rejects")
    return sorted((row["file"], row["position"], row["text"]) for row in rows)


def counts_of(batch: BatchReport) -> tuple[int, int, int, int]:
    rows = batch.rows
    assert rows["in"] == rows["loaded"] + rows["rejected"] + rows["dropped"]
    return rows["in"], rows["loaded"], rows["rejected"], rows["dropped"]

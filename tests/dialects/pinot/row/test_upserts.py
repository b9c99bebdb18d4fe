"""Tables with upsert or dedup: of the rows with a key the one stays that Pinot shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialects.pinot.row.rows import column, document, time
from trellis.cli.settings import document_of
from trellis.errors import UsageError
from trellis.evolution.table_writes import Mode
from trellis.pipelines.pipeline import Pipeline

SCHEMA = {
    **document(
        [column("id", "INT"), column("city", "STRING"), column("version", "LONG")],
        [],
        [time("at", "LONG", "EPOCH|SECONDS")],
    ),
    "primaryKeyColumns": ["id"],
}
FIRST = [
    {"id": 1, "city": "Oslo", "version": 7, "at": 1_700_000_300},
    {"id": 1, "city": "Bern", "version": 9, "at": 1_700_000_100},
    {"id": 2, "city": "Pune", "version": 1, "at": 1_700_000_000},
]
SECOND = [
    {"id": 1, "city": "Graz", "version": 8, "at": 1_700_000_200},
    {"id": 2, "city": "Köln", "version": 1, "at": 1_700_000_000},
    {"id": 2, "city": "Rome", "version": 0, "at": 1_600_000_000},
]


def table(**parts: Any) -> dict[str, Any]:
    return {
        "tableName": "t",
        "tableType": "REALTIME",
        "segmentsConfig": {"timeColumnName": "at", "replication": "1"},
        **parts,
    }


def cities(
    tmp_path: Path, url: str, parts: dict[str, Any], mode: Mode | None = None
) -> list[tuple[int, str]]:
    pipeline = Pipeline(
        "rides", url.format(tmp_path), dialect="pinot", settings={"table_config": table(**parts)}
    )
    schema, rows = tmp_path / "schema.json", tmp_path / "rows.jsonl"
    schema.write_text(json.dumps(SCHEMA))
    for records in (FIRST, SECOND):
        rows.write_text("".join(json.dumps(record) + "\n" for record in records))
        pipeline.load(str(rows), schema=document_of(str(schema), "pinot"), mode=mode)
    batches = pipeline.destination.batches(pipeline.dataset, "t")
    return sorted((row["id"], row["city"]) for batch in batches for row in batch.to_pylist())


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"upsertConfig": {"mode": "FULL"}}, [(1, "Oslo"), (2, "Köln")]),
        ({"upsertConfig": {"comparisonColumns": ["version"]}}, [(1, "Bern"), (2, "Köln")]),
        ({"upsertConfig": {"mode": "NONE"}}, [(1, "Graz"), (2, "Rome")]),
        ({"dedupConfig": {"dedupEnabled": True}}, [(1, "Oslo"), (2, "Pune")]),
    ],
)
def test_the_row_that_stays(tmp_path: Path, parts: dict[str, Any], expected: list[tuple[int, str]]) -> None:
    assert cities(tmp_path, "duckdb:{}/rides.duckdb", parts, mode="merge") == expected


def test_an_upsert_table_is_not_kept_in_parquet(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^table t is merged by its key: plain Parquet files are only "):
        cities(tmp_path, "parquet:{}/lake", {"upsertConfig": {"mode": "FULL"}})


def test_an_upsert_table_needs_no_mode(tmp_path: Path) -> None:
    parts = {"upsertConfig": {"mode": "FULL"}}
    assert cities(tmp_path, "duckdb:{}/rides.duckdb", parts) == [(1, "Oslo"), (2, "Köln")]


def test_append_keeps_every_row(tmp_path: Path) -> None:
    parts = {"upsertConfig": {"mode": "FULL"}}
    assert len(cities(tmp_path, "duckdb:{}/rides.duckdb", parts, mode="append")) == 6


@pytest.mark.parametrize(
    ("upsert", "message"),
    [
        (
            {"mode": "PARTIAL"},
            (
                "upsertConfig: mode PARTIAL merges columns, which only Pinot does: load with --mode append"
                " to keep every row"
            ),
        ),
        (
            {"deleteRecordColumn": "version"},
            (
                "upsertConfig: deleteRecordColumn is carried out by Pinot only: load with --mode append"
                " to keep every row"
            ),
        ),
        (
            {"comparisonColumns": ["version", "at"]},
            (
                "upsertConfig: several comparisonColumns are compared by Pinot only: load with --mode append"
                " to keep every row"
            ),
        ),
        (
            {"comparisonColumns": ["none"]},
            "upsertConfig: rows cannot be compared by none: name a column of one number, time or text",
        ),
    ],
)
def test_what_only_a_cluster_does_is_refused_by_name(
    tmp_path: Path, upsert: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError) as refused:
        cities(tmp_path, "duckdb:{}/rides.duckdb", {"upsertConfig": upsert})
    assert str(refused.value) == message

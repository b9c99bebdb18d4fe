"""Proposals for files: real records, one row, none, thousands of columns, Parquet with its types."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialects.pinot.infer.proposals import notes, proposed, rows, said
from trellis.dialects.pinot.cluster.schema_inference import authored_for, infer, write
from trellis.dialects.pinot.infer.proposal import Proposal
from trellis.dialects.pinot.stored_schema import authored_of
from trellis.errors import UsageError


def records_of(file: Path) -> list[dict[str, Any]]:
    records_read: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return records_read


def main_time(proposal: Proposal) -> str | None:
    name: str | None = proposal.table["segmentsConfig"].get("timeColumnName")
    return name


def test_events_of_github(shared_data: Path):
    proposal = infer([shared_data / "github_events.json"])
    assert (proposal.schema.name, proposal.rows, main_time(proposal)) == ("github_events", 99, "created_at")
    shown = {name: column for name, column in said(proposal).items() if not name.startswith("payload.")}
    assert shown == {
        "id": "STRING dimension",
        "type": "STRING dimension",
        "actor.id": "INT dimension",
        "actor.login": "STRING dimension",
        "actor.display_login": "STRING dimension",
        "actor.gravatar_id": "STRING dimension",
        "actor.url": "STRING dimension",
        "actor.avatar_url": "STRING dimension",
        "repo.id": "INT dimension",
        "repo.name": "STRING dimension",
        "repo.url": "STRING dimension",
        "public": "BOOLEAN dimension",
        "created_at": "TIMESTAMP date-time TIMESTAMP",
        "org.id": "INT dimension",
        "org.login": "STRING dimension",
        "org.gravatar_id": "STRING dimension",
        "org.url": "STRING dimension",
        "org.avatar_url": "STRING dimension",
    }
    assert said(proposal)["payload.commits"] == "JSON dimension"


def test_issues_of_github(shared_data: Path):
    proposal = infer([shared_data / "github_issues.json"])
    shown = said(proposal)
    assert (proposal.rows, len(shown), main_time(proposal)) == (100, 74, "created_at")
    assert {
        name: shown[name] for name in ("number", "comments", "labels", "closed_at", "draft", "user.id")
    } == {
        "number": "INT dimension",
        "comments": "INT dimension",
        "labels": "JSON dimension",
        "closed_at": "TIMESTAMP date-time TIMESTAMP",
        "draft": "BOOLEAN dimension",
        "user.id": "INT dimension",
    }
    by_name = {column.spec.name: column.spec for column in proposal.columns}
    assert (by_name["body"].max_length, by_name["closed_at"].not_null, by_name["title"].not_null) == (
        32768,
        False,
        True,
    )
    assert notes(proposal) == [
        ("milestone", "no column: it has no values"),
        ("active_lock_reason", "no column: it has no values"),
        ("performed_via_github_app", "no column: it has no values"),
    ]


@pytest.mark.parametrize("name", ["github_events.json", "github_issues.json"])
def test_every_real_record_is_held(shared_data: Path, name: str):
    records = records_of(shared_data / name)
    proposal = infer([shared_data / name])
    assert len(rows(records, proposal)) == len(records)


def test_real_lists_can_be_unnested(shared_data: Path):
    records = records_of(shared_data / "github_issues.json")
    proposal = proposed(records, unnest=("labels",))
    assert said(proposal)["labels.name"] == "STRING dimension"
    assert len(rows(records, proposal)) == sum(max(1, len(record["labels"])) for record in records)


def test_one_row(tmp_path: Path):
    (tmp_path / "rides.jsonl").write_text('{"id": 1, "started": "2024-01-01T00:00:00Z", "fare": 12.5}\n')
    assert json.loads(infer([tmp_path / "rides.jsonl"]).document) == {
        "schemaName": "rides",
        "enableColumnBasedNullHandling": False,
        "dimensionFieldSpecs": [{"name": "id", "dataType": "INT", "fieldType": "DIMENSION"}],
        "metricFieldSpecs": [{"name": "fare", "dataType": "DOUBLE", "fieldType": "METRIC"}],
        "dateTimeFieldSpecs": [
            {
                "name": "started",
                "dataType": "TIMESTAMP",
                "fieldType": "DATE_TIME",
                "format": "TIMESTAMP",
                "granularity": "1:MILLISECONDS",
            }
        ],
    }


def test_both_documents_of_a_source(tmp_path: Path):
    (tmp_path / "rides.jsonl").write_text('{"ts": 1700000000, "geo": {"lat": 1.5}}\n')
    authored = authored_of(authored_for([tmp_path / "rides.jsonl"]))
    assert authored.schema is not None and authored.table.complex is not None
    assert [spec.name for spec in authored.schema.specs()] == ["geo.lat", "ts"]
    assert (authored.table.time_column, authored.table.complex.delimiter) == ("ts", ".")


@pytest.mark.parametrize("text", ["", "\n\n", "no json\n"])
def test_a_source_without_records(tmp_path: Path, text: str):
    (tmp_path / "e.jsonl").write_text(text)
    with pytest.raises(UsageError, match="no records to infer a schema from"):
        infer([tmp_path / "e.jsonl"])


def test_records_without_keys():
    proposal = proposed([{}, {}])
    assert (proposal.columns, proposal.notes, proposal.schema.name) == ((), (), "t")


def test_five_thousand_columns():
    records = [{f"c{at}": at * row if at % 2 else f"text {row}" for at in range(5000)} for row in range(3)]
    proposal = proposed(records)
    assert len(proposal.columns) == 5000
    assert len(rows(records[:1], proposal)[0].values) == 5000


def test_parquet_says_how_many_bits_numbers_have(tmp_path: Path):
    table = pa.table(
        {
            "id": pa.array([1, 2], pa.int64()),
            "n": pa.array([1, 2], pa.int32()),
            "f": pa.array([7.9, None], pa.float32()),
            "d": pa.array([date(2024, 1, 1)] * 2),
            "ts": pa.array([datetime(2024, 1, 1, tzinfo=timezone.utc)] * 2, pa.timestamp("ms", "UTC")),
            "price": pa.array([Decimal("1.50")] * 2),
            "raw": pa.array([b"x", b"y"]),
            "s": pa.array([{"x": 1}] * 2, pa.struct([("x", pa.int64())])),
            "m": pa.array([[("a", 1)], [("b", 2)]], pa.map_(pa.string(), pa.int64())),
        }
    )
    pq.write_table(table, tmp_path / "p.parquet")
    proposal = infer([tmp_path / "p.parquet"])
    assert said(proposal) == {
        "id": "LONG dimension",
        "n": "INT dimension",
        "f": "FLOAT metric",
        "d": "STRING date-time SIMPLE_DATE_FORMAT|yyyy-MM-dd",
        "ts": "TIMESTAMP date-time TIMESTAMP",
        "price": "BIG_DECIMAL metric",
        "raw": "BYTES dimension",
        "s.x": "LONG dimension",
        "m": "MAP complex",
    }
    assert main_time(proposal) == "d"


def test_both_documents_are_written(tmp_path: Path):
    proposal = proposed([{"a": 1, "ts": 1700000000}])
    schema, table = write(proposal, tmp_path / "new" / "docs")
    assert (schema.name, table.name) == ("t-schema.json", "t-table.json")
    assert schema.read_text(encoding="utf-8") == f"{proposal.document}\n"
    assert json.loads(table.read_text(encoding="utf-8")) == {
        "tableName": "t",
        "tableType": "OFFLINE",
        "segmentsConfig": {"timeColumnName": "ts", "replication": "1", "segmentPushType": "APPEND"},
        "tenants": {},
        "tableIndexConfig": {"loadMode": "MMAP"},
        "metadata": {},
    }

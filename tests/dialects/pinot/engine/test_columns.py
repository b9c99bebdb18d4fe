"""The generated rides go by columns: not one record of them takes the exact way."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

import trellis
from trellis.dialects import get_dialect
from trellis.engine.columnar.strict import Indexes
from trellis.engine.conform.authored import AuthoredConformer
from trellis.engine.conform.block_work import BlockWork
from trellis.engine.conform.choose import conformer_of
from trellis.engine.input.blocks import Block, Split
from trellis.engine.plan import Plan
from trellis.generate import generate

EXAMPLES = Path(__file__).parents[4] / "examples" / "pinot"


def rides_conformer() -> AuthoredConformer:
    dialect = get_dialect("pinot")
    document = dialect.schemas.parse_document((EXAMPLES / "rides-schema.json").read_text(), "rides")
    assert document is not None
    table = json.loads((EXAMPLES / "rides-table.json").read_text())
    schema = dialect.schemas.configure(
        dialect.schemas.new_schema("rides"), {"table_config": table}, "parquet"
    )
    schema = dialect.schemas.merge_user_schema(schema, document, lambda _: None)  # type: ignore[arg-type, return-value]
    plan = Plan(schema, "", "pinot", "1.0", "/nowhere", now=datetime(2026, 1, 2, tzinfo=timezone.utc))
    conformer = conformer_of(plan)
    assert isinstance(conformer, AuthoredConformer)
    return conformer


def test_rides_go_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a record was made by itself")

    conformer = rides_conformer()
    monkeypatch.setattr(conformer, "_one_by_one", refuse)
    conformed = conformer.block(
        Split(0, 0, "f"), Block(b"\n".join(generate(500, profile="rides")) + b"\n", 0, 0)
    )
    assert conformed.counts.loaded == 500
    assert [batch.rows for batch in conformed.batches] == [500]


def test_only_the_records_that_drift_leave_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """One ride in twenty has a value of another kind: it costs itself, not the rides around it."""
    alone: list[int] = []
    conformer = rides_conformer()
    one_by_one = conformer._one_by_one

    def count(work: BlockWork, indexes: Indexes) -> None:
        alone.extend(indexes.tolist())
        one_by_one(work, indexes)

    monkeypatch.setattr(conformer, "_one_by_one", count)
    rides = [json.loads(line) for line in generate(2000, profile="rides")]
    for number in range(10, 2000, 20):
        rides[number][("rider_id", "fare", "city", "seats")[number // 20 % 4]] = {"odd": number}
    data = "".join(json.dumps(ride) + "\n" for ride in rides).encode()
    conformed = conformer.block(Split(0, 0, "f"), Block(data, 0, 0))
    assert (conformed.counts.loaded, [batch.rows for batch in conformed.batches]) == (2000, [2000])
    assert {number for number in range(10, 2000, 20) if number // 20 % 4 < 3} <= {*alone}
    assert len(alone) <= 100
    ids = conformed.batches[0].columns["ride_id"]
    assert ids.to_pylist() == [ride["ride_id"] for ride in rides]


def test_one_odd_record_keeps_its_place(tmp_path: Path) -> None:
    """Among lines that go by columns one is special: the rows stay in the order of the lines."""
    lines = [json.loads(line) for line in generate(400, profile="rides")]
    lines[123]["rider_id"] = "77"
    lines[124]["tags"] = "single"
    lines[125]["unheard"] = {"of": 1}
    table = json.loads((EXAMPLES / "rides-table.json").read_text())
    pipeline = trellis.pipeline(
        "rides", f"parquet:{tmp_path / 'lake'}", dialect="pinot", settings={"table_config": table}
    )
    path = tmp_path / "rides.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    report = pipeline.load(path, schema=EXAMPLES / "rides-schema.json")
    rows = pipeline.destination.query(pipeline.dataset, "rides")
    assert [row["ride_id"] for row in rows] == [5_000_000_000 + at for at in range(400)]
    assert rows[123]["rider_id"] == 77
    assert rows[124]["tags"] == ["single"]
    assert report.notes == ("1 record: 'unheard' is not a column of the schema; its values were dropped",)
    assert report.balanced

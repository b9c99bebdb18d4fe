"""Records that are projected, many at a time, become the rows that they become one at a time."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import trellis.engine.columnar.event_batcher
import trellis.engine.columnar.event_sources
import trellis.engine.input.blocks
from trellis.dialects import get_dialect
from trellis.dialects.rudderstack.profiles.events import events
from trellis.engine.conform import routed
from trellis.engine.input.files import input_files
from trellis.engine.plan import Plan
from trellis.engine.records.files import FileRecords
from trellis.engine.runner import InlineRunner
from trellis.evolution.evolve import Evolution, evolve
from trellis.evolution.observe import Observations
from trellis.pipelines.pipeline import Pipeline

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
ODD_VALUES: tuple[Any, ...] = (
    None, "", "  ", "\u00a0", "x" * 600, "2024-02-29", "2024-02-30T10:00:00Z", "2024-02-29 10:00",
    "2024-02-29 10:00:00+00", "2024-02-29T", "2024-02-29T10:00z",
    "2024-02-29T10:00:00.123456Z", "2024-02-29T10:00:00.5+0530", "2024-02-29T10:00:00-11:30",
    "2024-02-29 10:00:00.9999", "2024-02-30", "9999-12-31T23:59:59-10:00", "0099-01-01", "10:20:30", "1999-x",
    "\u3000", "日本", "caf\u00e9", 0, 5, 5.0, 5.5, -0.0, 1e300, 2**53 + 1, 2**63, -(2**70), True, False,
    {}, {"a": 1}, {"0": "j", "1": "o"}, {"a": {"b": {"c": "d"}}},
    [], [""], ["a"], [1, 2.5], [None], [{"k": 1, "a": None}, {"k": 2}], [[1], []],
)  # fmt: skip
ODD_KEYS = ("messageId", "userId", "anonymousId", "event", "type", "sentAt", "receivedAt",
            "originalTimestamp", "timestamp", "context", "properties", "traits", "name", "channel",
            "request_ip", "integrations", "extra", "category")  # fmt: skip


def mutated(record: dict[str, Any], random: Random) -> dict[str, Any]:
    """The record with one odd thing in it, somewhere."""
    place = record
    while random.random() < 0.6:
        inner = [value for value in place.values() if isinstance(value, dict) and value]
        if not inner:
            break
        place = random.choice(inner)
    keys = [*place, *(ODD_KEYS if place is record else ("new", "NAME", "id", "price", "0", "日本"))]
    key = random.choice(keys)
    if random.random() < 0.2:
        place.pop(key, None)
    else:
        place[key] = random.choice(ODD_VALUES)
    return record


def loaded(file: Path, staging: Path, provider: str, fast: bool, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The staged rows as multisets, what was counted, and the schema."""
    dialect = get_dialect("rudderstack")
    schema = dialect.schemas.configure(dialect.schemas.new_schema("shop"), {"provider": provider}, "duckdb")
    naming = dialect.naming.naming(schema, None)
    with monkeypatch.context() as patch:
        init = routed.RoutedConformer.__init__
        patch.setattr(
            routed.RoutedConformer,
            "__init__",
            lambda self, plan, spreader, _=True: init(self, plan, spreader, fast),
        )
        records = FileRecords(input_files([str(file)]), InlineRunner())

        def plan(state: Evolution) -> Plan:
            return Plan(state.schema, "", "rudderstack", "L", str(staging), state.refusals, now=NOW)

        state = evolve(Evolution(schema), records.peek(plan(Evolution(schema))).observed, dialect, naming)
        outcomes, pending = [], None
        for _ in range(6):
            round_outcomes = list(records.run(plan(state), pending, lambda _: None))
            outcomes += round_outcomes
            assert not any(outcome.error for outcome in round_outcomes)
            pending = [ref for outcome in round_outcomes for ref in outcome.pending]
            if not pending:
                break
            seen = Observations()
            for outcome in round_outcomes:
                seen.merge(outcome.observed)
            state = evolve(state, seen, dialect, naming)
    rows: dict[str, Counter[str]] = {}
    counted: Counter[str] = Counter()
    for outcome in outcomes:
        counts = outcome.counts
        counted.update(
            read=counts.read, loaded=counts.loaded, rejected=counts.rejected, dropped=counts.dropped
        )
        counted += outcome.discards + outcome.rejects + outcome.warnings
        for tables, count in outcome.by_tables.items():
            counted[f"records in {sorted(tables)}"] += count
        for staged in outcome.files:
            for row in pq.read_table(staged.path).to_pylist():
                kept = {
                    k: v for k, v in row.items() if v is not None and k not in ("rejected_at", "discarded_at")
                }
                rows.setdefault(staged.table, Counter())[json.dumps(kept, sort_keys=True, default=str)] += 1
    return (
        rows,
        counted,
        {t.name: [(c.name, c.data_type) for c in t.columns.values()] for t in state.schema.tables.values()},
    )


def with_more_names(records: list[dict[str, Any]], random: Random) -> None:
    """Spread the track events over many names; some have the properties of another event."""
    tracks = [record for record in records if "event" in record]
    for record in tracks:
        record["event"] += random.choice(("", " Again", " Once", " Twice", " Never"))
        if random.random() < 0.05:
            record["properties"] = random.choice(tracks)["properties"]


@pytest.mark.parametrize(
    ("provider", "seed", "joint_lines", "has_many_names"),
    [
        ("POSTGRES", 1, 8, False),
        ("RS", 2, 100, False),
        ("SNOWFLAKE", 3, 2_048, False),
        ("MSSQL", 4, 60, True),
        ("S3_DATALAKE", 5, 200, True),
        ("POSTGRES", 9, 2_048, True),
    ],
)
def test_both_ways_give_the_same(
    provider: str,
    seed: int,
    joint_lines: int,
    has_many_names: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trellis.engine.columnar.event_batcher, "JOINT_LINES", joint_lines)
    random = Random(seed)
    monkeypatch.setattr(trellis.engine.input.blocks, "PEEK_BYTES", 150_000)
    monkeypatch.setattr(trellis.engine.input.blocks, "BLOCK", 150_000)
    monkeypatch.setattr(trellis.engine.columnar.event_batcher, "MIN_LINES", 8)
    monkeypatch.setattr(trellis.engine.columnar.event_sources, "MIN_SPLIT", 2)
    monkeypatch.setattr(trellis.engine.columnar.event_sources, "KEY_LINES", 8)
    lines = [orjson.loads(line) for line in events(1_500, Random(str(seed)), 0)]
    if has_many_names:
        with_more_names(lines, random)
    viewed = [record for record in lines if record.get("event", "").startswith("Product Viewed")]
    for record in viewed:  # below, an "event" that comes before that of some records and tells another
        record["context"]["event"] = "Product Viewed"
    for record in viewed[::9]:
        record["event"] = "Product Seen"
    lines = [mutated(record, random) if random.random() < 0.08 else record for record in lines]
    file = tmp_path / "events.jsonl"
    file.write_text(
        "".join(json.dumps(record, ensure_ascii=random.random() < 0.5) + "\n" for record in lines)
    )
    assert_both_ways_agree(file, tmp_path, provider, monkeypatch)


def assert_both_ways_agree(
    file: Path, tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    projected: list[int] = []
    rows = trellis.engine.columnar.event_batcher.EventTypeBatcher.rows

    def counting(self: Any, lines: Any, indexes: Any, id_generator: Any) -> Any:
        batches, remaining, by_tables = rows(self, lines, indexes, id_generator)
        projected.append(len(indexes) - len(remaining))
        return batches, remaining, by_tables

    monkeypatch.setattr(trellis.engine.columnar.event_batcher.EventTypeBatcher, "rows", counting)
    fast = loaded(file, tmp_path / "fast", provider, True, monkeypatch)
    slow = loaded(file, tmp_path / "slow", provider, False, monkeypatch)
    assert sum(projected) > 300  # else the test compares nothing
    assert fast[1] == slow[1]
    assert fast[2] == slow[2]
    for table in {*fast[0], *slow[0]}:
        assert fast[0].get(table) == slow[0].get(table), table


ROW_VALUES: dict[type, tuple[Any, ...]] = {
    str: ("", "  ", "\u3000", "2024-02-29", "2024-02-29 10:00:00+00", "x" * 600, "日本", None),
    int: (0, -5, 2**53, 2**53 + 1, -(2**63), 10**15, None),
    float: (0.0, -0.0, 5.0, 1e300, float("nan"), float("inf"), None),
    bool: (True, False, None),
    list: ([], None),
}


def with_one_kind(value: Any, known: dict[str, Any], random: Random, path: str = "") -> Any:
    """The value without what is of another kind than before at its path, seldom with an odd one instead."""
    if isinstance(value, dict):
        inner = {key: with_one_kind(value[key], known, random, f"{path}/{key}") for key in value}
        return {key: inner[key] for key in inner if inner[key] is not None} or None
    if isinstance(value, list):
        items = [with_one_kind(item, known, random, f"{path}/[]") for item in value]
        return items if known.setdefault(path, list) is list else None
    if value is None or known.setdefault(path, type(value)) is not type(value):
        return None
    return random.choice(ROW_VALUES[type(value)]) if random.random() < 0.003 else value


@pytest.mark.parametrize(("provider", "seed"), [("POSTGRES", 6), ("SNOWFLAKE", 7), ("RS", 8)])
def test_both_ways_give_the_same_for_typed_rows(
    provider: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, known = Random(seed), dict[str, Any]()
    monkeypatch.setattr(trellis.engine.columnar.event_batcher, "MIN_LINES", 8)
    monkeypatch.setattr(trellis.engine.columnar.event_sources, "MIN_SPLIT", 2)
    records = [orjson.loads(line) for line in events(1_500, Random(str(seed)), 0)]
    table = pa.Table.from_pylist([with_one_kind(record, known, random) for record in records])
    at = table.column_names.index("sentAt")
    sent = pc.strptime(pc.utf8_slice_codeunits(table["sentAt"], 0, 19), "%Y-%m-%dT%H:%M:%S", "us", True)
    table = table.set_column(at, "sentAt", sent.cast(pa.timestamp("us", "UTC")))
    pq.write_table(table, tmp_path / "events.parquet")
    assert_both_ways_agree(tmp_path / "events.parquet", tmp_path, provider, monkeypatch)


def test_lines_that_are_null_are_rejected(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    event = '{"type": "track", "event": "Seen", "messageId": "1", "receivedAt": "2024-02-29T10:00:00Z"}\n'
    file.write_text(event + "null\n" * 200)
    warehouse = Pipeline("shop", f"parquet:{tmp_path / 'warehouse'}", dialect="rudderstack")
    report = warehouse.load(file, max_rejected="100%")
    reason = "a record must be a JSON object, this line is null"
    assert (report.rows.read, report.rows.loaded, report.rejects.by_reason) == (201, 1, {reason: 200})

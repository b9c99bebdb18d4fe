"""What tasks know before they read: lines with rare kinds of values, from the peek and from earlier tasks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import trellis
from trellis.engine.columnar import strict
from trellis.engine.conform.learned import LearnedConformer
from trellis.engine.input.blocks import Block, Split
from trellis.schema.model import Column

from .test_typed import plan_of

SPLIT = Split(0, 0, "x.jsonl")
KNOWN = (Column("id", "bigint"), Column("price", "double"), Column("price__v_text", "text"))
RARE = json.dumps({"id": 700, "price": "free"}).encode()


@pytest.fixture
def failed_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many lines each read had that failed."""
    failed: list[int] = []
    read_table = strict.read_table

    def count(data: pa.Buffer, schema: pa.Schema, lines: int, unknown_keys: strict.UnknownKeys) -> pa.Table:
        try:
            return read_table(data, schema, lines, unknown_keys)
        except strict.FastPathMiss:
            failed.append(lines)
            raise

    monkeypatch.setattr(strict, "read_table", count)
    return failed


def lines_of(*rare: int) -> bytes:
    """A thousand records, of which these have a text for a number."""
    records = [{"id": n, "price": "free" if n in rare else n + 0.5} for n in range(1000)]
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_a_sample_has_the_lines_that_its_first_ones_had_not_prepared_for(failed_reads: list[int]) -> None:
    block = Block(lines_of(700, 800), 0, 0)
    plan = plan_of(*KNOWN)
    peek = LearnedConformer(plan).peek(SPLIT, block)
    assert (len(peek.sample), peek.sample[-1]) == (257, RARE)
    assert failed_reads == [744]
    task = LearnedConformer(replace(plan, sample=peek.sample))
    conformed = task.block(SPLIT, block)
    assert (conformed.counts.loaded, failed_reads, task.telling) == (1000, [744], [])


def test_later_tasks_of_a_process_know_what_made_a_read_fail(tmp_path: Path, failed_reads: list[int]) -> None:
    shop = trellis.pipeline("shop", to=f"parquet:{tmp_path}/lake", engine="inline")
    shop.load([{"id": 1, "price": 0.5}, {"id": 2, "price": "free"}], table="offers")
    for number, rare in enumerate([(), (700, 900), (300, 800)]):
        (tmp_path / f"{number}.jsonl").write_bytes(lines_of(*rare))
    loaded = shop.load(str(tmp_path / "*.jsonl"), table="offers")
    assert loaded.rows.loaded == 3000
    assert len(failed_reads) == 1

"""Lines that wait until the schema has room for them: written beside the staged files, so read once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trellis
from trellis.engine import task
from trellis.engine.input.blocks import Block

FILLER = "x" * 1000


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How often the blocks at these offsets are read by tasks."""
    counts: Counter[int] = Counter()
    read: Callable[..., Iterator[Block]] = task.read_blocks

    def counting(split: Any, times: int = 1, storage: Any = None) -> Iterator[Block]:
        for block in read(split, times, storage):
            counts[block.offset] += 1
            yield block

    monkeypatch.setattr(task, "read_blocks", counting)
    return counts


def load(folder: Path, late: Callable[[int], bool]) -> tuple[trellis.Report, list[tuple[Any, ...]]]:
    """A file of three blocks whose records hold the key `late` where the function says so."""
    with Path(folder, "x.jsonl").open("w") as lines:
        for number in range(20_000):
            record = {"id": number, "filler": FILLER} | ({"late": number} if late(number) else {})
            lines.write(json.dumps(record) + "\n")
    pipeline = trellis.pipeline("shop", to=f"duckdb:{folder}/x.duckdb", engine="inline")
    report = pipeline.load(str(folder / "x.jsonl"), table="t")
    rows = pipeline.destination.query("main", "t")
    return report, sorted((row["id"], row["late"]) for row in rows if row["late"] is not None)


def test_few_lines_that_wait_are_not_read_again(tmp_path: Path, blocks: Counter[int]) -> None:
    report, rows = load(tmp_path, lambda number: number in (9_000, 19_999))
    assert (report.rows.read, report.rows.loaded, rows) == (
        20_000,
        20_000,
        [(9_000, 9_000), (19_999, 19_999)],
    )
    peeked, *others = blocks.values()
    assert (peeked, {*others}, len(others)) == (2, {1}, 2)


def test_blocks_of_which_many_lines_wait_are_read_again(tmp_path: Path, blocks: Counter[int]) -> None:
    report, rows = load(tmp_path, lambda number: number >= 10_000)
    assert (report.rows.read, report.rows.loaded, len(rows)) == (20_000, 20_000, 10_000)
    assert [*blocks.values()] == [3, 2, 2]


def test_one_that_waits_twice(tmp_path: Path, blocks: Counter[int]) -> None:
    """A list in a list: the pass that has room for the outer one meets the inner one."""
    values = [{"id": number, "filler": FILLER} for number in range(20_000)]
    values[15_000]["late"] = {"a": [{"b": [{"c": 1}]}]}
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(value) + "\n" for value in values))
    pipeline = trellis.pipeline("shop", to=f"duckdb:{tmp_path}/x.duckdb", engine="inline")
    report = pipeline.load(str(tmp_path / "x.jsonl"), table="t")
    assert {table.name: table.rows for table in report.tables} == {
        "t": 20_000,
        "t__late__a": 1,
        "t__late__a__b": 1,
    }
    assert {*blocks.values()} == {1, 2}

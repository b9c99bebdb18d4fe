"""Keys that come late: their lines wait as if each had been flattened, and few of them are."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.engine.columnar.strict import Indexes
from trellis.engine.conform.block_work import BlockWork
from trellis.engine.conform.learned import Conformed, LearnedConformer
from trellis.engine.input.blocks import Block, Split
from trellis.schema.model import Column

from .test_typed import plan_of

SPLIT = Split(0, 0, "x.jsonl")
KNOWN = (Column("id", "bigint"), Column("name", "text"), Column("user__age", "bigint"))
TEXTS = st.sampled_from(
    ["", "abc", "abcd", "2024-01-02", "2024-01-02T03:04:05Z", "17", "1.5", "[1]", "日本", "\u0000"]
)
SCALARS = (
    st.none() | st.booleans() | TEXTS | st.integers(-3, 3) | st.sampled_from([2**63, 0.5, 1.0, -0.0, 1e300])
)
LISTS = st.lists(
    st.none() | st.integers(0, 3) | st.fixed_dictionaries({}, optional={"k": SCALARS}), max_size=2
)
VALUES = SCALARS | LISTS | st.fixed_dictionaries({}, optional={"x": SCALARS, "y": LISTS})


LATE_KEYS = st.dictionaries(
    st.sampled_from(["c", "d", "Name", "é"]), st.tuples(st.integers(0, 250), st.integers(1, 3)), max_size=3
)
"""Where a key appears first, and in which of so many records after that."""
ODD_VALUES = st.lists(
    st.tuples(st.integers(0, 399), st.sampled_from(["c", "d", "user", "id", "name", "list"]), VALUES),
    max_size=12,
)


def blocks(late_keys: dict[str, tuple[int, int]], odd_values: list[tuple[int, str, Any]]) -> list[bytes]:
    """Two blocks of records in which new keys are frequent, mostly with values of one kind."""
    records: list[dict[str, Any]] = [{"id": n, "name": "n", "user": {"age": n}} for n in range(400)]
    for key, (first, step) in late_keys.items():
        for record in records[first::step]:
            (record["user"] if key == "d" else record)[key] = record["id"] if key == "é" else "abc"
    for number, key, value in odd_values:
        records[number][key] = value
        if isinstance(records[number]["user"], dict) and key == "d":
            records[number]["user"][key] = value
    lines = [json.dumps(record).encode() + b"\n" for record in records]
    return [b"".join(lines[:200]), b"".join(lines[200:])]


def conform(data: list[bytes], columnar: bool) -> list[Conformed]:
    conformer = LearnedConformer(plan_of(*KNOWN), columnar)
    return [conformer.block(SPLIT, Block(part, number * 200, number)) for number, part in enumerate(data)]


def seen(conformed: Conformed) -> Any:
    observed = conformed.observed
    waiting = (conformed.waiting, conformed.counts, len(conformed.discards))
    return waiting, observed and (observed.tables, observed.cells)


@settings(max_examples=60)
@given(LATE_KEYS, ODD_VALUES)
def test_what_waits_is_observed_as_one_by_one(
    late_keys: dict[str, tuple[int, int]], odd_values: list[tuple[int, str, Any]]
) -> None:
    data = blocks(late_keys, odd_values)
    by_columns, one_by_one = (list(map(seen, conform(data, columnar))) for columnar in (True, False))
    assert by_columns == one_by_one


def test_of_lines_alike_few_are_flattened(monkeypatch: pytest.MonkeyPatch) -> None:
    flattened: list[int] = []
    one_by_one = LearnedConformer._one_by_one

    def count(self: LearnedConformer, work: BlockWork, indexes: Indexes) -> None:
        flattened.append(len(indexes))
        one_by_one(self, work, indexes)

    monkeypatch.setattr(LearnedConformer, "_one_by_one", count)
    plain = [orjson.dumps({"id": n, "name": "n", "user": {"age": 1}}) for n in range(1000)]
    late = [
        orjson.dumps(
            {"id": n, "user": {"tier": "gold"}, "refunds": [{"amount": 1.5}] if n % 100 == 0 else None}
        )
        for n in range(1000)
    ]
    (conformed,) = conform([b"\n".join([*plain, *late])], True)
    assert conformed.waiting == tuple(range(1000, 2000))
    assert conformed.observed is not None
    assert {(cell.column, seen.count) for cell, seen in conformed.observed.cells.items()} == {
        ("user__tier", 1000),
        ("amount", 10),
    }
    assert sum(flattened) < 500

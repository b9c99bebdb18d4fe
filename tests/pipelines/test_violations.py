"""What a load says that breaks a contract: each violation with its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from trellis.engine.positions import place_of
from trellis.engine.task import Outcome
from trellis.evolution.contract import ContractViolation
from trellis.pipelines.pipeline import Pipeline, pipeline


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    monkeypatch.chdir(tmp_path)
    shop = pipeline("shop", "duckdb:shop.duckdb", engine="inline")
    shop.load([{"id": 1}], table="orders")
    return shop


def test_every_violation_has_its_file_and_line(shop: Pipeline) -> None:
    Path("a.jsonl").write_text('{"id": 2}\n')
    Path("b.jsonl").write_text('{"id": 3}\n{"id": 4, "b": 1}\n{"id": "x"}\n{"id": 5, "b": 2, "c": true}\n')
    with pytest.raises(ContractViolation) as bad:
        shop.load(["a.jsonl", "b.jsonl"], table="orders", contract="freeze")
    first, *others = str(bad.value).splitlines()
    assert first == (
        "b.jsonl:2: shop.orders.b: the data needs a new column for b, first seen with 1 (2 values), and the "
        "contract has columns: freeze; declare the column, or load with the contract columns: evolve"
    )
    assert others == [
        '  b.jsonl:3: shop.orders.id: "x" at id does not fit its column, which is bigint',
        "  b.jsonl:4: shop.orders.c: the data needs a new column for c, first seen with true",
    ]
    assert [(other.column, other.entity, other.place) for other in bad.value.others] == [
        ("id", "data_type", "b.jsonl:3"),
        ("c", "columns", "b.jsonl:4"),
    ]


def test_many_violations_are_counted(shop: Pipeline) -> None:
    record = {"id": 2, **{f"c{number}": number for number in range(10)}}
    with pytest.raises(ContractViolation) as bad:
        shop.load([record], table="orders", contract="freeze")
    _, *others = str(bad.value).splitlines()
    assert len(others) == 6
    assert others[0] == "  records:1: shop.orders.c1: the data needs a new column for c1, first seen with 1"
    assert others[-1] == "  and 4 more"


def test_a_line_of_a_later_part_of_a_file_counts_from_its_beginning() -> None:
    outcomes = [
        Outcome("first", split=(0, 0), path="a.jsonl", lines=100),
        Outcome("second", split=(0, 1), path="a.jsonl", lines=50),
        Outcome("topic", split=(1, 0), lines=7),
    ]
    assert place_of((0, 1, 6, 0, 2), outcomes) == "a.jsonl:107"
    assert place_of((1, 0, 6, 0, 2), outcomes) == ""

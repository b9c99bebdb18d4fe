"""What a load says that breaks a contract: each violation with its file and line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
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


def test_rows_that_keep_their_types_name_each_violation_once(shop: Pipeline) -> None:
    types = {"id": "bigint", "qty": "bigint", "sku": "text"}
    columns = [{"name": name, "data_type": type_, "nullable": name != "sku"} for name, type_ in types.items()]
    shop.run(pa.table({"id": [1], "qty": [1], "sku": ["a"]}), table_name="lines", columns=columns)
    first = pa.table({"id": [2, 3], "qty": [1.0, 2.5], "sku": ["b", None]})
    second = pa.table({"id": ["x", "4"], "qty": [0.5, 1.5], "sku": ["c", "d"]})
    with pytest.raises(ContractViolation) as bad:
        shop.run([first, second], table_name="lines")
    qty, *others = str(bad.value).splitlines()
    misfit = "and some of its values do not fit bigint, the type of the column"
    assert qty == (
        f"records:2: shop.lines.qty: qty comes as double, {misfit} (3 values); convert them, declare another "
        "type for a new table, or load with the contract data_type: discard_value"
    )
    assert others == [
        "  records:2: shop.lines.sku: sku is null, but column sku of table lines may not be null",
        f"  records:3: shop.lines.id: id comes as string, {misfit}",
    ]
    assert shop.destination.row_counts("main")["lines"] == 1


def test_every_missing_key_is_counted_with_the_first_place_of_each_kind(shop: Pipeline) -> None:
    shop.load([{"key": 1, "n": 1}], table="t", mode="merge", keys="key")
    Path("a.jsonl").write_text('{"key": 2}\n{"key": null, "n": 1}\n{"n": 2}\n')
    Path("b.jsonl").write_text('{"key": null}\n{"key": 3, "n": "x"}\n{"n": 3}\n{"n": 4}\n')
    with pytest.raises(ContractViolation) as bad:
        shop.load(["a.jsonl", "b.jsonl"], table="t", contract={"data_type": "freeze"})
    first, *others = str(bad.value).splitlines()
    missing = "there is no value for column key of table t, which may not be null"
    assert first == (
        "a.jsonl:2: shop.t.key: key is null, but column key of table t may not be null (2 values); give it a "
        "value, or declare the column nullable"
    )
    assert others == [
        f"  a.jsonl:3: shop.t.key: {missing} (3 values)",
        '  b.jsonl:2: shop.t.n: "x" at n does not fit its column, which is bigint',
    ]
    assert shop.destination.row_counts("main")["t"] == 1


def test_missing_keys_of_records_in_memory_are_counted(shop: Pipeline) -> None:
    with pytest.raises(ContractViolation) as bad:
        shop.load([{"key": 1}, {"key": None}, {"n": 1}, {"key": None}], table="t", mode="merge", keys="key")
    first, other = str(bad.value).splitlines()
    assert first.startswith(
        "records:2: shop.t.key: key is null, but column key of table t may not be null (2 "
    )
    assert other == (
        "  records:3: shop.t.key: there is no value for column key of table t, which may not be null"
    )


def test_a_missing_value_of_a_row_that_the_contract_leaves_out_is_no_violation(shop: Pipeline) -> None:
    shop.load([{"key": 1, "n": 1}], table="t", mode="merge", keys="key")
    lines = ['{"key": null, "new": 1}', '{"n": 2, "new": 2}', '{"key": 2}']
    Path("a.jsonl").write_text("\n".join(lines))
    report = shop.load("a.jsonl", table="t", contract={"columns": "discard_row"})
    assert (report.rows.loaded, report.rows.dropped) == (1, 2)
    assert sorted(row["key"] for row in shop.destination.query("main", "t")) == [1, 2]


def test_values_are_counted_up_to_a_thousand(shop: Pipeline) -> None:
    shop.run(pa.table({"id": [1]}), table_name="lines")
    table, contract = pa.table({"id": [1.0, 2.0, *[0.5] * 5000]}), {"data_type": "freeze"}
    counted = r"^records:3: .* \(1,000 values or more\), and the contract has data_type: freeze; convert them"
    with pytest.raises(ContractViolation, match=counted):
        shop.run(table, table_name="lines", schema_contract=contract)


def test_a_line_of_a_later_part_of_a_file_counts_from_its_beginning() -> None:
    outcomes = [
        Outcome("first", split=(0, 0), path="a.jsonl", lines=100),
        Outcome("second", split=(0, 1), path="a.jsonl", lines=50),
        Outcome("topic", split=(1, 0), lines=7),
    ]
    assert place_of((0, 1, 6, 0, 2), outcomes) == "a.jsonl:107"
    assert place_of((1, 0, 6, 0, 2), outcomes) == ""

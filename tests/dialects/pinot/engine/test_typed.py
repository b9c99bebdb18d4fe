"""Rows with types that go by columns become the rows that they become one by one."""

from __future__ import annotations

import os
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialects.pinot.engine.tables import Given, batches, plan_of, plans, small_plans
from dialects.pinot.engine.test_vector import plain
from dialects.pinot.row.rows import column, config, document, several
from trellis.engine.conform import authored
from trellis.engine.conform.authored import AuthoredConformer
from trellis.engine.conform.choose import conformer_of
from trellis.engine.input.blocks import Split
from trellis.engine.input.parquet import RowBatch
from trellis.engine.plan import Plan

EXAMPLES = int(os.environ.get("TRELLIS_EXAMPLES", "100"))


@pytest.fixture(autouse=True)
def _halves_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authored, "MIN_SPLIT", 2)


def conformed(plan: Plan, given_batches: list[pa.RecordBatch], fast: bool) -> Any:
    """The rows and all that is told of them, or why there are none."""
    conformer = conformer_of(plan, fast)
    assert isinstance(conformer, AuthoredConformer)
    rows: list[Any] = []
    outcomes: list[Any] = []
    first = 0
    for number, batch in enumerate(given_batches):
        try:
            conformed_block = conformer.batch(Split(0, 0, "f.parquet"), RowBatch(number, first, batch))
        except Exception as error:
            return [*outcomes, type(error), str(error)]
        first += batch.num_rows
        for member in conformed_block.batches:
            columns = {name: plain(array).to_pylist() for name, array in member.columns.items()}
            names = plan.schema.tables[member.table].columns
            rows += [
                tuple(columns[name][at] if name in columns else None for name in names)
                for at in range(member.rows)
            ]
        outcomes.append((conformed_block.counts, conformed_block.discards, conformed_block.rejects))
    return rows, outcomes, sorted((+conformer.warnings).items())


@given(case=plans(), given_batches=st.lists(batches(), min_size=1, max_size=2))
@settings(max_examples=EXAMPLES, deadline=None, report_multiple_bugs=False)
def test_any_table(case: Given, given_batches: list[pa.RecordBatch]) -> None:
    plan = plan_of(case)
    assert repr(conformed(plan, given_batches, True)) == repr(conformed(plan, given_batches, False))


@given(case=small_plans(), batch=batches(("a", "b")))
@settings(max_examples=EXAMPLES, deadline=None, report_multiple_bugs=False)
def test_any_column(case: Given, batch: pa.RecordBatch) -> None:
    plan = plan_of(case)
    assert repr(conformed(plan, [batch], True)) == repr(conformed(plan, [batch], False))


def rows_of(case: Given, columns: dict[str, pa.Array], fast: bool = True) -> list[Any]:
    result = conformed(plan_of(case), [pa.record_batch(columns)], fast)
    assert isinstance(result, tuple), result
    return list(result[0])


@pytest.mark.parametrize(
    ("column_", "array", "rows"),
    [
        (column("a", "INT"), pa.array([1.0, 2.0, None]), [1, 2, None]),
        (column("a", "INT"), pa.array([1.5, float("nan"), None]), [1, 0, None]),
        (column("a", "DOUBLE"), pa.array([float("nan"), -0.0, float("inf")]), [None, 0.0, float("inf")]),
        (several("a", "DOUBLE"), pa.array([[1.5, float("nan")], [float("nan")], []]), [[1.5], None, None]),
        (column("a", "FLOAT"), pa.array([7.9, 0.5, None]), [7.900000095367432, 0.5, None]),
        (column("a", "TIMESTAMP"), pa.array([5, 1_700_000_000_123]), [5, 1_700_000_000_123]),
        (column("a", "TIMESTAMP"), pa.array([-1, 1999], pa.timestamp("us")), [-1, 1]),
        (column("a", "STRING"), pa.array([0, 1_700_000_000_120], pa.timestamp("ms")),
         ["1970-01-01 00:00:00.0", "2023-11-14 22:13:20.12"]),
        (column("a", "STRING"), pa.array([19_675, None], pa.date32()), ["2023-11-14", None]),
        (column("a", "BIG_DECIMAL"), pa.array([Decimal("1.50"), Decimal("0.00"), Decimal("20.00")]),
         ["1.5", "0", "20"]),
        (column("a", "STRING"), pa.array([Decimal("1.50"), Decimal("0.00")]), ["1.50", "0.00"]),
        (column("a", "DOUBLE"), pa.array([Decimal("0.1"), None]), [0.1, None]),
        (column("a", "BYTES"), pa.array([b"ab", b"", None]), [b"ab", b"", None]),
        (column("a", "STRING"), pa.array(["x", "x", None]).dictionary_encode(), ["x", "x", None]),
        (column("a", "JSON"), pa.array([{"z": 1, "a": None}, None, {"z": None, "a": "é"}]),
         ['{"a":null,"z":1}', None, '{"a":"é","z":null}']),
        (column("a", "LONG"), pa.array([1, 2**32 - 1], pa.uint32()), [1, 4_294_967_295]),
    ],
    ids=lambda value: value["dataType"] if isinstance(value, dict) else str(getattr(value, "type", "")),
)  # fmt: skip
@pytest.mark.parametrize("fast", [True, False], ids=["by columns", "by rows"])
def test_values(column_: dict[str, Any], array: pa.Array, rows: list[Any], fast: bool) -> None:
    case = Given(document([column_]), config(), {"view": "nullable"})
    assert [row[0] for row in rows_of(case, {"a": array}, fast)] == rows


def test_a_column_without_a_kernel_keeps_the_others_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authored, "marked_rows", None)
    case = Given(document([column("a", "STRING"), several("b", "STRING")]), config(), {})
    maps = pa.array([[("k", 1)], [("k", 2)]], pa.map_(pa.string(), pa.int64()))
    actual_rows = rows_of(case, {"a": maps, "b": pa.array([[1.5, 2.0], None])})
    assert actual_rows == [("1", ["1.5", "2.0"]), ("2", ["null"])]


def test_one_special_row_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the few rows around it are made one by one, and the load stops where it has to."""
    alone: list[int] = []
    one_by_one = authored.marked_rows

    def counted(batch: pa.RecordBatch, kinds: Any) -> Any:
        alone.append(batch.num_rows)
        return one_by_one(batch, kinds)

    monkeypatch.setattr(authored, "marked_rows", counted)
    texts = pa.array([str(value) if value != 77 else "x" for value in range(100)])
    case = Given(document([column("a", "INT")]), config(), {"on_error": "null", "view": "nullable"})
    actual_rows = rows_of(case, {"a": texts})
    assert [row[0] for row in actual_rows] == [value if value != 77 else None for value in range(100)]
    assert sum(alone) <= 2
    stopped = conformed(plan_of(Given(case.schema, case.table, {})), [pa.record_batch({"a": texts})], True)
    assert "f.parquet, record 78: column a: STRING 'x' cannot" in stopped[-1]

"""Computed columns of whole batches have the values that they have row by row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialects.ytsaurus.schemas import schema
from dialects.ytsaurus.test_tables import T, code_of, create, read, schema_of
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.store.columns import decode_rows, encode_rows
from trellis.dialects.ytsaurus.store.operations import OperationSpec, merge
from trellis.dialects.ytsaurus.store.rewriting import computed
from trellis.dialects.ytsaurus.store.rewriting.computed import ComputedColumns
from trellis.dialects.ytsaurus.store.store import Store
from trellis.dialects.ytsaurus.values.rows import RowValidator
from trellis.dialects.ytsaurus.yson.values import Uint64

EXPRESSIONS = {
    "uint64": ["farm_hash(i, u, s, b, y)", "farm_hash(s) % 7", "farm_hash(null, 5, true)", "u + 1u", "-u",
               "~u * u", "uint64(i)", "farm_hash(u % 3u) & 255"],
    "int64": ["i % 7", "i * i - 3", "-i", "i | y", "i % y", "if(i > 0, i, y)", "i / 2"],
    "boolean": ["i > y", "u <= 5u", "b = false", "i != null", "b >= b", "y < 3", "is_null(s)"],
    "string": ["s || 'x'", "lower(s)"],
    "double": ["double(i) * 2.0"],
}  # fmt: skip
CASES = [(kind, text) for kind, texts in EXPRESSIONS.items() for text in texts]
INTEGERS = st.sampled_from([0, 1, -1, 7, 2**63 - 1, -(2**63)]) | st.integers(-(2**63), 2**63 - 1)
ROW = st.fixed_dictionaries(
    {},
    optional={
        "i": st.none() | INTEGERS,
        "y": st.none() | st.integers(-3, 3),
        "u": st.none() | st.integers(0, 2**64 - 1).map(Uint64),
        "s": st.none() | st.binary(max_size=40),
        "b": st.none() | st.booleans(),
    },
)


def table_of(kind: str, expression: str) -> TableSchema:
    return schema(f"[i^, y:int8^, u:uint64^, s:string^, b:boolean^, c:{kind}^={expression}]")


@pytest.mark.parametrize(("kind", "expression"), CASES)
@given(rows=st.lists(ROW, max_size=6))
@settings(max_examples=30, deadline=None)
def test_batches_are_rows(kind: str, expression: str, rows: list[dict[str, Any]]) -> None:
    table = table_of(kind, expression)
    try:
        expected: Any = [*map(RowValidator(table).validate_row, rows)]
    except YtError as error:
        expected = error.message
    try:
        batch = ComputedColumns(table).fill(encode_rows(table, rows))
        actual: Any = [
            {name: value for name, value in row.items() if value is not None}
            for row in decode_rows(table, table, batch)
        ]
    except YtError as error:
        actual = error.message
    assert repr(actual) == repr(
        expected if isinstance(expected, str) else [in_order(row) for row in expected]
    )


def in_order(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in "iyusbc" if name in row}


def test_c36_c37_c39_c41_hashes_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computed, "decode_rows", None)
    table = schema("[k^, s:string^, h:uint64^=farm_hash(k, s), one:uint64^=farm_hash(k)]")
    rows = [{"k": 2024, "s": b"eu"}, {"k": 1}, {"k": -1}, {}]
    batch = ComputedColumns(table).fill(encode_rows(table, rows))
    assert batch.column("h")[0].as_py() == 10053933431872132663
    assert batch.column("one").to_pylist()[1:] == [
        933529381690826619,
        7129902556246829656,
        3315701238936582721,
    ]


FROM_OUTPUT = OperationSpec(inference="from_output")


def test_a_merge_computes_columns_that_its_input_lacks(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    create(store, "[k:string, v]", "//tmp/a", "{k=k1;v=1};{k=k2}")
    create(store, "[h:uint64^=farm_hash(k), k:string^, v]")
    monkeypatch.setattr(computed, "decode_rows", None)
    merge(store, ["//tmp/a[#0]"], T, "ordered", FROM_OUTPUT)
    assert read(store) == "{h=2692134488169246299u;k=k1;v=1}"


def test_c43_a_division_by_zero_names_the_row(store: Store) -> None:
    create(store, "[k, v]", "//tmp/a", "{k=1};{k=0}")
    create(store, "[c:int64^=5 % k, k^, v]")
    assert code_of(merge, store, ["//tmp/a"], T, "ordered", FROM_OUTPUT) == (
        1,
        "row 1, the expression '5 % k' fails: 5 % 0: division by zero",
    )
    assert (read(store), schema_of(store)) == ("", "[c^, k^, v] strong")

"""Computed columns of whole batches have the values that they have row by row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialects.ytsaurus.schemas import schema
from dialects.ytsaurus.test_tables import T, code_of, create, read, schema_of
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.schema.document import parse_schema
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
               "~u * u", "uint64(i)", "farm_hash(u % 3u) & 255", "u * u - u", "u / 3u", "u / u", "u >> 3u",
               "u << uint64(y)", "uint64(d)", "u | uint64(i)", "greatest(u, 7u)", "if_null(u, 5u)", "abs(u)"],
    "int64": ["i % 7", "i * i - 3", "-i", "i | y", "i % y", "if(i > 0, i, y)", "i / 2", "i / y", "i + i",
              "i - y", "i * y", "i >> 5", "i << y", "~i & y", "abs(i)", "int64(u)", "int64(d)", "floor(d)",
              "ceil(d)", "round(d)", "length(s)", "greatest(i, y, 3)", "coalesce(i, y, 4)",
              "case y when 1 then i end", "parse_int64(s)", "if(y = 0, 0, 5 / y)"],
    "boolean": ["i > y", "u <= 5u", "b = false", "i != null", "b >= b", "y < 3", "is_null(s)", "d < 1.5",
                "d = d", "d >= 0.0", "d > e", "s < 'b'", "s = s", "s >= '12'", "b and i > 0",
                "b or y = 1", "not b", "y in (1, 2, null)", "s in ('12', 'aB')", "b < (not b)",
                "is_substr('2', s)", "is_prefix('a', s)", "i between -1 and 7", "d not in (0.0)",
                "boolean(b) and is_null(i / i)", "greatest(b, false)"],
    "string": ["s || 'x'", "lower(s)", "concat(s, s, '')", "if(b, s, 'no')", "greatest(s, 'aB')", "string(s)",
               "numeric_to_string(i)", "numeric_to_string(u)", "coalesce(s, 'none')"],
    "double": ["double(i) * 2.0", "d / 3.0", "d / d", "d / double(y)", "-d", "d + 1.5", "abs(d)", "double(u)",
               "greatest(d, 0.5)", "parse_double(s)", "if(d > 0.0, d, 0.0)"],
}  # fmt: skip
"""By their kind. Here no row is looked at alone but for an error."""
TIMES = {
    "int64": [f"timestamp_floor_{unit}(i)" for unit in ("hour", "day", "week", "month", "quarter", "year")]
}
BY_ROWS = {
    "string": ["numeric_to_string(d)", "format_timestamp(int64(y), '%Y-%m-%d')"],
    "boolean": ["is_substr(s, 'a12b')"],
}
INTEGERS = st.sampled_from([0, 1, -1, 7, 2**63 - 1, -(2**63)]) | st.integers(-(2**63), 2**63 - 1)
DOUBLES = st.sampled_from([-0.0, 0.49999999999999994, 2.5, 2.0**63, 1e300]) | st.floats()
ROW = st.fixed_dictionaries(
    {},
    optional={
        "i": st.none() | INTEGERS | st.integers(-(10**11), 10**11),
        "y": st.none() | st.integers(-3, 3),
        "u": st.none() | st.integers(0, 2**64 - 1).map(Uint64),
        "s": st.none() | st.sampled_from([b"12", b"-7", b"aB", b"1e3"]) | st.binary(max_size=40),
        "b": st.none() | st.booleans(),
        "d": st.none() | DOUBLES,
        "e": st.none() | DOUBLES,
    },
)
SOURCES = {"i": "int64", "y": "int8", "u": "uint64", "s": "string", "b": "boolean", "d": "double",
           "e": "double"}  # fmt: skip


def cases(expressions: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(kind, text) for kind, texts in expressions.items() for text in texts]


def table_of(kind: str, expression: str) -> TableSchema:
    columns: list[dict[str, Any]] = [
        {"name": name, "type": type, "sort_order": "ascending"} for name, type in SOURCES.items()
    ]
    columns.append({"name": "c", "type": kind, "sort_order": "ascending", "expression": expression})
    return parse_schema(columns)


@pytest.mark.parametrize(("kind", "expression"), [*cases(EXPRESSIONS), *cases(TIMES), *cases(BY_ROWS)])
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
    return {name: row[name] for name in (*SOURCES, "c") if name in row}


def test_values_without_errors_are_computed_as_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computed, "decode_rows", None)
    rows = [{"i": 7, "y": 2, "u": Uint64(9), "s": b"12", "b": True, "d": 1.5, "e": 7.0}, {}]
    for kind, expression in [*cases(EXPRESSIONS), *cases(TIMES)]:
        table = table_of(kind, expression)
        ComputedColumns(table).fill(encode_rows(table, rows))


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
        "//tmp/t: row 1: the expression '5 % k' fails: 5 % 0: division by zero (from //tmp/a)",
    )
    assert (read(store), schema_of(store)) == ("", "[c^, k^, v] strong")

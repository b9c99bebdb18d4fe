"""The schemas that operations leave behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dialects.ytsaurus.schemas import schema
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.inference.operations import (
    InferenceMode,
    InputTable,
    Operation,
    OutputTable,
    merge_keys,
    output_schema,
)
from trellis.dialects.ytsaurus.inference.shapes import sort_schema
from trellis.dialects.ytsaurus.schema.model import EMPTY, SortColumn
from trellis.dialects.ytsaurus.switches import Switches

WEAK = OutputTable(EMPTY, "weak")


def strong(text: str, columns: str | None = None) -> InputTable:
    return InputTable(
        schema(text), "strong", text, None if columns is None else frozenset(columns.split(","))
    )


def weak(text: str) -> InputTable:
    return InputTable(schema(text), "weak", text)


def output(text: str) -> OutputTable:
    return OutputTable(schema(text), "strong", text)


def infer(
    operation: Operation,
    inputs: Sequence[InputTable],
    out: OutputTable = WEAK,
    *,
    mode: InferenceMode = "auto",
    by: str = "",
    **switches: Any,
) -> str:
    """The output's schema and mode, with `+` if rows are validated."""
    result = output_schema(operation, mode, inputs, out, sort_columns(by), Switches(**switches))
    return f"{shown(str(result.schema))} {result.mode}{'+' if result.validates_rows else ''}"


def sort_columns(names: str) -> list[SortColumn]:
    return [SortColumn(name) for name in names.split(",") if name]


def shown(text: str) -> str:
    return text.replace(":optional<int64>", "").replace(":optional<yson>", ":any")


def refused(*arguments: Any, **options: Any) -> tuple[int, str]:
    with pytest.raises(YtError) as error:
        infer(*arguments, **options)
    return int(error.value.code), shown(error.value.message)


def test_c71_one_strong_input() -> None:
    table = strong("[k^, v(g)]u")
    result = output_schema("ordered_merge", "auto", [table], WEAK)
    assert (result.schema, result.mode, result.validates_rows) == (table.schema, "strong", False)


def test_c72_two_strong_inputs() -> None:
    assert infer("ordered_merge", [strong("[k^, v(g)]u")] * 2) == "[k, v] strong"


def test_c73_another_order_of_columns() -> None:
    assert infer("ordered_merge", [strong("[b, a]"), strong("[a, b]")], mode="from_input") == "[a, b] strong"


def test_c74_weak_and_strong_inputs() -> None:
    inputs = [weak("~[]"), strong("[a]")]
    assert refused("ordered_merge", inputs, mode="from_input") == (
        316,
        "the schema of ~[] is weak, that of [a] strong; inputs have schemas of one mode",
    )
    assert infer("ordered_merge", inputs, output("[a]")) == "[a] strong+"


def test_c75_other_types() -> None:
    assert refused("ordered_merge", [strong("[a]"), strong("[a:int32]")], mode="from_input") == (
        316,
        "the schemas of [a] and [a:int32] differ: [a] and [a:optional<int32>]",
    )
    code, _ = refused("ordered_merge", [strong("[a]"), strong("[a:int64!]")], mode="from_input")
    assert code == ErrorCode.INCOMPATIBLE_SCHEMAS


def test_c76_an_unordered_merge_sorts_nothing() -> None:
    assert infer("unordered_merge", [strong("[k:string^, v]")]) == "[k:optional<string>, v] strong"


@pytest.mark.parametrize("mode", ["auto", "from_output"])
def test_c77_an_unordered_merge_into_a_sorted_table(mode: InferenceMode) -> None:
    assert refused("unordered_merge", [strong("[k, v]")], output("[k^, v]"), mode=mode) == (
        1,
        "[k^, v] is sorted by k; an unordered merge keeps no order. Merge with --mode sorted",
    )


def test_c78_an_ordered_merge_of_two_into_a_sorted_table() -> None:
    assert refused("ordered_merge", [strong("[k^, v]")] * 2, output("[k^, v]")) == (
        1,
        "[k^, v] is sorted by k; an ordered merge of 2 tables keeps no order. Merge with --mode sorted",
    )
    assert infer("ordered_merge", [strong("[k^, v]")], output("[k^, v]")) == "[k^, v] strong"
    assert refused("ordered_merge", [strong("[k, v]")], output("[k^, v]")) == (
        316,
        "the schema of [k, v] does not fit that of [k^, v]: the input is sorted by nothing, the output by k",
    )


def test_c79_rows_are_validated_from_output() -> None:
    inputs = [strong("[k, v]")] * 2
    assert infer("ordered_merge", inputs, output("[k^, v]"), mode="from_output") == "[k^, v] strong+"


def test_c80_what_fits_a_strong_output() -> None:
    assert refused("ordered_merge", [strong("[a, b]")], output("[a]")) == (
        316,
        (
            "the schema of [a, b] does not fit that of [a]: column b: the strict schema of the output has "
            "no such column"
        ),
    )
    assert refused("ordered_merge", [strong("~[a]")], output("[a]"))[0] == 316
    assert infer("ordered_merge", [weak("~[]")], output("[a]")) == "[a] strong+"


def test_c81_an_optional_column_into_a_required_one() -> None:
    assert infer("ordered_merge", [strong("[a]")], output("[a:int64!]")) == "[a:int64] strong+"


def test_c82_a_sorted_merge_by_a_prefix() -> None:
    assert infer("sorted_merge", [strong("[k^, l^, v]u")] * 2, by="k") == "[k^, l, v] strong"


def test_c83_keys_of_a_sorted_merge() -> None:
    assert refused("sorted_merge", [strong("[k^, l^, v]u")] * 2, output("[k^, l^, v]"), by="k") == (
        1,
        "[k^, l^, v] is sorted by k, l, and the merge is by k; both must be the same",
    )
    with pytest.raises(YtError) as error:
        merge_keys([strong("[k^, l^]"), strong("[k^, l]")], None)
    assert error.value.message == (
        "[k^, l^] is sorted by k, l, [k^, l] by k; name the columns to merge by: merge_by=[...]"
    )


def test_a_sorted_merge_sorts_the_schema_of_an_unsorted_output() -> None:
    inputs = [strong("[k^, v]")]
    assert infer("sorted_merge", inputs, output("[v, k]"), by="k") == "[k^, v] strong"
    assert refused("sorted_merge", inputs, output("[v, k]"), by="k", sorted_merge="literal") == (
        1,
        "[v, k] is not sorted, and the merge is by k; sort its schema first",
    )


@pytest.mark.parametrize(("by", "expected"), [("c", "[c^, b, a, d]"), ("d,b", "[d^, b^, c, a]")])
def test_c84_a_sort_into_its_input(by: str, expected: str) -> None:
    assert infer("sort", [strong("[a, b, c, d]")], output("[a, b, c, d]"), by=by) == f"{expected} strong"


def test_c85_a_sort_from_its_input() -> None:
    assert infer("sort", [strong("[d, c, b, a]")], mode="from_input", by="c") == "[c^, a, b, d] strong"


def test_c86_columns_to_sort_by() -> None:
    assert infer("sort", [weak("~[]")], by="k") == "~[k:any^] weak"
    assert refused("sort", [strong("[a]")], by="zz") == (
        311,
        "the strict schema has no column zz to sort by; it has a",
    )
    assert infer("sort", [strong("~[a]")], by="zz") == "~[zz:any^, a] strong"


@pytest.mark.parametrize(
    ("by", "unique"), [("k2,k1", True), ("k2", False), ("v,k2,k1", True), ("v,k1", False)]
)
def test_c87_unique_keys_after_a_sort(by: str, unique: bool) -> None:
    assert sort_schema(schema("[k1^, k2^, v]u"), sort_columns(by)).unique_keys is unique


@pytest.mark.parametrize(
    ("columns", "expected"),
    [("k1,v1", "[k1^, v1]"), ("k2,v2", "[k2, v2]"), ("k1,k2,v2", "[k1^, k2^, v2]u")],
)
def test_c88_filters(columns: str, expected: str) -> None:
    assert infer("ordered_merge", [strong("[k1^, k2^, v1, v2]u", columns)]) == f"{expected} strong"


def test_a_filter_keeps_the_columns_that_are_sorted_by() -> None:
    assert refused("sort", [strong("[a, b]", "a")], by="b") == (
        1,
        "the key column b is not among the columns of the inputs; add it to the filter",
    )


def test_c91_a_remote_copy_needs_equal_schemas() -> None:
    assert infer("remote_copy", [strong("[k^, a, b]")], output("[k^, b, a]")) == "[k^, b, a] strong"
    assert refused("remote_copy", [strong("[k^, a]")], output("[k^, a(g)]"))[0] == 316


def test_c110_a_column_twice() -> None:
    assert refused("sort", [strong("[k]")], by="k,k") == (1, "sort_by has the column k 2 times")
    assert refused("sort", [strong("[k]")]) == (1, "sort_by is empty; name at least one column")


def test_renames_come_before_everything() -> None:
    table = InputTable(schema("[a^, b]"), "strong", rename={"a": "k"}, columns=frozenset({"k"}))
    assert infer("ordered_merge", [table]) == "[k^] strong"


def test_appending_to_a_weak_table_keeps_it_weak() -> None:
    out = OutputTable(EMPTY, "weak", append=True)
    assert infer("ordered_merge", [strong("[a]")], out) == "~[] weak"


def test_a_column_without_an_order_is_not_sorted_by() -> None:
    assert refused("sort", [strong("[a:json]")], by="a") == (
        303,
        "the column a is optional<json>, which has no order to sort by",
    )

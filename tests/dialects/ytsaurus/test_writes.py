"""What writes make of the schemas of tables."""

from __future__ import annotations

import pytest

from dialects.ytsaurus.schemas import schema
from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.inference.writes import plan_write
from trellis.dialects.ytsaurus.paths.rich_path import parse_path
from trellis.dialects.ytsaurus.schema.model import SchemaMode


def plan(path: str, before: str, mode: SchemaMode = "weak", *, is_empty: bool = False) -> str:
    result = plan_write(parse_path(path), schema(before), mode, is_empty=is_empty)
    shown = str(result.schema).replace(":optional<int64>", "").replace(":optional<yson>", ":any")
    return f"{shown} {result.mode}"


def refused(path: str, before: str, mode: SchemaMode = "weak") -> str:
    with pytest.raises(YtError) as error:
        plan(path, before, mode)
    return error.value.message


def test_c60_an_append_to_a_sorted_weak_table() -> None:
    table = "~[a:any^, b:any^]"
    assert plan("<append=%true;sorted_by=[a]>//t", table) == "~[a:any^] weak"
    for keys, shown in (("b", "b"), ("a;b;c", "a, b, c")):
        assert refused(f"<append=%true;sorted_by=[{keys}]>//t", table) == (
            f"//t: sorted_by is {shown}, and the table is sorted by a, b; what is appended may be "
            "sorted by the "
            "same columns or the first of them"
        )


def test_c61_a_sorted_append_to_an_unsorted_weak_table() -> None:
    assert refused("<append=%true;sorted_by=[a]>//t", "~[]") == (
        "//t: sorted_by is a, and the table is sorted by nothing; what is appended may be sorted by "
        "the same columns "
        "or the first of them"
    )
    assert plan("<append=%true;sorted_by=[a]>//t", "~[]", is_empty=True) == "~[a:any^] weak"


def test_c64_a_schema_in_the_path() -> None:
    assert plan("<schema=[{name=x;type=int64}]>//t", "[a]", "strong") == "[x] strong"
    assert refused("<append=%true;schema=[{name=x;type=int64}]>//t", "[a]", "strong") == (
        "//t: append keeps the schema of the table; leave schema away"
    )
    assert refused("<sorted_by=[x];schema=[{name=x;type=int64}]>//t", "[a]", "strong") == (
        "//t: both schema and sorted_by; mark the key columns in the schema"
    )
    assert refused("<append=%true;optimize_for=scan>//t", "[a]", "strong") == (
        "//t: append keeps the optimize_for of the table; leave optimize_for away"
    )


def test_c65_keys_against_a_strong_schema() -> None:
    assert refused("<sorted_by=[v]>//t", "[k^, v]", "strong") == (
        "//t: sorted_by is v, and the strong schema is sorted by k; sort the table, or write with a schema"
    )
    assert plan("<sorted_by=[k]>//t", "[k^, v]", "strong") == "[k^, v] strong"


def test_a_weak_table_loses_its_schema() -> None:
    assert plan("//t", "~[a:any^]") == "~[] weak"
    assert plan("<sorted_by=[b]>//t", "~[a:any^]") == "~[b:any^] weak"

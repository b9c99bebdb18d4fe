"""Which changes of a schema need no data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dialects.ytsaurus.schemas import schema
from trellis.dialects.ytsaurus.alter.changes import check_alter
from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.schema.document import check_schema, parse_schema
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.switches import Switches


def refusals(
    old: str | TableSchema, new: str | TableSchema, *, is_empty: bool = False, **switches: Any
) -> list[str]:
    """Why an alter is refused; empty if it is allowed."""
    before, after = (schema(text) if isinstance(text, str) else text for text in (old, new))
    plan = check_alter(before, after, is_empty=is_empty, switches=Switches(**switches))
    return [str(change) for change in plan.refused]


def column(**parts: Any) -> TableSchema:
    return parse_schema([{"name": "a", "type": "int64", **parts}])


def test_c93_a_column_is_added() -> None:
    assert not refusals("[k^, v]", "[k^, v, w]")
    assert refusals("[k^, v]", "[k^, v, w:int64!]") == [
        "column w: required column added, and the rows have no value for it"
    ]


def test_c94_a_key_column_is_added() -> None:
    assert not refusals("[k^, v]", "[k^, m^, v]")
    assert refusals("[k^, v]", "[m^, k^, v]") == ["column m: key column added before an existing key"]


def test_c95_a_last_key_column_becomes_plain() -> None:
    assert not refusals("[k^, m^, v]u", "[k^, m, v]")
    assert refusals("[k^, m^, v]u", "[k^, m, v]u") == [
        "unique_keys stays %true with fewer key columns; set it to %false"
    ]
    assert refusals("[k^, m^, v]", "[m^, k, v]") == [
        "key columns change their order",
        "column k: key column before another is no longer key",
    ]


def test_c96_a_column_is_removed() -> None:
    assert refusals("[k^, v]", "[k^]") == ["column v: column removed from a strict schema"]
    assert not refusals("~[k^, v]", "~[k^]")


def test_c97_strictness() -> None:
    assert not refusals("[a]", "~[a]")
    assert refusals("[a]", "~[a, b]") == [
        "strict becomes %false and columns change; alter in two steps",
        "column b: column added to a schema that is not strict, whose rows may have it already",
    ]
    assert refusals("~[a]", "[a]") == ["strict becomes %true: rows may have columns that are not declared"]


def test_c98_no_column_is_added_to_a_schema_that_is_not_strict() -> None:
    assert refusals("~[a]", "~[a, b]") == [
        "column b: column added to a schema that is not strict, whose rows may have it already"
    ]


def test_c99_types() -> None:
    assert not refusals("[a:int32]", "[a:int64]")
    assert refusals("[a:int64]", "[a:int32]") == [
        "column a: type optional<int64> becomes optional<int32>: values of int64 may be out of range of int32"
    ]
    assert not refusals("[a]", "[a:any]")
    assert refusals("[a^]", "[a:any^]") == [
        "column a: type optional<int64> becomes optional<yson> in a key column"
    ]
    assert refusals("[a^]", "[a:any^]", is_empty=True) == ["column a: the type of a key column becomes any"]


def test_c100_required() -> None:
    assert not refusals("[a:int64!]", "[a]")
    assert refusals("[a]", "[a:int64!]") == [
        "column a: type optional<int64> becomes int64: int64 holds no null"
    ]


def test_c101_expressions_and_aggregates() -> None:
    assert refusals("[a^, b^]", "[a^, b^=a]") == ["column b: expression changed"]
    assert refusals("[a^, b^=a]", "[a^, b^]") == ["column b: expression changed"]
    assert refusals("[a^, b^=a]", "[a^, b^=a+1]") == ["column b: expression changed"]
    assert refusals("[a^]", "[a^, b^=a]") == ["column b: computed column added"]
    assert refusals(column(aggregate="sum"), column(aggregate="max")) == ["column a: aggregate changed"]


@pytest.mark.parametrize("change", [{"aggregate": "sum"}, {"lock": "l"}, {"group": "g"}])
def test_c102_what_may_be_set(change: dict[str, str]) -> None:
    assert not refusals(column(), column(**change))


def test_c103_a_rename() -> None:
    renamed = parse_schema([{"name": "new", "stable_name": "a", "type": "int64"}])
    assert not refusals("[a]", renamed)


def test_c104_no_table_becomes_sorted() -> None:
    assert refusals("[k^, v]", "[k^, v^]") == ["column v: sort_order becomes ascending"]
    assert refusals("[k, v]", "[k^, v]") == [
        "the table becomes sorted",
        "column k: sort_order becomes ascending",
    ]


def test_c105_an_empty_table_takes_any_valid_schema() -> None:
    assert [fault.code for fault in check_schema([{"name": "a", "type": "int64"}] * 2)] == [
        ErrorCode.INVALID_SCHEMA
    ]
    assert not refusals("[k^, v]", "~[x:string]", is_empty=True)


def test_the_last_key_columns_of_a_schema_that_is_not_strict() -> None:
    assert not refusals("~[a^, b^, c^]", "~[a^]")
    assert refusals("~[a^, b^]", "~[b^]") == ["column a: key column removed before another"]


def test_dropped_columns() -> None:
    dropped = TableSchema(schema("[a]").columns, deleted_columns=("b",))
    assert refusals("[a, b]", dropped) == ["column b: column removed from a strict schema"]
    assert not refusals("[a, b]", dropped, enable_drop_columns=True)
    assert refusals(dropped, "[a]", enable_drop_columns=True) == ["deleted_columns no longer lists b"]


def test_the_documented_changes_alone() -> None:
    assert not refusals("[a]", "[a, b]", alter_policy="documented")
    assert refusals("[a:int32]", "[a]", alter_policy="documented") == [
        "column a: type optional<int32> becomes optional<int64> (alter_policy=documented)"
    ]


def test_a_dry_run() -> None:
    plan = check_alter(schema("[k^, v:int64]"), schema("[k^, v:int32, w]"), path="//t")
    report = plan.to_dict()
    assert (report["allowed"], report["table"]) == (False, [])
    assert [(part["name"], part["verdict"], part["rule"]) for part in report["columns"]] == [
        (
            "v",
            "needs rewrite",
            "type optional<int64> becomes optional<int32>: values of int64 may be out of range of int32",
        ),
        ("w", "metadata only", "column added"),
    ]
    assert report["columns"][1]["before"] is None
    assert report["columns"][1]["after"]["type"] == "int64"
    assert report["rewrite"].startswith(
        'merge --mode ordered --src //t --dst \'<schema=<"unique_keys"=%false;'
    )
    assert json.dumps(report)
    with pytest.raises(YtError) as error:
        plan.check()
    assert str(error.value) == (
        "the schema of //t cannot be changed without its data: column v: type optional<int64> becomes "
        "optional<int32>: values of int64 may be out of range of int32"
    )

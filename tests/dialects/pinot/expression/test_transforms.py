"""Transforms and filters on rows."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from trellis.dialects.pinot.document.fields import FieldSpec, PinotSchema
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.expression.transforms import Filter, RowFault, Transforms
from trellis.dialects.pinot.table.config import TableConfig, table_config
from trellis.errors import SchemaError

Kleene = bool | None
VALUES: tuple[Kleene, ...] = (True, False, None)


def transforms(*pairs: tuple[str, str], **columns: str | None) -> Transforms:
    specs = tuple(FieldSpec(name, PinotType.STRING, transform=text) for name, text in columns.items())
    return Transforms(PinotSchema("s", specs), TableConfig(transforms=pairs))


def applied(compiled: Transforms, **values: Any) -> tuple[dict[str, Any], set[str], list[tuple[str, str]]]:
    nulls: set[str] = set()
    failures = compiled.apply(values, nulls)
    return values, nulls, [(failure.column, failure.reason) for failure in failures]


def test_a_column_is_computed_where_it_is_absent_or_null() -> None:
    compiled = transforms(("u", "upper(a)"))
    assert applied(compiled, a="x") == ({"a": "x", "u": "X"}, set(), [])
    assert applied(compiled, a="x", u=None) == ({"a": "x", "u": "X"}, set(), [])


def test_a_value_that_the_record_brings_stays() -> None:
    assert applied(transforms(("u", "upper(a)")), a="x", u="mine")[0]["u"] == "mine"
    assert applied(transforms(("u", "upper(a)")), a="x", u=b"\x01")[0]["u"] == b"\x01"


@pytest.mark.parametrize(
    ("brought", "text", "expected"),
    [
        ([1, 2], "jsonFormat(u)", [1, 2]),
        ([1, 2], "jsonFormat(v)", "[1,2]"),
        ({"k": 1}, "jsonFormat(v)", "[1,2]"),
        ({"k": 1}, "v", [1, 2]),
        ([9], "v", [9]),
        ([9], "nope", [9]),
        ([9], "year('x')", [9]),
    ],
)
def test_a_list_or_map_is_replaced_by_another_container_only(brought: Any, text: str, expected: Any) -> None:
    if "u" in text:
        with pytest.raises(SchemaError, match="Expression cycle found for column 'u'"):
            transforms(("u", text))
        return
    values, _, failures = applied(transforms(("u", text)), u=brought, v=[1, 2])
    assert (values["u"], failures) == (expected, [])


def test_a_null_result_takes_the_column_out_and_marks_it() -> None:
    assert applied(transforms(("u", "upper(a)")), u=None) == ({}, {"u"}, [])


def test_a_failure_is_told_and_the_other_columns_go_on() -> None:
    values, nulls, failures = applied(transforms(("y", "year(a)"), ("u", "upper(a)")), a="x")
    assert values == {"a": "x", "u": "X"}
    assert nulls == {"y"}
    expected = "a whole number of 64 bits, true or false, a timestamp, or text of a whole number"
    assert failures == [("y", f"STRING 'x' cannot become LONG: expected {expected}")]


def test_the_table_config_beats_the_schema() -> None:
    assert applied(transforms(("u", "upper(a)"), u="lower(a)"), a="aB")[0]["u"] == "AB"
    assert applied(transforms(u="lower(a)"), a="aB")[0]["u"] == "ab"


def test_transforms_run_after_those_they_read() -> None:
    compiled = transforms(("c", "concat(b, 'c')"), ("b", "concat(a, 'b')"), ("d", "concat(c, b)"))
    assert [column.column for column in compiled.order] == ["b", "c", "d"]
    assert compiled.arguments == {"a", "b", "c"}
    assert applied(compiled, a="a")[0]["d"] == "abcab"


def test_a_chain_of_thousands_is_ordered() -> None:
    compiled = transforms(*[(f"c{at}", f"c{at + 1}") for at in range(5000)])
    assert applied(compiled, c5000=7)[0]["c0"] == 7


@pytest.mark.parametrize(
    "pairs",
    [
        [("a", "lower(a)")],
        [("a", "lower(b)"), ("b", "lower(a)")],
        [("x", "lower(y)"), ("a", "b"), ("b", "a + x")],
    ],
)
def test_a_cycle_is_refused(pairs: list[tuple[str, str]]) -> None:
    with pytest.raises(SchemaError, match="Expression cycle found for column 'a' in Ingestion Transform"):
        transforms(*pairs)


def test_two_transforms_of_a_column_are_refused() -> None:
    configs = [{"columnName": "a", "transformFunction": f"{name}(b)"} for name in ("lower", "upper")]
    with pytest.raises(SchemaError, match=r"Cannot set more than one transform function on column: a\."):
        table_config({"tableName": "t", "ingestionConfig": {"transformConfigs": configs}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lowr(a)", "transform function of column u: unknown function lowr: did you mean 'lower'?"),
        (
            "Groovy({a}, a)",
            "transform function of column u: Trellis does not carry out Pinot's function",
        ),
        ("lower(a", "transform function of column u: , or ) is expected, not the end, at column 8"),
    ],
)
def test_a_wrong_function_is_refused_before_any_row(text: str, message: str) -> None:
    with pytest.raises(SchemaError) as raised:
        transforms(("u", text))
    assert str(raised.value).startswith(message)


def test_keys_and_values_of_a_map_come_in_the_order_of_the_keys() -> None:
    compiled = transforms(m__KEYS=None, m__VALUES=None)
    assert compiled.arguments == {"m"}
    assert applied(compiled, m={"b": 1, "a": 2}) == (
        {"m": {"b": 1, "a": 2}, "m__KEYS": ["a", "b"], "m__VALUES": [2, 1]},
        set(),
        [],
    )
    assert applied(compiled)[1:] == ({"m__KEYS", "m__VALUES"}, [])
    assert applied(compiled, m=5)[2][0] == ("m__KEYS", "a map is expected, not a value of class int")
    assert not transforms(__KEYS=None).order


def test_a_virtual_column_is_not_computed() -> None:
    spec = FieldSpec("v", PinotType.STRING, transform="lower(a)", virtual_provider="x.Y")
    assert not Transforms(PinotSchema("s", (spec,)), TableConfig()).order


@pytest.mark.parametrize(("left", "right"), list(product(VALUES, VALUES)))
def test_logic_has_three_values(left: Kleene, right: Kleene) -> None:
    row = {"l": left, "r": right}
    either = True if True in (left, right) else None if None in (left, right) else False
    both = False if False in (left, right) else None if None in (left, right) else True
    for text, expected in (
        ("l and r", both),
        ("l or r", either),
        ("not l", None if left is None else not left),
    ):
        assert applied(transforms(("x", text)), **row)[0].get("x") is expected
        assert Filter(text).drops(row) is (expected is True)


@pytest.mark.parametrize(
    ("text", "row", "dropped"),
    [
        ("a > 1", {"a": 2}, True),
        ("a > 1", {"a": 1}, False),
        ("a > 1", {}, False),
        ("not a > 1", {}, False),
        ("a is null", {}, True),
        ("c LIKE 'X' OR c LIKE 'Y'", {"c": "Y"}, True),
        ("a", {"a": 1}, False),
        ("'true'", {}, False),
    ],
)
def test_a_filter_drops_what_is_true(text: str, row: dict[str, Any], dropped: bool) -> None:
    assert Filter(text).drops(row) is dropped


def test_a_filter_that_fails_says_why() -> None:
    with pytest.raises(RowFault, match="STRING 'x' cannot become DOUBLE: expected a number"):
        Filter("a > 1").drops({"a": "x"})
    with pytest.raises(SchemaError, match=r"filter function: unknown function foo"):
        Filter("foo(a)")
    assert Filter("a > b").arguments == {"a", "b"}

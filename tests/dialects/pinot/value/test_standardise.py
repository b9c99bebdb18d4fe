"""Lists and maps where a scalar belongs, and the reverse."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.pinot.value.columns import convert
from trellis.dialects.pinot.conversion.converter import standardise
from trellis.dialects.pinot.value.source_kinds import CannotConvert

ROWS = [
    ("M01", [], "INT[]", None),
    ("M02", [None, 5], "INT", 5),
    ("M04", 5, "INT[]", [5]),
    ("M05", [None, 5, None, 6], "INT[]", [5, 6]),
    ("M06", [1, "2", 3, 4.5], "INT[]", [1, 2, 3, 4]),
    ("M08", [[1], [3]], "INT[]", [1, 3]),
    ("M09", {"x": 1, "y": 2}, "INT[]", [1, 2]),
    ("K24", {"k": 5}, "INT", 5),
]
REFUSED = [("M03", [5, 6], "INT"), ("M07", [[1, 2], [3]], "INT[]"), ("M10", "5,6", "INT[]")]

SINGLE: list[tuple[Any, Any]] = [
    (None, None),
    ([], None),
    ({}, None),
    ([None], None),
    ([None, []], None),
    ([None, None], None),
    ([5], 5),
    ([[5]], 5),
    ([[], [5]], 5),
    ([[], 5, None, {}], 5),
    ({"x": {"y": {"z": 5}}}, 5),
    ({"x": [1], "y": None}, 1),
    ([None, [None, [5]]], 5),
    ((5,), 5),
]
SEVERAL: list[tuple[Any, Any]] = [
    *SINGLE,
    ([5, 6], [5, 6]),
    ([[5, 6]], [5, 6]),
    ([[], [5], [6]], [5, 6]),
    ([{"a": 1}, {"b": 2}], [1, 2]),
    ([{"a": 1, "b": 2}], [1, 2]),
    ({"x": [1, 2]}, [1, 2]),
    ({"x": [1], "y": [2]}, [1, 2]),
    ([5, 5, 5], [5, 5, 5]),
]


@pytest.mark.parametrize(
    ("value", "target", "stored"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_row(value: Any, target: str, stored: Any) -> None:
    assert convert(value, target) == stored


@pytest.mark.parametrize(("value", "target"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused(value: Any, target: str) -> None:
    with pytest.raises(CannotConvert):
        convert(value, target)


@pytest.mark.parametrize(("value", "expected"), SINGLE)
def test_single(value: Any, expected: Any) -> None:
    assert standardise(value) == expected


@pytest.mark.parametrize(("value", "expected"), SEVERAL)
def test_several(value: Any, expected: Any) -> None:
    assert standardise(value, single=False) == expected


@pytest.mark.parametrize(
    "value", [[5, 6], [5, None, 6], [[5, 6]], {"x": 1, "y": 2}, {"x": [1, 2]}, [[1], [2]]]
)
def test_several_in_the_place_of_one(value: Any) -> None:
    with pytest.raises(CannotConvert, match=r"^Cannot read single-value from a (list|map) of . values: "):
        standardise(value)


@pytest.mark.parametrize("value", [[[5], [6, 7]], [{"a": 1, "b": 2}, 3], [None, [5, 6]]])
def test_several_inside_several(value: Any) -> None:
    with pytest.raises(CannotConvert, match=r"^Cannot read single-value from "):
        standardise(value, single=False)


def test_the_sentence_says_what_to_do() -> None:
    with pytest.raises(CannotConvert) as caught:
        convert(["a" * 100, "b"], "STRING")
    assert str(caught.value) == (
        f"Cannot read single-value from a list of 2 values: ['{'a' * 12}...{'a' * 13}', 'b']; "
        "provide one value, or declare the column with singleValueField false"
    )


def test_one_value_below_very_many_lists() -> None:
    value: Any = 5
    for _ in range(50_000):
        value = [value]
    assert convert(value, "INT") == 5


def test_lists_nested_too_deep_to_be_counted() -> None:
    value: Any = 5
    for _ in range(50_000):
        value = [None, value]
    with pytest.raises(CannotConvert, match="nested too deep"):
        convert(value, "INT")


def test_seed_p31_order_and_duplicates_are_kept() -> None:
    assert convert(["b", "a", "b"], "STRING[]") == ["b", "a", "b"]
    assert convert([3, 1, 3, 1], "LONG[]") == [3, 1, 3, 1]

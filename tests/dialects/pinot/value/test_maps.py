"""MAP columns: maps as they are, and text of a JSON object."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.pinot.value.columns import convert
from trellis.dialects.pinot.value.source_kinds import CannotConvert

KEPT: list[tuple[Any, Any]] = [
    (None, None),
    ({}, {}),
    ({"k": 5}, {"k": 5}),
    ({"b": [1, None], "a": {"c": None}}, {"b": [1, None], "a": {"c": None}}),
    ({2: "a", True: "b"}, {"2": "a", "true": "b"}),
    ({1.5: "a", "k": 2}, {"1.5": "a", "k": 2}),
    ('{"b":1,"a":1.10}', {"b": 1, "a": 1.1}),
    (' {"a":1,"a":2} junk', {"a": 2}),
    ('{"n":123456789012345678901}', {"n": 123456789012345678901}),
    ("null", None),
]


@pytest.mark.parametrize(("value", "stored"), KEPT)
def test_kept(value: Any, stored: Any) -> None:
    assert convert(value, "MAP") == stored


@pytest.mark.parametrize(
    "value", [5, True, 1.5, "abc", "", "[1]", "1", "nullx", '{"a":NaN}', '{"a":', [5], [], b"\xca"]
)
def test_k25_refused(value: Any) -> None:
    with pytest.raises(CannotConvert, match=r"cannot become MAP: expected a map, or text of a JSON object$"):
        convert(value, "MAP")


def test_null_is_no_key() -> None:
    with pytest.raises(CannotConvert, match="null cannot be the key"):
        convert({None: 1, "a": 2}, "MAP")


def test_a_list_column_takes_lists_and_their_text() -> None:
    assert convert([1, "a"], "LIST") == convert('[1, "a"]', "LIST") == [1, "a"]
    with pytest.raises(CannotConvert, match="a list, or text of a JSON array"):
        convert({"a": 1}, "LIST")


@given(st.dictionaries(st.text() | st.integers() | st.booleans(), st.none() | st.integers() | st.text()))
def test_converting_again_changes_nothing(value: dict[Any, Any]) -> None:
    stored = convert(value, "MAP")
    assert convert(stored, "MAP") == stored

"""The order of values: two are equal if and only if they compare as equal."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.pinot.value.columns import column
from trellis.dialects.pinot.conversion.comparison import compare, order_key
from trellis.dialects.pinot.conversion.special_values import special_value_fixer
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.source_kinds import CannotConvert

PAIRS = [
    ("INT", -1, 1),
    ("LONG", -(2**63), 2**63 - 1),
    ("FLOAT", float("-inf"), 0.0),
    ("DOUBLE", 1.0, float("inf")),
    ("BIG_DECIMAL", Decimal("9.99"), Decimal("1E+1")),
    ("BOOLEAN", 0, 1),
    ("TIMESTAMP", -1, 0),
    ("STRING", "B", "a"),
    ("STRING", "\U0001f600", "\uffff"),
    ("JSON", "", "[]"),
    ("BYTES", b"\x7f", b"\x80"),
    ("BYTES", b"\x01", b"\x01\x00"),
    ("UUID", bytes(16), bytes(15) + b"\x01"),
]

STORED: dict[str, st.SearchStrategy[Any]] = {
    "INT": st.integers(-(2**31), 2**31 - 1),
    "DOUBLE": st.floats(),
    "BIG_DECIMAL": st.decimals(allow_nan=False, allow_infinity=False, places=3)
    | st.decimals("-2", "2", places=1),
    "STRING": st.text(max_size=4),
    "BYTES": st.binary(max_size=3),
}


@pytest.mark.parametrize(("target", "less", "more"), PAIRS)
def test_less_and_more(target: str, less: Any, more: Any) -> None:
    assert compare(PinotType(target), less, more) == -1
    assert compare(PinotType(target), more, less) == 1
    assert compare(PinotType(target), less, less) == 0


@pytest.mark.parametrize("target", STORED)
@given(data=st.data())
def test_seed_p23_p24_the_order_is_total_and_consistent_with_equals(target: str, data: st.DataObject) -> None:
    change = special_value_fixer(column(target))
    values = STORED[target].map(change) if change else STORED[target]
    one, two, three = (data.draw(values.filter(lambda each: each is not None)) for _ in range(3))
    kind = PinotType(target)
    assert one == one
    assert compare(kind, one, one) == 0
    assert (compare(kind, one, two) == 0) == (one == two)
    assert compare(kind, one, two) == -compare(kind, two, one)
    if compare(kind, one, two) <= 0 and compare(kind, two, three) <= 0:
        assert compare(kind, one, three) <= 0


def test_before_special_values_are_set_right_the_order_is_total_too() -> None:
    nan = float("nan")
    assert compare(PinotType.DOUBLE, nan, nan) == 0
    assert compare(PinotType.DOUBLE, nan, float("inf")) == 1
    assert compare(PinotType.BIG_DECIMAL, Decimal("1.0"), Decimal(1)) == 1
    assert sorted([nan, 1.0, -1.0], key=lambda each: order_key(PinotType.DOUBLE, each))[:2] == [-1.0, 1.0]


@pytest.mark.parametrize("target", ["MAP", "LIST", "STRUCT", "OPEN_STRUCT"])
def test_maps_and_lists_have_no_order(target: str) -> None:
    with pytest.raises(CannotConvert, match="maps and lists have no order"):
        compare(PinotType(target), {}, {})

"""Values that would not equal themselves, or one another."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.pinot.value.columns import column
from trellis.dialects.pinot.conversion.sanitization import special_value_fixer

NAN = float("nan")
ROWS = [
    ("S01 seed_p25", "DOUBLE", -0.0, 0.0),
    ("S01 FLOAT", "FLOAT", -0.0, 0.0),
    ("S02 seed_p26", "DOUBLE", NAN, None),
    ("S02 FLOAT", "FLOAT", NAN, None),
    ("S03", "DOUBLE[]", [NAN, 1.0, -0.0], [1.0, 0.0]),
    ("S04", "DOUBLE[]", [NAN], None),
    ("S05 seed_p27", "BIG_DECIMAL", Decimal("1200.00"), Decimal("1.2E+3")),
    ("S05 100", "BIG_DECIMAL", Decimal(100), Decimal("1E+2")),
    ("S05 0E-18", "BIG_DECIMAL", Decimal("0E-18"), Decimal(0)),
    ("S05 0E+5", "BIG_DECIMAL", Decimal("0E+5"), Decimal(0)),
    ("S05 several", "BIG_DECIMAL[]", [Decimal("1.0"), Decimal("0.0")], [Decimal(1), Decimal(0)]),
    ("infinite", "DOUBLE", float("-inf"), float("-inf")),
    ("null", "DOUBLE", None, None),
    ("no values", "FLOAT[]", None, None),
]


@pytest.mark.parametrize(
    ("target", "value", "stored"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_row(target: str, value: Any, stored: Any) -> None:
    change = special_value_fixer(column(target))
    assert change is not None
    assert repr(change(value)) == repr(stored)


def test_seed_p77_trailing_zeros_may_be_allowed() -> None:
    assert special_value_fixer(column("BIG_DECIMAL", trailing_zeros=True)) is None


@pytest.mark.parametrize("target", ["INT", "LONG", "BOOLEAN", "TIMESTAMP", "STRING", "JSON", "BYTES", "MAP"])
def test_other_types_have_no_special_values(target: str) -> None:
    assert special_value_fixer(column(target)) is None


@given(st.floats())
def test_every_double_equals_itself_afterwards(value: float) -> None:
    change = special_value_fixer(column("DOUBLE"))
    assert change is not None
    changed = change(value)
    assert changed == changed
    assert repr(change(changed)) == repr(changed)


@given(st.lists(st.floats()))
def test_doing_it_again_changes_nothing(values: list[float]) -> None:
    change = special_value_fixer(column("DOUBLE[]"))
    assert change is not None
    changed = change(values)
    assert repr(change(changed)) == repr(changed)


@given(st.decimals(allow_nan=False, allow_infinity=False), st.integers(0, 40))
def test_decimals_of_one_value_become_one(value: Decimal, zeros: int) -> None:
    change = special_value_fixer(column("BIG_DECIMAL"))
    assert change is not None
    sign, digits, exponent = value.as_tuple()
    longer = Decimal((sign, (*digits, *(0,) * zeros), int(exponent) - zeros))
    assert change(value) == value
    assert repr(change(longer)) == repr(change(value)) == repr(change(change(value)))

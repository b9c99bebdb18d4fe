"""Numbers as Java writes them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.dialects.pinot.value.numbers import (
    decimal_text,
    double_text,
    float_text,
    parse_double,
    parse_float,
    plain_text,
)
from trellis.dialects.pinot.value.source_kinds import CannotConvert, Float32

DOUBLES = [
    (123.0, "123.0"),
    (100.0, "100.0"),
    (0.0, "0.0"),
    (-0.0, "-0.0"),
    (9999999.0, "9999999.0"),
    (1e7, "1.0E7"),
    (12345678.0, "1.2345678E7"),
    (1e8, "1.0E8"),
    (1e21, "1.0E21"),
    (0.001, "0.001"),
    (0.00099, "9.9E-4"),
    (1e-4, "1.0E-4"),
    (2e23, "2.0E23"),
    (-1.5e-7, "-1.5E-7"),
    (5e-324, "4.9E-324"),
    (1.7976931348623157e308, "1.7976931348623157E308"),
    (float("nan"), "NaN"),
    (float("inf"), "Infinity"),
    (float("-inf"), "-Infinity"),
]
FLOATS = [
    (7.9, "7.9"),
    (0.1, "0.1"),
    (123, "123.0"),
    (1.5, "1.5"),
    (10, "10.0"),
    (0.001, "0.001"),
    (9.9e-4, "9.9E-4"),
    (9999999, "9999999.0"),
    (1e10, "1.0E10"),
    (2e23, "2.0E23"),
    (16777216, "1.6777216E7"),
    (3.4028235e38, "3.4028235E38"),
    (1.17549435e-38, "1.1754944E-38"),
    (1.4e-45, "1.4E-45"),
    (2**-126 - 2**-149, "1.1754942E-38"),
    (-0.0, "-0.0"),
    (float("nan"), "NaN"),
    (float("-inf"), "-Infinity"),
]
PLAIN = [
    ("1E+3", "1000"),
    ("7.90", "7.90"),
    ("0E+3", "0"),
    ("0E-10", "0.0000000000"),
    ("-0.0", "0.0"),
    ("1E-10", "0.0000000001"),
    ("-1.5", "-1.5"),
]
DECIMALS = [
    ("1E+3", "1E+3"),
    ("7.90", "7.90"),
    ("1e5", "1E+5"),
    ("-0", "0"),
    ("-0.00", "0.00"),
    ("0.000001", "0.000001"),
    ("0.0000001", "1E-7"),
    ("0E-7", "0E-7"),
    ("12.5E+3", "1.25E+4"),
]


@pytest.mark.parametrize(("value", "text"), DOUBLES)
def test_double(value: float, text: str) -> None:
    assert double_text(value) == text


@pytest.mark.parametrize(("value", "text"), FLOATS)
def test_float(value: float, text: str) -> None:
    assert float_text(Float32(value)) == text


@pytest.mark.parametrize(("value", "text"), PLAIN)
def test_plain_decimal(value: str, text: str) -> None:
    assert plain_text(Decimal(value)) == text


@pytest.mark.parametrize(("value", "text"), DECIMALS)
def test_decimal(value: str, text: str) -> None:
    assert decimal_text(Decimal(value)) == text


def test_a_decimal_that_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(CannotConvert, match="would be longer than 1000000 characters"):
        plain_text(Decimal("1E+1000000000"))


@given(st.floats(allow_nan=False))
def test_the_text_of_a_double_names_it(value: float) -> None:
    assert repr(parse_double(double_text(value))) == repr(value)


@given(st.floats(allow_nan=False, width=32))
def test_the_text_of_a_float_names_it(value: float) -> None:
    text = float_text(value)
    assert repr(parse_float(text)) == repr(value)
    assert len(text.strip("-").partition("E")[0].replace(".", "")) <= 9 or abs(value) < 1e7


@given(st.integers(-(2**24), 2**24))
def test_a_whole_number_has_the_same_text_as_a_float_and_as_a_double(value: int) -> None:
    assert float_text(Float32(value)).partition("E")[0] == double_text(float(value)).partition("E")[0]

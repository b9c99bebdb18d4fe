"""Numbers that stand in text, as Java reads them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.dialects.pinot.date_time.units import low_bits, wrap
from trellis.dialects.pinot.value.numbers import (
    NotANumber,
    parse_decimal,
    parse_double,
    parse_float,
    parse_whole,
    saturated,
)
from trellis.dialects.pinot.value.source_kinds import INT_MAX, INT_MIN, round32

WHOLES = [("7", 7), ("+7", 7), ("-7", -7), ("-0", 0), ("0" * 5000 + "7", 7), ("\u0667", 7), ("\uff17", 7)]
NO_WHOLES = [
    "",
    "-",
    "+-7",
    " 7",
    "7\u00a0",
    "7.0",
    "1e3",
    "0x10",
    "1_0",
    "\U0001d7d5",
    "9" * 19,
    "9" * 9999,
    "²",
]
DOUBLES = [
    ("7", 7.0),
    ("  7 ", 7.0),
    ("\x007\x1f", 7.0),
    ("1d", 1.0),
    ("1F", 1.0),
    ("1e5D", 100000.0),
    (".5", 0.5),
    ("5.", 5.0),
    ("+.5e-3", 0.0005),
    ("Infinity", float("inf")),
    ("-Infinity", float("-inf")),
    ("0x1p3", 8.0),
    ("0X1.8P-1f", 0.75),
    ("-0x.8p0", -0.5),
    ("0x1.p1", 2.0),
    ("1e400", float("inf")),
    ("1e-400", 0.0),
    ("-0", -0.0),
    ("9" * 400, float("inf")),
]
NO_DOUBLES = [
    *("", " ", ".", "e1", "1e", "1e+", "1_0", "nan", "inf", "infinity", "-nan", "+-Infinity", "\u0667"),
    *("0x1", "0x1p", "0xp1", "7dd", "7 d", "7\u00a0", "1,5", "--1", "NaNd", "Infinityf", "0x1pf"),
]
DECIMALS = [
    *(("7", "7"), ("1e5", "1E+5"), ("1e-5", "0.00001"), ("+1", "1"), ("-0", "0"), ("-0.0", "0.0")),
    *(("1.", "1"), (".5", "0.5"), ("00.10", "0.10"), ("\u0667", "7"), ("1e2147483647", "1E+2147483647")),
]
NO_DECIMALS = [
    "",
    ".",
    " 7",
    "1d",
    "0x1",
    "NaN",
    "Infinity",
    "1_0",
    "1e",
    "1e2147483648",
    "1e-2147483648",
    "1 2",
]


@pytest.mark.parametrize(("text", "value"), WHOLES)
def test_whole(text: str, value: int) -> None:
    assert parse_whole(text) == value


@pytest.mark.parametrize("text", NO_WHOLES)
def test_no_whole_number(text: str) -> None:
    with pytest.raises(NotANumber):
        parse_whole(text)


def test_the_edges_of_int() -> None:
    assert parse_whole("-2147483648", INT_MIN, INT_MAX) == INT_MIN
    with pytest.raises(NotANumber):
        parse_whole("2147483648", INT_MIN, INT_MAX)


@pytest.mark.parametrize(("text", "value"), DOUBLES)
def test_double_and_float(text: str, value: float) -> None:
    assert repr(parse_double(text)) == repr(value)
    assert repr(parse_float(text)) == repr(round32(value))


@pytest.mark.parametrize("text", ["NaN", "+NaN", "-NaN"])
def test_nan(text: str) -> None:
    assert parse_double(text) != parse_double(text)
    assert parse_float(text) != parse_float(text)


@pytest.mark.parametrize("text", NO_DOUBLES)
def test_no_double(text: str) -> None:
    with pytest.raises(NotANumber):
        parse_double(text)
    with pytest.raises(NotANumber):
        parse_float(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [("16777217", 16777216.0), ("1e-45", 1.401298464324817e-45), ("7e-46", 0.0), ("-1e-60", -0.0)],
)
def test_a_float_has_32_bits(text: str, value: float) -> None:
    assert repr(parse_float(text)) == repr(value)


@pytest.mark.parametrize(("text", "value"), DECIMALS)
def test_decimal(text: str, value: str) -> None:
    assert str(parse_decimal(text)) == value


@pytest.mark.parametrize("text", NO_DECIMALS)
def test_no_decimal(text: str) -> None:
    with pytest.raises(NotANumber):
        parse_decimal(text)


@given(st.integers(-(2**70), 2**70))
def test_wrapping_is_that_of_java(value: int) -> None:
    for bits in (32, 64):
        actual = wrap(value, bits)
        assert -(2 ** (bits - 1)) <= actual < 2 ** (bits - 1)
        assert (actual - value) % 2**bits == 0
        assert low_bits(Decimal(value), bits) == actual


@given(st.floats(allow_nan=False))
def test_saturating_keeps_the_whole_part_or_the_edge(value: float) -> None:
    assert saturated(value, 64) == max(-(2**63), min(2**63 - 1, int(value) if abs(value) < 1e300 else value))

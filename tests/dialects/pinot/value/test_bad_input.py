"""Values that are huge, of the wrong shape, or hold what no text should."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from dialects.pinot.value.columns import column, convert
from trellis.dialects.pinot.conversion.sanitization import sanitiser
from trellis.dialects.pinot.value.source_kinds import CannotConvert

MILLIONS = 10_000_000
MAX_DIGITS = "9" * MILLIONS
WORD = "x" * MILLIONS
NUMERIC = ("INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL")


@pytest.mark.parametrize("target", [*NUMERIC, "TIMESTAMP", "BYTES", "MAP"])
def test_ten_megabytes_of_text_that_do_not_fit(target: str) -> None:
    with pytest.raises(CannotConvert) as caught:
        convert(WORD, target)
    assert str(caught.value).startswith(
        f"STRING '{'x' * 60}'... (10000000 characters) cannot become {target}: "
    )
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("target", ["INT", "LONG", "TIMESTAMP"])
def test_ten_million_digits_are_no_whole_number(target: str) -> None:
    with pytest.raises(CannotConvert, match=r"\(10000000 characters\) cannot become"):
        convert(MAX_DIGITS, target)


@pytest.mark.parametrize(
    ("target", "text", "stored"),
    [
        ("DOUBLE", MAX_DIGITS, float("inf")),
        ("FLOAT", f"0.{MAX_DIGITS}", 1.0),
        ("LONG", "0" * MILLIONS + "7", 7),
        ("LONG", " " * MILLIONS + "7", 7),
        ("BOOLEAN", WORD, 0),
        ("STRING", WORD, WORD),
        ("JSON", WORD, f'"{WORD}"'),
        ("JSON", f'["{WORD}"]', f'["{WORD}"]'),
        ("JSON", " " * MILLIONS, ""),
        ("BYTES", "00" * (MILLIONS // 2), bytes(MILLIONS // 2)),
        ("BIG_DECIMAL", f"1.{'0' * MILLIONS}", Decimal(f"1.{'0' * MILLIONS}")),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_ten_megabytes_that_fit(target: str, text: str, stored: Any) -> None:
    assert convert(text, target) == stored


def test_a_list_of_numbers_that_python_refuses_to_write_is_shown() -> None:
    with pytest.raises(CannotConvert) as caught:
        convert([10**5000, 7], "STRING")
    assert str(caught.value) == (
        "Cannot read single-value from a list of 2 values: [of 16610 bits, 7]; "
        "provide one value, or declare the column with singleValueField false"
    )


def test_ten_megabytes_of_text_are_cut() -> None:
    cut = sanitiser(column("STRING"))
    assert cut is not None
    assert cut(WORD) == "x" * 512
    assert cut("\U0001f600" * MILLIONS) == "\U0001f600" * 256


@pytest.mark.parametrize(
    ("target", "stored"),
    [
        ("INT", 7),
        ("LONG", 7),
        ("DOUBLE", 7.0),
        ("BIG_DECIMAL", Decimal(7)),
        ("TIMESTAMP", 7),
        ("STRING", "\x007\0"),
    ],
)
def test_nul_around_a_number_is_trimmed_as_java_does(target: str, stored: Any) -> None:
    assert convert("\x007\0", target) == stored


@pytest.mark.parametrize("target", [*NUMERIC, "TIMESTAMP", "BYTES"])
def test_nul_inside_a_number(target: str) -> None:
    with pytest.raises(CannotConvert, match=r"STRING '7\\x007' cannot become"):
        convert("7\x007", target)


@pytest.mark.parametrize("target", [*NUMERIC, "BOOLEAN", "TIMESTAMP", "STRING", "BYTES"])
@pytest.mark.parametrize(
    "value", [["1", "2"], [["1"], ["2"]], {"a": "1", "b": "2"}, [{"a": "1"}, {"b": "2"}]]
)
def test_an_array_where_a_scalar_belongs(target: str, value: Any) -> None:
    with pytest.raises(
        CannotConvert, match="provide one value, or declare the column with singleValueField false"
    ):
        convert(value, target)


@pytest.mark.parametrize(
    ("target", "stored"),
    [
        *(("INT[]", [1]), ("LONG[]", [1]), ("FLOAT[]", [1.0]), ("DOUBLE[]", [1.0])),
        *(("BIG_DECIMAL[]", [Decimal(1)]), ("BOOLEAN[]", [1]), ("TIMESTAMP[]", [1]), ("STRING[]", ["1"])),
    ],
)
def test_a_scalar_where_an_array_belongs(target: str, stored: Any) -> None:
    assert convert("1", target) == stored


@pytest.mark.parametrize(
    "target", [*NUMERIC, "BOOLEAN", "TIMESTAMP", "STRING", "JSON", "BYTES", "MAP", "LIST"]
)
@pytest.mark.parametrize("value", [Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")])
def test_a_decimal_that_is_no_number(target: str, value: Decimal) -> None:
    with pytest.raises(CannotConvert):
        convert(value, target)


@pytest.mark.parametrize("target", [*NUMERIC, "BOOLEAN", "TIMESTAMP", "STRING", "JSON", "BYTES", "MAP"])
def test_a_whole_number_of_ten_million_bits(target: str) -> None:
    with pytest.raises(CannotConvert, match="of 10000001 bits cannot become"):
        convert(1 << MILLIONS, target)


def test_a_whole_number_of_a_thousand_digits() -> None:
    assert convert(10**999, "STRING") == convert(10**999, "JSON") == "1" + "0" * 999


@pytest.mark.parametrize("target", [*NUMERIC, "BOOLEAN", "TIMESTAMP", "STRING", "BYTES", "MAP"])
@pytest.mark.parametrize(
    "value",
    [Decimal("1E+999999999999"), Decimal("-1E-999999999999")],
)
def test_a_number_that_would_fill_the_memory_if_written_out(target: str, value: Any) -> None:
    try:
        convert(value, target)
    except CannotConvert as error:
        assert len(str(error)) < 400


def test_bytes_in_other_clothes() -> None:
    assert convert(bytearray(b"\xca"), "BYTES") == b"\xca"
    assert convert(memoryview(b"\xca"), "STRING") == "ca"
    assert convert(memoryview(b"\xca"), "JSON") == '"yg=="'

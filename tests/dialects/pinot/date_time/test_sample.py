"""Trying a format on values."""

from __future__ import annotations

import pytest

from trellis.dialects.pinot.date_time.format import ParsedValue, try_format
from trellis.dialects.pinot.date_time.units import FormatError


def test_each_value_is_tried() -> None:
    sample = try_format("SIMPLE_DATE_FORMAT|yyyy-MM-dd HH:mm:ss.SSS|IST", ["2023-11-15 03:43:20.123", "x"])
    assert sample.lints == ()
    assert sample.values == (
        ParsedValue(
            "2023-11-15 03:43:20.123", 1700000000123, "2023-11-14T22:13:20.123Z", "2023-11-15 03:43:20.123"
        ),
        ParsedValue(
            "x",
            error="Cannot read 'x' by the pattern 'yyyy-MM-dd HH:mm:ss.SSS': "
            "expected yyyy, found 'x' at position 1",
        ),
    )


def test_an_unknown_zone_and_a_wrong_order_are_named() -> None:
    unknown, order = try_format("SIMPLE_DATE_FORMAT|dd/MM/yyyy|EDT").lints
    assert unknown == "The zone 'EDT' is unknown, so Pinot silently uses UTC"
    assert order.startswith("SIMPLE_DATE_FORMAT pattern dd/MM/yyyy has to be sorted")


def test_a_text_that_comes_back_different_is_named() -> None:
    (preview,) = try_format("SIMPLE_DATE_FORMAT|yyyy-MM-dd", ["2023-1-4"]).values
    assert preview.written == "2023-01-04"
    assert preview.lints == ("it is formatted back as '2023-01-04'",)


@pytest.mark.parametrize(
    ("millis", "taken"),
    [
        ("31535999999", False),
        ("31536000000", True),
        ("3187296000000", True),
        ("3187296000001", False),
    ],
)
def test_an_instant_that_no_main_time_takes_is_named(millis: str, taken: bool) -> None:
    (preview,) = try_format("EPOCH|MILLISECONDS", [millis]).values
    text = "a main time column refuses it: 1971-01-01 to 2071-01-01 UTC is allowed"
    assert preview.lints == (() if taken else (text,))


def test_no_format_is_an_error() -> None:
    with pytest.raises(FormatError, match="Invalid time format"):
        try_format("DATE", ["2023"])

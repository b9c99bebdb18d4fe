"""Granularities and the order of patterns."""

from __future__ import annotations

import pytest

from trellis.dialects.pinot.date_time.format import granularity_millis, is_sortable
from trellis.dialects.pinot.date_time.units import FormatError


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        pytest.param("15:MINUTES", 900000, id="G01"),
        pytest.param("MINUTES|15", 900000, id="G02"),
        pytest.param("MINUTES", 60000, id="G03"),
        pytest.param("1500:MICROSECONDS", 1, id="micros"),
        pytest.param("1:NANOSECONDS", 0, id="nanos"),
    ],
)
def test_a_granularity(text: str, millis: int) -> None:
    assert granularity_millis(text) == millis


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("HOURS:1", "Invalid time unit: HOURS:1 in granularity: HOURS:1", id="G04"),
        pytest.param(
            "1|HOURS",
            "Invalid granularity: 1|HOURS, must be of format 'timeUnit(|size)' or 'size:timeUnit'",
            id="G05",
        ),
        pytest.param("0:HOURS", "Invalid size: 0 in granularity: 0:HOURS, must be positive", id="G06"),
        pytest.param("1:WEEKS", "Invalid time unit: WEEKS in granularity: 1:WEEKS", id="G07"),
        pytest.param("", "Must provide granularity", id="empty"),
        pytest.param("DAYS|", "Invalid size:  in granularity: DAYS|", id="no-size"),
    ],
)
def test_what_is_no_granularity(text: str, message: str) -> None:
    with pytest.raises(FormatError) as raised:
        granularity_millis(text)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("pattern", "ordered"),
    [
        pytest.param("yyyy-MM-dd", True, id="L01-full"),
        pytest.param("MM-dd", True, id="L01-month"),
        pytest.param("yyyy-dd", True, id="L01-day"),
        pytest.param("MM-dd-yyyy", False, id="L04"),
        pytest.param("M/d/yyyy", False, id="L05"),
        pytest.param("EEE MMM dd HH:mm:ss ZZZ yyyy", False, id="L06"),
        pytest.param("yyyy-MM-dd hh:mm a", True, id="L07"),
        pytest.param("yyyy-MM-dd'day'", False, id="L08"),
        pytest.param("ssSSS", True, id="L09"),
        pytest.param("SSS ss", False, id="L10"),
        pytest.param("", True, id="nothing"),
    ],
)
def test_order(pattern: str, ordered: bool) -> None:
    assert is_sortable(pattern) is ordered

"""The text of timestamps."""

from __future__ import annotations

import pytest

from trellis.dialects.pinot.date_time.timestamp_text import timestamp_millis, timestamp_text
from trellis.dialects.pinot.date_time.units import FormatError

NEW_YORK = "America/New_York"


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        pytest.param("2023-11-14 22:13:20.123456789", 1700000000123, id="A02"),
        pytest.param("2023-11-14T22:13:20+05:30", 1699980200000, id="A03"),
        pytest.param("2023-11-14T22:13", 1699999980000, id="A04"),
        pytest.param("20231114", 20231114, id="A06"),
        pytest.param("2023-11-14", 1699920000000, id="date"),
        pytest.param("2023-11-14Z", 1699920000000, id="date-with-zone"),
        pytest.param("2023-11-14 22:13.5", 1699999980500, id="fraction-without-seconds"),
        pytest.param("2023-1-4 5:6:7", 1672808767000, id="short"),
        pytest.param(" 2023-11-14 22:13:20\n", 1700000000000, id="blanks-around-the-first-form"),
        pytest.param("+12023-11-14T00:00", 317269440000000, id="long-year"),
        pytest.param("1969-12-31 23:59:59.9999", -1, id="floor"),
        pytest.param("1582-10-04 12:00:00", -12220200000000, id="before-the-gregorian-calendar"),
        pytest.param("1500-01-01", -14831769600000, id="iso-is-proleptic"),
        pytest.param("-5", -5, id="negative-millis"),
    ],
)
def test_a_text_is_an_instant(text: str, millis: int) -> None:
    assert timestamp_millis(text) == millis


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("2023-11-14 25:00:00", 1700010000000),
        ("2023-11-14 22:13:60", 1700000040000),
        ("2023-02-31 00:00:00", 1677801600000),
        ("2023-02-31", 1677542400000),
        ("2023-11-14T24:00", 1700006400000),
    ],
    ids=["hour-rolls", "second-rolls", "day-rolls", "day-clamps", "midnight"],
)
def test_what_is_too_much_is_refused_only_when_strict(text: str, millis: int) -> None:
    assert timestamp_millis(text) == millis
    with pytest.raises(FormatError, match="there is no such day or time"):
        timestamp_millis(text, strict=True)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2023-11-14T22:13:20+0530", id="A05-offset"),
        pytest.param("2023/11/14", id="A05-slashes"),
        pytest.param("1.7E12", id="A05-scientific"),
        *("2023-11-14T22Z", "2023-11-14 22:13:20 Z", "2023-11-14t22:13:20", "2023-11-14T22:13:20z"),
        *("2023-11-14T22:13:20.1234567891", " 20231114", "0000-01-01", "-2023-11-14", "2023-13-01", ""),
        *(
            "2023-11-14T24:00:01",
            "2023-11-14T22:13:20+18:01",
            "9223372036854775808",
            "2023-1-4",
            "٢٠٢٣-11-14",
        ),
    ],
)
def test_what_is_no_timestamp(text: str) -> None:
    with pytest.raises(FormatError) as raised:
        timestamp_millis(text)
    assert str(raised.value).startswith(f"Invalid timestamp: '{text}'")


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("2023-07-01", 1688184000000),
        ("2023-03-12 02:30:00", 1678606200000),
        ("2023-03-12T02:30:00", 1678606200000),
        ("2023-11-05 01:30:00", 1699165800000),
        ("2023-11-05T01:30:00", 1699162200000),
        ("2023-11-05T01:30:00Z", 1699147800000),
    ],
    ids=["midnight", "gap-jdbc", "gap-iso", "overlap-jdbc-later", "overlap-iso-earlier", "own-zone"],
)
def test_a_session_zone(text: str, millis: int) -> None:
    assert timestamp_millis(text, NEW_YORK) == millis


@pytest.mark.parametrize(
    ("millis", "zone", "text"),
    [
        (1700000000123, "UTC", "2023-11-14 22:13:20.123"),
        (1700000000100, "UTC", "2023-11-14 22:13:20.1"),
        (-1, "UTC", "1969-12-31 23:59:59.999"),
        (1678604400000, NEW_YORK, "2023-03-12 03:00:00.0"),
        (-12219292800001, "UTC", "1582-10-14 23:59:59.999"),
        (-62135596800001, "UTC", "0001-12-31 23:59:59.999"),
        (253402300800000, "UTC", "10000-01-01 00:00:00.0"),
    ],
)
def test_an_instant_is_written(millis: int, zone: str, text: str) -> None:
    assert timestamp_text(millis, zone) == text

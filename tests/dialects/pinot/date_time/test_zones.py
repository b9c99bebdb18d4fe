"""Names of zones as Java resolves them."""

from __future__ import annotations

import pytest

from trellis.dialects.pinot.date_time.format import parse_format
from trellis.dialects.pinot.date_time.time_zones import Zone, clock_of, resolve


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        *(("IST", "Asia/Kolkata"), ("PST", "America/Los_Angeles"), ("EST", "America/New_York")),
        *(
            ("MST", "America/Denver"),
            ("HST", "Pacific/Honolulu"),
            ("ECT", "CET"),
            ("SST", "Pacific/Guadalcanal"),
        ),
        *(("GMT", "UTC"), ("UTC", "UTC"), ("Zulu", "Zulu"), ("US/Pacific", "US/Pacific")),
        *(("GMT+5", "+05:00"), ("GMT-08:00", "-08:00"), ("GMT-8:00", "-08:00"), ("GMT+0530", "+05:30")),
        *(("GMT+530", "+05:30"), ("GMT+23:59", "+23:59"), ("GMT+0", "UTC"), ("Etc/GMT+5", "Etc/GMT+5")),
    ],
)
def test_what_java_knows(text: str, zone: str) -> None:
    assert resolve(text) == Zone(zone, known=True)


@pytest.mark.parametrize(
    "text",
    [
        *("EDT", "UTC+5", "pst", "+05:30", "GMT+24:00", "GMT+5:3", "GMT+05:60", "gmt+5", "UT+5", "Mars/Base"),
        *("america/new_york", "Factory", "", " IST"),
    ],
)
def test_what_java_does_not_know_means_utc(text: str) -> None:
    assert resolve(text) == Zone("UTC", known=False)


@pytest.mark.parametrize(
    ("zone", "text", "millis"),
    [
        ("America/New_York", "20000-07-01 00:00", 568987560000000),
        ("America/New_York", "-0500-01-01 00:00", -77945655838000),
        ("America/New_York", "1883-11-18 12:03", -2717650858000),
        ("Europe/Berlin", "12023-10-29 02:30", 317268059400000),
        ("Pacific/Apia", "2011-12-29 23:59", 1325239140000),
    ],
)
def test_a_zone_in_any_year(zone: str, text: str, millis: int) -> None:
    form = parse_format(f"SIMPLE_DATE_FORMAT|yyyy-MM-dd HH:mm|{zone}")
    assert form.to_millis(text) == millis
    assert form.from_millis(millis) == text


def test_the_name_of_a_zone_is_written() -> None:
    form = parse_format("SIMPLE_DATE_FORMAT|HH z Z ZZ ZZZ|PST")
    assert form.from_millis(1700000000123) == "14 PST -0800 -08:00 America/Los_Angeles"


def test_a_clock_of_a_fixed_offset() -> None:
    assert clock_of("-08:00").fixed == -8 * 3600 * 1000

"""What the seed says of date-times."""

from __future__ import annotations

import pytest

from trellis.dialects.pinot.date_time.format import (
    DateTimeFormat,
    granularity_millis,
    is_sortable,
    parse_format,
)
from trellis.dialects.pinot.date_time.units import FormatError

SDF = "SIMPLE_DATE_FORMAT"


def test_seed_p43_a_timestamp_is_millis_or_a_jdbc_text() -> None:
    form = parse_format("TIMESTAMP")
    assert form.to_millis(1609462861123) == 1609462861123
    assert form.to_millis("2021-01-01 01:01:01.123") == 1609462861123


def test_seed_p44_a_format_follows_the_formats_section() -> None:
    with pytest.raises(FormatError, match="must be one of EPOCH, TIMESTAMP, SIMPLE_DATE_FORMAT"):
        parse_format("yyyy-MM-dd")


def test_seed_p45_granularity_is_size_and_unit() -> None:
    assert granularity_millis("15:MINUTES") == 15 * 60 * 1000


def test_seed_p46_granularity_rounds_nothing() -> None:
    assert parse_format("1:MILLISECONDS:EPOCH").to_millis(1700000000123) == 1700000000123


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("EPOCH|HOURS|2", DateTimeFormat("EPOCH", "HOURS", 2)),
        (
            f"{SDF}|yyyy-MM-dd|PST",
            DateTimeFormat(SDF, pattern="yyyy-MM-dd", zone="America/Los_Angeles", zone_name="PST"),
        ),
    ],
    ids=["seed_p50-epoch", "seed_p50-pattern"],
)
def test_the_pipe_form(text: str, form: DateTimeFormat) -> None:
    assert parse_format(text) == form


@pytest.mark.parametrize("kind", ["EPOCH", SDF, "TIMESTAMP"])
def test_seed_p51_kinds(kind: str) -> None:
    assert parse_format(kind).kind == kind


def test_seed_p52_timestamp_is_epoch_milliseconds() -> None:
    assert parse_format("TIMESTAMP").to_millis(5) == parse_format("EPOCH|MILLISECONDS|1").to_millis(5) == 5


def test_seed_p53_size_and_unit_multiply() -> None:
    assert parse_format("EPOCH|MINUTES|5").to_millis(4996308) == 4996308 * 5 * 60 * 1000 == 1498892400000


@pytest.mark.parametrize(
    ("unit", "millis"),
    [
        *(("NANOSECONDS", 0), ("MICROSECONDS", 2), ("MILLISECONDS", 2000), ("SECONDS", 2_000_000)),
        *(("MINUTES", 120_000_000), ("HOURS", 7_200_000_000), ("DAYS", 172_800_000_000)),
    ],
)
def test_seed_p53_units(unit: str, millis: int) -> None:
    assert parse_format(f"EPOCH|{unit}").to_millis(2000) == millis


def test_seed_p54_seconds_by_five() -> None:
    assert parse_format("EPOCH|SECONDS|5").from_millis(1700000000123) == "340000000"


def test_seed_p55_epoch_alone_is_millis() -> None:
    assert parse_format("EPOCH") == DateTimeFormat("EPOCH", "MILLISECONDS", 1)


def test_seed_p56_joda_patterns() -> None:
    assert parse_format(f"{SDF}|xxxx-'W'ww-e").to_millis("2023-W46-2") == 1699920000000


@pytest.mark.parametrize(
    ("text", "millis"),
    [("2023", 1672531200000), ("2023-11", 1698796800000), ("2023-11-14", 1699920000000)],
    ids=["seed_p57-year", "seed_p57-month", "seed_p57-day"],
)
def test_without_a_pattern_it_is_iso(text: str, millis: int) -> None:
    assert parse_format(SDF).to_millis(text) == millis


@pytest.mark.parametrize(
    ("zone", "meant"),
    [
        ("PST", "America/Los_Angeles"),
        ("America/Los_Angeles",) * 2,
        ("GMT-8:00", "-08:00"),
        ("IST", "Asia/Kolkata"),
    ],
    ids=["seed_p58-short", "seed_p58-full", "seed_p58-custom", "seed_p58-sample"],
)
def test_zones(zone: str, meant: str) -> None:
    assert parse_format(f"{SDF}|yyyy-MM-dd|{zone}").zone == meant


def test_seed_p59_p60_orders() -> None:
    assert [is_sortable(p) for p in ("yyyy-MM-dd", "MM-dd", "yyyy-dd", "MM-dd-yyyy")] == [
        True,
        True,
        True,
        False,
    ]
    assert is_sortable("yyyy MM dd HH mm ss")
    assert not is_sortable("ss mm")


def test_seed_p59_texts_sort_by_time() -> None:
    assert not is_sortable("M/d/yyyy")


def test_seed_p61_p64_p65_the_colon_form() -> None:
    assert parse_format(f"1:DAYS:{SDF}:yyyy-MM-dd") == parse_format(f"{SDF}|yyyy-MM-dd")
    assert parse_format(f"1:DAYS:{SDF}") == parse_format(SDF)
    assert parse_format("1:DAYS:EPOCH") == parse_format("EPOCH|DAYS")


def test_seed_p62_p63_size_and_unit_are_unused_unless_epoch() -> None:
    assert parse_format("7:HOURS:EPOCH").to_millis(2) == 14 * 3600 * 1000
    assert parse_format(f"7:HOURS:{SDF}:yyyy") == parse_format(f"1:DAYS:{SDF}:yyyy")


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("1:MILLISECONDS:EPOCH", 1566650210000),
        ("1:HOURS:EPOCH", 435180),
        (f"1:DAYS:{SDF}:yyyy-MM-dd", "2020-08-21"),
    ],
    ids=["seed_p66-millis", "seed_p66-hours", "seed_p66-pattern"],
)
def test_samples(form: str, value: int | str) -> None:
    parsed = parse_format(form)
    assert parsed.from_millis(parsed.to_millis(value)) == str(value)


def test_seed_p67_the_sample_parses_but_is_not_in_order_and_its_weekday_shifts_the_date() -> None:
    form = parse_format(f"1:HOURS:{SDF}:EEE MMM dd HH:mm:ss ZZZ yyyy")
    assert not is_sortable(form.pattern or "")
    millis = form.to_millis("Mon Aug 24 12:36:50 America/Los_Angeles 2019")
    assert parse_format(SDF).from_millis(millis) == "2019-08-19T19:36:50Z"
    assert form.from_millis(millis) == "Mon Aug 19 19:36:50 UTC 2019"

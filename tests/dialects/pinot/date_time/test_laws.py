"""Laws of calendars, counts and patterns, for any values."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.dialects.pinot.date_time import iso_calendar
from trellis.dialects.pinot.date_time.format import parse_format
from trellis.dialects.pinot.date_time.timestamp_text import timestamp_millis, timestamp_text
from trellis.dialects.pinot.date_time.units import UNITS

ANY_MILLIS = st.integers(-9 * 10**18, 9 * 10**18)
MILLIS = st.integers(-62_135_596_800_000, 253_402_300_799_999)
SINCE_GREGORIAN = st.integers(-12_219_292_800_000 + iso_calendar.DAY, 253_402_300_799_999 - iso_calendar.DAY)
SINCE_1970 = st.integers(10**11, 253_402_300_799_999)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@given(st.dates())
def test_the_calendar_is_that_of_datetime(day: date) -> None:
    days = day.toordinal() - 719_163
    assert iso_calendar.days_of(day.year, day.month, day.day) == days
    assert iso_calendar.date_of(days) == (day.year, day.month, day.day)
    assert iso_calendar.week_date_of(days) == day.isocalendar()


@given(st.integers(-(10**11), 10**11))
def test_a_date_is_a_day(days: int) -> None:
    assert iso_calendar.days_of(*iso_calendar.date_of(days)) == days


@given(ANY_MILLIS)
def test_every_field_written_is_read(millis: int) -> None:
    form = parse_format("SIMPLE_DATE_FORMAT|yyyy-MM-dd'T'HH:mm:ss.SSS ZZ|UTC")
    assert form.to_millis(form.from_millis(millis)) == millis


@given(
    SINCE_1970,
    st.sampled_from(["UTC", "America/New_York", "Asia/Kolkata", "GMT-8:00", "Australia/Lord_Howe"]),
)
def test_with_an_offset_every_zone_comes_back(millis: int, zone: str) -> None:
    form = parse_format(f"SIMPLE_DATE_FORMAT|yyyy-MM-dd HH:mm:ss.SSS Z|{zone}")
    assert form.to_millis(form.from_millis(millis)) == millis


@pytest.mark.parametrize(
    ("form", "unit"),
    [
        ("SIMPLE_DATE_FORMAT", 1000),
        ("SIMPLE_DATE_FORMAT|yyyy-MM-dd", iso_calendar.DAY),
        ("SIMPLE_DATE_FORMAT|yyyyMMdd", iso_calendar.DAY),
        ("SIMPLE_DATE_FORMAT|yyyy-MM-dd HH:mm:ss", 1000),
        ("SIMPLE_DATE_FORMAT|yyyy-MM-dd hh:mm a", 60_000),
        ("SIMPLE_DATE_FORMAT|xxxx-'W'ww-e", iso_calendar.DAY),
        ("SIMPLE_DATE_FORMAT|yyyy-DDD", iso_calendar.DAY),
        ("SIMPLE_DATE_FORMAT|EEE MMM dd HH:mm:ss ZZZ yyyy", 1000),
        ("EPOCH|MICROSECONDS", 1),
        ("EPOCH", 1),
    ],
)
@given(millis=MILLIS)
def test_a_pattern_keeps_its_unit(form: str, unit: int, millis: int) -> None:
    parsed = parse_format(form)
    whole_units = millis - millis % unit
    assert parsed.to_millis(parsed.from_millis(millis)) == whole_units
    assert parsed.from_millis(whole_units) == parsed.from_millis(millis)


@given(SINCE_GREGORIAN, st.sampled_from(["UTC", "+05:00", "-08:00"]))
def test_a_timestamp_text_comes_back(millis: int, zone: str) -> None:
    assert timestamp_millis(timestamp_text(millis, zone), zone, strict=True) == millis


@given(st.integers(-(10**9), 10**9), st.sampled_from(UNITS[2:]), st.integers(1, 60))
def test_a_count_comes_back(count: int, unit: str, size: int) -> None:
    form = parse_format(f"EPOCH|{unit}|{size}")
    assert form.from_millis(form.to_millis(count)) == str(count)
    assert form.to_millis(count) == form.to_millis(str(count)) == form.to_millis(f"{count}.9")


@given(MILLIS)
def test_a_utc_text_is_that_of_datetime(millis: int) -> None:
    displayed = EPOCH + timedelta(milliseconds=millis)
    text = parse_format("SIMPLE_DATE_FORMAT|EEEE, dd MMMM yyyy HH:mm:ss.SSS").from_millis(millis)
    assert (
        text == f"{displayed:%A, %d %B} {displayed.year:04} {displayed:%H:%M:%S}."
        f"{displayed.microsecond // 1000:03}"
    )

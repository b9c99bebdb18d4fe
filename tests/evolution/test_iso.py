"""Dates and times as text: what is read, what is not, and where dlt reads otherwise."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.evolution.scalars import iso
from trellis.evolution.scalars.iso import (
    from_epoch,
    is_timestamp,
    parse_date,
    parse_time,
    parse_timestamp,
    to_timestamp,
)

UTC = timezone.utc

TIMESTAMPS = {
    "2024-05-06T01:02:03Z": datetime(2024, 5, 6, 1, 2, 3, tzinfo=UTC),
    "2024-05-06 01:02:03": datetime(2024, 5, 6, 1, 2, 3),
    "2024-05-06T01:02": datetime(2024, 5, 6, 1, 2),
    "2024-05-06T01": datetime(2024, 5, 6, 1),
    "2024-05-06T01:02:03.5": datetime(2024, 5, 6, 1, 2, 3, 500000),
    "2024-05-06T01:02:03,25Z": datetime(2024, 5, 6, 1, 2, 3, 250000, tzinfo=UTC),
    "2024-05-06T01:02:03.123456789": datetime(2024, 5, 6, 1, 2, 3, 123456),
    "2024-05-06T01:02:03+02:00": datetime(2024, 5, 5, 23, 2, 3, tzinfo=UTC),
    "2024-05-06T01:02:03+02": datetime(2024, 5, 5, 23, 2, 3, tzinfo=UTC),
    "2024-05-06T01:02:03-0230": datetime(2024, 5, 6, 3, 32, 3, tzinfo=UTC),
    "2024-02-29T23:59:59Z": datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC),
    "0001-01-01T00:00:00": datetime(1, 1, 1),
    "9999-12-31T23:59:59.999999999": datetime(9999, 12, 31, 23, 59, 59, 999999),
    "20240506T070809Z": datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC),
    "20240506 0708": datetime(2024, 5, 6, 7, 8),
    "20240506T07": datetime(2024, 5, 6, 7),
    "2024/05/06 10:11": datetime(2024, 5, 6, 10, 11),
    "2024/05/06 1:2:3.5": datetime(2024, 5, 6, 1, 2, 3, 500000),
    "2024-05T10:00": datetime(2024, 5, 1, 10),
    "2024-W40-3T10:00": datetime(2024, 10, 2, 10),
    "2024-130T10:00": datetime(2024, 5, 9, 10),
}
# divided by bars, for there are spaces in them
_NO_TIMESTAMPS = """\
2024-05-06|12:30:01|2024-W40|2024-130|20240506|1700000000|P1D|2024-05-06/2024-05-07|
 2024-05-06T07:08:09Z|2024-05-06T07:08:09Z |2024-05-06t07:08:09|2024-05-06T07:08:09z|2024-05-06T24:00:00|
2024-05-06T25:00:00Z|2024-05-06T23:60|2024-05-06T23:59:60|2024-02-30T00:00|2023-02-29T00:00:00Z|
0000-01-01T00:00:00|2024-5-6T7:8:9|2024-05-06T7:08|2024-05-06  07:08|2024-05-06T0102|20240506T01:02:03|
2024-05-06T01:02:03.|2024-05-06T01:02.5|2024-05-06T01:02:03+2|2024-05-06T|2024-W54T10:00|2024-367T10:00|
Mon, 06 May 2024 10:00:00 GMT|٢٠٢٤-05-06T01:02:03|2024-05-06T01:02:03[UTC]"""
NO_TIMESTAMPS = [*_NO_TIMESTAMPS.replace("|\n", "|").split("|"), "2024-05-06T01:02:03Z\n"]
NO_DATES = "13 202405 2024-13 2023-02-29 2023-366 2024-000 2021-W53 2024-W103 2024W10-3 0000 2024/05 2024-5-6"


@pytest.mark.parametrize("text", TIMESTAMPS)
def test_a_timestamp_is_read(text: str) -> None:
    moment = parse_timestamp(text)
    assert moment == TIMESTAMPS[text]
    assert moment is not None and moment.tzinfo is TIMESTAMPS[text].tzinfo
    assert is_timestamp(text)
    assert parse_date(text) is None
    assert parse_time(text) is None


@pytest.mark.parametrize("text", NO_TIMESTAMPS)
def test_no_timestamp(text: str) -> None:
    assert parse_timestamp(text) is None
    assert not is_timestamp(text)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-05-06", date(2024, 5, 6)),
        ("2024-02-29", date(2024, 2, 29)),
        ("2024", date(2024, 1, 1)),
        ("2024-05", date(2024, 5, 1)),
        ("20240506", date(2024, 5, 6)),
        ("2024/05/06", date(2024, 5, 6)),
        ("2024-W40", date(2024, 9, 30)),
        ("2024-W40-3", date(2024, 10, 2)),
        ("2024W103", date(2024, 3, 6)),
        ("2020-W53-7", date(2021, 1, 3)),
        ("2024-130", date(2024, 5, 9)),
        ("2024130", date(2024, 5, 9)),
        ("2024-366", date(2024, 12, 31)),
    ],
)
def test_a_date_is_read(text: str, day: date) -> None:
    assert parse_date(text) == day
    assert to_timestamp(text) == datetime(day.year, day.month, day.day)


@pytest.mark.parametrize("text", NO_DATES.split(" "))
def test_no_date(text: str) -> None:
    assert parse_date(text) is None


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("14:01:02", time(14, 1, 2)),
        ("14:01", time(14, 1)),
        ("9:05", time(9, 5)),
        ("14:01:02.123456789", time(14, 1, 2, 123456)),
        ("14:01:02Z", time(14, 1, 2)),
        ("01:01:02+02:00", time(23, 1, 2)),
        ("T1430", time(14, 30)),
        ("T14:30:01", time(14, 30, 1)),
    ],
)
def test_a_time_is_read(text: str, clock: time) -> None:
    assert parse_time(text) == clock


@pytest.mark.parametrize(
    "text", ["24:00:00", "12:60", "12", "123001", "T", "12:", "noon", "2024-05-06T12:30", ""]
)
def test_no_time(text: str) -> None:
    assert parse_time(text) is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1700000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (" 0.5 ", datetime(1970, 1, 1, 0, 0, 0, 500000, tzinfo=UTC)),
        ("-5", datetime(1969, 12, 31, 23, 59, 55, tzinfo=UTC)),
        ("1e3", datetime(1970, 1, 1, 0, 16, 40, tzinfo=UTC)),
        ("202405", datetime(1970, 1, 3, 8, 13, 25, tzinfo=UTC)),
        ("1700000000000", None),
        ("nan", None),
        ("-inf", None),
        ("12:00:01", None),
        ("soon", None),
        ("", None),
    ],
)
def test_the_loose_reading_takes_seconds(text: str, moment: datetime | None) -> None:
    assert to_timestamp(text) == moment


def test_the_calendar_ends() -> None:
    assert from_epoch(iso.FIRST_SECOND) == datetime(1, 1, 1, tzinfo=UTC)
    assert from_epoch(iso.LAST_SECOND) == datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert from_epoch(iso.LAST_SECOND + 0.9999) == datetime(9999, 12, 31, 23, 59, 59, 999908, tzinfo=UTC)
    assert from_epoch(iso.FIRST_SECOND - 1) is None
    assert from_epoch(iso.LAST_SECOND + 1) is None
    assert from_epoch(float("nan")) is None
    assert parse_timestamp("0001-01-01T00:00:00+02:00") is None
    assert parse_timestamp("9999-12-31T23:59:59-02:00") is None


@given(
    st.datetimes(),
    st.sampled_from(["seconds", "milliseconds", "microseconds", "auto"]),
    st.sampled_from("T "),
)
def test_what_python_writes_is_read(moment: datetime, timespec: str, sep: str) -> None:
    text = moment.isoformat(sep, timespec)
    assert parse_timestamp(text) == datetime.fromisoformat(text)
    assert parse_timestamp(text + "Z") == datetime.fromisoformat(text).replace(tzinfo=UTC)
    assert parse_date(moment.date().isoformat()) == moment.date()
    assert parse_time(moment.time().isoformat()) == moment.time()


# ---- against dlt

FORMS = st.from_regex(
    re.compile(
        r"([12]\d{3}|0001|9999)([-/]?(W[0-5]\d(-?[0-8])?|[0-3]\d\d|[01]\d([-/]?[0-3]\d)?))?"
        r"([T ][0-2]?\d(:?[0-6]?\d(:?[0-6]\d([.,]\d{1,9})?)?)?(Z|[+-][0-2]\d(:?[0-5]\d)?)?)?"
        r"|T?[0-2]?\d(:?[0-6]?\d(:?[0-6]?\d([.,]\d{1,9})?)?)?(Z|[+-][0-2]\d(:?[0-5]\d)?)?"
    ),
    fullmatch=True,
    alphabet=st.characters(codec="ascii"),
)
# Deliberate. Here dlt: counts a week or weekday of 0; takes an offset of 60 minutes and more, or without
# its minutes (`+02:`); a fraction of ten digits; a date and a time with nothing between them.
# And here it refuses: `T12:30:01`, the extended form with a T in front.
OTHERWISE = re.compile(
    r"W00|W\d\d-?0|[+-]\d\d:?[6-9]\d$|[+-]\d\d:$|[.,|]\d{10}|^T\d\d:\d\d:"
    r"|^\d{4}([:/]?\d\d[:/]?\d\d)?\d{1,2}:\d{1,2}"
)


def read_by_dlt(text: str) -> Any:
    from dlt.common.time import ensure_pendulum_time, parse_iso_like_datetime

    try:
        parsed = parse_iso_like_datetime(text)
        if isinstance(parsed, time):
            clock = ensure_pendulum_time(parsed)
            return time(clock.hour, clock.minute, clock.second, clock.microsecond)
        if not isinstance(parsed, datetime):
            return date(parsed.year, parsed.month, parsed.day)
        moment = datetime.combine(date(parsed.year, parsed.month, parsed.day), parsed.time())
        return (
            moment
            if parsed.tzinfo is None
            else moment.replace(tzinfo=UTC) - (parsed.utcoffset() or timedelta(0))
        )
    except (ValueError, TypeError, OverflowError):
        return None


def read_by_us(text: str) -> Any:
    moment = parse_timestamp(text) or parse_date(text)
    return parse_time(text) if moment is None else moment


@pytest.fixture(scope="module")
def dlt() -> Any:
    return pytest.importorskip("dlt")


@given(text=FORMS)
@example(text="2024-05-06T01:02:03.123456789Z")
@example(text="2024 10:00")
def test_dlt_reads_the_same(dlt: Any, text: str) -> None:
    if not OTHERWISE.search(text):
        assert read_by_us(text) == read_by_dlt(text)


@pytest.mark.parametrize("text", [*TIMESTAMPS, *NO_TIMESTAMPS])
def test_dlt_reads_the_same_by_hand(dlt: Any, text: str) -> None:
    assert read_by_us(text) == read_by_dlt(text)


@given(text=FORMS)
def test_the_way_of_python_310_is_the_same(text: str) -> None:
    match = iso.common_timestamp(text)
    if match is not None:
        try:
            moment = iso._assembled(match)
        except ValueError:
            moment = None
        assert moment == parse_timestamp(text)

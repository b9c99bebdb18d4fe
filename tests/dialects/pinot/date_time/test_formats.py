"""Date-time formats: what they are, read and write."""

from __future__ import annotations

import pickle
from decimal import Decimal

import pytest

from trellis.dialects.pinot.date_time.format import DateTimeFormat, parse_format
from trellis.dialects.pinot.date_time.units import FormatError

SDF = "SIMPLE_DATE_FORMAT"
NOON = 1700000000123

READ = [
    ("T02", "EPOCH|SECONDS|5", "340000000", 1700000000000),
    ("T04", "EPOCH|MICROSECONDS", "1700000000123456", 1700000000123),
    ("T05", "EPOCH|SECONDS", "1.7E9", 1700000000000),
    ("T06", "EPOCH|SECONDS", "-1.9", -1000),
    ("T08", "10:MINUTES:EPOCH", "2833333", 1699999800000),
    ("T09", "5:DAYS:TIMESTAMP", "1700000000123", 1700000000123),
    ("T12", SDF, "2023-11-14T22.5", 1700001000000),
    ("T14", SDF, "2023-W46-2", 1699920000000),
    ("T15", f"{SDF}|yyyyMMdd", "2023111", 1698796800000),
    ("T17", f"{SDF}|yyyy-MM-dd", "2023-1-4", 1672790400000),
    ("T18", f"{SDF}|yyyy-MM-dd", "23-11-14", -61413984000000),
    ("T20-pipe", f"{SDF}|yyyy-MM-dd|IST", "2023-11-14", 1699900200000),
    ("T20-colon", f"1:DAYS:{SDF}:yyyy-MM-dd tz(IST)", "2023-11-14", 1699900200000),
    ("T21", f"{SDF}|yyyy-MM-dd|EST", "2023-07-14", 1689307200000),
    ("T23", f"{SDF}|yyyy-MM-dd|Mars/Base", "2023-11-14", 1699920000000),
    ("T26", f"{SDF}|yyyy-MM-dd hh:mm a", "2023-11-14 10:13 pm", 1699999980000),
    ("T27", f"{SDF}|MM-dd", "07-04", 962668800000),
    ("T28", f"{SDF}|HH:mm", "07:04", 25440000),
    ("T31", f"{SDF}|yyyy-MM-dd HH:mm|America/New_York", "2023-11-05 01:30", 1699162200000),
]
REFUSED = [
    ("T13", SDF, "2023-11-14 22:13:20", "as ISO 8601"),
    ("T19", f"{SDF}|yyyy-MM-dd", "2023-02-30", "the day 30 is not in 1 to 28"),
    (
        "T30",
        f"{SDF}|yyyy-MM-dd HH:mm|America/New_York",
        "2023-03-12 02:30",
        "America/New_York skip this time",
    ),
]
WRITTEN = [
    ("F02", "EPOCH|MINUTES|15", NOON, "1888888"),
    ("F04", "TIMESTAMP", NOON, "2023-11-14 22:13:20.123"),
    ("F04-whole", "TIMESTAMP", 1700000000000, "2023-11-14 22:13:20.0"),
    ("F05", SDF, NOON, "2023-11-14T22:13:20Z"),
    ("F06", f"{SDF}|yyyy-MM-dd|IST", NOON, "2023-11-15"),
    ("F08", f"{SDF}|yyyy-MM-dd HH ZZZ|IST", NOON, "2023-11-15 03 Asia/Kolkata"),
    ("F09", "EPOCH|DAYS", -1, "0"),
]
INVALID = [
    ("V01", "EPOCH|SECONDS|0", "Invalid size: 0 in format: EPOCH|SECONDS|0, must be positive"),
    ("V02", "EPOCH|seconds", "Invalid time unit: seconds in format: EPOCH|seconds"),
    ("V03", "epoch", "Invalid time format: epoch in format: epoch"),
    ("V04", "1:DAYS", "Invalid format: 1:DAYS, must be of format 'size:timeUnit:timeFormat(:patternWithTz)'"),
    ("V05", "1.5:DAYS:EPOCH", "Invalid size: 1.5 in format: 1.5:DAYS:EPOCH"),
    ("V06", f"{SDF}|", f"Invalid SIMPLE_DATE_FORMAT pattern:  in format: {SDF}|"),
    ("V07", f"{SDF}|yyyy-MM-ddTHH", "Invalid SIMPLE_DATE_FORMAT pattern: yyyy-MM-ddTHH in format: "),
    ("V08", f"{SDF}|XXX", "XXX is not a letter of Joda's patterns, use Z or ZZ for an offset"),
    ("empty", "", "Must provide format"),
    ("no-unit", "EPOCH|", "Invalid time unit:  in format: EPOCH|"),
    ("no-size", "EPOCH|SECONDS|", "Invalid size:  in format: EPOCH|SECONDS|"),
    ("too-large", "EPOCH|DAYS|2147483648", "Invalid size: 2147483648 in format: EPOCH|DAYS|2147483648"),
    ("weeks", "EPOCH|WEEKS", "Invalid time unit: WEEKS"),
    ("bogus-colon", "1:DAYS:BOGUS", "Invalid time format: BOGUS in format: 1:DAYS:BOGUS"),
    ("two-zones", f"{SDF}|yyyy tz(IST)|PST", "Invalid SIMPLE_DATE_FORMAT pattern: yyyy tz(IST)"),
    ("lone-quote", f"{SDF}|'", "it holds neither a letter nor a text"),
    ("empty-pattern", f"{SDF}||IST", "Invalid SIMPLE_DATE_FORMAT pattern: "),
]
VALID = [
    ("V09", f"9:BOGUS:{SDF}:yyyy", DateTimeFormat(SDF, pattern="yyyy")),
    ("V10", "1:DAYS:EPOCH:yyyy", DateTimeFormat("EPOCH", "DAYS")),
    ("V11", "TIMESTAMP|x", DateTimeFormat("TIMESTAMP")),
    ("plus", "EPOCH|DAYS|+07", DateTimeFormat("EPOCH", "DAYS", 7)),
    ("colons", f"1:DAYS:{SDF}:HH:mm:ss", DateTimeFormat(SDF, pattern="HH:mm:ss")),
    ("blank", f"{SDF}| ", DateTimeFormat(SDF, pattern=" ")),
    (
        "suffix",
        f"{SDF}| yyyy  tz  ( IST ) ",
        DateTimeFormat(SDF, pattern="yyyy", zone="Asia/Kolkata", zone_name="IST"),
    ),
    (
        "unknown",
        f"{SDF}|yyyy|EDT",
        DateTimeFormat(SDF, pattern="yyyy", zone_name="EDT", zone_known=False),
    ),
    (
        "kept-blanks",
        f"{SDF}|yyyy |IST ",
        DateTimeFormat(SDF, pattern="yyyy ", zone_name="IST ", zone_known=False),
    ),
]


@pytest.mark.parametrize(("form", "text", "millis"), [row[1:] for row in READ], ids=[row[0] for row in READ])
def test_a_text_is_an_instant(form: str, text: str, millis: int) -> None:
    assert parse_format(form).to_millis(text) == millis


@pytest.mark.parametrize(
    ("form", "text", "reason"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_a_text_is_refused_in_one_sentence(form: str, text: str, reason: str) -> None:
    with pytest.raises(FormatError) as raised:
        parse_format(form).to_millis(text)
    assert repr(text) in str(raised.value)
    assert reason in str(raised.value)


@pytest.mark.parametrize(
    ("form", "millis", "text"), [row[1:] for row in WRITTEN], ids=[row[0] for row in WRITTEN]
)
def test_an_instant_is_written(form: str, millis: int, text: str) -> None:
    assert parse_format(form).from_millis(millis) == text


@pytest.mark.parametrize(("form", "message"), [row[1:] for row in INVALID], ids=[row[0] for row in INVALID])
def test_what_is_no_format(form: str, message: str) -> None:
    with pytest.raises(FormatError) as raised:
        parse_format(form)
    assert message in str(raised.value)


@pytest.mark.parametrize(("form", "meant"), [row[1:] for row in VALID], ids=[row[0] for row in VALID])
def test_what_is_a_format(form: str, meant: DateTimeFormat) -> None:
    assert parse_format(form) == meant


@pytest.mark.parametrize("value", [1700000000, "1700000000", 1700000000.9, Decimal("1700000000.9"), "1.7e9"])
def test_a_count_is_any_number(value: str | int | float | Decimal) -> None:
    assert parse_format("EPOCH|SECONDS").to_millis(value) == 1700000000000


@pytest.mark.parametrize(
    "value", [" 5", "", "0x10", "1_0", "NaN", "5L", "1e9999999999", float("nan"), Decimal("Infinity")]
)
def test_a_count_is_nothing_else(value: str | float | Decimal) -> None:
    with pytest.raises(FormatError, match="expected a"):
        parse_format("EPOCH").to_millis(value)


def test_counts_overflow_as_in_java() -> None:
    assert parse_format("EPOCH|DAYS").to_millis("9223372036854775807") == 2**63 - 1
    assert parse_format("EPOCH").to_millis("9223372036854775808") == -(2**63)
    assert parse_format("EPOCH|NANOSECONDS|3").to_millis("99999999999999999999") == 4852094820647
    assert parse_format("EPOCH").to_millis("1e400") == 0


@pytest.mark.parametrize("value", [20231114, 20231114.0, Decimal(20231114), "20231114"])
def test_a_pattern_reads_the_digits_of_an_integer(value: str | int | float | Decimal) -> None:
    assert parse_format(f"{SDF}|yyyyMMdd").to_millis(value) == 1699920000000


def test_a_format_that_has_read_travels() -> None:
    form = parse_format(f"{SDF}|yyyy-MM-dd HH:mm|America/New_York")
    form.to_millis("2023-11-05 01:30")
    assert pickle.loads(pickle.dumps(form)) == form


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2023-11", "expected the text '-', found the end"),
        ("2023-11-14T", "'T' is left over"),
        ("2023-Nov-14", "expected MM, found 'Nov-14' at position 6"),
        ("2023-13-14", "the month 13 is not in 1 to 12"),
    ],
)
def test_an_error_says_where(text: str, message: str) -> None:
    with pytest.raises(FormatError) as raised:
        parse_format(f"{SDF}|yyyy-MM-dd").to_millis(text)
    assert str(raised.value) == f"Cannot read {text!r} by the pattern 'yyyy-MM-dd': {message}"

"""Columns of times: their formats, and the one that is the time of a row."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.pinot.infer.proposals import column, lints, proposed, rows, said
from trellis.errors import UsageError

SECONDS = "1700000000"


@pytest.mark.parametrize(
    ("name", "values", "expected", "why"),
    [
        ("ended", [1700000000], "LONG date-time EPOCH|SECONDS", "seconds since 1970"),
        ("ended", [1700000000123], "LONG date-time EPOCH|MILLISECONDS", "milliseconds since 1970"),
        ("ended_ms", [1700000000123], "LONG date-time EPOCH|MILLISECONDS", "milliseconds since 1970"),
        ("ended", [1700000000123456], "LONG date-time EPOCH|MICROSECONDS", "microseconds since 1970"),
        ("ended", [1700000000123456789], "LONG date-time EPOCH|NANOSECONDS", "nanoseconds since 1970"),
        ("ended", [SECONDS], "LONG date-time EPOCH|SECONDS", "seconds since 1970"),
        ("end_date", [19675], "INT date-time EPOCH|DAYS", "days since 1970"),
        ("end_date", [20231114], "INT date-time SIMPLE_DATE_FORMAT|yyyyMMdd", "digits of a date, yyyyMMdd"),
        ("end_date", ["20231114"], "STRING date-time SIMPLE_DATE_FORMAT|yyyyMMdd", "yyyyMMdd"),
        ("c", ["2023-11-14"], "STRING date-time SIMPLE_DATE_FORMAT|yyyy-MM-dd", "yyyy-MM-dd"),
        ("c", ["2023/11/14"], "STRING date-time SIMPLE_DATE_FORMAT|yyyy/MM/dd", "yyyy/MM/dd"),
        ("c", ["2023-11-14T22:13:20Z"], "TIMESTAMP date-time TIMESTAMP", "ISO 8601 to the second"),
        ("c", ["2023-11-14T22:13:20.123+05:30"], "TIMESTAMP date-time TIMESTAMP", "ISO 8601"),
        ("c", ["2023-11-14 22:13:20"], "TIMESTAMP date-time TIMESTAMP", "yyyy-MM-dd HH:mm:ss"),
        ("c", ["2023-11-14 22:13:20.5"], "TIMESTAMP date-time TIMESTAMP", "yyyy-MM-dd HH:mm:ss.SSS"),
        ("c", ["2023-11-14T22:13:20.123456Z"], "STRING date-time SIMPLE_DATE_FORMAT", "ISO 8601"),
        ("c", ["2023-11-14T22:13:20+0530"], "STRING date-time SIMPLE_DATE_FORMAT", "ISO 8601"),
    ],
)  # fmt: skip
def test_the_format_of_times(name: str, values: list[Any], expected: str, why: str):
    assert column(values, name) == (expected, why)
    records = [{name: value} for value in values]
    rows(records, proposed(records))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("user", [1700000000123], "LONG dimension"),
        ("user", [SECONDS], "STRING dimension"),
        ("ended", [5, 1700000000123], "LONG dimension"),
        ("ended", [4_000_000_000_000], "LONG dimension"),
        ("c", ["2023-11-14", "soon"], "STRING dimension"),
        ("c", ["2023-02-30"], "STRING dimension"),
        ("c", ["2023-11-14 25:00:00"], "STRING dimension"),
        ("c", ["2023-11-14", ""], "STRING dimension"),
        ("c", [["2023-11-14"]], "STRING[] dimension"),
        ("time_zone_id", [1700000000], "LONG dimension"),
    ],
)
def test_what_is_no_time(name: str, values: list[Any], expected: str):
    assert column(values, name)[0] == expected


def test_texts_that_do_not_sort_by_time_are_read_into_a_column_of_their_own():
    records = [{"day": "01/31/2024"}, {"day": "02/01/2024"}]
    proposal = proposed(records)
    assert said(proposal) == {"day": "STRING dimension", "day_millis": "LONG date-time EPOCH|MILLISECONDS"}
    assert proposal.table["ingestionConfig"]["transformConfigs"] == [
        {"columnName": "day_millis", "transformFunction": "fromDateTime(\"day\", 'MM/dd/yyyy')"}
    ]
    assert [row.values["day_millis"] for row in rows(records, proposal)] == [1706659200000, 1706745600000]


def test_days_and_months_that_could_be_either_are_left_to_the_user():
    records = [{"day": "05/06/2023"}]
    assert lints(proposed(records)) == [
        ("day", "MM/dd/yyyy and dd/MM/yyyy both match every value: choose one with --time")
    ]
    proposal = proposed(records, times={"day": "dd/MM/yyyy"})
    assert rows(records, proposal)[0].values == {"day": "05/06/2023", "day_millis": 1685923200000}
    assert proposal.time_column == "day_millis"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"updated": "2024-01-01", "ts": 1700000000, "created_at": "2024-01-01"}, "ts"),
        ({"updated_at": "2024-01-01", "created_at": "2024-01-01"}, "created_at"),
        ({"meta": {"ts": 1700000000}, "day": "2024-01-01"}, "meta.ts"),
        ({"meta": {"ts": 1700000000}, "created": "2024-01-01"}, "created"),
        ({"birth_date": "2024-01-01"}, None),
        ({"expires_at": "2024-01-01"}, None),
        ({"ts": "1969-01-01", "day": "2024-01-01"}, "day"),
        ({"note": "2024-01-01"}, None),
        ({"n": 1}, None),
    ],
)
def test_the_main_time(record: dict[str, Any], expected: str | None):
    proposal = proposed([record])
    assert proposal.time_column == expected
    assert proposal.table["segmentsConfig"]["segmentPushType"] == ("APPEND" if expected else "REFRESH")


def test_the_main_time_is_always_there():
    assert proposed([{"ts": 1700000000, "day": "2024-01-01"}, {"day": "2024-01-01"}]).time_column == "day"


def test_a_main_time_that_is_asked_for_is_warned_of():
    proposal = proposed([{"due": "1931-01-01"}, {"due": None}, {"due": "2024-01-01"}], times={"due": None})
    assert proposal.time_column == "due"
    assert lints(proposal) == [
        ("due", "the main time is null in some rows: the time of the load is stored then"),
        ("due", "the main time is not always between 1971 and 2071: Pinot refuses such segments"),
    ]


@pytest.mark.parametrize(
    ("said_format", "expected"),
    [
        ("EPOCH|SECONDS", "LONG date-time EPOCH|SECONDS"),
        ("1:SECONDS:EPOCH", "LONG date-time 1:SECONDS:EPOCH"),
        ("TIMESTAMP", "TIMESTAMP date-time TIMESTAMP"),
        ("yyyyMMddHH", "LONG date-time SIMPLE_DATE_FORMAT|yyyyMMddHH"),
    ],
)
def test_the_user_gives_the_format(said_format: str, expected: str):
    assert column([2023111422], "n", times={"n": said_format})[0] == expected


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ({"s": None}, "--time s: no time format matches every value"),
        ({"s": "yyyy-MM-dd"}, "--time s=yyyy-MM-dd: some values do not follow this format"),
        ({"s": "yyyy-MM-ddT"}, "--time s=yyyy-MM-ddT: Invalid SIMPLE_DATE_FORMAT pattern"),
        ({"l": "yyyy"}, "--time l=yyyy: a time is one text or one whole number a row, not lists of text"),
        ({"x": None}, "--time x: no such column"),
    ],
)
def test_what_a_user_cannot_ask(times: dict[str, str | None], message: str):
    with pytest.raises(UsageError, match=message):
        proposed([{"s": "soon", "l": ["2023", "2024"]}], times=times)


def test_a_format_that_is_asked_for_concerns_its_own_column_only():
    proposal = proposed([{"from": "2023", "code": "2024"}], times={"from": "yyyy"})
    assert said(proposal) == {"from": "STRING date-time SIMPLE_DATE_FORMAT|yyyy", "code": "STRING dimension"}

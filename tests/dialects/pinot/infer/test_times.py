"""Columns of times: their formats, and the one that is the time of a row."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.pinot.infer.proposals import column, notes, proposed, rows
from trellis.errors import UsageError


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("ended", [1700000000], "LONG date-time EPOCH|SECONDS"),
        ("ended_ms", [1700000000123], "LONG date-time EPOCH|MILLISECONDS"),
        ("c", ["2023-11-14"], "STRING date-time SIMPLE_DATE_FORMAT|yyyy-MM-dd"),
        ("c", ["2023-11-14T22:13:20Z"], "TIMESTAMP date-time TIMESTAMP"),
        ("c", ["2023-11-14T22:13:20.123+05:30"], "TIMESTAMP date-time TIMESTAMP"),
        ("c", ["2023-11-14 22:13:20"], "TIMESTAMP date-time TIMESTAMP"),
        ("c", ["2023-11-14T22:13:20.123456Z"], "STRING date-time SIMPLE_DATE_FORMAT"),
        ("c", ["2023-11-14T22:13:20+0530"], "STRING date-time SIMPLE_DATE_FORMAT"),
        ("user", [1700000000123], "LONG dimension"),
        ("ended", ["1700000000"], "STRING dimension"),
        ("ended", [5, 1700000000123], "LONG dimension"),
        ("ended", [4_000_000_000_000], "LONG dimension"),
        ("time_zone_id", [1700000000], "INT dimension"),
        ("c", ["2023-11-14", "soon"], "STRING dimension"),
        ("c", ["2023-02-30"], "STRING dimension"),
        ("c", ["2023-11-14 25:00:00"], "STRING dimension"),
        ("c", ["2023-11-14", ""], "STRING dimension"),
        ("c", ["01/31/2024"], "STRING dimension"),
        ("c", [["2023-11-14"]], "STRING[] dimension"),
    ],
)
def test_the_format_of_times(name: str, values: list[Any], expected: str):
    assert column(values, name)[0] == expected
    records = [{name: value} for value in values]
    rows(records, proposed(records))


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([{"created_at": "2024-01-01", "ts": 1700000000}], "created_at"),
        ([{"ts": 1700000000, "day": "2024-01-01"}, {"day": "2024-01-01"}], "day"),
        ([{"meta": {"ts": 1700000000}, "day": "2024-01-01"}], "meta.ts"),
        ([{"day": "2024-01-01"}, {}], None),
        ([{"n": 1}], None),
    ],
)
def test_the_main_time_is_the_first_that_is_never_null(records: list[dict[str, Any]], expected: str | None):
    proposal = proposed(records)
    assert proposal.table["segmentsConfig"].get("timeColumnName") == expected
    assert proposal.table["segmentsConfig"]["segmentPushType"] == ("APPEND" if expected else "REFRESH")
    assert [note.message for note in proposal.notes] == ([] if expected else ["no main time column"])


def test_a_main_time_that_is_asked_for_may_be_null():
    proposal = proposed([{"due": "2031-01-01"}, {"due": None}], times=("due",))
    assert proposal.table["segmentsConfig"]["timeColumnName"] == "due"
    assert notes(proposal) == [("due", "the main time may be null: the time of the load is stored then")]


def test_a_chosen_time_needs_no_name_of_one() -> None:
    assert column([1_700_000_000], "n", times=("n",))[0] == "LONG date-time EPOCH|SECONDS"


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ("s", "--time s: its values are text, not times: texts by ISO 8601, or whole numbers that count sec"),
        ("l", "--time l: its values are lists of text, not times"),
        ("x", "--time x: no such column"),
    ],
)
def test_what_a_user_cannot_ask(time: str, message: str):
    with pytest.raises(UsageError) as failure:
        proposed([{"s": "soon", "l": ["2023", "2024"]}], times=(time,))
    assert str(failure.value).startswith(message)

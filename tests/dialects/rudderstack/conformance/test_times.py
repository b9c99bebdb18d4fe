"""Times: which text is one, and what an event's own become."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest

from dialects.rudderstack.conformance.exploding import (
    NOW,
    RECEIVED,
    event,
    lost,
    own,
    reasons,
    rows,
    texts,
    types,
)
from trellis.dialects.rudderstack.events.router import EventRouter
from trellis.dialects.rudderstack.events.timestamps import in_utc, parse, parse_legacy, parse_strict, to_text
from trellis.dialects.rudderstack.options import Options

DAY = "2020-04-26T07:00:"


def read(text: str) -> str | None:
    moment = parse(text)
    return None if moment is None else to_text(moment)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        pytest.param("2019-09-26", "2019-09-26T00:00:00.000Z", id="R54-a-day"),
        pytest.param("2009-05-19 14:39:22", "2009-05-19T14:39:22.000Z", id="R54-a-second"),
        pytest.param("2019-09-26T06:30:12.984Z", "2019-09-26T06:30:12.984Z", id="R54-utc"),
        pytest.param("2019-09-26T06:30:12.984+0530", "2019-09-26T01:00:12.984Z", id="R54-zone"),
        pytest.param("2019-09-26T06:30:12.984+05:30", "2019-09-26T01:00:12.984Z", id="R54-zone-with-colon"),
        pytest.param("2020-02-11 04:56:55.175116", "2020-02-11T04:56:55.175Z", id="R54-microseconds"),
        pytest.param("2024-02-29", "2024-02-29T00:00:00.000Z", id="C63-leap-day"),
        pytest.param("2023-02-30", "2023-03-02T00:00:00.000Z", id="C63-rolls-over"),
        pytest.param("2023-02-30T10:11:12.5Z", "2023-03-02T10:11:12.500Z", id="C63-keeps-the-time-of-day"),
        pytest.param("2023-04-31T00:00:00.000Z", "2023-05-01T00:00:00.000Z", id="C63-the-common-form"),
        pytest.param("2024-02-29T10:00:00.123456+0530", "2024-02-29T04:30:00.123Z", id="C64-cut-not-rounded"),
        pytest.param("2024-02-29 10:00", "2024-02-29T10:00:00.000Z", id="C64-minutes"),
        ("2024-02-29\t10:00", "2024-02-29T10:00:00.000Z"),
        ("2024-02-29 10:00:00+00", "2024-02-29T10:00:00.000Z"),
        ("2024-02-29 10:00:00.5-03", "2024-02-29T13:00:00.500Z"),
        ("2024-02-29T10:00+05", "2024-02-29T05:00:00.000Z"),
        ("2024-02-29T", "2024-02-29T00:00:00.000Z"),
        ("2024-02-29 ", "2024-02-29T00:00:00.000Z"),
        ("2024-02-29T10:00-12:00", "2024-02-29T22:00:00.000Z"),
        ("2024-02-29T10:00:00.1234567890123456789", "2024-02-29T10:00:00.123Z"),
        ("0001-01-01", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_timestamp(text: str, moment: str) -> None:
    assert read(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        *(
            pytest.param(text, id=f"C65-{number}")
            for number, text in enumerate(
                (
                    "2024/02/29",
                    "29 Feb 2024",
                    "20240229",
                    "2024-13-01",
                    "2024-01-01T24:00:00Z",
                    "2024-01-01T24:00:00.000Z",
                    "+2024-01-01",
                    "10:20:30",
                )
            )
        ),
        pytest.param("4 December 2020", id="R55-words"),
        pytest.param("05/25/2020", id="R55-slashes"),
        pytest.param("20240131", id="R55-no-dashes"),
        pytest.param("2024-01", id="R55-a-month"),
        "",
        "2024-",
        "2024-00-10",
        "2024-01-32",
        "2024-01-00",
        "2024-01-01TZ",
        "2024-01-01Z",
        "2024-01-01T10:00z",
        "2024-01-01T10:00:00.000z",
        "2024-01-01  ",
        "2024-01-01T10",
        "2024-01-01T10:60",
        "2024-01-01T10:00:60",
        "2024-01-01T10:00:00.",
        "2024-01-01T10:00:00,5Z",
        "2024-01-01T10:00:00,500Z",
        "2024-01-01T10:00+5",
        "2024-01-01T10:00+05:",
        "2024-01-01T10:00+24:00",
        "2024-01-01  10:00",
        "2024-01-01t10:00",
        "2024-01-01T10:00\n",
        " 2024-01-01",
        "2024-W01-1T10:00:00.000Z",
        "2024-01-01T101112.13141Z",
        "２０２４-01-01",
        "2024-01-01T10:00:00.12345678901234567890123456789",
        "0000-01-01",
        "0000-01-01T00:00:00.000Z",
        "0001-01-01T00:00+01:00",
        "9999-12-31T23:59-01:00",
    ],
)
def test_not_a_timestamp(text: str) -> None:
    assert read(text) is None


def test_r55_strict_timestamps_are_the_six() -> None:
    six = (
        "2019-09-26",
        "2009-05-19 14:39:22",
        "2019-09-26T06:30:12.984Z",
        "2020-02-11 04:56:55.175116",
        "2019-09-26T06:30:12.984+0530",
        "2019-09-26T06:30:12.984+05:30",
    )
    assert [parse_strict(text) for text in six] == [parse(text) for text in six]
    for text in (
        "2019-09-26T06:30",
        "2009-05-19T14:39:22",
        "2019-09-26 06:30:12.984Z",
        "2019-09-26T06:30:12Z",
    ):
        assert parse(text) is not None
        assert parse_strict(text) is None
    track = event("track", event="e", properties={"a": "2019-09-26T06:30", "b": "2019-09-26"})
    assert types(own(track, strict_timestamps=True)) | {"event": "", "event_text": ""} == {
        "event": "",
        "event_text": "",
        "a": "string",
        "b": "datetime",
    }


def test_legacy_timestamps_are_those_of_the_javascript_engine() -> None:
    both = ("2024-02-29", "2024-02-29 ", "2024-02-29 10:00:00+00", "2024-02-29T10:00:00.5+0530")
    assert [parse_legacy(text) for text in both] == [parse(text) for text in both]
    assert parse_legacy("2024-02-29T10:00z") == datetime(2024, 2, 29, 10, tzinfo=timezone.utc)
    for text in ("2024-02-29T", "2024-02-29T10:00+05", "2024-02-29T10:00:00.123-05"):
        assert parse(text) is not None
        assert parse_legacy(text) is None
    track = event("track", event="e", properties={"a": "2024-02-29T10:00z", "b": "2024-02-29T"})
    by_go, by_javascript = types(own(track)), types(own(track, legacy_timestamps=True))
    assert (by_go["a"], by_go["b"]) == ("string", "datetime")
    assert (by_javascript["a"], by_javascript["b"]) == ("datetime", "string")


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (date(2024, 2, 29), datetime(2024, 2, 29, tzinfo=timezone.utc)),
        (datetime(2024, 2, 29, 1, 2, 3, 456789), datetime(2024, 2, 29, 1, 2, 3, 456000, tzinfo=timezone.utc)),
        (
            datetime(2024, 2, 29, tzinfo=timezone(timedelta(hours=2))),
            datetime(2024, 2, 28, 22, tzinfo=timezone.utc),
        ),
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=2))), None),
    ],
)
def test_python_s_own_times(value: date, moment: datetime | None) -> None:
    assert in_utc(value) == moment


# --- The times of an event -------------------------------------------------------------------------------


def times(**fields: Any) -> dict[str, str]:
    row = texts(rows({"type": "page", "messageId": "m", **fields})["pages"])
    return {name: row[name] for name in ("sent_at", "original_timestamp", "received_at", "timestamp")}


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        pytest.param({"sentAt": 4, "originalTimestamp": 1}, 2, id="C67-all"),
        pytest.param({"originalTimestamp": 1}, 1, id="C67-not-sent"),
        pytest.param({"sentAt": 4}, 6, id="C67-no-original"),
        pytest.param({}, 5, id="C67-neither"),
    ],
)
def test_timestamp_is_computed(fields: dict[str, int], seconds: int) -> None:
    stamps = {name: f"2024-02-29T10:00:{second:02}Z" for name, second in fields.items()}
    assert times(receivedAt=RECEIVED, **stamps)["timestamp"] == f"2024-02-29T10:00:{seconds:02}.000Z"


def test_c67_r50_an_explicit_timestamp_is_kept() -> None:
    stamps = {"sentAt": "2024-02-29T10:00:04Z", "originalTimestamp": "2024-02-29T10:00:01Z"}
    row = times(receivedAt=RECEIVED, timestamp="2020-01-01T00:00:00+01:00", **stamps)
    assert row["timestamp"] == "2019-12-31T23:00:00.000Z"


def test_r18_r19_r20_each_time_has_its_column() -> None:
    row = times(receivedAt=RECEIVED, sentAt="2024-02-29T10:00:04Z", originalTimestamp="2024-02-29T10:00:01Z")
    assert row == {
        "sent_at": "2024-02-29T10:00:04.000Z",
        "original_timestamp": "2024-02-29T10:00:01.000Z",
        "received_at": "2024-02-29T10:00:05.000Z",
        "timestamp": "2024-02-29T10:00:02.000Z",
    }


def test_r21_r52_the_seed_s_first_case() -> None:
    row = times(originalTimestamp=f"{DAY}43.400Z", sentAt=f"{DAY}45.124Z", receivedAt=f"{DAY}45.558Z")
    assert row["timestamp"] == f"{DAY}43.834Z"
    assert row["timestamp"] > row["original_timestamp"]


def test_r21_r53_the_seed_s_second_case() -> None:
    row = times(originalTimestamp=f"{DAY}45.558Z", sentAt=f"{DAY}46.124Z", receivedAt=f"{DAY}43.400Z")
    assert row["timestamp"] == f"{DAY}42.834Z"
    assert row["timestamp"] < row["original_timestamp"]


def test_r22_times_are_utc_and_in_milliseconds() -> None:
    row = rows(event("page", sentAt="2024-02-29T10:00:04.123999+02:00"))["pages"]
    assert row["sent_at"] == datetime(2024, 2, 29, 8, 0, 4, 123000, tzinfo=timezone.utc)
    assert all(row[name].tzinfo is timezone.utc for name in ("sent_at", "received_at", "timestamp"))


def test_r49_the_server_s_clock_is_the_absolute_one() -> None:
    """A client that is a day behind: its distance between the two counts, not its clock."""
    row = times(receivedAt=RECEIVED, sentAt="2024-02-28T10:00:04Z", originalTimestamp="2024-02-28T10:00:01Z")
    assert row["timestamp"] == "2024-02-29T10:00:02.000Z"


def test_r51_what_was_sent_before_it_happened_is_kept_and_counted() -> None:
    explode = EventRouter(Options(), NOW)
    before = event("page", sentAt="2024-02-29T10:00:01Z", originalTimestamp="2024-02-29T10:00:04Z")
    row = explode(before, "1").rows[0][1]
    assert to_text(row["timestamp"]) == "2024-02-29T10:00:08.000Z"
    explode(event("page", originalTimestamp="2024-03-01T10:00:04Z"), "2")
    assert explode.envelope.early == 1


def test_missing_times_are_the_time_of_receipt_in_their_columns_too() -> None:
    assert set(times(receivedAt=RECEIVED).values()) == {RECEIVED}


def test_c61_r19_without_a_time_of_receipt_it_is_the_load_s() -> None:
    for stamps in ({}, {"receivedAt": "garbage"}, {"receivedAt": None}, {"receivedAt": ""}):
        assert times(**stamps)["received_at"] == "2024-02-29T12:00:00.000Z"


def test_what_is_no_time_is_lost_and_said() -> None:
    page = event("page", sentAt="soon", originalTimestamp=1709200000, timestamp=["2024-02-29"])
    assert reasons(page) == dict.fromkeys(("sentAt", "originalTimestamp", "timestamp"), "not a timestamp")
    assert [loss.value for loss in lost(page)] == ["soon", 1709200000, ["2024-02-29"]]
    assert set(times(**page).values()) == {RECEIVED}


def test_a_skew_beyond_the_calendar_is_no_skew() -> None:
    row = times(receivedAt=RECEIVED, sentAt="9999-12-31", originalTimestamp="0001-01-01")
    assert row["timestamp"] == RECEIVED

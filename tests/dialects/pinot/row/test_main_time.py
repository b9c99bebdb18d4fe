"""The main time column."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.pinot.row.rows import NOW, NOW_MILLIS, config, document, pipeline, rows, time, values
from trellis.dialects.pinot.conversion.settings import Settings
from trellis.dialects.pinot.date_time.units import VALID_MAX_MILLIS, VALID_MIN_MILLIS
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.expression.transforms import RowFault
from trellis.dialects.pinot.row.time_validation import MainTime
from trellis.errors import SchemaError

DAY = "SIMPLE_DATE_FORMAT|yyyy-MM-dd"


def default(data_type: str, form: str, default_value: Any = None) -> Any:
    literal = {} if default_value is None else {"defaultNullValue": default_value}
    pipe = pipeline(document(times=[time("t", data_type, form, **literal)]), config("t"))
    (row,) = rows(pipe, {})
    assert row.nulls == {"t"}
    return row.values["t"]


@pytest.mark.parametrize(
    ("data_type", "form", "default_value", "expected"),
    [
        pytest.param("LONG", "EPOCH|DAYS", 12345, 12345, id="N01"),
        pytest.param("LONG", "EPOCH|DAYS", 0, 20455, id="N02"),
        pytest.param("STRING", DAY, "1971-01-01", "1971-01-01", id="N03"),
        pytest.param("STRING", DAY, "2071-01-02", "2026-01-02", id="N04"),
        pytest.param("TIMESTAMP", "TIMESTAMP", None, NOW_MILLIS, id="N05"),
        ("STRING", DAY, "2071-01-01", "2071-01-01"),
        ("STRING", DAY, "1970-12-31", "2026-01-02"),
        ("STRING", DAY, "x", "2026-01-02"),
        ("INT", "EPOCH|DAYS", None, 20455),
        ("LONG", "EPOCH", None, NOW_MILLIS),
        ("LONG", "EPOCH|SECONDS|5", None, NOW_MILLIS // 5000),
        ("TIMESTAMP", "TIMESTAMP", "2023-11-14", 1699920000000),
        ("STRING", "SIMPLE_DATE_FORMAT|yyyy-MM-dd HH|Asia/Kolkata", None, "2026-01-02 08"),
        ("LONG", "SIMPLE_DATE_FORMAT|yyyyMMdd", None, 20260102),
        ("STRING", "TIMESTAMP", None, "2026-01-02 03:04:05.678"),
        ("DOUBLE", "EPOCH|DAYS", None, 20455.0),
    ],
)
def test_what_stands_for_null(data_type: str, form: str, default_value: Any, expected: Any) -> None:
    assert default(data_type, form, default_value) == expected


def test_n06_a_type_that_cannot_hold_now_is_refused() -> None:
    with pytest.raises(SchemaError, match="column t: the current time, 1767323045678, in format EPOCH"):
        default("INT", "EPOCH|MILLISECONDS")


@pytest.mark.parametrize(
    ("data_type", "form", "expected"),
    [
        pytest.param("STRING", DAY, "null", id="seed_p47-text"),
        pytest.param("TIMESTAMP", "TIMESTAMP", 0, id="seed_p47-timestamp"),
        ("LONG", "EPOCH|DAYS", -(2**63)),
    ],
)
def test_a_time_that_is_not_the_main_one_has_the_default_of_its_type(
    data_type: str, form: str, expected: Any
) -> None:
    assert values(pipeline(document(times=[time("t", data_type, form)])), {}) == [{"t": expected}]


def test_seed_p48_the_main_time_lies_between_1971_and_2071() -> None:
    main = MainTime(spec("LONG", "EPOCH"), NOW)
    assert main.problem(VALID_MIN_MILLIS) is main.problem(VALID_MAX_MILLIS) is None
    assert (VALID_MIN_MILLIS, VALID_MAX_MILLIS) == (31536000000, 3187296000000)
    assert main.problem(VALID_MAX_MILLIS + 1) == (
        "'3187296000001' is not between 1971-01-01 and 2071-01-01 UTC "
        "(it reads as 3187296000001 milliseconds in format EPOCH)"
    )
    assert main.problem(VALID_MIN_MILLIS - 1) is not None


def test_seed_p49_a_default_out_of_range_is_the_time_of_the_load() -> None:
    assert default("LONG", "EPOCH|DAYS", 0) == 20455
    assert default("STRING", DAY) == "2026-01-02"


def test_now_is_the_same_for_all_rows() -> None:
    pipe = pipeline(document(times=[time("t", "LONG", "EPOCH")]), config("t"))
    assert values(pipe, {}, {"t": None}, {"t": []}) == [{"t": NOW_MILLIS}] * 3


def test_the_session_zone_is_that_of_a_timestamp() -> None:
    schema_document = document(times=[time("t", "STRING", "TIMESTAMP")])
    pipe = pipeline(schema_document, config("t"), Settings(session_zone="Asia/Kolkata"))
    assert values(pipe, {}) == [{"t": "2026-01-02 08:34:05.678"}]


CHECKED = {"rowTimeValueCheck": True}


@pytest.mark.parametrize("value", ["1970-12-31", "2071-01-02", "x", "2023-02-30"])
def test_a_time_that_is_checked_and_bad_stops(value: str) -> None:
    schema_document = document(times=[time("t", "STRING", DAY)])
    with pytest.raises(RowFault, match="column t: "):
        pipeline(schema_document, config("t", **CHECKED)).rows({"t": value})
    (row,) = rows(pipeline(schema_document, config("t", continueOnError=True, **CHECKED)), {"t": value})
    assert (row.values, row.nulls, row.incomplete) == ({"t": "2026-01-02"}, {"t"}, True)
    assert [(fault.column, fault.value) for fault in row.faults] == [("t", value)]


def test_a_time_is_not_checked_without_being_asked_for() -> None:
    schema_document = document(times=[time("t", "STRING", DAY)])
    assert values(pipeline(schema_document, config("t")), {"t": "x"}) == [{"t": "x"}]
    assert values(pipeline(schema_document, config(**CHECKED)), {"t": "x"}) == [{"t": "x"}]


@pytest.mark.parametrize(
    ("data_type", "form", "good"),
    [
        ("LONG", "EPOCH|DAYS", 19675),
        ("INT", "EPOCH|SECONDS", 1_700_000_000),
        ("TIMESTAMP", "TIMESTAMP", "2023-11-14 22:13:20.123"),
        ("STRING", "EPOCH|SECONDS", "1.7E9"),
        ("LONG", "SIMPLE_DATE_FORMAT|yyyyMMdd", 20231114),
        ("DOUBLE", "EPOCH|SECONDS", 1.7e9),
    ],
)
def test_a_time_that_is_checked_and_good_stays(data_type: str, form: str, good: Any) -> None:
    pipe = pipeline(document(times=[time("t", data_type, form)]), config("t", **CHECKED))
    (row,) = rows(pipe, {"t": good})
    assert (row.nulls, row.incomplete) == (set(), False)


def test_the_time_column_must_be_a_date_time() -> None:
    with pytest.raises(
        SchemaError, match="timeColumnName t: the schema has no date-time column of that name"
    ):
        pipeline(document(), config("t"))


def spec(data_type: str, form: str) -> FieldSpec:
    return FieldSpec("t", PinotType[data_type], FieldType.DATE_TIME, format=form, granularity="1:DAYS")

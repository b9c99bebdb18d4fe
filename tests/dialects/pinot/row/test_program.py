"""Rows, discards and notes that the engine is given."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.pinot.row.rows import NOW, column, config, document, map_column, several
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.options import Options
from trellis.dialects.pinot.row_transform import PinotProgram
from trellis.dialects.pinot.stored_schema import Authored
from trellis.dialects.pinot.table.config import table_config
from trellis.evolution.record_outcome import Rejected, Stopped

SAID = document([column("n", "INT"), column("s", "STRING", notNull=True), several("m", "FLOAT")])


def program(schema_keys: dict[str, Any] = SAID, table: Any = None, **options: Any) -> PinotProgram:
    authored = Authored(read_schema(schema_keys), table_config(table), Options().over(options))
    return PinotProgram(authored, NOW)


# --- the two views


def test_the_stored_view_holds_defaults() -> None:
    assert program()({}).rows == [{"n": -(2**31), "s": "null", "m": [float("-inf")]}]


def test_the_nullable_view_holds_nulls() -> None:
    pinot_program = program(view="nullable")
    assert pinot_program({}).rows == [{}]
    assert pinot_program({"n": -(2**31), "s": "null", "m": [1.5]}).rows == [
        {"n": -(2**31), "s": "null", "m": [1.5]}
    ]


def test_not_null_columns_hold_defaults_where_nulls_are_by_column() -> None:
    pinot_program = program({**SAID, "enableColumnBasedNullHandling": True}, view="nullable")
    assert pinot_program({}).rows == [{"s": "null"}]


def test_values_are_given_as_flags_and_exact_text() -> None:
    schema_document = document([column("b", "BOOLEAN"), column("d", "BIG_DECIMAL"), several("f", "BOOLEAN")])
    record = {"b": "TRUE ", "d": "1E+3", "f": [1, 0]}
    assert program(schema_document)(record).rows == [{"b": True, "d": "1000", "f": [True, False]}]


# --- errors


def test_an_error_stops_with_what_to_do() -> None:
    with pytest.raises(Stopped) as raised:
        program()({"n": "x"})
    assert str(raised.value) == (
        "column n: STRING 'x' cannot become INT: expected a whole number of 32 bits, true or false, or "
        "its text; "
        "fix the value, or choose how to handle such values: --option on_error=null or on_error=reject"
    )


@pytest.mark.parametrize("continues", [True, False])
def test_a_value_becomes_null_and_is_discarded(continues: bool) -> None:
    result = program(table=config(continueOnError=continues), on_error="null")({"n": "x", "s": "y"})
    assert result.rows == [{"n": -(2**31), "s": "y", "m": [float("-inf")]}]
    assert [(lost_value.table, lost_value.column, lost_value.value) for lost_value in result.lost] == [
        ("t", "n", "x")
    ]
    assert result.warnings == ["a value could not be stored and became null"]


@pytest.mark.parametrize("continues", [True, False])
def test_a_record_is_rejected(continues: bool) -> None:
    with pytest.raises(Rejected) as raised:
        program(table=config(continueOnError=continues), on_error="reject")({"n": "x"})
    assert raised.value.kind == "column n: cannot be stored"


def test_stop_beats_continue_on_error() -> None:
    with pytest.raises(Stopped):
        program(table=config(continueOnError=True), on_error="stop")({"n": "x"})
    assert program(table=config(continueOnError=True))({"n": "x"}).lost[0].value == "x"


@pytest.mark.parametrize("on_error", ["null", "reject"])
def test_the_strategy_error_rejects_the_record(on_error: str) -> None:
    schema_document = document([column("s", "STRING", maxLength=1, maxLengthExceedStrategy="ERROR")])
    with pytest.raises(Rejected, match=r"exceeds configured max length 1\."):
        program(schema_document, on_error=on_error)({"s": "xy"})
    with pytest.raises(Stopped):
        program(schema_document)({"s": "xy"})


@pytest.mark.parametrize("on_error", ["stop", "null", "reject"])
def test_strict_discards_what_would_be_damaged(on_error: str) -> None:
    result = program(strict=True, on_error=on_error)({"n": 3_000_000_000, "s": "x"})
    assert result.rows == [{"n": -(2**31), "s": "x", "m": [float("-inf")]}]
    assert [(lost_value.column, lost_value.value, lost_value.reason) for lost_value in result.lost] == [
        ("n", 3_000_000_000, "cannot be stored in column n: 3000000000 is beyond the range of INT")
    ]


def test_damage_is_counted_where_it_is_not_refused() -> None:
    pinot_program = program()
    assert pinot_program({"n": 3_000_000_000, "s": "x" * 513}).lost == []
    what = ", stored as Pinot does it; with strict=true it becomes null and is discarded"
    assert dict(pinot_program.take_warnings()) == {
        f"column n: overflow{what}": 1,
        f"column s: too long{what}": 1,
    }
    assert dict(pinot_program.take_warnings()) == {}


# --- what is noted


def test_fields_that_nothing_is_made_of_are_noted() -> None:
    assert program()({"n": 1, "zz": 5, "yy": None}).warnings == [
        "'zz' is not a column of the schema; its values were dropped"
    ]


def test_fields_that_something_is_made_of_are_not() -> None:
    table = config(
        complexTypeConfig={"fieldsToUnnest": ["lines"], "prefixesToRename": {"meta.": ""}},
        transformConfigs=[{"columnName": "s", "transformFunction": "lower(o.x)"}],
        filterConfig={"filterFunction": "gone = 1"},
    )
    record = {"lines": [{"k": 1}], "meta": {"n": 1}, "o": {"x": "A"}, "gone": 0}
    result = program(table=table)(record)
    assert (result.rows[0]["n"], result.rows[0]["s"], result.warnings) == (1, "a", [])


def test_a_record_whose_rows_are_all_filtered_is_dropped_once() -> None:
    table = config(complexTypeConfig={"fieldsToUnnest": ["m"]}, filterConfig={"filterFunction": "m > most"})
    pinot_program = program(document([column("m", "INT")]), table)
    assert pinot_program({"m": [5, 6], "most": 1}).dropped
    some = pinot_program({"m": [1, 5, 6], "most": 1})
    assert (some.rows, some.dropped) == ([{"m": 1}], False)
    assert some.warnings == ["the filter dropped one of several rows of a record"] * 2


# --- maps


def test_the_values_of_a_map_are_of_one_type() -> None:
    result = program(document(maps=[map_column("m", "LONG")]))({"m": {"a": 1, "b": "7", "c": None, "d": 1.5}})
    assert result.rows == [{"m": {"a": 1, "b": 7, "c": None}}]
    assert [(lost_value.column, lost_value.value) for lost_value in result.lost] == [("m", {"d": 1.5})]
    where = "cannot be stored in column m: in the map under 'd', whose values are stored as LONG: "
    assert result.lost[0].reason.startswith(where)


def test_a_map_of_texts_takes_numbers() -> None:
    result = program(document(maps=[map_column("m", "STRING")]))({"m": {"a": 1e8, "b": True}})
    assert (result.rows, result.lost) == ([{"m": {"a": "1.0E8", "b": "true"}}], [])


def test_a_map_without_children_is_json_text() -> None:
    result = program(document(maps=[column("m", "MAP")]))({"m": {"b": [1.5, "x"], "a": None}})
    assert result.rows == [{"m": '{"a":null,"b":[1.5,"x"]}'}]


# --- a main time that a segment cannot have


@pytest.mark.parametrize(
    ("segment_check", "untimely"), [(None, 2), (True, 2), (False, 0)], ids=["unset", "on", "off"]
)
def test_untimely_rows_are_counted(segment_check: bool | None, untimely: int) -> None:
    """They are stored as Pinot stores them, and the segment that they come to is refused."""
    table: dict[str, Any] = {"tableName": "t", "segmentsConfig": {"timeColumnName": "day"}}
    if segment_check is not None:
        table["ingestionConfig"] = {"segmentTimeValueCheck": segment_check}
    schema = {
        "schemaName": "t",
        "dateTimeFieldSpecs": [
            {
                "name": "day",
                "dataType": "STRING",
                "format": "SIMPLE_DATE_FORMAT|yyyy-MM-dd",
                "granularity": "1:DAYS",
            }
        ],
    }
    pinot_program = PinotProgram(Authored(read_schema(schema), table_config(table)), NOW)
    messages = [
        note
        for day in ("2024-01-05", "24-01-05", "never", None)
        for note in pinot_program({"day": day}).warnings
    ]
    assert len(messages) == untimely
    assert all(value.startswith("the main time day is not between 1971 and 2071") for value in messages)

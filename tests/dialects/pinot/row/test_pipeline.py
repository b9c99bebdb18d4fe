"""The steps of the pipeline in their order."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from dialects.pinot.row.rows import (
    column,
    config,
    document,
    map_column,
    pipeline,
    rows,
    several,
    time,
    values,
)
from trellis.dialects.pinot.conversion.settings import LossKind, Settings
from trellis.dialects.pinot.expression.transforms import RowFault
from trellis.dialects.pinot.table.config import table_config
from trellis.errors import SchemaError

INT = document([column("n", "INT")])
NULL_INT = -(2**31)


def one(schema_keys: dict[str, Any], table: dict[str, Any] | None, record: dict[str, Any], **how: Any) -> Any:
    (row,) = rows(pipeline(schema_keys, table, **how), record)
    return row


# --- columns


def test_fields_that_are_no_columns_are_dropped() -> None:
    row = one(INT, None, {"n": 7, "other": 1})
    assert (row.values, row.nulls, row.faults) == ({"n": 7}, set(), [])


def test_seed_p30_a_default_stands_for_null_and_is_marked() -> None:
    schema_document = document([column("n", "INT", defaultNullValue=5), column("s", "STRING")])
    for record in ({}, {"n": None, "s": None}, {"n": [], "s": {}}):
        row = one(schema_document, None, record)
        assert (row.values, row.nulls) == ({"n": 5, "s": "null"}, {"n", "s"})


def test_seed_p32_the_default_of_several_values_is_one_of_them() -> None:
    schema_document = document([several("n", "INT"), several("s", "STRING", defaultNullValue="-")])
    assert one(schema_document, None, {"s": []}).values == {"n": [NULL_INT], "s": ["-"]}


def test_defaults_of_all_types_in_dimensions_and_metrics() -> None:
    types = (
        "INT",
        "LONG",
        "FLOAT",
        "DOUBLE",
        "BIG_DECIMAL",
        "BOOLEAN",
        "TIMESTAMP",
        "STRING",
        "JSON",
        "BYTES",
    )
    metrics = ("INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "BYTES")
    schema_document = document(
        [column(f"d_{data_type}", data_type) for data_type in types],
        [column(f"m_{data_type}", data_type) for data_type in metrics],
        maps=[map_column("map", "INT")],
    )
    row = one(schema_document, None, {})
    assert row.values == {
        "d_INT": NULL_INT,
        "d_LONG": -(2**63),
        "d_FLOAT": float("-inf"),
        "d_DOUBLE": float("-inf"),
        "d_BIG_DECIMAL": Decimal(0),
        "d_BOOLEAN": 0,
        "d_TIMESTAMP": 0,
        "d_STRING": "null",
        "d_JSON": "null",
        "d_BYTES": b"",
        "m_INT": 0,
        "m_LONG": 0,
        "m_FLOAT": 0.0,
        "m_DOUBLE": 0.0,
        "m_BIG_DECIMAL": Decimal(0),
        "m_BYTES": b"",
        "map": {},
    }
    assert row.nulls == set(row.values)


def test_virtual_columns_are_not_stored() -> None:
    schema_document = document([column("n", "INT"), column("$docId", "INT", virtualColumnProvider="p")])
    assert one(schema_document, None, {"n": 1, "$docId": 5}).values == {"n": 1}


@pytest.mark.parametrize(
    ("data_type", "many", "value", "expected"),
    [
        pytest.param("INT", True, [], [NULL_INT], id="M01"),
        pytest.param("INT", False, [None, 5], 5, id="M02"),
        pytest.param("INT", True, 5, [5], id="M04"),
        pytest.param("INT", True, [None, 5, None, 6], [5, 6], id="M05"),
        pytest.param("INT", True, {"x": 1, "y": 2}, [1, 2], id="M09"),
        pytest.param(
            "JSON", False, {"z": 1, "a": {"y": 1}, "m": None}, '{"a":{"y":1},"m":null,"z":1}', id="J08"
        ),
        pytest.param("JSON", False, [], "[]", id="J06"),
        pytest.param("JSON", False, '{"b":1, "a":1.10}', '{"b":1,"a":1.1}', id="J01"),
        pytest.param("JSON", False, "abc", '"abc"', id="J03"),
        pytest.param("DOUBLE", False, float("nan"), float("-inf"), id="S02"),
        pytest.param("DOUBLE", True, [float("nan"), 1.0, -0.0], [1.0, 0.0], id="S03"),
        pytest.param("DOUBLE", True, [float("nan")], [float("-inf")], id="S04"),
        pytest.param("BIG_DECIMAL", False, Decimal("1200.00"), Decimal("1.2E+3"), id="S05"),
    ],
)
def test_values_through_all_steps(data_type: str, many: bool, value: Any, expected: Any) -> None:
    schema_document = document([(several if many else column)("c", data_type)])
    assert one(schema_document, None, {"c": value}).values == {"c": expected}


def test_m03_several_values_are_no_single_one() -> None:
    with pytest.raises(RowFault, match="column n: Cannot read single-value from a list of 2 values"):
        one(INT, None, {"n": [5, 6]})


# --- errors


def test_an_error_stops_and_names_the_column() -> None:
    with pytest.raises(RowFault, match=r"column n: STRING '7\.9' cannot become INT") as raised:
        one(INT, None, {"n": "7.9"})
    assert (raised.value.column, raised.value.kind) == ("n", "column n: cannot be stored")


def test_with_continue_on_error_the_value_is_null_and_the_row_incomplete() -> None:
    schema_document = document([column("n", "INT"), column("s", "STRING")])
    row = one(schema_document, config(continueOnError=True), {"n": "7.9", "s": "x"})
    assert (row.values, row.nulls, row.incomplete) == ({"n": NULL_INT, "s": "x"}, {"n"}, True)
    assert [(fault.column, fault.value) for fault in row.faults] == [("n", "7.9")]


@pytest.mark.parametrize("continue_on_error", [True, False])
def test_what_the_user_says_beats_the_config(continue_on_error: bool) -> None:
    pipe = pipeline(INT, config(continueOnError=not continue_on_error), continue_on_error=continue_on_error)
    if continue_on_error:
        assert rows(pipe, {"n": "x"})[0].incomplete
    else:
        with pytest.raises(RowFault):
            rows(pipe, {"n": "x"})


# --- expressions and filters


def transform(name: str, text: str) -> dict[str, str]:
    return {"columnName": name, "transformFunction": text}


def test_expressions_see_what_was_flattened_and_the_filter_what_they_made() -> None:
    schema_document = document([column("day", "LONG")])
    table = config(
        complexTypeConfig={},
        transformConfigs=[transform("day", "toEpochDays(at_ms)"), transform("at_ms", "at.ms")],
        filterConfig={"filterFunction": "day < 19000"},
    )
    pipe = pipeline(schema_document, table)
    assert values(pipe, {"at": {"ms": 1_700_000_000_123}}) == [{"day": 19675}]
    outcome = pipe.rows({"at": {"ms": 5}})
    assert (outcome.rows, outcome.filtered) == ([], 1)


def test_an_expression_sees_values_before_they_are_converted() -> None:
    schema_document = document([column("s", "STRING", maxLength=2), column("n", "INT")])
    table = config(transformConfigs=[transform("n", "length(s)")])
    assert values(pipeline(schema_document, table), {"s": "abcdef"}) == [{"s": "ab", "n": 6}]


@pytest.mark.parametrize(("number", "stays"), [(5, True), (None, True), (6, False), ("x", None)])
def test_a_row_is_dropped_where_the_filter_is_true(number: Any, stays: bool | None) -> None:
    schema_document = document([column("s", "STRING")])
    table = config(filterConfig={"filterFunction": "n > 5"})
    if stays is None:
        with pytest.raises(RowFault, match="filter: ") as raised:
            pipeline(schema_document, table).rows({"n": number})
        assert (raised.value.column, raised.value.kind) == ("", "the filter cannot be computed")
        assert rows(pipeline(schema_document, table, continue_on_error=True), {"n": number})[0].incomplete
    else:
        assert len(rows(pipeline(schema_document, table), {"n": number})) == stays


def test_a_transform_that_fails() -> None:
    schema_document = document([column("y", "INT"), column("s", "STRING")])
    transforms = [transform("y", "year(s)")]
    with pytest.raises(RowFault, match="column y: STRING 'x' cannot become LONG"):
        pipeline(schema_document, config(transformConfigs=transforms)).rows({"s": "x"})
    row = one(schema_document, config(transformConfigs=transforms, continueOnError=True), {"s": "x"})
    assert (row.values, row.nulls, row.incomplete) == ({"y": NULL_INT, "s": "x"}, {"y"}, True)


def test_keys_and_values_of_a_map() -> None:
    schema_document = document(
        [several("m__KEYS", "STRING"), several("m__VALUES", "INT")], maps=[map_column("m", "INT")]
    )
    row = one(schema_document, None, {"m": {"b": 1, "a": 2}})
    assert row.values == {"m__KEYS": ["a", "b"], "m__VALUES": [2, 1], "m": {"b": 1, "a": 2}}
    assert one(schema_document, None, {}).values == {"m__KEYS": ["null"], "m__VALUES": [NULL_INT], "m": {}}


def test_map_columns_convert_nothing() -> None:
    schema_document = document(maps=[map_column("m", "INT")])
    assert values(pipeline(schema_document), {"m": '{"k": "x"}'}, {"m": {"k": [1]}}) == [
        {"m": {"k": "x"}},
        {"m": {"k": [1]}},
    ]
    with pytest.raises(RowFault, match="column m: INT 5 cannot become MAP"):
        one(schema_document, None, {"m": 5})


def test_the_legacy_time_is_computed_from_the_incoming_one() -> None:
    schema_document = document(
        [column("n", "INT")],
        timeFieldSpec={
            "incomingGranularitySpec": {"name": "t", "dataType": "LONG", "timeType": "MILLISECONDS"},
            "outgoingGranularitySpec": {"name": "d", "dataType": "INT", "timeType": "DAYS"},
        },
    )
    pipe = pipeline(schema_document, config("d"))
    assert values(pipe, {"n": 1, "t": 1_700_000_000_123}) == [{"n": 1, "d": 19675}]
    assert values(pipe, {"d": 19000, "t": 1_700_000_000_123})[0]["d"] == 19000
    assert values(pipe, {})[0]["d"] == 20455
    assert pipe.reads == {"n", "d", "t"}


# --- what is too long


def text(strategy: str | None = None, **others: Any) -> dict[str, Any]:
    how = {} if strategy is None else {"maxLengthExceedStrategy": strategy}
    return document([column("s", "STRING", maxLength=4, **how, **others)])


@pytest.mark.parametrize(
    ("strategy", "value", "expected"),
    [
        pytest.param(None, "abcdef", "abcd", id="Z01"),
        pytest.param(None, "ab\0cdef", "ab", id="Z02"),
        pytest.param("NO_ACTION", "abcdef", "abcdef", id="Z04"),
        pytest.param("NO_ACTION", "ab\0", "ab", id="Z05"),
        pytest.param("SUBSTITUTE_DEFAULT_VALUE", "ab\0", "null", id="Z07"),
    ],
)
def test_sanitised(strategy: str | None, value: str, expected: str) -> None:
    row = one(text(strategy), None, {"s": value})
    assert (row.values, row.nulls) == ({"s": expected}, set())


@pytest.mark.parametrize("continue_on_error", [True, False])
def test_z06_the_strategy_error_always_raises(continue_on_error: bool) -> None:
    with pytest.raises(RowFault, match=r"value: abcdef for column s exceeds configured max length 4\."):
        one(text("ERROR"), config(continueOnError=continue_on_error), {"s": "abcdef"})
    with pytest.raises(RowFault, match=r"for column s contains null character\."):
        one(text("ERROR"), config(continueOnError=continue_on_error), {"s": "ab\0"})


def test_a_default_that_is_too_long_is_cut_too() -> None:
    row = one(text(defaultNullValue="abcdef"), None, {})
    assert (row.values, row.nulls) == ({"s": "abcd"}, {"s"})
    pipe = pipeline(text("ERROR", defaultNullValue="abcdef"))
    assert values(pipe, {"s": "x"}) == [{"s": "x"}]
    with pytest.raises(RowFault, match="exceeds configured max length 4"):
        pipe.rows({})
    row = one(text("SUBSTITUTE_DEFAULT_VALUE", defaultNullValue="abcdef"), None, {"s": "ghijkl"})
    assert (row.values, row.nulls) == ({"s": "abcdef"}, set())


def test_what_is_cut_is_counted_but_not_a_default() -> None:
    pipe = pipeline(text(defaultNullValue="abcdef"))
    rows(pipe, {"s": "abcdef"}, {}, {"s": "x"})
    assert dict(pipe.losses.take_counts()) == {("s", LossKind.TOO_LONG): 1}


# --- strict


@pytest.mark.parametrize(
    ("spec", "value", "stored", "reason"),
    [
        (column("c", "INT"), 3_000_000_000, NULL_INT, "3000000000 is beyond the range of INT"),
        (column("c", "INT"), 7.9, NULL_INT, "7.9"),
        (column("c", "INT"), float("nan"), NULL_INT, "NaN"),
        (column("c", "BOOLEAN"), "yes", 0, "STRING 'yes' would become false"),
        (column("c", "TIMESTAMP"), "2023-02-31 00:00:00", 0, "is not a valid time"),
        (column("c", "STRING", maxLength=4), "abcdef", "null", "longer than 4 UTF-16 units"),
        (column("c", "STRING", maxLength=4), "a\0", "null", "null character"),
        (column("c", "JSON"), "{} junk", "null", "text after the JSON value"),
        (
            column("c", "BYTES", maxLength=1, maxLengthExceedStrategy="TRIM_LENGTH"),
            "cafe",
            b"",
            "longer than 1 bytes",
        ),
        (several("c", "INT"), [1, 3_000_000_000], [NULL_INT], "3000000000 is beyond the range of INT"),
    ],
)
@pytest.mark.parametrize("continue_on_error", [True, False])
def test_strict_settings_take_no_damaged_value(
    spec: dict[str, Any], value: Any, stored: Any, reason: str, continue_on_error: bool
) -> None:
    row = one(
        document([spec]),
        None,
        {"c": value},
        settings=Settings(strict=True),
        continue_on_error=continue_on_error,
    )
    assert (row.values, row.nulls, row.incomplete) == ({"c": stored}, {"c"}, True)
    assert [fault.column for fault in row.faults] == ["c"]
    assert reason in row.faults[0].reason


def test_strict_settings_cut_a_default_all_the_same() -> None:
    row = one(text(defaultNullValue="abcdef"), None, {}, settings=Settings(strict=True))
    assert (row.values, row.faults, row.incomplete) == ({"s": "abcd"}, [], False)


# --- the table config


def test_what_a_table_config_says_of_rows() -> None:
    parsed_table = table_config(
        {
            "tableName": "rides_REALTIME",
            "tableType": "REALTIME",
            "segmentsConfig": {"timeColumnName": "t"},
            "tableIndexConfig": {"nullHandlingEnabled": True},
            "ingestionConfig": {
                "continueOnError": "true",
                "rowTimeValueCheck": True,
                "segmentTimeValueCheck": False,
                "transformConfigs": [transform("a", "lower(b)")],
                "filterConfig": {"filterFunction": "a = 'x'"},
            },
        }
    )
    assert (parsed_table.name, parsed_table.kind, parsed_table.time_column) == ("rides", "REALTIME", "t")
    assert (parsed_table.continue_on_error, parsed_table.row_time_check, parsed_table.segment_time_check) == (
        True,
        True,
        False,
    )
    assert (parsed_table.transforms, parsed_table.filter) == ((("a", "lower(b)"),), "a = 'x'")
    assert not table_config({}).continue_on_error


@pytest.mark.parametrize(
    ("table_document", "message"),
    [
        ([], "table config: an object is expected, not a list"),
        (
            {"tableType": "offlin"},
            "table config: /tableType: unknown tableType 'offlin': did you mean 'OFFLINE'?",
        ),
        ({"ingestionConfig": {"continueOnError": "yes"}}, "continueOnError is true or false, not 'yes'"),
        (
            {"ingestionConfig": {"transformConfigs": [{"columnName": "a"}]}},
            "/ingestionConfig/transformConfigs/0: a transform needs",
        ),
        (
            {"ingestionConfig": {"transformConfigs": [transform("a", "b"), transform("a", "c")]}},
            "Cannot set more than one transform function on column: a",
        ),
        (
            {"segmentsConfig": {"timeColumnName": []}},
            "/segmentsConfig/timeColumnName: timeColumnName is text, not a list",
        ),
        (
            {"ingestionConfig": {"complexTypeConfig": {"fieldsToUnnest": "a"}}},
            "/complexTypeConfig/fieldsToUnnest: fieldsToUnnest is a list, not 'a'",
        ),
        (
            {"ingestionConfig": {"complexTypeConfig": {"prefixesToRename": {"a": []}}}},
            "/complexTypeConfig/prefixesToRename/a: a is text, not a list",
        ),
    ],
)
def test_a_wrong_table_config_is_told_with_its_place(table_document: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        table_config(table_document)


def test_a_date_time_may_be_computed() -> None:
    schema_document = document([], times=[time("d", "STRING", "SIMPLE_DATE_FORMAT|yyyy-MM-dd")])
    table = config("d", transformConfigs=[transform("d", "toDateTime(ms, 'yyyy-MM-dd')")])
    assert values(pipeline(schema_document, table), {"ms": 1_700_000_000_123}) == [{"d": "2023-11-14"}]

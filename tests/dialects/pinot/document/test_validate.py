"""What makes the controller refuse a schema that loads."""

from __future__ import annotations

from typing import Any

import pytest

from trellis.dialects.pinot.document.faults import Fault
from trellis.dialects.pinot.document.fields import PinotSchema
from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.validation.schema_rules import faults_of

INSTANT = {"name": "t", "dataType": "LONG", "format": "EPOCH", "granularity": "1:DAYS"}


def schema_of(**keys: Any) -> PinotSchema:
    return read_schema({"schemaName": "s", **keys})


def found(schema: PinotSchema, **keys: Any) -> list[tuple[str, str]]:
    return [(fault.pointer, fault.message) for fault in faults_of(schema, **keys)]


def dimensions(*fields: dict[str, Any]) -> PinotSchema:
    return schema_of(dimensionFieldSpecs=list(fields))


def instant(**keys: Any) -> PinotSchema:
    return schema_of(dateTimeFieldSpecs=[{**INSTANT, **keys}])


def dimension(name: str = "a", kind: str = "STRING", **keys: Any) -> dict[str, Any]:
    return {"name": name, "dataType": kind, **keys}


def test_c04_a_metric_of_strings_is_not_valid() -> None:
    schema = schema_of(metricFieldSpecs=[dimension("m")])
    assert found(schema) == [
        ("/metricFieldSpecs/0/dataType", "Unsupported data type: STRING in METRIC field: m")
    ]


@pytest.mark.parametrize(
    ("name", "pointer", "start"),
    [
        (None, "", "schemaName is required"),
        ("", "/schemaName", "schemaName is required"),
        ("a__b", "/schemaName", "schemaName a__b must not contain two underscores, __"),
    ],
)
def test_seed_p01_a_schema_is_named_like_its_table(name: str | None, pointer: str, start: str) -> None:
    (fault,) = faults_of(PinotSchema(name))
    assert (fault.pointer, fault.message[: len(start)]) == (pointer, start)


@pytest.mark.parametrize("name", ["a b", "a\tb", "a\u2003b", " a"])
def test_a_name_has_no_blank(name: str) -> None:
    message = f'The column name "{name}" should not contain blank space.'
    assert found(dimensions(dimension(name))) == [("/dimensionFieldSpecs/0/name", message)]


@pytest.mark.parametrize("name", ["a-b", "a.b", "a\xa0b", "1", "é", "$docId"])
def test_other_signs_are_fine_in_a_name(name: str) -> None:
    assert found(dimensions(dimension(name))) == []


def test_names_differ_in_more_than_case() -> None:
    schema = dimensions(dimension("Ab"), dimension("aB"))
    message = "When enable case insensitive, you can't use the same lowercase column name: ab"
    assert found(schema) == [("/dimensionFieldSpecs/1/name", message)]


def test_json_has_one_value_and_so_has_a_decimal() -> None:
    schema = dimensions(
        dimension("j", "JSON", singleValueField=False), dimension("d", "BIG_DECIMAL", singleValueField=False)
    )
    json_fault = ("/dimensionFieldSpecs/0/singleValueField", "JSON columns cannot be of multi-value type")
    decimal = ("/dimensionFieldSpecs/1/singleValueField", "BIG_DECIMAL columns cannot be of multi-value type")
    assert found(schema) == [json_fault, decimal]


@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE"])
def test_nan_is_no_default(kind: str) -> None:
    schema = dimensions(dimension("a", kind, defaultNullValue="NaN"))
    message = "NaN as null default value is not managed yet for a"
    assert found(schema) == [("/dimensionFieldSpecs/0/defaultNullValue", message)]


def test_a_transform_parses_and_reads_neither_itself_nor_another_transformed_column() -> None:
    schema = dimensions(
        dimension("a", transformFunction="f(("),
        dimension("b", transformFunction="lower(b)"),
        dimension("c", transformFunction="concat(b, x, '-')"),
    )
    (first, second, third) = faults_of(schema)
    assert first.pointer == "/dimensionFieldSpecs/0/transformFunction"
    start = "Invalid transform function 'f((': "
    assert first.message.startswith(start)
    assert second.message == (
        "The arguments of transform function lower(b) should not contain the destination column b"
    )
    assert third.message == (
        "Columns: [b] are a result of transformations, and cannot be used as arguments to other transform"
        " functions"
    )


@pytest.mark.parametrize(
    ("document", "pointer", "start"),
    [
        ({"format": None}, "/format", "Invalid format: None: Must provide format"),
        ({"format": "bad"}, "/format", "Invalid format: bad"),
        ({"format": "EPOCH|SECONDS|0"}, "/format", "Invalid format: EPOCH|SECONDS|0"),
        ({"granularity": None}, "/granularity", "Invalid granularity: None: Must provide granularity"),
        ({"granularity": "HOURS:1"}, "/granularity", "Invalid granularity: HOURS:1"),
        (
            {"dataType": "STRING", "format": "SIMPLE_DATE_FORMAT|MM-dd-yyyy"},
            "/format",
            "SIMPLE_DATE_FORMAT pattern MM-dd-yyyy has to be sorted by both lexicographical and datetime",
        ),
        (
            {"dataType": "STRING", "format": "1:DAYS:SIMPLE_DATE_FORMAT:MM-dd-yyyy tz(IST)"},
            "/format",
            "SIMPLE_DATE_FORMAT pattern MM-dd-yyyy has to be sorted",
        ),
        (
            {"sampleValue": "yesterday"},
            "/sampleValue",
            "Cannot format provided sample value: yesterday with provided date time spec: EPOCH",
        ),
        (
            {"sampleValue": 5},
            "/sampleValue",
            (
                "Incorrect date time format. Converted sample value 5 for date-time field spec is not in"
                " valid time-range: 31536000000 and 3187296000000"
            ),
        ),
    ],
)
def test_a_date_time_is_checked(document: dict[str, Any], pointer: str, start: str) -> None:
    (fault,) = faults_of(instant(**document))
    assert fault.pointer.removeprefix("/dateTimeFieldSpecs/0") in (pointer, "")
    assert fault.message[: len(start)] == start


@pytest.mark.parametrize("sample", [31536000000, "31536000000", 3187296000000, 1700000000000])
def test_seed_p48_a_sample_may_lie_from_1971_to_2071(sample: Any) -> None:
    assert found(instant(sampleValue=sample)) == []


def test_seed_p67_the_sample_with_the_year_at_the_end_is_not_in_order() -> None:
    schema = instant(dataType="STRING", format="1:HOURS:SIMPLE_DATE_FORMAT:EEE MMM dd HH:mm:ss ZZZ yyyy")
    message = (
        "SIMPLE_DATE_FORMAT pattern EEE MMM dd HH:mm:ss ZZZ yyyy has to be sorted by both lexicographical and"
        " datetime order"
    )
    assert found(schema) == [("/dateTimeFieldSpecs/0/format", message)]


def test_a_primary_key_is_made_of_stored_columns() -> None:
    schema = schema_of(
        dimensionFieldSpecs=[dimension("a"), dimension("v", virtualColumnProvider="p")],
        primaryKeyColumns=["a", "v", "x"],
    )
    assert found(schema) == [
        ("/primaryKeyColumns/1", "The primary key column must exist: v"),
        ("/primaryKeyColumns/2", "The primary key column must exist: x"),
    ]


def realtime(**keys: Any) -> dict[str, Any]:
    return {
        "tableName": "s_REALTIME",
        "tableType": "REALTIME",
        "segmentsConfig": {"timeColumnName": "t"},
        **keys,
    }


def test_a_table_that_fits_has_no_faults() -> None:
    transforms = [
        {"columnName": "x", "transformFunction": "lower(y)"},
        {"columnName": "a", "transformFunction": "trim(x)"},
    ]
    config = realtime(ingestionConfig={"transformConfigs": transforms})
    schema = schema_of(dateTimeFieldSpecs=[INSTANT], dimensionFieldSpecs=[dimension()])
    assert found(schema, table_config=config) == []


@pytest.mark.parametrize(
    ("config", "pointer", "message"),
    [
        ({"segmentsConfig": {}}, "", "'timeColumnName' cannot be null in REALTIME table config"),
        (
            {"segmentsConfig": {"timeColumnName": "a"}},
            "/segmentsConfig/timeColumnName",
            (
                "Cannot find valid fieldSpec for timeColumn: a from the table config: s, in the schema: s:"
                " name a dateTime column"
            ),
        ),
        (
            {"ingestionConfig": {"transformConfigs": [{"columnName": "z", "transformFunction": "lower(y)"}]}},
            "/ingestionConfig/transformConfigs/0",
            (
                "The destination column 'z' of the transform function must be present in the schema or as a"
                " source column for aggregations"
            ),
        ),
        (
            {"ingestionConfig": {"transformConfigs": [{"columnName": "a", "transformFunction": "lower(a)"}]}},
            "/ingestionConfig/transformConfigs/0",
            "Arguments of a transform function 'lower(a)' cannot contain the destination column 'a'",
        ),
        (
            {"tableName": "rides_REALTIME"},
            "/tableName",
            (
                "the schema of table rides is named s: give them the same name, the table with or without"
                " _OFFLINE or _REALTIME"
            ),
        ),
        (
            {"tableType": "HYBRID"},
            "/tableType",
            "unknown tableType 'HYBRID': it may be one of OFFLINE, REALTIME",
        ),
    ],
)
def test_a_table_that_does_not_fit(config: dict[str, Any], pointer: str, message: str) -> None:
    schema = schema_of(dateTimeFieldSpecs=[INSTANT], dimensionFieldSpecs=[dimension()])
    assert found(schema, table_config=realtime(**config)) == [(pointer, message)]


def test_every_fault_of_the_section_at_once() -> None:
    schema = read_schema(
        {
            "schemaName": "a__b",
            "dimensionFieldSpecs": [
                dimension("x y"),
                dimension("$docId"),
                dimension("J", "JSON", singleValueField=False),
                dimension("j", "DOUBLE", defaultNullValue="NaN"),
                dimension("p", transformFunction="f(("),
                dimension("q", transformFunction="lower(q)"),
                dimension("r", transformFunction="lower(q)"),
            ],
            "metricFieldSpecs": [dimension("m", "STRING")],
            "dateTimeFieldSpecs": [
                {
                    "name": "t1",
                    "dataType": "STRING",
                    "format": "SIMPLE_DATE_FORMAT|MM-yyyy",
                    "granularity": "1:WEEKS",
                },
                {"name": "t2", "dataType": "LONG", "format": "epoch", "granularity": "1:DAYS"},
                {**INSTANT, "name": "t3", "sampleValue": "x"},
                {**INSTANT, "name": "t4", "sampleValue": 1},
            ],
            "primaryKeyColumns": ["nowhere"],
        }
    )
    config = {"tableName": "c", "tableType": "REALTIME"}
    faults = faults_of(schema, config)
    assert [fault.pointer for fault in faults] == [
        "/schemaName",
        "/dimensionFieldSpecs/0/name",
        "/dimensionFieldSpecs/2/singleValueField",
        "/dimensionFieldSpecs/3/defaultNullValue",
        "/metricFieldSpecs/0/dataType",
        "/dateTimeFieldSpecs/0/format",
        "/dateTimeFieldSpecs/0/granularity",
        "/dateTimeFieldSpecs/1/format",
        "/dateTimeFieldSpecs/2/sampleValue",
        "/dateTimeFieldSpecs/3/sampleValue",
        "/dimensionFieldSpecs/3/name",
        "/dimensionFieldSpecs/4/transformFunction",
        "/dimensionFieldSpecs/5/transformFunction",
        "/dimensionFieldSpecs/6/transformFunction",
        "/primaryKeyColumns/0",
        "/tableName",
        "",
    ]
    assert all(isinstance(fault, Fault) and fault.message for fault in faults)

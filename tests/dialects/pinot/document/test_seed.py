"""The sample documents of Pinot's own page."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from trellis.dialects.pinot.document.defaults import default_of
from trellis.dialects.pinot.document.reader import examine, read_schema
from trellis.dialects.pinot.document.types import FieldType, PinotType
from trellis.dialects.pinot.document.writer import write_schema
from trellis.dialects.pinot.validation.lints import lints_of
from trellis.dialects.pinot.validation.schema_rules import METRIC_TYPES, faults_of, is_allowed

FLIGHTS: Final[dict[str, Any]] = {
    "schemaName": "flights",
    "enableColumnBasedNullHandling": False,
    "dimensionFieldSpecs": [
        {"name": "flightNumber", "dataType": "LONG"},
        {"name": "tags", "dataType": "STRING", "singleValueField": False, "defaultNullValue": "null"},
    ],
    "metricFieldSpecs": [{"name": "price", "dataType": "DOUBLE", "defaultNullValue": 0}],
    "dateTimeFieldSpecs": [
        {"name": "millisSinceEpoch", "dataType": "LONG", "format": "EPOCH", "granularity": "15:MINUTES"},
        {"name": "hoursSinceEpoch", "dataType": "INT", "format": "EPOCH|HOURS", "granularity": "1:HOURS"},
        {
            "name": "dateString",
            "dataType": "STRING",
            "format": "SIMPLE_DATE_FORMAT|yyyy-MM-dd",
            "granularity": "1:DAYS",
        },
    ],
}
CHILD: Final = {"dataType": "STRING", "fieldType": "DIMENSION", "notNull": False}
FLIGHTS_MAP: Final[dict[str, Any]] = {
    **FLIGHTS,
    "dimensionFieldSpecs": [{"name": "flightNumber", "dataType": "LONG"}],
    "complexFieldSpecs": [
        {
            "name": "tags",
            "dataType": "MAP",
            "fieldType": "COMPLEX",
            "notNull": False,
            "childFieldSpecs": {"key": {"name": "key", **CHILD}, "value": {"name": "value", **CHILD}},
        }
    ],
}


@pytest.mark.parametrize(
    "document", [FLIGHTS, FLIGHTS_MAP], ids=["seed_p09_four_parts", "seed_p09_five_parts"]
)
def test_a_sample_reads_is_valid_and_says_the_same_again(document: dict[str, Any]) -> None:
    schema, report = examine(document)
    assert (report.unknown, faults_of(schema), lints_of(schema)) == ([], (), ())
    assert read_schema(write_schema(schema)).date_times == schema.date_times


def test_seed_p02_p03_p04_p05_p06_all_but_the_name_may_be_left_out() -> None:
    schema = read_schema({"schemaName": "s"})
    assert (schema.dimensions, schema.metrics, schema.date_times, schema.complexes) == ((), (), (), ())
    assert (schema.column_nulls, faults_of(schema)) == (False, ())


def test_seed_p07_the_first_sample_has_a_list_of_tags_and_a_price() -> None:
    schema = read_schema(FLIGHTS)
    number, tags = schema.dimensions
    assert (number.data_type, number.single_value) == (PinotType.LONG, True)
    assert (tags.single_value, default_of(tags), default_of(schema.metrics[0])) == (False, ["null"], 0.0)


def test_seed_p08_p44_p45_the_first_sample_has_three_times() -> None:
    assert [
        (field.data_type.value, field.format, field.granularity) for field in read_schema(FLIGHTS).date_times
    ] == [
        ("LONG", "EPOCH", "15:MINUTES"),
        ("INT", "EPOCH|HOURS", "1:HOURS"),
        ("STRING", "SIMPLE_DATE_FORMAT|yyyy-MM-dd", "1:DAYS"),
    ]


def test_seed_p10_p38_p39_p40_p41_the_second_sample_has_a_map() -> None:
    (tags,) = read_schema(FLIGHTS_MAP).complexes
    assert (tags.data_type, tags.field_type, tags.not_null) == (PinotType.MAP, FieldType.COMPLEX, False)
    assert [
        (name, value.name, value.data_type.value, value.field_type.value)
        for name, value in tags.children.items()
    ] == [
        ("key", "key", "STRING", "DIMENSION"),
        ("value", "value", "STRING", "DIMENSION"),
    ]


def test_seed_p28_p29_p34_p35_p38_p42_which_role_may_have_which_type() -> None:
    names = {role: {kind.value for kind in PinotType if is_allowed(kind, role)} for role in FieldType}
    documented = {"INT", "LONG", "FLOAT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "STRING", "BYTES", "JSON"}
    assert names[FieldType.DIMENSION] == documented | {"BIG_DECIMAL"}
    assert names[FieldType.METRIC] == {"INT", "LONG", "FLOAT", "DOUBLE", "BIG_DECIMAL", "BYTES"}
    assert names[FieldType.METRIC] == {kind.value for kind in METRIC_TYPES}
    assert names[FieldType.COMPLEX] == {"MAP", "LIST", "STRUCT"}
    assert names[FieldType.DATE_TIME] >= {"STRING", "INT", "LONG", "TIMESTAMP"}


@pytest.mark.parametrize(
    ("kind", "format_"),
    [
        ("LONG", "1:MILLISECONDS:EPOCH"),
        ("LONG", "1:HOURS:EPOCH"),
        ("INT", "1:HOURS:EPOCH"),
        ("STRING", "1:DAYS:SIMPLE_DATE_FORMAT:yyyy-MM-dd"),
        ("TIMESTAMP", "TIMESTAMP"),
    ],
)
def test_seed_p66_p43_the_samples_of_formats_are_valid(kind: str, format_: str) -> None:
    instant = {"name": "t", "dataType": kind, "format": format_, "granularity": "1:DAYS"}
    schema = read_schema({"schemaName": "s", "dateTimeFieldSpecs": [instant]})
    assert (faults_of(schema), lints_of(schema)) == ((), ())


def test_seed_p31_several_values_only_for_dimensions() -> None:
    document = json.dumps(FLIGHTS).replace(
        '"dataType": "DOUBLE"', '"dataType": "DOUBLE", "singleValueField": true'
    )
    assert read_schema(document) == read_schema(FLIGHTS)

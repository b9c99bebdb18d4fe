"""Reading schema documents: what loads, what does not, what is ignored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trellis.dialects.pinot.document.faults import SchemaFaults
from trellis.dialects.pinot.document.fields import FieldSpec
from trellis.dialects.pinot.document.reader import examine, read_schema
from trellis.dialects.pinot.document.types import ExceedStrategy, FieldType, PinotType
from trellis.dialects.pinot.document.writer import write_schema
from trellis.errors import SchemaError


def faults(document: Any) -> list[str]:
    with pytest.raises(SchemaFaults) as raised:
        read_schema({"schemaName": "s", **document})
    return [str(fault) for fault in raised.value.faults]


def dimension(**keys: Any) -> dict[str, Any]:
    return {"schemaName": "s", "dimensionFieldSpecs": [{"name": "a", "dataType": "STRING", **keys}]}


def read_dimension(**keys: Any) -> FieldSpec:
    return read_schema(dimension(**keys)).dimensions[0]


def test_c01_an_empty_schema_is_written_with_its_null_mode() -> None:
    read = read_schema('{"schemaName":"s"}')
    assert write_schema(read, pretty=False) == '{"schemaName":"s","enableColumnBasedNullHandling":false}'


def test_c02_only_max_length_is_written_of_what_says_the_usual() -> None:
    read = read_schema(dimension(maxLength=512, notNull=False, defaultNullValue="null"))
    written = json.loads(write_schema(read))["dimensionFieldSpecs"]
    assert written == [{"name": "a", "dataType": "STRING", "fieldType": "DIMENSION", "maxLength": 512}]


def test_c03_a_metric_has_one_value() -> None:
    metric = {"name": "m", "dataType": "INT", "singleValueField": False}
    assert faults({"schemaName": "s", "metricFieldSpecs": [metric]}) == [
        "/metricFieldSpecs/0/singleValueField: column m: Unsupported multi-value for metric field."
    ]


def test_c04_a_metric_of_strings_loads() -> None:
    read = read_schema({"schemaName": "s", "metricFieldSpecs": [{"name": "m", "dataType": "STRING"}]})
    assert read.metrics[0].data_type is PinotType.STRING


def test_c05_field_type_must_match_the_list() -> None:
    message = "column a: a field of dimensionFieldSpecs has fieldType DIMENSION, not 'METRIC'"
    assert faults(dimension(fieldType="METRIC")) == [f"/dimensionFieldSpecs/0/fieldType: {message}"]


def test_c06_a_child_of_a_map_needs_its_field_type() -> None:
    children = {"key": {"name": "key", "dataType": "STRING"}}
    document = {"complexFieldSpecs": [{"name": "m", "dataType": "MAP", "childFieldSpecs": children}]}
    assert faults(document) == [
        "/complexFieldSpecs/0/childFieldSpecs/key: column m: child 'key' needs a fieldType"
    ]


def test_c07_a_timestamp_forces_its_format() -> None:
    instant = {"name": "t", "dataType": "TIMESTAMP", "format": "1:DAYS:EPOCH", "granularity": "1:DAYS"}
    assert read_schema({"dateTimeFieldSpecs": [instant]}).date_times[0].format == "TIMESTAMP"


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (False, False),
        ("false", False),
        ("False", False),
        (" true ", True),
        (0, False),
        (1, True),
        ("", False),
        (None, False),
        ("null", False),
    ],
)
def test_booleans_are_read_leniently(value: Any, read: bool) -> None:
    assert read_dimension(singleValueField=value).single_value is read


@pytest.mark.parametrize(
    ("value", "read"), [("100", 100), (" 100 ", 100), (100.7, 100), ("", None), (None, None), (-5, -5)]
)
def test_integers_are_read_leniently(value: Any, read: int | None) -> None:
    assert read_dimension(maxLength=value).max_length == read


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("singleValueField", "yes", "singleValueField is true or false, not 'yes'"),
        ("singleValueField", 2.5, "singleValueField is true or false, not 2.5"),
        ("maxLength", "1e2", "maxLength is an integer of 32 bits, not '1e2'"),
        ("maxLength", True, "maxLength is an integer of 32 bits, not true"),
        ("maxLength", 3000000000, "maxLength is an integer of 32 bits, not 3000000000"),
        ("dataType", "string", "unknown dataType 'string': did you mean 'STRING'?"),
        (
            "maxLengthExceedStrategy",
            "TRIMLENGTH",
            "unknown maxLengthExceedStrategy 'TRIMLENGTH': did you mean 'TRIM_LENGTH'?",
        ),
        ("transformFunction", {"a": 1}, "transformFunction is text, not an object"),
    ],
)
def test_a_value_that_is_none_names_its_place(key: str, value: Any, message: str) -> None:
    assert faults(dimension(**{key: value})) == [f"/dimensionFieldSpecs/0/{key}: column a: {message}"]


@pytest.mark.parametrize(("document", "name"), [(5, "5"), (1.5, "1.5"), (True, "true"), ("", "")])
def test_scalars_are_names_as_they_print(document: Any, name: str) -> None:
    assert read_schema(dimension(name=document)).dimensions[0].name == name


@pytest.mark.parametrize(
    "key", ["dimensionFieldSpecs", "metricFieldSpecs", "dateTimeFieldSpecs", "complexFieldSpecs"]
)
def test_a_list_that_is_null_is_an_error(key: str) -> None:
    assert faults({"schemaName": "s", key: None}) == [f"/{key}: {key} is a list of field specs, not null"]


@pytest.mark.parametrize("key", ["timeFieldSpec", "primaryKeyColumns"])
def test_time_and_primary_key_may_be_null(key: str) -> None:
    assert read_schema({"schemaName": "s", key: None}) == read_schema({"schemaName": "s"})


def test_a_column_is_named_once_over_all_lists() -> None:
    document = {
        "dimensionFieldSpecs": [{"name": "a", "dataType": "INT"}],
        "metricFieldSpecs": [{"name": "b", "dataType": "INT"}, {"name": "a", "dataType": "INT"}],
        "timeFieldSpec": {"incomingGranularitySpec": {"name": "b", "dataType": "LONG", "timeType": "DAYS"}},
    }
    assert faults(document) == [
        "/metricFieldSpecs/1/name: column a: Field spec already exists for column: a",
        "/timeFieldSpec: column b: Field spec already exists for column: b",
    ]


@pytest.mark.parametrize(
    ("key", "kind", "message"),
    [
        ("metricFieldSpecs", "BOOLEAN", "Unsupported metric data type: BOOLEAN"),
        ("dimensionFieldSpecs", "MAP", "Unsupported dimension/time data type: MAP"),
        ("complexFieldSpecs", "STRUCT", "Unsupported complex data type: STRUCT"),
    ],
)
def test_a_type_without_default_does_not_load(key: str, kind: str, message: str) -> None:
    assert faults({key: [{"name": "a", "dataType": kind}]}) == [f"/{key}/0/dataType: column a: {message}"]


def test_all_faults_come_at_once_in_the_order_of_the_document() -> None:
    document = {
        "dimensionFieldSpecs": [
            {"dataType": "INT"},
            {"name": "a", "dataType": "INT", "defaultNullValue": "x", "notNull": "maybe"},
            None,
        ],
        "metricFieldSpecs": [{"name": "a", "dataType": "LONG", "singleValueField": "false"}],
        "primaryKeyColumns": "a",
    }
    assert faults(document) == [
        "/dimensionFieldSpecs/0: a field spec needs a name",
        "/dimensionFieldSpecs/1/notNull: column a: notNull is true or false, not 'maybe'",
        "/dimensionFieldSpecs/1/defaultNullValue: column a: Cannot convert value: 'x' to type: INT",
        "/dimensionFieldSpecs/2: a field spec is an object, not null",
        "/metricFieldSpecs/0/name: column a: Field spec already exists for column: a",
        "/metricFieldSpecs/0/singleValueField: column a: Unsupported multi-value for metric field.",
        "/primaryKeyColumns: primaryKeyColumns is a list, not 'a'",
    ]


def test_the_message_of_several_faults_has_a_line_for_each() -> None:
    with pytest.raises(SchemaFaults) as raised:
        read_schema(
            {"schemaName": "s", "dimensionFieldSpecs": [{"name": "a"}, {"dataType": "INT"}]},
            where="rides.json",
        )
    assert str(raised.value) == (
        "rides.json: 2 faults"
        "\n  /dimensionFieldSpecs/0: column a: a field spec needs a dataType"
        "\n  /dimensionFieldSpecs/1: a field spec needs a name"
    )


def test_unknown_keys_are_ignored_and_reported_at_every_level() -> None:
    document = {
        "schemaName": "s",
        "dimensionFieldSpec": [],
        "dimensionFieldSpecs": [{"name": "a", "dataType": "INT", "maxlength": 9, "zz": {"q": 1}}],
        "complexFieldSpecs": [
            {
                "name": "m",
                "dataType": "MAP",
                "childFieldSpecs": {
                    "key": {"name": "key", "dataType": "STRING", "fieldType": "DIMENSION", "nonNull": True}
                },
            }
        ],
    }
    assert [(str(unknown_key), unknown_key.value) for unknown_key in examine(document)[1].unknown] == [
        ("/dimensionFieldSpec is ignored: did you mean 'dimensionFieldSpecs'?", []),
        ("/dimensionFieldSpecs/0/maxlength is ignored: did you mean 'maxLength'?", 9),
        ("/dimensionFieldSpecs/0/zz is ignored", {"q": 1}),
        ("/complexFieldSpecs/0/childFieldSpecs/key/nonNull is ignored: did you mean 'notNull'?", True),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1,\n}', "rides.json, line 2, column 1: not JSON: Expecting property name"),
        ("", "rides.json, line 1, column 1: not JSON: Expecting value"),
        ('{"a": NaN}', 'rides.json: NaN is not JSON: write it as text, "NaN"'),
        ("[]", "rides.json: a schema document is a JSON object, not []"),
        (b'{"a": "\xff"}', "rides.json: byte 7 is not UTF-8: save the document as UTF-8"),
        ("[" * 100_000, "rides.json: the document is nested too deeply to be read"),
    ],
)
def test_text_that_is_no_json_tells_its_place(text: str | bytes, message: str) -> None:
    with pytest.raises(SchemaError) as raised:
        read_schema(text, where="rides.json")
    assert str(raised.value).startswith(message)


def test_bytes_with_a_byte_order_mark_are_read() -> None:
    assert read_schema(b'\xef\xbb\xbf{"schemaName": "s"}').name == "s"


def test_seed_p70_p71_p72_p77_p78_the_advanced_fields_are_common_to_all_specs() -> None:
    contents = {
        "maxLength": 9,
        "maxLengthExceedStrategy": "ERROR",
        "allowTrailingZeros": True,
        "virtualColumnProvider": "p",
    }
    kinds = {"dimensionFieldSpecs": "STRING", "metricFieldSpecs": "BYTES", "dateTimeFieldSpecs": "STRING"}
    document = {key: [{"name": key, "dataType": kind, **contents}] for key, kind in kinds.items()}
    for spec in read_schema(document).specs():
        assert (spec.max_length, spec.longest, spec.exceed_strategy) == (9, 9, ExceedStrategy.ERROR)
        assert (spec.trailing_zeros, spec.virtual_provider, spec.virtual) == (True, "p", True)


@pytest.mark.parametrize(
    ("kind", "strategy"),
    [
        ("STRING", ExceedStrategy.TRIM_LENGTH),
        ("JSON", ExceedStrategy.NO_ACTION),
        ("BYTES", ExceedStrategy.NO_ACTION),
    ],
)
def test_seed_p71_p72_the_length_and_strategy_in_force(kind: str, strategy: ExceedStrategy) -> None:
    spec = read_dimension(dataType=kind)
    assert (spec.longest, spec.strategy, spec.max_length, spec.exceed_strategy) == (512, strategy, None, None)
    assert (spec.trailing_zeros, spec.virtual) == (False, False)


def test_a_schema_of_5000_columns_reports_each_unknown_key() -> None:
    columns = [{"name": f"c{at}", "dataType": "STRING", "maxLenght": at} for at in range(5000)]
    schema, report = examine({"schemaName": "s", "dimensionFieldSpecs": columns})
    assert len(schema.dimensions) == len(report.unknown) == 5000
    assert report.unknown[-1].nearest == "maxLength"
    assert schema.dimensions[4999].field_type is FieldType.DIMENSION


def test_a_schema_of_5000_columns_reports_each_fault() -> None:
    columns = [{"name": f"c{at}", "dataType": "INT", "defaultNullValue": "x"} for at in range(5000)]
    assert len(faults({"dimensionFieldSpecs": columns})) == 5000


def test_documentation_is_kept_though_pinot_ignores_it() -> None:
    schema, report = examine(dimension(description="d", tags=["x", 1], fieldId="7"))
    assert [unknown_key.pointer for unknown_key in report.unknown] == [
        f"/dimensionFieldSpecs/0/{key}" for key in ("description", "tags", "fieldId")
    ]
    spec = schema.dimensions[0]
    assert (spec.description, spec.tags) == ("d", ("x", "1"))

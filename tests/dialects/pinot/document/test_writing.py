"""Writing schema documents: Pinot's order, what it leaves out, and its quirks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trellis.dialects.pinot.document.reader import read_schema
from trellis.dialects.pinot.document.writer import write_schema


def rewritten(document: dict[str, Any]) -> str:
    return write_schema(read_schema(document), pretty=False)


def written_default(kind: str, literal: Any, key: str = "dimensionFieldSpecs") -> str | None:
    document = {"schemaName": "s", key: [{"name": "a", "dataType": kind, "defaultNullValue": literal}]}
    text = rewritten(document)
    _, separator, rest = text.partition('"defaultNullValue":')
    return rest.removesuffix("}]}") if separator else None


@pytest.mark.parametrize(
    ("kind", "literal", "written"),
    [
        ("STRING", "null", None),
        ("STRING", "", '""'),
        ("INT", "-2147483648", None),
        ("INT", "5", "5"),
        ("LONG", 5, "5"),
        ("FLOAT", 0.1, "0.1"),
        ("FLOAT", 16777216, "1.6777216E7"),
        ("FLOAT", "-Infinity", None),
        ("FLOAT", "Infinity", '"Infinity"'),
        ("DOUBLE", 100, "100.0"),
        ("DOUBLE", 1e-7, "1.0E-7"),
        ("BOOLEAN", "1", "true"),
        ("BOOLEAN", False, None),
        ("TIMESTAMP", 1700000000000, '"2023-11-14 22:13:20.0"'),
        ("TIMESTAMP", 0, None),
        ("BYTES", "", '""'),
        ("BYTES", "CAFE", '"cafe"'),
        ("BIG_DECIMAL", 0, None),
        ("BIG_DECIMAL", "-0", None),
        ("BIG_DECIMAL", "0.0", "0.0"),
        ("BIG_DECIMAL", "1.10", "1.10"),
        ("BIG_DECIMAL", "1e3", "1E+3"),
        ("JSON", {"b": 1, "a": 1.10}, '"{\\"b\\":1,\\"a\\":1.1}"'),
        ("STRING", 'é\x01/"\u2028', '"é\\u0001/\\"\u2028"'),
    ],
)
def test_a_default_is_written_natively_unless_it_is_the_usual(
    kind: str, literal: Any, written: str | None
) -> None:
    assert written_default(kind, literal) == written


@pytest.mark.parametrize(
    ("kind", "literal", "written"),
    [
        ("INT", 0, None),
        ("FLOAT", -0.0, "-0.0"),
        ("DOUBLE", 0, None),
        ("BIG_DECIMAL", "0.0", "0.0"),
        ("BYTES", "", '""'),
    ],
)
def test_the_usual_of_a_metric_is_left_out(kind: str, literal: Any, written: str | None) -> None:
    assert written_default(kind, literal, "metricFieldSpecs") == written


def test_keys_are_written_in_the_order_of_pinot() -> None:
    field = {
        "transformFunction": "f(x)",
        "virtualColumnProvider": "p",
        "allowTrailingZeros": True,
        "maxLengthExceedStrategy": "TRIM_LENGTH",
        "maxLength": 512,
        "notNull": True,
        "defaultNullValue": 5,
        "singleValueField": False,
        "dataType": "INT",
        "name": "a",
    }
    document = {
        "primaryKeyColumns": ["a"],
        "complexFieldSpecs": [{"name": "m", "dataType": "MAP"}],
        "dateTimeFieldSpecs": [{"granularity": None, "name": "t", "dataType": "LONG"}],
        "timeFieldSpec": {
            "defaultNullValue": 7,
            "incomingGranularitySpec": {
                "timeFormat": "SIMPLE_DATE_FORMAT:yyyy",
                "timeunitSize": "5",
                "timeType": "DAYS",
                "dataType": "INT",
                "name": "d",
            },
        },
        "metricFieldSpecs": [],
        "dimensionFieldSpecs": [field],
        "schemaName": "s",
        "enableColumnBasedNullHandling": "true",
    }
    assert rewritten(document) == (
        '{"schemaName":"s","enableColumnBasedNullHandling":true,"dimensionFieldSpecs":[{"name":"a","dataType":"INT",'
        '"fieldType":"DIMENSION","singleValueField":false,"notNull":true,"maxLength":512,'
        '"maxLengthExceedStrategy":"TRIM_LENGTH","allowTrailingZeros":true,"defaultNullValue":5,'
        '"transformFunction":"f(x)","virtualColumnProvider":"p"}],"dateTimeFieldSpecs":[{'
        '"name":"t","dataType":"LONG","fieldType":"DATE_TIME","format":null,"granularity":null},{"name":"d",'
        '"dataType":"INT","fieldType":"DATE_TIME","defaultNullValue":7,"format":"5:DAYS:SIMPLE_DATE_FORMAT:yyyy",'
        '"granularity":"5:DAYS"}],"complexFieldSpecs":[{"name":"m","dataType":"MAP","fieldType":"COMPLEX",'
        '"childFieldSpecs":{}}],"primaryKeyColumns":["a"]}'
    )


def test_documentation_follows() -> None:
    field = {
        "name": "a",
        "dataType": "INT",
        "tags": ["x"],
        "description": " ",
    }
    document = {"schemaName": "s", "tags": ["t"], "description": "d", "dimensionFieldSpecs": [field]}
    schema = read_schema(document)
    assert write_schema(schema, pretty=False) == (
        '{"schemaName":"s","description":"d","tags":["t"],"enableColumnBasedNullHandling":false,'
        '"dimensionFieldSpecs":[{"name":"a","dataType":"INT","fieldType":"DIMENSION","description":" ",'
        '"tags":["x"]}]}'
    )


def test_for_people_it_looks_like_the_answer_of_the_controller() -> None:
    document = {
        "schemaName": "s",
        "dimensionFieldSpecs": [{"name": "a", "dataType": "INT"}],
        "primaryKeyColumns": ["a"],
    }
    assert write_schema(read_schema(document)) == (
        '{\n  "schemaName" : "s",\n  "enableColumnBasedNullHandling" : false,\n'
        '  "dimensionFieldSpecs" : [ {\n'
        '    "name" : "a",\n    "dataType" : "INT",\n    "fieldType" : "DIMENSION"\n  } ],\n'
        '  "primaryKeyColumns" : [ "a" ]\n}'
    )


def test_a_document_of_5000_columns_is_written_as_it_was_read() -> None:
    columns = [{"name": f"c{at}", "dataType": "STRING", "fieldType": "DIMENSION"} for at in range(5000)]
    document = {"schemaName": "s", "enableColumnBasedNullHandling": False, "dimensionFieldSpecs": columns}
    assert json.loads(write_schema(read_schema(document))) == document

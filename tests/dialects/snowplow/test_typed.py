"""Types of files that have types, and values cast to them."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from dialects.snowplow.families import Node, document, object_schema
from trellis.dialects.snowplow.document.json_text import read_json
from trellis.dialects.snowplow.typed import types
from trellis.dialects.snowplow.typed.casts import CastError, cast_value
from trellis.dialects.snowplow.typed.fields import field_name, type_of_schema, wide_column
from trellis.dialects.snowplow.typed.merge import IncompatibleTypes, merge_types, merge_wide_columns

INTEGER, TEXT = {"type": "integer"}, {"type": "string"}
NUMBER = {"type": "number", "multipleOf": 0.01}
CLOSED = object_schema({})
ROWS: dict[str, list[tuple[Node, str]]] = {
    "R69": [
        ({**INTEGER, "minimum": 3, "maximum": 90}, "x:int!"),
        ({**INTEGER, "maximum": 90}, "x:long!"),
        ({**INTEGER, "minimum": 0, "maximum": 5000000000}, "x:long!"),
        ({**INTEGER, "minimum": 0, "maximum": 4e40}, "x:double!"),
    ],
    "R70": [({**INTEGER, "minimum": 0, "maximum": 20000000000000000000}, "x:decimal(38,0)!")],
    "R71": [
        (NUMBER, "x:double!"),
        ({**NUMBER, "minimum": -40, "maximum": 75}, "x:decimal(9,2)!"),
        ({**NUMBER, "minimum": 0, "maximum": 30000000}, "x:decimal(18,2)!"),
    ],
    "R72": [
        ({"enum": [1, 2.25]}, "x:decimal(9,2)!"),
        ({"enum": ["a", None]}, "x:string"),
        ({"enum": [1, "a"]}, "x:json!"),
    ],
    "R73": [(CLOSED, ""), ({"type": "object"}, "x:json!"), ({"type": "array"}, "x:array<json>!")],
    "R74": [
        ({"type": "array", "items": {"type": ["integer", "null"]}}, "x:array<long>!"),
        ({"type": "array", "items": [INTEGER, TEXT]}, "x:array<json!>!"),
        ({"type": "array", "items": [INTEGER], "additionalItems": False}, "x:array<long!>!"),
    ],
    "R75": [
        (
            {
                "type": "object",
                "anyOf": [
                    object_schema({"a": TEXT}, ["a"]),
                    object_schema({"a": TEXT, "b": TEXT}, ["a", "b"]),
                ],
            },
            "x:struct<a:string!,b:string>!",
        )
    ],
    "further": [
        (
            {"type": "array", "anyOf": [{"items": [INTEGER]}, {"items": [TEXT, {}]}, {"items": []}]},
            "x:array<json>!",
        ),
        ({**TEXT, "format": "date-time"}, "x:timestamp!"),
        ({"type": ["string", "null"], "format": "date"}, "x:date"),
        ({"type": ["string", "integer"]}, "x:json!"),
        ({}, "x:json"),
        ({"type": "null"}, "x:json"),
        ({"type": ["integer", "number"]}, "x:double!"),
        ({"type": "number", "multipleOf": 5}, "x:long!"),
        ({"type": "array", "items": CLOSED}, "x:array<json!>!"),
        ({"properties": {"a": TEXT}}, "x:json"),
        ({**TEXT, "oneOf": [{"format": "date"}, {"maxLength": 3}]}, "x:string!"),
        (
            object_schema({"a": TEXT}, anyOf=[{"required": ["a"]}, {"maxProperties": 0}]),
            "x:struct<a:string>!",
        ),
    ],
}


@pytest.mark.parametrize(
    ("node", "field"),
    [
        pytest.param(node, field, id=f"{row}-{index}")
        for row, cases in ROWS.items()
        for index, (node, field) in enumerate(cases)
    ],
)
def test_the_type_of_a_required_property(node: Node, field: str) -> None:
    data_type = type_of_schema(object_schema({"x": node, "y": {"type": "boolean"}}, ["x"]))
    assert str(data_type) == f"struct<{field}{',' if field else ''}y:boolean>"


@pytest.mark.parametrize(
    ("key", "name"), [("ETag", "e_tag"), ("2fa", "_2fa"), ("a.b", "a_b"), ("$ref_id", "_ref_id")]
)
def test_r76_names_of_fields(key: str, name: str) -> None:
    assert field_name(key) == name


def merged(*bodies: Node) -> str:
    first, second = map(type_of_schema, bodies)
    return str(merge_types(first, second))


def test_r77_structs_grow_at_their_end() -> None:
    a, b = object_schema({"a": TEXT}, ["a"]), object_schema({"b": TEXT}, ["b"])
    assert merged(a, b) == "struct<a:string,b:string>"
    zm, zam = (dict.fromkeys(keys, TEXT) for keys in ("zm", "zam"))
    assert merged(object_schema(zm, [*zm]), object_schema(zam, [*zam])) == (
        "struct<m:string!,z:string!,a:string>"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({**INTEGER, "minimum": 0, "maximum": 9}, INTEGER),
        (INTEGER, {"type": "number"}),
        (TEXT, {}),
    ],
    ids=["int-long", "long-double", "string-json"],
)
def test_r78_types_that_differ(old: Node, new: Node) -> None:
    with pytest.raises(IncompatibleTypes):
        merged(object_schema({"x": old}), object_schema({"x": new}))


def test_a_version_that_does_not_fit_gets_a_column() -> None:
    documents = [
        document("1-0-0", {"a": INTEGER}),
        document("1-0-1", {"a": TEXT}),
        document("1-0-2", {"a": INTEGER, "b": TEXT}),
    ]
    wide = merge_wide_columns(documents, "contexts")
    assert str(wide.column) == "contexts_org_harbor_vessel_call_1:array<struct<a:long,b:string>!>"
    assert [str(key.version) for key in wide.keys] == ["1-0-0", "1-0-2"]
    recovered = wide.column_of(documents[1].key)
    assert str(recovered) == (
        "contexts_org_harbor_vessel_call_1_recovered_1_0_1_6b6b65da:array<struct<a:string>!>"
    )
    event = wide_column(documents[0], "unstruct_event")
    assert str(event) == "unstruct_event_org_harbor_vessel_call_1:struct<a:long>"


def cast(text: str, data_type: types.Type) -> Any:
    try:
        return cast_value(read_json(text), data_type)
    except CastError as error:
        return str(error)


def test_r79_numbers_that_do_not_fit() -> None:
    assert cast("-2147483649", types.INT) == "/ type: -2147483649 is not an integer of 32 bits"
    assert cast("7.25", types.LONG) == "/ type: 7.25 is not an integer of 64 bits"
    assert (
        cast("41.007", types.Decimal(9, 2))
        == "/ type: 41.007 is not a number of at most 7 digits before and 2 after the point"
    )
    assert cast("512", types.Decimal(9, 2)) == Decimal("512.00")


def test_r80_a_timestamp_in_its_zone() -> None:
    assert cast('"2031-07-19T01:15:30.250-04:30"', types.TIMESTAMP) == (
        datetime(2031, 7, 19, 5, 45, 30, 250000, timezone.utc)
    )


@pytest.mark.parametrize(
    ("text", "data_type", "value"),
    [
        ("7.0", types.LONG, 7),
        ("9223372036854775808", types.LONG, "/ type: 9223372036854775808 is not an integer of 64 bits"),
        ("1e400", types.LONG, "/ type: 1e400 is not an integer of 64 bits"),
        ("1e400", types.DOUBLE, "/ type: 1e400 is not a number of at most 1.8e308"),
        ("true", types.INT, "/ type: true is not an integer of 32 bits"),
        ('"2024-02-30"', types.DATE, '/ type: "2024-02-30" is not a date such as 2031-04-05'),
        ('"2024-02-28T10:00:00"', types.TIMESTAMP,
         '/ type: "2024-02-28T10:00:00" is not a time with a zone such as 2031-04-05T06:00:00Z'),
        ('"9999-12-31T23:00:00-04:00"', types.TIMESTAMP,
         '/ type: "9999-12-31T23:00:00-04:00" is not a time with a zone such as 2031-04-05T06:00:00Z'),
        ("[1, 2.50]", types.JSON, "[1,2.50]"),
    ],
)  # fmt: skip
def test_casts(text: str, data_type: types.Type, value: object) -> None:
    assert cast(text, data_type) == value


STRUCT = type_of_schema(
    object_schema(
        {"portId": INTEGER, "port_id": INTEGER, "any": {}, "need": {"type": ["null", "string", "integer"]}}
    )
)  # fmt: skip


def test_the_first_valid_value_wins() -> None:
    assert cast('{"portId": "x", "port_id": 7, "other": 1}', STRUCT) == {
        "any": None,
        "need": None,
        "port_id": 7,
    }
    assert cast('{"portId": "x", "port_id": null}', STRUCT)["port_id"] is None
    assert cast('{"portId": "x"}', STRUCT) == '/portId type: "x" is not an integer of 64 bits'


def test_required_values() -> None:
    required = type_of_schema(object_schema({"a": INTEGER, "b": {"enum": [1, "x"]}}, ["a", "b"]))
    assert cast('{"b": 1}', required) == "/a required: an integer of 64 bits is missing"
    assert cast('{"a": null, "b": 1}', required) == "/a required: an integer of 64 bits is missing"
    assert cast('{"a": 1, "b": null}', required) == {"a": 1, "b": "null"}
    assert cast("[1]", required) == "/ type: [1] is not an object"
    items = type_of_schema(object_schema({"a": {"type": "array", "items": INTEGER}}))
    assert cast('{"a": [1, null]}', items) == "/a/1 type: null is not an integer of 64 bits"

"""The schema that Pinot infers from an Avro schema, which is also how it sees Parquet."""

from __future__ import annotations

from typing import Any

import pytest

from trellis.dialects.pinot.document.types import EXTENDED_PROFILE
from trellis.dialects.pinot.infer.avro import from_avro
from trellis.dialects.pinot.infer.roles import Roles
from trellis.dialects.pinot.table.config import ComplexTypeConfig
from trellis.errors import SchemaError

POINT = {
    "type": "record",
    "name": "Point",
    "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "int"}],
}
BOX = {"type": "record", "name": "Box", "fields": [{"name": "v", "type": "double"}]}


def columns(type_: Any, complex: ComplexTypeConfig | None = None, **options: Any) -> dict[str, str]:
    record = {"type": "record", "name": "R", "fields": [{"name": "c", "type": type_}]}
    found = from_avro(record, None, complex, **options)
    return {each.name: each.data_type.value + ("" if each.single_value else "[]") for each in found.specs()}


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("int", "INT"), ("long", "LONG"), ("float", "FLOAT"), ("double", "DOUBLE"), ("boolean", "BOOLEAN"),
        ("string", "STRING"), ("bytes", "BYTES"),
        ({"type": "enum", "name": "E", "symbols": ["a"]}, "STRING"),
        ({"type": "fixed", "name": "F", "size": 12}, "BYTES"),
        (["null", "long"], "LONG"), (["double", "null"], "DOUBLE"),
        ({"type": "long", "logicalType": "timestamp-millis"}, "LONG"),
        ({"type": "string", "logicalType": "uuid"}, "STRING"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, "BYTES"),
        ({"type": "array", "items": "long"}, "LONG[]"),
        (["null", {"type": "array", "items": ["null", "string"]}], "STRING[]"),
        ({"type": "array", "items": {"type": "array", "items": "int"}}, "JSON[]"),
        ({"type": "map", "values": "long"}, "JSON"),
        (BOX, "DOUBLE"),
    ],
)  # fmt: skip
def test_the_type_of_a_field(type_: Any, expected: str):
    assert columns(type_) == {"c": expected}


@pytest.mark.parametrize(
    ("type_", "config", "expected"),
    [
        (POINT, ComplexTypeConfig(), {"c.x": "INT", "c.y": "INT"}),
        (["null", POINT], ComplexTypeConfig(delimiter="_"), {"c_x": "INT", "c_y": "INT"}),
        ({"type": "array", "items": "int"}, ComplexTypeConfig(), {"c": "INT[]"}),
        ({"type": "array", "items": "int"}, ComplexTypeConfig(to_json="ALL"), {"c": "STRING"}),
        ({"type": "array", "items": "int"}, ComplexTypeConfig(to_json="NONE"), {}),
        ({"type": "array", "items": POINT}, ComplexTypeConfig(), {"c": "STRING"}),
        ({"type": "array", "items": "bytes"}, ComplexTypeConfig(), {"c": "STRING"}),
        ({"type": "array", "items": POINT}, ComplexTypeConfig(unnest=("c",)), {"c.x": "INT", "c.y": "INT"}),
        ({"type": "map", "values": "int"}, ComplexTypeConfig(), {"c": "JSON"}),
    ],
)
def test_the_columns_with_complex_types(type_: Any, config: ComplexTypeConfig, expected: dict[str, str]):
    assert columns(type_, config) == expected


def test_a_uuid_is_one_in_the_profile_extended():
    assert columns({"type": "string", "logicalType": "uuid"}, profile=EXTENDED_PROFILE) == {"c": "UUID"}


def test_a_type_that_has_a_name_is_known_by_it_afterwards():
    fields = [{"name": "a", "type": POINT}, {"name": "b", "type": ["null", "Point"]}]
    found = from_avro({"type": "record", "name": "R", "fields": fields}, complex=ComplexTypeConfig())
    assert [each.name for each in found.specs()] == ["a.x", "a.y", "b.x", "b.y"]


def test_the_user_gives_the_roles():
    fields = [{"name": "day", "type": "int"}, {"name": "n", "type": "long"}, {"name": "s", "type": "string"}]
    found = from_avro(
        {"type": "record", "name": "R", "fields": fields}, Roles(frozenset({"n"}), "day"), name="t"
    )
    assert [(each.name, each.field_type.value, each.format, each.granularity) for each in found.specs()] == [
        ("s", "DIMENSION", None, None),
        ("n", "METRIC", None, None),
        ("day", "DATE_TIME", "EPOCH|DAYS", "1:DAYS"),
    ]


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        (["int", "string"], "field c: More than one non-null schema in UNION schema"),
        (["null"], "field c: Cannot find non-null schema in UNION schema"),
        (POINT, r"field c: Not one field in the RECORD schema \(2 fields\)"),
        ({"type": "array", "items": POINT}, "Not one field"),
        ("Unknown", "Unsupported Avro type: Unknown"),
    ],
)
def test_what_pinot_refuses(type_: Any, message: str):
    with pytest.raises(SchemaError, match=message):
        columns(type_)


def test_a_document_that_is_no_record():
    with pytest.raises(SchemaError, match="an Avro schema of a table is a record"):
        from_avro("int")

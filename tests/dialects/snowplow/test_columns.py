"""Names, flattening and order of columns."""

from __future__ import annotations

import pytest

from dialects.snowplow.families import Node, columns, object_schema, sql, text
from trellis.dialects.snowplow.columns.flatten import flatten, namesakes
from trellis.dialects.snowplow.columns.names import snake_case, table_name, wide_column_name
from trellis.dialects.snowplow.identity.keys import Family


@pytest.mark.parametrize(
    ("key", "name"),
    [
        pytest.param(key, name, id=f"{row}-{key}")
        for row, names in {
            "R24": {"HTTPResponseCode": "http_response_code", "userID2": "user_id2", "URL": "url"},
            "R25": {
                "XMLHttpRequest": "xml_http_request",
                "kebab-case": "kebab_case",
                "Mixed_CaseName": "mixed_case_name",
            },
            "R26": {
                "i18nText": "i18n_text",
                "ISO8601Date": "iso8601_date",
                "osIs64Bit": "os_is64_bit",
                "first name": "first name",
            },
        }.items()
        for key, name in names.items()
    ],
)
def test_snake_case(key: str, name: str) -> None:
    assert snake_case(key) == name


def test_r27_r28_names_of_tables_and_wide_columns() -> None:
    assert table_name(Family("org.harbor-port", "VesselCall", "jsonschema", 2)) == (
        "org_harbor_port_vessel_call_2"
    )
    call = Family("org.harbor", "HTTPCall", "jsonschema", 1)
    assert table_name(call) == "org_harbor_http_call_1"
    assert wide_column_name("contexts", call) == "contexts_org_harbor_httpcall_1"


def nullable(properties: Node, required: tuple[str, ...] = (), *, compat: bool = False) -> dict[str, bool]:
    return {column.name: column.nullable for column in columns(properties, required, compat=compat)}


def shapes(properties: Node, *, compat: bool = False) -> list[tuple[str, str]]:
    return [(column.name, sql(column.type)) for column in columns(properties, compat=compat)]


def test_r29_the_order_of_columns() -> None:
    nested = object_schema({"z": text(1)})
    properties = {
        "b_1": text(1),
        "alpha": text(1),
        "b2": text(1),
        "b": nested,
        "zeta": text(1),
        "b1": text(1),
    }
    assert [*nullable(properties, ("zeta",))] == ["zeta", "alpha", "b.z", "b1", "b2", "b_1"]


def test_r30_null_above_a_column() -> None:
    geo = object_schema({"lat": {"type": "number"}}, ["lat"], type=["object", "null"])
    assert nullable({"geo": geo}, ("geo",)) == {"geo.lat": True}
    assert nullable({"geo": geo}, ("geo",), compat=True) == {"geo.lat": False}


def test_r31_required_all_the_way() -> None:
    geo = object_schema({"lat": {"type": "number"}}, ["lat"])
    assert nullable({"geo": geo}) == {"geo.lat": True}
    chain = object_schema({"b": object_schema({"c": text(1)}, ["c"])}, ["b"])
    assert nullable({"a": chain}, ("a",)) == {"a.b.c": False}


def test_r32_required_and_null() -> None:
    properties = {"a": {"type": ["string", "null"]}, "b": {"enum": ["x", None]}}
    assert nullable(properties, ("a", "b")) == {"a": True, "b": True}


def test_r33_objects_without_properties() -> None:
    without, empty = {"m": {"type": "object"}}, {"m": {"type": "object", "properties": {}}}
    assert shapes(without) == shapes(empty) == [("m", "VARCHAR(4096)")]
    assert (shapes(without, compat=True), shapes(empty, compat=True)) == ([("m", "VARCHAR(4096)")], [])


def test_r34_properties_without_a_type() -> None:
    properties = {"m": {"properties": {"x": text(1)}}}
    assert shapes(properties) == [("m.x", "VARCHAR(1)")]
    assert shapes(properties, compat=True) == [("m", "VARCHAR(4096)"), ("m.x", "VARCHAR(1)")]


@pytest.mark.parametrize(
    "node",
    [
        {"type": ["object", "string"], "properties": {"x": {}}},
        {"type": "object", "properties": {"x": {}}, "oneOf": [{"type": "object"}, {"type": "string"}]},
    ],
    ids=["type", "oneOf"],
)
def test_r35_objects_that_may_be_something_else(node: Node) -> None:
    assert shapes({"m": node}) == [("m", "VARCHAR(4096)")]


@pytest.mark.parametrize("root", [{"type": "array", "items": object_schema({"a": {}})}, {}])
def test_r36_a_root_without_columns(root: Node) -> None:
    assert flatten(root) == []


def test_r37_two_properties_of_one_name() -> None:
    properties = {"port_id": {"type": "integer"}, "portId": text(5)}
    (column,) = columns(properties)
    assert (column.name, sql(column.type), column.paths) == (
        "port_id",
        "VARCHAR(5)",
        (("portId",), ("port_id",)),
    )
    assert namesakes(object_schema(properties)) == {"port_id": (("portId",), ("port_id",))}


def test_what_makes_no_column_of_its_own() -> None:
    inner = object_schema({"x": text(1)})
    properties = {
        "list": {"type": "array", "items": inner, "additionalItems": inner},
        "map": {"type": "object", "additionalProperties": inner, "patternProperties": {"a": inner}},
        "choice": {"oneOf": [inner], "anyOf": [inner], "allOf": [inner], "not": inner, "$ref": "#/x"},
    }
    assert shapes(properties) == [
        ("choice", "VARCHAR(4096)"),
        ("list", "VARCHAR(65535)"),
        ("map", "VARCHAR(4096)"),
    ]


def test_a_pointer_is_that_of_the_data() -> None:
    (column,) = columns({"geo/a": object_schema({"latLng": {}})})
    assert (column.name, column.pointer) == ("geo/a.lat_lng", "/geo~1a/latLng")


@pytest.mark.parametrize("key", ["__proto__", "日本", 'a"b', ""])
def test_odd_keys_are_columns(key: str) -> None:
    assert [column.paths for column in columns({key: {}})] == [((key,),)]

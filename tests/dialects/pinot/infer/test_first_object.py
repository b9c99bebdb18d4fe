"""The schema that Pinot infers from the first record: rows I01 to I08, and around."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trellis.dialects.pinot.document.writer import document_of
from trellis.dialects.pinot.infer.first_object import first_object
from trellis.dialects.pinot.infer.roles import Roles
from trellis.dialects.pinot.table.config import CollectionMode, ComplexTypeConfig
from trellis.errors import SchemaError


def columns(record: dict[str, Any], **config: Any) -> dict[str, str]:
    """`{"tags": "STRING[]"}`"""
    first = first_object(record, None, ComplexTypeConfig(**config))
    return {spec.name: spec.data_type.value + ("" if spec.single_value else "[]") for spec in first.specs()}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        pytest.param({"n": 3000000000}, {"n": "LONG"}, id="I01"),
        pytest.param({"n": 5, "b": True, "s": "x"}, {"n": "INT", "b": "BOOLEAN", "s": "STRING"}, id="I02"),
        pytest.param({"f": 1.5}, {"f": "DOUBLE"}, id="a fraction"),
        pytest.param({"n": 99999999999999999999}, {"n": "STRING"}, id="I03"),
        pytest.param({"n": [1, "x"]}, {"n": "INT[]"}, id="I04"),
        pytest.param({"l": [{"k": 1}]}, {"l": "STRING"}, id="I05"),
        pytest.param({"o": {"p": {"q": 1}}}, {"o.p.q": "INT"}, id="I06"),
        pytest.param({"a": None, "b": []}, {}, id="I07"),
        pytest.param({"l": [None, 1]}, {"l": "STRING[]"}, id="a list that starts with null"),
        pytest.param({"l": [[1], [2]]}, {"l": "STRING"}, id="a list of lists"),
        pytest.param({"o": {}}, {}, id="an empty object"),
    ],
)  # fmt: skip
def test_the_first_record_decides(record: dict[str, Any], expected: dict[str, str]):
    assert columns(record) == expected


def test_i08_the_user_names_the_time_column():
    first = first_object({"ts": 1700000000123, "fare": 2.5}, Roles(frozenset({"fare"}), "ts", "MILLISECONDS"))
    assert json.loads(json.dumps(document_of(first))) == {
        "schemaName": None,
        "enableColumnBasedNullHandling": False,
        "metricFieldSpecs": [{"name": "fare", "dataType": "DOUBLE", "fieldType": "METRIC"}],
        "dateTimeFieldSpecs": [
            {
                "name": "ts",
                "dataType": "LONG",
                "fieldType": "DATE_TIME",
                "format": "EPOCH|MILLISECONDS",
                "granularity": "1:MILLISECONDS",
            }
        ],
    }


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("NONE", {}),
        ("NON_PRIMITIVE", {"tags": "STRING[]", "lines": "STRING"}),
        ("ALL", {"tags": "STRING", "lines": "STRING"}),
    ],
)
def test_what_becomes_of_lists_that_are_not_unnested(mode: CollectionMode, expected: dict[str, str]):
    assert columns({"tags": ["a"], "lines": [{"sku": "p"}]}, to_json=mode) == expected


def test_an_unnested_list_gives_the_columns_of_its_first_element():
    record = {"lines": [{"sku": "p", "sub": [{"n": 1}]}, {"other": 1}]}
    assert columns(record, unnest=("lines",)) == {"lines.sku": "STRING", "lines.sub": "STRING"}
    assert columns(record, unnest=("lines", "lines.sub"), delimiter="_") == {
        "lines_sku": "STRING",
        "lines_sub": "STRING",
    }
    assert columns(record, unnest=("lines", "lines.sub")) == {"lines.sku": "STRING", "lines.sub.n": "INT"}


@pytest.mark.parametrize(
    ("record", "roles", "message"),
    [
        ({"m": [1, 2]}, Roles(frozenset({"m"})), "Metric field: m cannot be multi-valued"),
        ({"t": [1, 2]}, Roles(time="t"), "Time field: t cannot be multi-valued"),
        ({"m": True}, Roles(frozenset({"m"})), "Unsupported metric data type: BOOLEAN"),
        ({"a.b": 1, "a": {"b": 2}}, Roles(), "Field spec already exists for column: a.b"),
    ],
)
def test_what_pinot_refuses(record: dict[str, Any], roles: Roles, message: str):
    with pytest.raises(SchemaError, match=message):
        first_object(record, roles)

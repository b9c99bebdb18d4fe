"""Log-like rows."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.pinot.row.rows import column, config, document, map_column, pipeline, rows, several, values
from trellis.errors import SchemaError

EXTRAS = [column("json_data", "JSON"), column("json_data_no_idx", "STRING")]


def kept(*columns: dict[str, Any], record: dict[str, Any], maps: Any = (), **keys: Any) -> dict[str, Any]:
    """What of a row is not null."""
    table = config(schemaConformingTransformerConfig=keys)
    (row,) = rows(pipeline(document([*columns, *EXTRAS], maps=maps), table), record)
    return {name: value for name, value in row.values.items() if name not in row.nulls}


def test_fields_fill_the_columns_of_their_paths_and_the_rest_is_json() -> None:
    record = {"a": {"b": 1, "c": {"d": "x"}}, "e": [1, {"f": None}], "g": None}
    assert kept(column("a.b", "INT"), record=record) == {
        "a.b": 1,
        "json_data": '{"a":{"c":{"d":"x"}},"e":[1,{"f":null}]}',
    }


def test_keys_with_the_suffix_are_kept_apart() -> None:
    record = {"u_noindex": {"v": 1, "w": None}, "x": {"q_noindex": 2, "y": 3}}
    assert kept(record=record) == {
        "json_data": '{"x":{"y":3}}',
        "json_data_no_idx": '{"u_noindex":{"v":1},"x":{"q_noindex":2}}',
    }


def test_a_path_may_be_mapped_to_a_column() -> None:
    record = {"deep": {"er": 7}, "k": 5}
    assert kept(column("k", "INT"), record=record, columnNameToJsonKeyPathMap={"k": "deep.er"}) == {
        "k": 7,
        "json_data": '{"k":5}',
    }


@pytest.mark.parametrize("record", [{"a": [1, 2]}, {"a": {"b": [1, 2]}}])
def test_lists_and_maps_become_json_text_in_a_text_column(record: dict[str, Any]) -> None:
    expected = {"a": "[1,2]"} if record["a"] == [1, 2] else {"a": '{"b":[1,2]}'}
    assert kept(column("a", "STRING"), record=record) == expected


def test_other_columns_take_lists_and_maps_as_they_are() -> None:
    record = {"n": [1, 2], "m": {"k": 1}}
    assert kept(several("n", "INT"), record=record, maps=[map_column("m", "INT")]) == {
        "n": [1, 2],
        "m": {"k": 1},
    }


def test_an_object_fills_its_column_and_those_below_it() -> None:
    record = {"a": {"b": 1, "c": 2}}
    assert kept(column("a", "JSON"), column("a.b", "INT"), record=record) == {"a": '{"b":1,"c":2}', "a.b": 1}


@pytest.mark.parametrize(
    "record", [{}, {"a": None}, {"a": {}}, {"a": {"b": None}}, {"a_noindex": {"b": None}}]
)
def test_nulls_are_no_rest(record: dict[str, Any]) -> None:
    assert kept(record=record) == {}


def test_paths_may_be_dropped_and_keys_hold_dots() -> None:
    record = {"a": {"b": 1, "c": 2}, "d.e": 3, "f.g": 4}
    assert kept(column("d.e", "INT"), record=record, fieldPathsToDrop=["a.b"]) == {
        "d.e": 3,
        "json_data": '{"a":{"c":2},"f.g":4}',
    }


def test_the_extra_columns_have_other_names() -> None:
    schema_document = document([column("rest", "STRING"), column("hidden", "JSON")])
    how = {"indexableExtrasField": "rest", "unindexableExtrasField": "hidden", "unindexableFieldSuffix": "!"}
    pipe = pipeline(schema_document, config(schemaConformingTransformerConfig=how))
    assert values(pipe, {"a": 1, "b!": 2}) == [{"rest": '{"a":1}', "hidden": '{"b!":2}'}]


def test_an_extra_column_may_be_switched_off() -> None:
    schema_document = document([column("n", "INT")])
    how = {"enableIndexableExtras": False, "enableUnindexableExtras": "false"}
    assert values(
        pipeline(schema_document, config(schemaConformingTransformerConfig=how)), {"n": 1, "b": 2}
    ) == [{"n": 1}]


@pytest.mark.parametrize("columns", [[], [column("json_data", "INT")]])
def test_a_missing_extra_column_is_told(columns: list[dict[str, Any]]) -> None:
    with pytest.raises(SchemaError, match="Field 'json_data' doesn't exist in schema as JSON or STRING"):
        pipeline(document(columns), config(schemaConformingTransformerConfig={}))


def test_what_a_record_brings_for_the_rest_gives_way_and_is_noted() -> None:
    table = config(schemaConformingTransformerConfig={})
    (row,) = rows(pipeline(document(EXTRAS), table), {"json_data": {"v": 1}, "q": 2})
    assert row.values["json_data"] == '{"q":2}'
    assert [(fault.column, fault.value) for fault in row.faults] == [("json_data", {"v": 1})]
    assert not row.incomplete


def test_its_own_output_stays() -> None:
    pipe = pipeline(document([column("a.b", "INT"), *EXTRAS]), config(schemaConformingTransformerConfig={}))
    (first,) = values(pipe, {"a": {"b": 1, "z": 2}, "q_noindex": 3})
    assert values(pipe, first) == [first]

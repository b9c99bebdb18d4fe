"""Nested values become columns and rows."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.pinot.row.rows import column, config, document, flattened, pipeline, rows, several, values
from trellis.dialects.pinot.expression.transforms import RowFault
from trellis.dialects.pinot.row.complex_types import ComplexTypes
from trellis.dialects.pinot.table.config import ComplexTypeConfig, table_config
from trellis.errors import SchemaError

LINES = [{"sku": "p"}, {"sku": "q"}]


def unnested(record: dict[str, Any], *needed: str, **keys: Any) -> list[dict[str, Any]]:
    complex_type = table_config(flattened(**keys)).complex
    assert complex_type is not None
    return [row.values for row in ComplexTypes(complex_type, needed).rows(record)]


def test_x01_maps_are_flattened_and_stay() -> None:
    geo = {"lat": 1.5, "box": {"n": 3}}
    assert unnested({"id": 1, "geo": geo}) == [
        {"id": 1, "geo": geo, "geo.lat": 1.5, "geo.box": {"n": 3}, "geo.box.n": 3}
    ]


def test_x02_a_list_of_maps_becomes_json_text() -> None:
    assert unnested({"lines": LINES}) == [{"lines": '[{"sku":"p"},{"sku":"q"}]'}]


def test_x03_an_unnested_list_of_maps_gives_a_row_each() -> None:
    assert unnested({"id": 1, "lines": LINES}, fieldsToUnnest=["lines"]) == [
        {"id": 1, "lines.sku": "p"},
        {"id": 1, "lines.sku": "q"},
    ]


def test_x04_an_unnested_list_of_scalars_gives_a_row_each() -> None:
    assert unnested({"lines": ["x", "y"]}, fieldsToUnnest=["lines"]) == [{"lines": "x"}, {"lines": "y"}]


def test_x05_several_lists_are_crossed_the_first_name_outside() -> None:
    record = {"b": [{"v": 1}, {"v": 2}], "a": [{"u": 1}, {"u": 2}]}
    actual_rows = unnested(record, fieldsToUnnest=["b", "a"])
    assert [(row["a.u"], row["b.v"]) for row in actual_rows] == [(1, 1), (1, 2), (2, 1), (2, 2)]


def test_a_list_inside_an_unnested_one_is_unnested_after_it() -> None:
    record = {"a": [{"k": 1, "b": [{"v": 1}, {"v": 2}]}, {"k": 2, "b": []}, {"k": 3}]}
    actual_rows = unnested(record, fieldsToUnnest=["a.b", "a"])
    assert actual_rows == [{"a.k": 1, "a.b.v": 1}, {"a.k": 1, "a.b.v": 2}, {"a.k": 2, "a.b": []}, {"a.k": 3}]


def test_x07_all_lists_become_json_text() -> None:
    settings = {"collectionNotUnnestedToJson": "ALL"}
    assert unnested({"n": [1, 2], "e": []}, **settings) == [{"n": "[1,2]", "e": "[]"}]
    assert unnested({"a": [{"n": [1]}]}, fieldsToUnnest=["a"], **settings) == [{"a.n": "[1]"}]


def test_x08_lists_stay() -> None:
    assert unnested({"o": [{"z": 1}]}, collectionNotUnnestedToJson="NONE") == [{"o": [{"z": 1}]}]


def test_x09_a_renamed_field_may_not_have_the_name_of_another() -> None:
    schema_document = document([column("k", "INT")])
    pipe = pipeline(schema_document, flattened(prefixesToRename={"meta.": ""}))
    assert values(pipe, {"meta": {"k": 1}}) == [{"k": 1}]
    with pytest.raises(RowFault) as raised:
        pipe.rows({"meta": {"k": 1}, "k": 2})
    assert raised.value.reason == "Name conflict after attempting to rename field meta.k to k"


def test_x09_a_field_that_cannot_be_renamed_is_lost_where_errors_do_not_stop() -> None:
    schema_document = document([column("k", "INT"), column("v", "INT")])
    table = config(continueOnError=True, complexTypeConfig={"prefixesToRename": {"meta.": ""}})
    (row,) = rows(pipeline(schema_document, table), {"meta": {"k": 1, "v": 5}, "k": 2})
    assert (row.values, row.incomplete) == ({"k": 2, "v": 5}, True)
    assert [(fault.column, fault.value) for fault in row.faults] == [("meta.k", 1)]


@pytest.mark.parametrize(
    ("record", "renamed", "expected"),
    [
        ({"a.x": 1}, {"a.": "b."}, {"b.x": 1}),
        ({"ab": 1}, {"a": "x", "ab": "y"}, {"xb": 1}),
        ({"a": 1, "b": 2}, {"a": "b", "b": "a"}, {"b": 1, "a": 2}),
        ({"a.k": 1, "k": None}, {"a.": ""}, {"k": 1}),
    ],
)
def test_the_first_prefix_that_fits_is_renamed(
    record: dict[str, Any], renamed: dict[str, str], expected: dict[str, Any]
) -> None:
    assert unnested(record, prefixesToRename=renamed) == [expected]


def test_an_empty_name_is_a_conflict() -> None:
    with pytest.raises(RowFault, match="rename field a to an empty name"):
        pipeline(document([column("k", "INT")]), flattened(prefixesToRename={"a": ""})).rows({"a": 1})


@pytest.mark.parametrize("value", [[], None, {"sku": "p"}, "x"])
def test_what_is_no_list_of_some_leaves_one_row(value: Any) -> None:
    actual_rows = unnested({"id": 1, "lines": value}, fieldsToUnnest=["lines"])
    assert len(actual_rows) == 1
    assert actual_rows[0]["lines"] == value


def test_the_unnested_list_stays_on_each_row_where_it_is_needed() -> None:
    schema_document = document([column("lines", "JSON"), column("lines.sku", "STRING")])
    actual_rows = values(pipeline(schema_document, flattened(fieldsToUnnest=["lines"])), {"lines": LINES})
    assert actual_rows == [
        {"lines": '[{"sku":"p"},{"sku":"q"}]', "lines.sku": "p"},
        {"lines": '[{"sku":"p"},{"sku":"q"}]', "lines.sku": "q"},
    ]


def test_the_unnested_list_is_needed_under_its_new_name() -> None:
    schema_document = document([column("l", "JSON"), column("l.sku", "STRING")])
    table = flattened(fieldsToUnnest=["lines"], prefixesToRename={"lines": "l"})
    assert [row["l"] for row in values(pipeline(schema_document, table), {"lines": LINES})] == [
        '[{"sku":"p"},{"sku":"q"}]'
    ] * 2


def test_a_transform_may_need_the_unnested_list() -> None:
    schema_document = document([column("many", "INT"), column("lines.sku", "STRING")])
    table = config(
        complexTypeConfig={"fieldsToUnnest": ["lines"]},
        transformConfigs=[{"columnName": "many", "transformFunction": "arrayLength(lines)"}],
    )
    assert values(pipeline(schema_document, table), {"lines": LINES}) == [
        {"many": 2, "lines.sku": "p"},
        {"many": 2, "lines.sku": "q"},
    ]


def test_a_null_element_gives_a_row_with_null() -> None:
    assert unnested({"lines": [None, "x"]}, "lines", fieldsToUnnest=["lines"]) == [
        {"lines": None},
        {"lines": "x"},
    ]


def test_scalars_and_maps_may_be_mixed() -> None:
    assert unnested({"a": [1, {"k": 2}]}, fieldsToUnnest=["a"]) == [{"a": 1}, {"a.k": 2}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [([1, {}], [1, {}]), ([{}], "[{}]"), ([[1]], "[[1]]"), ([None, {}], [None, {}]), ([], [])],
)
def test_the_first_element_tells_whether_a_list_becomes_text(value: Any, expected: Any) -> None:
    assert unnested({"a": value}) == [{"a": expected}]


def test_lists_of_nested_maps_become_text_where_they_are_flattened() -> None:
    assert unnested({"a": {"b": [{"c": 1}]}}) == [{"a": {"b": [{"c": 1}]}, "a.b": '[{"c":1}]'}]


@pytest.mark.parametrize(("delimiter", "name"), [("_", "a_b_c"), ("", "abc"), ("->", "a->b->c")])
def test_names_are_joined_by_the_delimiter(delimiter: str, name: str) -> None:
    schema_document = document([column(name, "INT")])
    pipe = pipeline(schema_document, flattened(delimiter=delimiter))
    assert values(pipe, {"a": {"b": {"c": 7}}}) == [{name: 7}]
    assert "a" in pipe.reads


@pytest.mark.parametrize("turned", [False, True])
def test_nested_keys_count_where_a_key_with_dots_gives_the_same_name(turned: bool) -> None:
    items: list[tuple[str, Any]] = [("a", {"b": {"c": 1}}), ("a.b", {"c": 2, "d": 3}), ("a.b.c", 4)]
    record = dict(reversed(items) if turned else items)
    assert unnested(record)[0]["a.b.c"] == 1
    assert unnested(record)[0]["a.b.d"] == 3
    assert unnested({"a.b.c": 4})[0]["a.b.c"] == 4


def test_a_record_is_not_changed() -> None:
    record = {"geo": {"a": {"b": 1}}, "lines": [{"s": {"k": 1}}]}
    unnested(record, "lines", fieldsToUnnest=["lines"])
    assert record == {"geo": {"a": {"b": 1}}, "lines": [{"s": {"k": 1}}]}


def test_text_of_a_list_that_json_has_no_form_for_is_a_fault() -> None:
    deep: Any = 1
    for _ in range(20_000):
        deep = [deep]
    pipe = pipeline(document([column("a", "STRING")]), flattened())
    with pytest.raises(RowFault, match=r"column a: .*nested"):
        pipe.rows({"a": deep})


def test_without_the_config_maps_stay_one_value() -> None:
    schema_document = document([column("geo.lat", "DOUBLE"), column("geo", "JSON")])
    assert values(pipeline(schema_document), {"geo": {"lat": 1.5}}) == [
        {"geo.lat": float("-inf"), "geo": '{"lat":1.5}'}
    ]


def test_several_values_stay_several() -> None:
    schema_document = document([several("o.n", "INT")])
    assert values(pipeline(schema_document, flattened()), {"o": {"n": [1, 2]}}) == [{"o.n": [1, 2]}]


def test_defaults_of_the_config() -> None:
    assert table_config(flattened()).complex == ComplexTypeConfig(".", (), "NON_PRIMITIVE", {})


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(
        SchemaError,
        match="complexTypeConfig/collectionNotUnnestedToJson: unknown collectionNotUnnestedToJson 'SOME'",
    ):
        table_config(flattened(collectionNotUnnestedToJson="SOME"))

"""Group F: records become rows of root and nested tables."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.dlt.conformance.warehouse import Warehouse
from trellis.errors import ContractError, SchemaError, TrellisError
from trellis.schema.model import Column, Schema, Table

FILTERS = {"excludes": ["re:^meta", "secret"], "includes": ["re:^meta__keep"]}


def config(**settings: Any) -> Schema:
    return Schema("given", normalizers={"json": {"config": settings}})


def test_f01_column_order_is_scalars_then_objects_the_last_first(warehouse: Warehouse) -> None:
    warehouse.load({"a": {"x": 1}, "b": {"y": 2, "z": {"q": 1}}, "c": 3})
    assert list(warehouse.schema.tables["t"].columns) == [
        *("c", "b__y", "b__z__q", "a__x"),
        *("_dlt_load_id", "_dlt_id"),
    ]
    assert list(warehouse.types()) == list(warehouse.schema.tables["t"].columns)
    assert warehouse.rows() == [{"c": 3, "b__y": 2, "b__z__q": 1, "a__x": 1}]


def test_f01_bookkeeping_columns_are_required_and_marked(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1, "k": [1]})
    root, child = (warehouse.schema.tables[name].columns for name in ("t", "t__k"))
    assert root["a"].nullable is True
    assert root["_dlt_load_id"].nullable is False
    assert (root["_dlt_id"].nullable, root["_dlt_id"].hints) == (False, {"unique": True, "row_key": True})
    assert child["_dlt_parent_id"].hints == {"parent_key": True}
    assert [name for name, column in child.items() if column.required] == [
        *("_dlt_parent_id", "_dlt_list_idx", "_dlt_id")
    ]


def test_f02_list_of_scalars(warehouse: Warehouse) -> None:
    warehouse.load({"tags": ["a", "b"]}, table="r")
    (root,) = warehouse.raw("r")
    assert [(r["value"], r["_dlt_list_idx"], r["_dlt_parent_id"]) for r in warehouse.raw("r__tags")] == [
        ("a", 0, root["_dlt_id"]),
        ("b", 1, root["_dlt_id"]),
    ]
    assert warehouse.columns("r") == {}
    assert warehouse.schema.tables["r__tags"].parent == "r"


def test_f03_list_of_lists(warehouse: Warehouse) -> None:
    warehouse.load({"m": [[1, 2], [3]]}, table="r")
    assert warehouse.rows("r__m") == [{}, {}]
    inner = warehouse.raw("r__m__list")
    assert [(r["value"], r["_dlt_list_idx"]) for r in inner] == [(1, 0), (2, 1), (3, 0)]
    outer = warehouse.values("_dlt_id", "r__m")
    assert [r["_dlt_parent_id"] for r in inner] == [outer[0], outer[0], outer[1]]


def test_f04_list_of_everything(warehouse: Warehouse) -> None:
    warehouse.load({"m": [1, "z", {"k": 1}, [9]]}, table="r")
    assert warehouse.columns("r__m") == {"value": "bigint", "value__v_text": "text", "k": "bigint"}
    assert warehouse.rows("r__m") == [
        {"value": 1, "value__v_text": None, "k": None},
        {"value": None, "value__v_text": "z", "k": None},
        {"value": None, "value__v_text": None, "k": 1},
        {"value": None, "value__v_text": None, "k": None},
    ]
    assert [(r["value"], r["_dlt_list_idx"]) for r in warehouse.raw("r__m__list")] == [(9, 0)]


def test_f05_empty_containers_leave_nothing(warehouse: Warehouse) -> None:
    warehouse.load({"empty": [], "d": {}, "x": 1})
    assert warehouse.columns() == {"x": "bigint"}
    assert warehouse.tables == {"t"}


def test_f06_blank_keys(warehouse: Warehouse) -> None:
    report = warehouse.load({"": "blank", "  ": "sp"})
    assert warehouse.rows() == [{"_empty": "sp"}]
    assert report.discards.by_reason == {"collision": 1}


def test_f07_null_in_a_list_is_a_row(warehouse: Warehouse) -> None:
    warehouse.load({"l": [None, 1]})
    assert [(r["value"], r["_dlt_list_idx"]) for r in warehouse.raw("t__l")] == [(None, 0), (1, 1)]


def test_f08_scalars_as_records(warehouse: Warehouse) -> None:
    warehouse.load(5, "x")
    assert warehouse.rows() == [{"value": 5, "value__v_text": None}, {"value": None, "value__v_text": "x"}]


def test_f09_nesting_0(warehouse: Warehouse) -> None:
    warehouse.load({"a": {"x": {"y": 1}}, "l": [{"m": [1, 2]}]}, max_nesting=0)
    assert warehouse.columns() == {"a": "json", "l": "json"}
    assert warehouse.rows() == [{"a": '{"x":{"y":1}}', "l": '[{"m":[1,2]}]'}]
    assert warehouse.tables == {"t"}


def test_f10_nesting_1(warehouse: Warehouse) -> None:
    warehouse.load({"a": {"x": {"y": 1}}, "l": [{"m": [1, 2], "o": {"p": 1}}]}, max_nesting=1)
    assert warehouse.columns() == {"a__x": "json"}
    assert warehouse.columns("t__l") == {"m": "json", "o": "json"}
    assert warehouse.rows() == [{"a__x": '{"y":1}'}]
    assert warehouse.rows("t__l") == [{"m": "[1,2]", "o": '{"p":1}'}]


def test_f11_nesting_2(warehouse: Warehouse) -> None:
    warehouse.load({"a": {"x": {"y": 1}}, "l": [{"m": [1, [2]], "o": {"p": {"q": 1}}}]}, max_nesting=2)
    assert warehouse.columns() == {"a__x__y": "bigint"}
    assert warehouse.rows("t__l") == [{"o__p": '{"q":1}'}]
    assert warehouse.columns("t__l") == {"o__p": "json"}
    assert warehouse.columns("t__l__m") == {"value": "bigint", "list": "json"}
    assert warehouse.rows("t__l__m") == [{"value": 1, "list": None}, {"value": None, "list": "[2]"}]


def test_f11_nesting_of_the_source_yields_to_that_of_the_table(warehouse: Warehouse) -> None:
    record = {"a": {"x": {"y": 1}}}
    warehouse.load(record, table="by_source", schema=config(max_nesting=1))
    warehouse.load(record, table="by_table", max_nesting=0)
    assert warehouse.columns("by_source") == {"a__x": "json"}
    assert warehouse.columns("by_table") == {"a": "json"}


def test_f12_columns_declared_json(warehouse: Warehouse) -> None:
    json = (Column("a", "json"), Column("l", "json"))
    warehouse.load({"a": {"x": 1}, "l": [1, {"y": 2}]}, columns=json)
    assert warehouse.rows() == [{"a": '{"x":1}', "l": '[1,{"y":2}]'}]
    assert warehouse.tables == {"t"}


def test_f13_scalars_into_a_json_column(warehouse: Warehouse) -> None:
    warehouse.load({"a": {"x": 1}}, columns=(Column("a", "json"),))
    for value in (5, '{"q":1}', "plain"):
        warehouse.load({"a": value})
    assert warehouse.columns() == {"a": "json", "a__v_bigint": "bigint", "a__v_text": "text"}
    assert warehouse.values("a") == ['{"x":1}', None, '{"q":1}', None]
    assert warehouse.values("a__v_bigint") == [None, 5, None, None]
    assert warehouse.values("a__v_text") == [None, None, None, "plain"]


def test_f14_object_into_a_text_column(warehouse: Warehouse) -> None:
    warehouse.load({"a": "s"}, max_nesting=0)
    warehouse.load({"a": {"q": [1, 2]}})
    assert warehouse.rows() == [{"a": "s"}, {"a": '{"q":[1,2]}'}]


def test_f15_three_shapes_of_one_key(warehouse: Warehouse) -> None:
    for value in ({"x": 1}, "s", [1]):
        warehouse.load({"k": value})
    assert warehouse.columns() == {"k__x": "bigint", "k": "text"}
    assert warehouse.rows() == [{"k__x": 1, "k": None}, {"k__x": None, "k": "s"}, {"k__x": None, "k": None}]
    assert warehouse.rows("t__k") == [{"value": 1}]


def test_f16_a_path_wins_over_a_key_of_its_name(warehouse: Warehouse) -> None:
    report = warehouse.load({"a": {"b": 1}, "a__b": 2})
    assert warehouse.rows() == [{"a__b": 1}]
    assert report.discards.by_reason == {"collision": 1}


def test_f17_lists_under_one_name(warehouse: Warehouse) -> None:
    report = warehouse.load({"items": [{"x": 1}], "Items": [{"x": 2}]})
    assert warehouse.rows("t__items") == [{"x": 2}]
    assert report.discards.by_reason == {"collision": 1}


def test_f18_root_key_of_all_descendants(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1, "k": [{"g": [1, 2]}]}, schema=config(root_key_propagation=True))
    (root,) = warehouse.values("_dlt_id")
    assert list(warehouse.columns("t__k__g", system=True)) == [
        *("value", "_dlt_root_id", "_dlt_parent_id", "_dlt_list_idx", "_dlt_id")
    ]
    assert warehouse.values("_dlt_root_id", "t__k") == [root]
    assert warehouse.values("_dlt_root_id", "t__k__g") == [root, root]
    assert warehouse.schema.tables["t__k"].columns["_dlt_root_id"].hint("root_key")
    assert warehouse.schema.normalizers["json"]["config"]["propagation"] == {
        "tables": {"t": {"_dlt_id": "_dlt_root_id"}}
    }


def test_f18_no_root_key_without_being_asked(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1, "k": [{"g": [1]}]})
    assert "_dlt_root_id" not in warehouse.columns("t__k", system=True)
    warehouse.load({"a": 1, "k": [1]}, table="m", mode="merge", keys=("a",))
    assert "_dlt_root_id" in warehouse.columns("m__k", system=True)
    warehouse.load(
        {"a": 1, "k": [1]}, table="n", mode="merge", keys=("a",), schema=config(root_key_propagation=False)
    )
    assert "_dlt_root_id" not in warehouse.columns("n__k", system=True)


def test_f19_propagated_columns(warehouse: Warehouse) -> None:
    rules = {"root": {"ts": "_evt_ts"}, "tables": {"t__k": {"kid": "kid_ref"}}}
    document = config(propagation=rules)
    warehouse.load(
        {"ts": 17, "k": [{"kid": 5, "g": [{"z": 1}, 2]}, {"kid": "six", "g": [3]}]}, schema=document
    )
    assert warehouse.columns() == {"ts": "bigint"}
    assert warehouse.columns("t__k") == {"kid": "bigint", "_evt_ts": "bigint", "kid__v_text": "text"}
    assert warehouse.values("_evt_ts", "t__k") == [17, 17]
    assert warehouse.rows("t__k__g") == [
        {"z": 1, "_evt_ts": 17, "kid_ref": 5, "value": None, "kid_ref__v_text": None},
        {"z": None, "_evt_ts": 17, "kid_ref": 5, "value": 2, "kid_ref__v_text": None},
        {"z": None, "_evt_ts": 17, "kid_ref": None, "value": 3, "kid_ref__v_text": "six"},
    ]


def test_f19_bookkeeping_cannot_be_propagated_under_other_names(warehouse: Warehouse) -> None:
    with pytest.raises(SchemaError, match=r"t\._dlt_id cannot be propagated"):
        warehouse.load({"k": [1]}, schema=config(propagation={"tables": {"t": {"_dlt_id": "mine"}}}))


def test_f20_filters(warehouse: Warehouse) -> None:
    document = Schema("given", {"ev": Table("ev", hints={"filters": FILTERS})})
    record = {
        "a": 1,
        "secret": 2,
        "meta": {"x": 1, "keep": {"y": 2}},
        "metas": [{"z": 1}],
        "sub": [{"secret": 1}],
    }
    report = warehouse.load(record, table="ev", schema=document)
    warehouse.load(record, table="ev")
    assert warehouse.columns("ev") == {"a": "bigint", "meta__keep__y": "bigint"}
    assert warehouse.rows("ev") == [{"a": 1, "meta__keep__y": 2}] * 2
    assert warehouse.rows("ev__sub") == [{"secret": 1}] * 2
    assert warehouse.tables == {"ev", "ev__sub"}
    assert report.discards.count == 0


def test_f21_a_column_of_nulls_comes_with_its_first_value(warehouse: Warehouse) -> None:
    warehouse.load({"b": None})
    assert warehouse.columns() == {}
    warehouse.load({"b": 3})
    assert warehouse.rows() == [{"b": None}, {"b": 3}]
    assert warehouse.columns() == {"b": "bigint"}


def test_f22_explicit_null_in_a_required_column(warehouse: Warehouse) -> None:
    with pytest.raises(ContractError, match="b is null, but column b of table t may not be null"):
        warehouse.load({"b": "x"}, {"b": None}, columns=(Column("b", "text", nullable=False),))
    assert warehouse.tables == set()


def test_f22_absent_key_of_a_required_column(warehouse: Warehouse) -> None:
    with pytest.raises(TrellisError, match=r"\bb\b"):
        warehouse.load({"a": 1}, columns=(Column("b", "text", nullable=False),))
    assert warehouse.tables == set()


def test_f23_key_that_never_arrives(warehouse: Warehouse) -> None:
    with pytest.raises(SchemaError, match="table t: primary key column id is in no record"):
        warehouse.load({"a": 1}, keys=("id",))
    with pytest.raises(SchemaError, match="table t: merge key column day is in no record"):
        warehouse.load({"a": 1}, merge_keys=("day",))
    assert warehouse.tables == set()

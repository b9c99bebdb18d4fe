"""Groups N, H and K, as far as they need a load: names, versions and keys in the destination."""

from __future__ import annotations

import pytest

from dialects.dlt.conformance.warehouse import Opens, Warehouse
from trellis.errors import ContractError, SchemaError
from trellis.schema.model import Schema


def named(convention: str, **settings: bool) -> Schema:
    return Schema("given", normalizers={"names": convention, **settings})


def test_n21_direct_names(warehouse: Warehouse) -> None:
    record = {"Sub Obj": {"inner Key": 2}, "Arr": [{"x": 1}]}
    warehouse.load(record, table="My Table", schema=named("direct"))
    assert warehouse.tables == {"My Table", "My Table▶Arr"}
    assert warehouse.rows("My Table") == [{"Sub Obj▶inner Key": 2}]
    assert warehouse.rows("My Table▶Arr") == [{"x": 1}]
    assert warehouse.schema.tables["My Table▶Arr"].parent == "My Table"


def test_n22_table_names(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1}, table="Foo__Bar.baz")
    assert warehouse.tables == {"foo__bar_baz"}
    assert warehouse.schema.tables["foo__bar_baz"].hints["resource"] == "Foo__Bar.baz"


def test_n23_names_of_tables_with_data_are_frozen(warehouse: Warehouse) -> None:
    warehouse.load({"createdAt": 1})
    with pytest.raises(SchemaError, match="identifiers frozen: t hold data under names by snake_case"):
        warehouse.load({"createdAt": 2}, schema=named("direct"))
    assert warehouse.columns() == {"created_at": "bigint"}
    assert warehouse.schema.normalizers["names"] == "snake_case"


def test_n23_unless_it_is_allowed(warehouse: Warehouse) -> None:
    warehouse.load({"createdAt": 1})
    warehouse.load({"createdAt": 2}, schema=named("direct", allow_identifier_change_on_table_with_data=True))
    assert warehouse.rows() == [{"created_at": 1, "createdAt": None}, {"created_at": None, "createdAt": 2}]


def test_n23_and_free_before_there_is_data(warehouse: Warehouse) -> None:
    warehouse.pipeline.load([], table="t", schema=named("direct"))
    warehouse.load({"createdAt": 2})
    assert warehouse.rows() == [{"createdAt": 2}]


def test_n24_names_that_differ_in_case_alone(warehouse: Warehouse) -> None:
    with pytest.raises(SchemaError, match="columns of table t: Foo and foo collide"):
        warehouse.load({"Foo": 1, "foo": 2}, schema=named("sql_cs_v1"))
    with pytest.raises(SchemaError, match="tables: Foo and foo collide"):
        warehouse.load({"foo": [1]}, table="Foo", schema=named("sql_cs_v1"))
        warehouse.load({"a": 1}, table="foo")
    assert "foo" not in warehouse.tables


def test_n25_names_that_become_one(warehouse: Warehouse) -> None:
    report = warehouse.load({"Foo": 1, "foo": 2, "FOO ": 3})
    assert warehouse.rows() == [{"foo": 3}]
    assert report.discards.by_reason == {"collision": 2}


def test_h07_versions_and_loads(warehouse: Warehouse) -> None:
    for record in ({"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2}):
        warehouse.load(record)
    versions, loads = (warehouse.raw(name) for name in ("_dlt_version", "_dlt_loads"))
    assert [row["version"] for row in versions] == [2, 3]
    assert {(row["schema_name"], row["engine_version"]) for row in versions} == {("farm", 11)}
    assert [row["status"] for row in loads] == [0, 0, 0]
    first, second = (row["version_hash"] for row in versions)
    assert [row["schema_version_hash"] for row in loads] == [first, second, second]
    assert (warehouse.schema.stored_version, warehouse.schema.stored_hash) == (3, second)
    assert warehouse.schema.previous_hashes[0] == first
    assert len(warehouse.raw("_dlt_pipeline_state")) == 1


def test_h07_each_row_says_which_load_brought_it(warehouse: Warehouse) -> None:
    ids = [warehouse.load({"a": 1}).load_id, warehouse.load({"a": 2}).load_id]
    assert warehouse.values("_dlt_load_id") == ids == warehouse.values("load_id", "_dlt_loads")


def test_k01_keys_of_an_upsert(warehouse: Warehouse) -> None:
    record = {"Acct Id": 7, "kids": [{"v": 1}]}
    for _ in range(2):
        warehouse.load(record, table="ups", mode="merge", strategy="upsert", keys=("Acct Id",))
    assert warehouse.values("_dlt_id", "ups") == ["XPlQj8bOR+4gow"]
    (child,) = warehouse.raw("ups__kids")
    assert (child["_dlt_id"], child["_dlt_parent_id"]) == ("PNVbSgR3JXPfDw", "XPlQj8bOR+4gow")
    assert child["_dlt_root_id"] == "XPlQj8bOR+4gow"


def test_k01_an_upsert_needs_its_key(warehouse: Warehouse) -> None:
    with pytest.raises(ContractError, match="key column id of table t has no value"):
        warehouse.load({"id": 1}, {"a": 1}, mode="merge", strategy="upsert", keys=("id",))


def test_k07_own_key_of_a_root_row(warehouse: Warehouse) -> None:
    warehouse.load({"_dlt_id": 7, "l": [{"x": 1}]})
    assert warehouse.columns(system=True) == {"_dlt_id": "bigint", "_dlt_load_id": "text"}
    assert warehouse.columns("t__l", system=True) == {
        "x": "bigint",
        "_dlt_parent_id": "bigint",
        "_dlt_list_idx": "bigint",
        "_dlt_id": "text",
    }
    (root,), (child,) = warehouse.raw(), warehouse.raw("t__l")
    assert (root["_dlt_id"], child["_dlt_parent_id"], child["_dlt_list_idx"]) == (7, 7, 0)


def test_k07_own_key_of_a_nested_row(warehouse: Warehouse) -> None:
    warehouse.load({"_dlt_id": "mine", "l": [{"_dlt_id": "own", "m": [2]}, {"m": [3]}]})
    first, second = warehouse.raw("t__l")
    assert (first["_dlt_id"], first["_dlt_parent_id"], first["_dlt_list_idx"]) == ("own", "mine", 0)
    assert second["_dlt_id"] not in ("own", None)
    assert warehouse.values("_dlt_parent_id", "t__l__m") == ["own", second["_dlt_id"]]


def test_k07_keys_are_the_same_on_every_attempt(open_warehouse: Opens) -> None:
    one, two = open_warehouse(file="one"), open_warehouse(file="two")
    for side in (one, two):
        side.load({"l": [1, 2]}, load_id="1700000000.5")
    assert one.raw("t__l") == two.raw("t__l")
    assert len({*one.values("_dlt_id"), *one.values("_dlt_id", "t__l")}) == 3
    assert one.schema == two.schema

"""The content hash and the version number: rows H01 to H06."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from trellis.errors import SchemaError
from trellis.schema.dict_form import to_dict
from trellis.schema.documents.document import from_dict
from trellis.schema.model import Column, Schema, Table
from trellis.schema.version import bump, content_hash, document_hash, is_modified, is_new, renamed

H01: dict[str, Any] = {
    "version": 4,
    "version_hash": "zz",
    "engine_version": 11,
    "name": "demo",
    "tables": {},
    "settings": {},
    "normalizers": {"names": "snake_case"},
    "previous_hashes": [],
}
B = {"data_type": "text", "nullable": True}
A = {"data_type": "bigint", "nullable": False}
H02 = {**H01, "tables": {"zoo": {"columns": {"b": B, "a": A}}, "ant": {"columns": {}}}}
H03 = {**H01, "tables": {"zoo": {"columns": {"a": A, "b": B}}, "ant": {"columns": {}}}}
HASH_OF_H02 = "FTswvch2vh0dh8MrrHT54yxzOfRHAXAbgntnViex39s="


def test_h01_an_empty_document() -> None:
    assert document_hash(H01) == "31D4ujxtZ8uv8TQT5z0kzOWT9bCMQCx2KmKO4tyC+pQ="
    assert content_hash(from_dict(H01)) == "31D4ujxtZ8uv8TQT5z0kzOWT9bCMQCx2KmKO4tyC+pQ="


def test_h02_tables() -> None:
    assert document_hash(H02) == HASH_OF_H02


def test_h03_the_order_of_columns_counts() -> None:
    assert document_hash(H03) == "ZhQ3pt03aAYkOvSUgY/UYhm7VO9I7h10pL4hcnVaPvo="


def test_h04_the_record_of_versions_does_not_count() -> None:
    other = {**H02, "version": 9, "previous_hashes": ["x"], "imported_version_hash": "y"}
    assert document_hash(other) == HASH_OF_H02


def test_the_order_of_tables_does_not_count() -> None:
    tables = H02["tables"]
    assert document_hash({**H02, "tables": dict(reversed(tables.items()))}) == HASH_OF_H02


def saved_with(schema: Schema, table: str) -> Schema:
    return bump(schema.with_tables(Table(table)))


def test_h05_versions_of_a_fresh_schema() -> None:
    fresh = Schema("shop")
    first = bump(fresh)
    second = saved_with(first, "orders")
    assert [schema.stored_version for schema in (fresh, first, second)] == [None, 1, 2]
    assert second.previous_hashes == (first.stored_hash,)
    assert bump(second) == second


def test_h06_ten_previous_hashes_are_kept() -> None:
    schema = bump(Schema("shop"))
    hashes = []
    for number in range(15):
        hashes.insert(0, schema.stored_hash)
        schema = saved_with(schema, f"t{number}")
    assert (schema.stored_version, schema.previous_hashes) == (16, tuple(hashes[:10]))


def test_several_changes_between_saves_are_one_version() -> None:
    schema = bump(Schema("shop")).with_tables(Table("a")).with_tables(Table("b"))
    assert bump(schema).stored_version == 2


def test_a_hash_that_returns_is_not_noted_twice() -> None:
    first = bump(Schema("shop"))
    second = saved_with(first, "t")
    third = bump(replace(second, tables=first.tables))
    fourth = saved_with(third, "t")
    assert third.previous_hashes == (second.stored_hash, first.stored_hash)
    assert (fourth.stored_version, fourth.previous_hashes) == (4, third.previous_hashes)


def test_every_part_counts() -> None:
    schema = Schema("shop").with_tables(Table("t", {"c": Column("c")}))
    table = schema.tables["t"]
    others = [
        replace(schema, name="shop2"),
        replace(schema, description="d"),
        replace(schema, engine_version=10),
        replace(schema, settings=replace(schema.settings, detections=())),
        replace(schema, normalizers={"names": "direct"}),
        schema.with_tables(table.with_hints(**{"x-normalizer": {"seen-data": True}})),
        schema.with_tables(table.with_columns(Column("c", nullable=True))),
    ]
    assert len({content_hash(schema_) for schema_ in (schema, *others)}) == 8


def test_is_modified_and_is_new() -> None:
    fresh = Schema("shop")
    saved = bump(fresh)
    assert (is_new(fresh), is_modified(fresh)) == (True, True)
    assert (is_new(saved), is_modified(saved)) == (False, False)
    assert is_modified(saved.with_tables(Table("t")))


def test_a_hand_edit_shows() -> None:
    edited = to_dict(bump(Schema("shop", {"t": Table("t", {"c": Column("c", "bigint")})})))
    edited["tables"]["t"]["columns"]["c"]["data_type"] = "text"
    assert is_modified(from_dict(edited))


def test_a_copy_under_another_name_begins_anew() -> None:
    copy = renamed(saved_with(bump(Schema("shop")), "t"), "store")
    assert (copy.name, copy.stored_version, copy.stored_hash, copy.previous_hashes) == (
        "store",
        None,
        None,
        (),
    )
    assert bump(copy).stored_version == 1


def test_what_no_document_can_hold() -> None:
    schema = Schema("shop", {"t": Table("t").with_hints(**{"x-set": {1, 2}})})
    with pytest.raises(SchemaError, match="no document can hold"):
        content_hash(schema)

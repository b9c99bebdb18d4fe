"""Merging partial tables and whole schemas: rows R03, R04 and M11."""

from __future__ import annotations

import pytest
from hypothesis import given

from schema.strategies import schemas
from trellis.errors import SchemaError
from trellis.schema.merge import (
    drop_tables,
    merge_column,
    merge_schema,
    merge_table,
    normalize_table,
    parents_first,
    unify,
)
from trellis.schema.model import Column, Schema, Settings, Table
from trellis.schema.naming import Naming, get_naming
from trellis.schema.version import content_hash


def table(name: str, *columns: Column, parent: str | None = None) -> Table:
    return Table(name, {column.name: column for column in columns}, parent=parent)


def schema(*tables: Table) -> Schema:
    return Schema("shop", {table_.name: table_ for table_ in tables})


def key(name: str, **hints: object) -> Column:
    return Column(name, nullable=False).with_hints(**(hints or {"primary_key": True}))


def test_r03_a_key_replaces_the_key_before(snake: Naming) -> None:
    first = merge_table(Schema("shop"), table("t", key("a")), snake)
    second = merge_table(first, table("t", key("b")), snake)
    assert second.tables["t"].columns_with("primary_key") == ("b",)
    assert second.tables["t"].columns["a"].required
    assert merge_table(second, table("t"), snake) == second
    emptied = merge_table(second, table("t", Column("b").with_hints(primary_key=False)), snake)
    assert merge_table(second, table("t", Column("a")), snake) == second
    assert emptied.tables["t"].columns_with("primary_key") == ()


def test_r04_compound_hints_are_replaced_and_others_add_up(snake: Naming) -> None:
    merged = schema(table("t"))
    for name in ("b", "a"):
        merged = merge_table(merged, table("t", Column(name).with_hints(partition=True)), snake)
    for name in ("b", "a"):
        merged = merge_table(merged, table("t", Column(name).with_hints(sort=True)), snake)
    assert merged.tables["t"].columns_with("partition") == ("a",)
    assert merged.tables["t"].columns_with("sort") == ("b", "a")


def test_hints_from_rules_do_not_replace(snake: Naming) -> None:
    merged = merge_table(schema(table("t", key("a"))), table("t", key("b")), snake, replace_compound=False)
    assert merged.tables["t"].columns_with("primary_key") == ("a", "b")


def test_names_are_normalized(snake: Naming) -> None:
    partial = Table("Orders", {"itemNo": Column("itemNo")}).with_hints(resource="Orders")
    merged = merge_table(Schema("shop"), partial, snake).tables["orders"]
    assert list(merged.columns) == ["item_no"]
    assert merged.hints == {"resource": "Orders", "write_disposition": "append"}


def test_columns_that_fall_on_one_name_are_merged(snake: Naming) -> None:
    normalized = normalize_table(
        table("t", Column("itemNo", "text", nullable=False), Column("item_no", "bigint", nullable=True)),
        snake,
    )
    assert normalized.columns == {"item_no": Column("item_no", "bigint", nullable=False)}


def test_what_the_partial_says_wins(snake: Naming) -> None:
    old = Column("c", "text", nullable=False, precision=4).with_hints(unique=True)
    new = Column("c", "bigint", nullable=True).with_hints(unique=False)
    merged = merge_column(old, new)
    assert merged == Column("c", "bigint", nullable=True, precision=4).with_hints(unique=False)
    nulled = merge_column(old, Column("c").with_hints(precision=None))
    assert nulled.precision is None
    assert merge_table(schema(table("t", old)), table("t", new), snake).tables["t"].columns["c"] == merged


def test_new_columns_and_newly_typed_ones_come_last(snake: Naming) -> None:
    old = schema(table("t", Column("later"), Column("a", "text"), Column("never")))
    merged = merge_table(
        old, table("t", Column("a", "text"), Column("later", "date"), Column("b", "text")), snake
    )
    assert list(merged.tables["t"].columns) == ["a", "never", "later", "b"]


def test_parents(snake: Naming) -> None:
    with pytest.raises(SchemaError, match="no table 'orders', the parent of 'orders__items'"):
        merge_table(Schema("shop"), table("orders__items", parent="orders"), snake)
    old = schema(table("a"), table("b"), table("a__k", parent="a"))
    with pytest.raises(SchemaError, match="is nested in 'a', so it cannot be one that is nested in 'b'"):
        merge_table(old, table("a__k", parent="b"), snake)
    with pytest.raises(SchemaError, match="is nested in 'a', so it cannot be one that is a root table"):
        merge_table(old, table("a__k"), snake)
    with pytest.raises(SchemaError, match="no resource of its own"):
        merge_table(old, table("a__k", parent="a").with_hints(resource="r"), snake)


def test_notes_of_processing_add_up(snake: Naming) -> None:
    old = schema(table("t").with_hints(**{"x-normalizer": {"seen-data": True}}))
    merged = merge_table(old, table("t").with_hints(**{"x-normalizer": {"max_nesting": 1}}), snake)
    assert merged.tables["t"].hints["x-normalizer"] == {"seen-data": True, "max_nesting": 1}


def test_one_reference_per_referenced_table(snake: Naming) -> None:
    def to(target: str, column: str) -> dict[str, object]:
        return {"referenced_table": target, "columns": [column], "referenced_columns": ["ID"]}

    merged = merge_table(
        Schema("shop"), table("t").with_hints(references=[to("A", "aId"), to("b", "bId")]), snake
    )
    merged = merge_table(merged, table("t").with_hints(references=[to("a", "other"), to("c", "cId")]), snake)
    references = [
        (reference["referenced_table"], reference["columns"])
        for reference in merged.tables["t"].hints["references"]
    ]
    assert references == [("a", ["other"]), ("b", ["b_id"]), ("c", ["c_id"])]
    uneven = {"referenced_table": "a", "columns": ["x", "y"], "referenced_columns": ["z"]}
    with pytest.raises(SchemaError, match="pairs 2 columns with 1"):
        merge_table(merged, table("t").with_hints(references=[uneven]), snake)


def test_unify() -> None:
    a = schema(table("t", Column("x", "text"), Column("late")))
    b = schema(
        table("t__k", Column("v", "text"), parent="t"),
        table("t", Column("y", "date"), Column("x", "text"), Column("late", "bool")),
    )
    unified = unify(a, b)
    assert list(unified.tables["t"].columns) == ["x", "y", "late"]
    assert list(unified.tables) == ["t", "t__k"]


def test_unify_names_every_conflict() -> None:
    a = schema(table("t", Column("x", "text"), Column("y", "date")))
    b = schema(table("t", Column("x", "bigint"), Column("y", "bool")))
    with pytest.raises(SchemaError) as caught:
        unify(a, b)
    assert "t.x is text in one and bigint in the other; t.y is date in one and bool" in str(caught.value)


def test_adopt(snake: Naming) -> None:
    other = Schema("other", {"T": table("T", Column("Id", "text"))}, Settings(detections=()), {"names": "x"})
    adopted = merge_schema(schema(table("old")), other, snake)
    assert (adopted.name, list(adopted.tables), adopted.settings) == ("shop", ["old", "t"], other.settings)
    assert adopted.normalizers == other.normalizers


def test_m11_dropping_a_parent_would_leave_orphans() -> None:
    tree = schema(table("ra"), table("ra__k", parent="ra"), table("rb"))
    with pytest.raises(SchemaError, match="orphaned tables: drop ra__k as well"):
        drop_tables(tree, ["ra"])
    assert list(drop_tables(tree, ["ra", "ra__k"]).tables) == ["rb"]
    assert list(drop_tables(tree, ["ra__k"]).tables) == ["ra", "rb"]
    with pytest.raises(SchemaError, match="no table 'rc'"):
        drop_tables(tree, ["rc"])


def test_parents_come_first() -> None:
    tables = schema(table("t__k__v", parent="t__k"), table("t__k", parent="t"), table("t")).tables
    assert [sorted_table.name for sorted_table in parents_first(tables)] == ["t", "t__k", "t__k__v"]


@given(schemas(), schemas())
def test_merging_again_changes_nothing(a: Schema, b: Schema) -> None:
    try:
        once = unify(a, b)
    except SchemaError:
        return
    assert content_hash(unify(once, b)) == content_hash(once)
    assert content_hash(unify(a, a)) == content_hash(a)


@given(schemas())
def test_a_table_merged_with_itself_stays(merged_schema: Schema) -> None:
    naming = get_naming("direct")
    for table in merged_schema.tables.values():
        hints = {key: value for key, value in table.hints.items() if key != "resource"}
        partial = Table(table.name, table.columns, table.parent, table.description, hints)
        normal = schema(*(normalize_table(one, naming) for one in parents_first(merged_schema.tables)))
        assert merge_table(normal, partial, naming).tables[naming.table(table.name)].hints == table.hints

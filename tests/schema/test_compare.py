"""What differs between two schemas, which changes are breaking, and how they are told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from schema.strategies import schemas
from trellis.schema.compare import (
    AddColumn,
    AddTable,
    Change,
    ChangeColumn,
    ChangeSchema,
    ChangeTable,
    DropColumn,
    DropTable,
    compare,
    compare_settings,
)
from trellis.schema.model import Column, Schema, Settings, Table

ID, QTY = Column("id", "bigint", nullable=False), Column("qty", "bigint")
ORDERS = Table("orders", {"id": ID, "qty": QTY})


def shop(*tables: Table) -> Schema:
    return Schema("shop", {table.name: table for table in tables})


def test_from_nothing() -> None:
    assert compare(None, shop(ORDERS)) == (AddTable(ORDERS),)
    assert compare(shop(ORDERS), shop(ORDERS)) == ()


def test_what_is_gone_comes_first() -> None:
    old, new, note = Table("old"), Table("new"), Column("note", "text")
    changes = compare(shop(ORDERS, old), shop(new, Table("orders", {"note": note, "qty": QTY})))
    assert changes == (DropTable(old), AddTable(new), DropColumn("orders", ID), AddColumn("orders", note))


def test_properties() -> None:
    wide = replace(QTY, data_type="double").with_hints(unique=True)
    changes = compare(shop(ORDERS), shop(ORDERS.with_columns(wide).with_hints(write_disposition="merge")))
    assert changes == (
        ChangeTable("orders", "write_disposition", None, "merge"),
        ChangeColumn("orders", "qty", "data_type", "bigint", "double"),
        ChangeColumn("orders", "qty", "unique", None, True),
    )


def test_notes_of_processing() -> None:
    seen = ORDERS.with_hints(**{"x-normalizer": {"seen-data": True}})
    assert compare(shop(ORDERS), shop(seen)) == ()
    assert [change.column for change in compare(shop(ORDERS), shop(seen), processing=True)] == [None]


def test_settings() -> None:
    after = replace(shop(), settings=Settings(detections=("iso_date",)), normalizers={"names": "direct"})
    assert compare_settings(shop(), after) == (
        ChangeSchema("settings.detections", None, ["iso_date"]),
        ChangeSchema("normalizers.names", None, "direct"),
    )
    assert compare_settings(None, shop()) == ()


BREAKING: list[tuple[str, Any, Any, bool]] = [
    ("data_type", None, "text", False),
    ("data_type", "bigint", "double", True),
    ("nullable", None, False, True),
    ("nullable", False, True, False),
    ("nullable", None, True, False),
    ("timezone", None, True, False),
    ("timezone", None, False, True),
    ("precision", 10, 20, False),
    ("precision", 20, 10, True),
    ("precision", None, 10, True),
    ("precision", 10, None, False),
    ("scale", 2, 4, True),
    ("unique", None, True, True),
    ("primary_key", True, None, False),
    ("sort", None, True, False),
    ("description", "a", "b", False),
]


@pytest.mark.parametrize(("key", "before", "after", "breaking"), BREAKING)
def test_verdicts_on_columns(key: str, before: Any, after: Any, breaking: bool) -> None:
    assert ChangeColumn("t", "c", key, before, after).breaking is breaking


def test_verdicts_on_the_rest() -> None:
    assert [AddTable(ORDERS).breaking, DropTable(ORDERS).breaking] == [False, True]
    assert [AddColumn("t", column).breaking for column in (ID, QTY, Column("c", nullable=False))] == [
        *(True, False, False)
    ]
    assert [DropColumn("t", column).breaking for column in (ID, Column("c"))] == [True, False]
    assert [ChangeTable("t", key, "a", "b").breaking for key in ("parent", "resource")] == [True, False]


SENTENCES = {
    "orders is new, with 2 columns": AddTable(ORDERS),
    "orders is gone": DropTable(ORDERS),
    "orders.id is new: bigint, required": AddColumn("orders", ID),
    "orders.c is new: its type is not known yet": AddColumn("orders", Column("c")),
    "orders.id is gone": DropColumn("orders", ID),
    "orders.qty: nullable was not set, is false": ChangeColumn("orders", "qty", "nullable", None, False),
    "orders: write_disposition was append, is merge": ChangeTable(
        "orders", "write_disposition", "append", "merge"
    ),
    "orders: schema_contract was columns=freeze, is columns=evolve, data_type=freeze": ChangeTable(
        "orders", "schema_contract", {"columns": "freeze"}, {"columns": "evolve", "data_type": "freeze"}
    ),
    "schema: settings.schema_contract was not set, is freeze": ChangeSchema(
        "settings.schema_contract", None, "freeze"
    ),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_change_says_itself(sentence: str) -> None:
    assert SENTENCES[sentence].describe() == sentence


def undone(change: Change) -> Change:
    match change:
        case AddTable(table):
            return DropTable(table)
        case DropTable(table):
            return AddTable(table)
        case AddColumn(table, column):
            return DropColumn(table, column)
        case DropColumn(table, column):
            return AddColumn(table, column)
    return replace(change, before=change.after, after=change.before)


@given(schemas(), schemas())
def test_the_way_back_is_the_way_undone(a: Schema, b: Schema) -> None:
    changes, back = compare(a, b), compare(b, a)
    assert len(changes) == len(back) and all(undone(change) in back for change in changes)
    assert compare(a, a) == ()

"""Group R, as far as the options of a load express it: hints that are declared again."""

from __future__ import annotations

from dialects.dlt.conformance.warehouse import Warehouse
from trellis.schema.model import Column


def marked(warehouse: Warehouse, hint: str) -> tuple[str, ...]:
    return warehouse.schema.tables["t"].columns_with(hint)


def test_r03_another_primary_key_replaces_the_old_one(warehouse: Warehouse) -> None:
    record = {"a": 1, "b": 2}
    warehouse.load(record, keys=("a",))
    assert marked(warehouse, "primary_key") == ("a",)
    warehouse.load(record, columns=(Column("b", nullable=True),), keys=("b",))
    assert marked(warehouse, "primary_key") == ("b",)
    assert warehouse.schema.tables["t"].columns["a"].nullable is False
    warehouse.load(record)
    warehouse.load(record, keys=())
    assert marked(warehouse, "primary_key") == ("b",)


def test_r04_compound_hints_are_replaced_and_others_added(warehouse: Warehouse) -> None:
    for column in ("b", "a"):
        hints = {"partition": True, "sort": True}
        warehouse.load({"a": 1, "b": 2}, columns=(Column(column, hints=hints),))
    assert marked(warehouse, "partition") == ("a",)
    assert set(marked(warehouse, "sort")) == {"a", "b"}

"""Group S: what contracts allow, turn away and refuse, from the record to the table."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import trellis
from dialects.dlt.conformance.warehouse import Warehouse
from trellis.evolution.contract import ContractViolation
from trellis.schema.model import Column, Schema, Settings

FROZEN = {"columns": "freeze"}
DISCARDS = ("discard_row", "discard_value")


def source(**contract: str) -> Schema:
    """A schema whose settings hold a contract for all tables."""
    return Schema("given", settings=Settings(schema_contract=contract))


@pytest.mark.parametrize(
    ("record", "column"), [({"extra": 1}, "extra"), ({"d": {"q": 1}}, "d__q")], ids=["key", "nested key"]
)
def test_s01_frozen_columns(warehouse: Warehouse, record: Any, column: Any) -> None:
    warehouse.load({"a": 1})
    before = warehouse.schema
    with pytest.raises(ContractViolation, match=f"farm.t.{column}: .* columns: freeze"):
        warehouse.load({"a": 2}, {"a": 3, **record}, contract=FROZEN)
    assert warehouse.rows() == [{"a": 1}]
    assert warehouse.schema == before


def test_s02_a_new_column_drops_the_row(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1, "l": [0]})
    report = warehouse.load(
        {"a": 2, "x": 1, "l": [1]}, {"a": 3, "l": [2]}, contract={"columns": "discard_row"}
    )
    assert warehouse.rows() == [{"a": 1}, {"a": 3}]
    assert warehouse.values("value", "t__l") == [0, 2]
    assert warehouse.columns() == {"a": "bigint"}
    assert (report.rows.read, report.rows.loaded, report.rows.dropped) == (2, 1, 1)
    assert report.discards.by_reason == {"contract on columns": 1}


def test_s02_a_dropped_row_and_what_is_below_leave_no_trace_in_the_schema(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1, "ok": True})
    contract = {"columns": "discard_row", "data_type": "discard_row"}
    warehouse.load({"m": [{"v": 1}], "x": 1}, {"a": 2}, contract=contract)
    assert warehouse.columns() == {"a": "bigint", "ok": "bool"}
    assert set(warehouse.schema.tables) == {"t", "_dlt_version", "_dlt_loads", "_dlt_pipeline_state"}
    warehouse.load({"a": "s", "m": [{"v": 1}]}, {"a": 3, "m": [{"v": "text"}]})
    assert warehouse.columns("t__m") == {"v": "text"}
    assert warehouse.rows("t__m") == [{"v": "text"}]


def test_s03_a_new_column_loses_its_values(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1})
    report = warehouse.load({"a": 2, "x": 1}, {"a": 3}, contract={"columns": "discard_value"})
    assert warehouse.rows() == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert report.discards.by_reason == {"contract on columns": 1}
    (lost,) = warehouse.pipeline.destination.query("main", "_trellis_discards")
    assert (lost["table_name"], lost["column_name"], lost["value"], lost["row"]) == ("t", "x", "1", None)


def test_s04_frozen_columns_do_not_concern_variants(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1})
    warehouse.load({"a": "s"}, contract=FROZEN)
    assert warehouse.rows() == [{"a": 1, "a__v_text": None}, {"a": None, "a__v_text": "s"}]


def test_s05_frozen_types(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1})
    says = r'farm\.t\.a: "s" at a does not fit its column, which is bigint, .* data_type: freeze'
    with pytest.raises(ContractViolation, match=says):
        warehouse.load({"a": 2}, {"a": "s"}, contract={"data_type": "freeze"})
    assert warehouse.rows() == [{"a": 1}]


@pytest.mark.parametrize(("mode", "kept"), [("discard_row", [1, 2]), ("discard_value", [1, None, 2])])
def test_s05_discarded_types(warehouse: Warehouse, mode: Any, kept: Any) -> None:
    warehouse.load({"a": 1})
    report = warehouse.load({"a": "s", "l": [1]}, {"a": 2, "l": [2]}, contract={"data_type": mode})
    assert warehouse.values("a") == kept
    assert warehouse.values("value", "t__l") == ([2] if mode == "discard_row" else [1, 2])
    assert warehouse.columns() == {"a": "bigint"}
    assert report.discards.by_reason == {"contract on data_type": 1}


def test_s06_frozen_types_allow_columns(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1})
    warehouse.load({"a": 2, "b": 1}, contract={"data_type": "freeze"})
    assert warehouse.rows() == [{"a": 1, "b": None}, {"a": 2, "b": 1}]


def test_s07_frozen_tables(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1})
    with pytest.raises(ContractViolation, match=r"farm\.t__l: the data needs a new table, .* tables: freeze"):
        warehouse.load({"a": 2, "l": [1]}, contract={"tables": "freeze"})
    assert warehouse.rows() == [{"a": 1}]


@pytest.mark.parametrize("mode", DISCARDS)
def test_s07_discarded_tables(warehouse: Warehouse, mode: Any) -> None:
    warehouse.load({"a": 1})
    report = warehouse.load({"a": 2, "l": [{"m": [1]}]}, contract={"tables": mode})
    assert warehouse.rows() == [{"a": 1}, {"a": 2}]
    assert warehouse.tables == {"t"}
    assert not [name for name in warehouse.schema.tables if name.startswith("t__")]
    assert report.discards.by_reason == {"contract on tables": 1}


def test_s08_a_dropped_nested_row_keeps_its_parent(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1, "l": [{"x": 1}]})
    lists = [{"x": 2}, {"x": 3, "bad": 1}, {"x": 4}]
    report = warehouse.load({"a": 2, "l": lists}, contract={"columns": "discard_row"})
    assert warehouse.rows() == [{"a": 1}, {"a": 2}]
    assert [(r["x"], r["_dlt_list_idx"]) for r in warehouse.raw("t__l")] == [(1, 0), (2, 0), (4, 2)]
    assert (report.rows.loaded, report.rows.dropped) == (1, 0)


@pytest.mark.parametrize("columns", [(), (Column("a", "bigint"),)], ids=["inferred", "declared"])
def test_s09_a_frozen_new_table(warehouse: Warehouse, columns: Any) -> None:
    with pytest.raises(ContractViolation, match=r"farm\.t: .* new table.* tables: freeze") as refused:
        warehouse.load({"a": 1}, contract="freeze", columns=columns)
    assert refused.value.entity == "tables"
    assert warehouse.tables == set()


@pytest.mark.parametrize("columns", [(), (Column("a", "bigint"),)], ids=["inferred", "declared"])
def test_s09_a_discarded_new_table(warehouse: Warehouse, columns: Any) -> None:
    report = warehouse.load({"a": 1}, contract="discard_row", columns=columns)
    assert (report.rows.loaded, report.rows.dropped) == (0, 1)
    assert warehouse.tables == set()


def test_s10_columns_of_a_new_table_are_free_for_the_whole_first_load(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1}, {"a": 2, "b": 3}, contract=FROZEN)
    assert warehouse.rows() == [{"a": 1, "b": None}, {"a": 2, "b": 3}]
    with pytest.raises(ContractViolation, match=r"farm\.t\.c"):
        warehouse.load({"a": 3, "c": 1})


def test_s10_so_are_those_of_a_new_nested_table(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1}, contract=FROZEN)
    warehouse.load({"a": 2, "l": [{"x": 1}, {"x": 2, "y": 3}]})
    assert warehouse.rows("t__l") == [{"x": 1, "y": None}, {"x": 2, "y": 3}]
    with pytest.raises(ContractViolation, match=r"farm\.t__l\.z"):
        warehouse.load({"a": 3, "l": [{"z": 1}]})


def test_s11_the_contract_of_a_table_is_used_whole(warehouse: Warehouse) -> None:
    strict = source(columns="freeze", data_type="freeze")
    warehouse.load({"a": 1}, schema=strict, contract={"columns": "evolve"})
    warehouse.load({"a": "s", "new": 1})
    assert warehouse.columns() == {"a": "bigint", "a__v_text": "text", "new": "bigint"}


def test_s12_tables_without_a_contract_have_that_of_the_source(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1}, schema=source(columns="freeze", data_type="freeze"))
    for record in ({"new": 1}, {"a": "s"}):
        with pytest.raises(ContractViolation) as refused:
            warehouse.load(record)
        assert refused.value.contract == {
            "tables": "evolve",
            "columns": "freeze",
            "data_type": "freeze",
            "values": "evolve",
        }


def test_s13_a_contract_over_all(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1}, schema=source(columns="freeze"))
    warehouse.load({"b": 1}, table="other", contract=FROZEN, schema=source(tables="evolve"))
    rows = {"t": [{"a": 2, "new": 1}], "other": [{"b": 2}]}
    resources = [trellis.resource(records, name=name) for name, records in rows.items()]
    warehouse.pipeline.run(resources, schema_contract="evolve")
    assert warehouse.columns() == {"a": "bigint", "new": "bigint"}
    stored = warehouse.schema
    assert stored.settings.schema_contract == "evolve"
    assert {
        t.name: t.hints["schema_contract"] for t in stored.tables.values() if t.name in ("t", "other")
    } == {
        "t": "evolve",
        "other": "evolve",
    }


CHANGES = [
    (Column("a", "bigint", precision=16), "precision from None to 16"),
    (Column("a", nullable=False, data_type="bigint"), "nullable from True to False"),
    (Column("a", "text"), "data_type from bigint to text"),
]


@pytest.mark.parametrize(("column", "says"), CHANGES, ids=["precision", "nullable", "type"])
def test_s14_frozen_types_refuse_a_declaration(warehouse: Warehouse, column: Any, says: Any) -> None:
    warehouse.load({"a": 1})
    with pytest.raises(ContractViolation, match=rf"farm\.t\.a: the declaration changes its {says}"):
        warehouse.load({"a": 2}, contract={"data_type": "freeze"}, columns=(column,))
    assert warehouse.rows() == [{"a": 1}]


@pytest.mark.parametrize("mode", DISCARDS)
@pytest.mark.parametrize(("column", "says"), CHANGES, ids=["precision", "nullable", "type"])
def test_s14_discarded_types_ignore_a_declaration(
    warehouse: Warehouse, mode: Any, column: Any, says: Any
) -> None:
    warehouse.load({"a": 1})
    before = warehouse.schema.tables["t"].columns
    warehouse.load({"a": 2}, contract={"data_type": mode}, columns=(column,))
    assert warehouse.schema.tables["t"].columns == before
    assert warehouse.values("a") == [1, 2]


def test_s14_frozen_columns_refuse_a_declared_one(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1})
    with pytest.raises(ContractViolation, match=r"farm\.t\.b: a new column is declared, .* columns: freeze"):
        warehouse.load({"a": 2}, contract=FROZEN, columns=(Column("b", "text"),))


def test_s15_bookkeeping_names_are_exempt(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1})
    warehouse.load({"a": 2, "_dlt_extra": 5}, contract="freeze")
    assert warehouse.values("_dlt_extra") == [None, 5]


@pytest.mark.parametrize(("mode", "kept"), [("discard_value", [1, 3, 4]), ("discard_row", [1, 4])])
def test_s16_a_new_column_of_an_arrow_table(warehouse: Warehouse, mode: Any, kept: Any) -> None:
    warehouse.load({"a": 1})
    table = pa.table({"a": [3, 4], "n": ["x", None]})
    warehouse.pipeline.load(table, table="t", contract={"columns": mode})
    assert warehouse.columns() == {"a": "bigint"}
    assert warehouse.values("a") == kept


def test_s17_the_error_says_all_about_it(warehouse: Warehouse) -> None:
    warehouse.load({"a": 1}, columns=(Column("a", "bigint", hints={"primary_key": True}),))
    with pytest.raises(ContractViolation) as refused:
        warehouse.load({"a": 1}, {"a": 1, "q": 9}, contract=FROZEN)
    error: Any = refused.value
    assert (error.schema_name, error.table, error.column) == ("farm", "t", "q")
    assert (error.entity, error.mode) == ("columns", "freeze")
    assert error.contract == {
        "tables": "evolve",
        "columns": "freeze",
        "data_type": "evolve",
        "values": "evolve",
    }
    assert error.item == {"a": 1, "q": 9}
    assert error.table_schema.columns["a"].data_type == "bigint"
    assert "the data needs a new column" in str(error)
    assert "record with a=1" in str(error)

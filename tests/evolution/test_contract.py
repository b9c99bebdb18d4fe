"""Contracts: what a shorthand means, which one holds for a table, what a violation says."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import ContractError, SchemaError
from trellis.evolution.contract import (
    ENTITIES,
    EVOLVE,
    MODES,
    Contract,
    ContractViolation,
    contract_for,
    expand,
)
from trellis.evolution.declare import apply_contract
from trellis.schema.model import Column, Schema, Settings, Table

FROZEN = Contract("freeze", "freeze", "freeze", "freeze")


def table(name: str, parent: str | None = None, **hints: Any) -> Table:
    table = Table(name, {}, parent=parent)
    return table.with_hints(**hints) if hints else table


def schema(*tables: Table, contract: Any = None) -> Schema:
    return Schema("farm", {t.name: t for t in tables}, Settings(schema_contract=contract))


@pytest.mark.parametrize("mode", MODES)
def test_one_word_is_all_of_them(mode: Any) -> None:
    assert expand(mode) == Contract(mode, mode, mode, mode)


def test_what_a_map_leaves_out_evolves() -> None:
    assert expand(None) == expand({}) == EVOLVE == Contract("evolve", "evolve", "evolve")
    assert expand({"columns": "freeze"}) == Contract("evolve", "freeze", "evolve")
    assert EVOLVE.evolves and not FROZEN.evolves


@given(st.fixed_dictionaries({entity: st.sampled_from(MODES) for entity in ENTITIES}))
def test_a_full_map_comes_back(modes: dict[str, str]) -> None:
    contract = expand(modes)
    assert contract.as_map() == modes == {entity: contract.mode(entity) for entity in ENTITIES}
    assert expand(contract.as_map()) == contract


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("freese", "schema_contract: there is no mode 'freese': did you mean 'freeze'?"),
        ({"columns": "discard"}, "schema_contract.columns: there is no mode 'discard'"),
        ({"column": "freeze"}, "there is no entity 'column': did you mean 'columns'?"),
        ({"columns": None}, "schema_contract.columns: there is no mode None"),
        ({"columns": ["freeze"]}, "schema_contract.columns: there is no mode"),
        (5, "schema_contract is a int: write one of evolve, freeze"),
    ],
)
def test_a_wrong_contract_names_the_right_word(wrong: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        expand(wrong)
    assert message in str(caught.value)


def test_s11_a_table_s_map_hides_the_whole_of_the_source_s() -> None:
    source = {"columns": "freeze", "data_type": "freeze"}
    both = schema(table("own", schema_contract={"columns": "evolve"}), table("other"), contract=source)
    assert contract_for(both, "own") == EVOLVE


def test_s12_without_its_own_the_source_s_holds() -> None:
    source = {"columns": "freeze", "data_type": "freeze"}
    assert contract_for(schema(table("other"), contract=source), "other") == expand(source)


def test_the_nearest_ancestor_decides() -> None:
    family = schema(
        table("a", schema_contract="freeze"),
        table("a__b", "a", schema_contract={"tables": "discard_row"}),
        table("a__b__c", "a__b"),
        table("z"),
        table("z__y", "z"),
        contract="discard_value",
    )
    assert contract_for(family, "a") == FROZEN
    assert contract_for(family, "a__b") == contract_for(family, "a__b__c") == Contract(tables="discard_row")
    assert contract_for(family, "z__y") == expand("discard_value")


def test_a_table_that_is_new_asks_its_parents() -> None:
    family = schema(table("a", schema_contract="freeze"), contract="evolve")
    assert contract_for(family, "a__new", ["a"]) == FROZEN
    assert contract_for(family, "a__new__newer", ["a__new", "a"]) == FROZEN
    assert contract_for(family, "elsewhere") == EVOLVE


def test_s15_system_tables_and_columns_are_exempt() -> None:
    for name in ("_trellis_loads", "_acme_loads"):
        assert contract_for(schema(table(name), contract="freeze"), name, prefix="_acme") == EVOLVE
    assert contract_for(schema(table("_acme_loads"), contract="freeze"), "_acme_loads") == FROZEN


def test_s17_a_violation_says_all_there_is_to_know() -> None:
    t = Table("t", {"a": Column("a", "bigint").with_hints(primary_key=True)})
    error = ContractViolation(
        "farm",
        "t",
        "q",
        "columns",
        "freeze",
        contract=expand({"columns": "freeze"}),
        table_schema=t,
        item={"a": 1, "q": 9},
    )
    assert isinstance(error, ContractError) and error.exit_code == 1
    assert (error.schema_name, error.table, error.column) == ("farm", "t", "q")
    assert (error.entity, error.mode) == ("columns", "freeze")
    assert error.contract == {
        "tables": "evolve",
        "columns": "freeze",
        "data_type": "evolve",
        "values": "evolve",
    }
    assert error.table_schema is t
    assert error.item == {"a": 1, "q": 9}
    assert str(error) == (
        "farm.t.q: the data needs a new column, and the contract has columns: freeze (record with a=1);"
        " declare the column, or load with the contract columns: evolve"
    )


def test_s17_a_violation_without_a_record() -> None:
    error = ContractViolation("farm", "t", None, "tables", "freeze", contract=FROZEN)
    assert str(error).startswith(
        "farm.t: the data needs a new table, and the contract has tables: freeze; declare"
    )
    violation = ContractViolation(
        "f", "t", "q", "data_type", "freeze", contract=FROZEN, reason="'x' is no bigint"
    )
    assert "f.t.q: 'x' is no bigint, and the contract" in str(violation)


def test_who_declares_is_not_told_to_declare() -> None:
    known = Table("t", {"a": Column("a", "bigint")}).with_hints(**{"x-normalizer": {"seen-data": True}})
    before = schema(known, contract="freeze")
    declared = before.with_tables(before.tables["t"].with_columns(Column("b", "text")))
    with pytest.raises(ContractViolation) as raised:
        apply_contract(before, declared)
    assert str(raised.value) == (
        "farm.t.b: a new column is declared, and the contract has columns: freeze;"
        " take the declaration back, or load with the contract columns: evolve"
    )
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_a_violation_survives_the_way_between_processes() -> None:
    error = ContractViolation("farm", "t", "q", "columns", "freeze", contract=FROZEN, item={"q": 9})
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.item == {"q": 9} and again.contract == error.contract

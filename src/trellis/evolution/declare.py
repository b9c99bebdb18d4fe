"""What a user declares of a table, under the table's contract.

Pure. `evolve` applies contracts to data; this module applies them to the columns of `columns=`, of a user's
schema and of typed sources: a new table, a new column, another type for an existing column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trellis.evolution.contract import Contract, ContractViolation, Entity, contract_for
from trellis.schema.model import Column, Schema, Table
from trellis.schema.naming import Naming
from trellis.schema.system import OURS, is_system
from trellis.schema.value_rules import RULES

TRUE_BY_DEFAULT = ("nullable", "timezone")
GOVERNED = ("data_type", *TRUE_BY_DEFAULT, "precision", "scale")


def apply_contract(before: Schema, declared: Schema, prefix: str = OURS) -> Schema:
    """The declared schema without what contracts discard. Raises ContractViolation where one says `freeze`.

    No contract governs tables and columns of the dialect's own, whose names begin with `prefix`.
    """
    changed = []
    for name, table in declared.tables.items():
        contract = contract_for(declared, name, prefix=prefix)
        if not contract.evolves and table is not before.tables.get(name):
            changed.append(_apply_to_table(declared.name, before.tables.get(name), table, contract, prefix))
    return declared.with_tables(*changed)


def _apply_to_table(schema: str, old: Table | None, new: Table, contract: Contract, prefix: str) -> Table:
    def refuse(column: str | None, entity: Entity, reason: str) -> None:
        if contract.mode(entity) == "freeze":
            raise ContractViolation(
                schema, new.name, column, entity, "freeze",
                contract=contract, table_schema=old, reason=reason, declared=True,
            )  # fmt: skip

    old_columns = old.columns if old is not None else {}
    columns = dict(new.columns)
    is_new = old is None or not old.complete_columns
    if is_new and new.complete_columns and contract.tables != "evolve":
        refuse(None, "tables", "a new table is declared")
        return replace(new, columns=old_columns)
    for name, column in new.columns.items():
        old_column = old_columns.get(name)
        if is_system(name, prefix) or not column.complete:
            continue
        if old_column is None or not old_column.complete:
            is_allowed = is_new or old is None or not old.seen_data or contract.columns == "evolve"
            if not is_allowed:
                refuse(name, "columns", "a new column is declared")
                columns.pop(name)
                columns.update({name: old_column} if old_column is not None else {})
        elif contract.data_type != "evolve" and (changes := _changes(old_column, column)):
            refuse(name, "data_type", f"the declaration changes its {changes}")
            kept = {name: getattr(old_column, name) for name in GOVERNED}
            columns[name] = replace(column, **kept)
    return replace(new, columns=columns)


def declare_rules(
    schema: Schema, rules: Mapping[str, Mapping[str, Any]], root: str, naming: Naming
) -> Schema:
    """The schema with value rules by column of the table `root`, or by `table.column`.

    Those of a table that is not there yet are left out: call it again when the schema has grown.
    """
    for place, hint in rules.items():
        table_name, _, column_name = place.rpartition(".")
        table_name = table_name or root
        table = schema.tables.get(table_name) or schema.tables.get(naming.path(table_name))
        if table is None:
            continue
        name = column_name if column_name in table.columns else naming.path(column_name)
        column = table.columns.get(name, Column(name))
        if column.hint(RULES) != hint:
            schema = schema.with_tables(table.with_columns(column.with_hints(**{RULES: dict(hint)})))
    return schema


def _changes(old: Column, new: Column) -> str:
    changed = [name for name in GOVERNED if _property(old, name) != _property(new, name)]
    return ", ".join(f"{name} from {_property(old, name)} to {_property(new, name)}" for name in changed)


def _property(column: Column, name: str) -> object:
    value = getattr(column, name)
    return True if value is None and name in TRUE_BY_DEFAULT else value

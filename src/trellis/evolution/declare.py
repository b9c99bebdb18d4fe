"""What a user declares of a table, judged by the table's contract (spec dlt.md, section 13).

Pure. Data is judged where it is met, in `evolve`; here are the columns of `columns=`, of a given schema and
of typed sources: a new table, a new column, another type for a column that is there already.
"""

from __future__ import annotations

from dataclasses import replace

from trellis.evolution.contract import Contract, ContractViolation, Entity, contract_for
from trellis.schema.model import Column, Schema, Table
from trellis.schema.system import OURS, is_system

TRUE_UNLESS_SAID = ("nullable", "timezone")
JUDGED = ("data_type", *TRUE_UNLESS_SAID, "precision", "scale")


def judge(before: Schema, wanted: Schema, prefix: str = OURS) -> Schema:
    """The wanted schema without what contracts discard. Raises ContractViolation where one says `freeze`.

    No contract governs tables and columns of the dialect's own, whose names begin with `prefix`.
    """
    changed = []
    for name, table in wanted.tables.items():
        contract = contract_for(wanted, name, prefix=prefix)
        if not contract.evolves and table is not before.tables.get(name):
            changed.append(_judged(wanted.name, before.tables.get(name), table, contract, prefix))
    return wanted.with_tables(*changed)


def _judged(schema: str, old: Table | None, new: Table, contract: Contract, prefix: str) -> Table:
    def refuse(column: str | None, entity: Entity, reason: str) -> None:
        if contract.mode(entity) == "freeze":
            raise ContractViolation(
                schema, new.name, column, entity, "freeze",
                contract=contract, table_schema=old, reason=reason, declared=True,
            )  # fmt: skip

    known = old.columns if old is not None else {}
    columns = dict(new.columns)
    fresh = old is None or not old.complete_columns
    if fresh and new.complete_columns and contract.tables != "evolve":
        refuse(None, "tables", "a new table is declared")
        return replace(new, columns=known)
    for name, column in new.columns.items():
        was = known.get(name)
        if is_system(name, prefix) or not column.complete:
            continue
        if was is None or not was.complete:
            free = fresh or old is None or not old.seen_data or contract.columns == "evolve"
            if not free:
                refuse(name, "columns", "a new column is declared")
                columns.pop(name)
                columns.update({name: was} if was is not None else {})
        elif contract.data_type != "evolve" and (changes := _changes(was, column)):
            refuse(name, "data_type", f"the declaration changes its {changes}")
            kept = {each: getattr(was, each) for each in JUDGED}
            columns[name] = replace(column, **kept)
    return replace(new, columns=columns)


def _changes(was: Column, now: Column) -> str:
    found = [each for each in JUDGED if _said(was, each) != _said(now, each)]
    return ", ".join(f"{each} from {_said(was, each)} to {_said(now, each)}" for each in found)


def _said(column: Column, name: str) -> object:
    said = getattr(column, name)
    return True if said is None and name in TRUE_UNLESS_SAID else said

"""Schema + observations + contracts -> the new schema, and what is refused.

Pure. Observations are taken in the order of their first positions, as a sequential reader would have met
them; so the result is that of reading the input record by record, however it was divided.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from trellis.errors import ContractError
from trellis.evolution.contract import (
    Contract,
    ContractViolation,
    Entity,
    contract_for,
    merge_violations,
)
from trellis.evolution.dialect import Dialect
from trellis.evolution.nested_types import Nesting, with_nested_type
from trellis.evolution.observe import CellKey, Observations, Position, Seen, TableSeen
from trellis.evolution.scalars.kinds import TypedKind
from trellis.schema.merge import merge_column
from trellis.schema.model import Column, DataType, Schema, Table
from trellis.schema.naming import Naming

Verdict = Literal["discard_value", "discard_row", "overflow"]
"""`overflow`: a quota leaves no room for the column or table; the value goes where the dialect says."""
ROW = 4  # a position up to its row: file, split, line, row within the record


class Refused(NamedTuple):
    """A cell that contracts or quotas refuse: the whole column (no type), or one kind of value in it."""

    table: str
    column: str
    data_type: DataType | None = None


@dataclass(frozen=True)
class Refusals:
    """What contracts and quotas refuse: tables, columns, kinds of values."""

    tables: Mapping[str, Verdict] = field(default_factory=dict)
    cells: Mapping[Refused, Verdict] = field(default_factory=dict)

    def of(self, table: str, column: str, data_type: DataType | None = None) -> Verdict | None:
        return self.cells.get(Refused(table, column, data_type))

    def merge(self, other: Refusals) -> Refusals:
        return Refusals({**self.tables, **other.tables}, {**self.cells, **other.cells})


@dataclass(frozen=True)
class Evolution:
    """The outcome. `growing` names the tables that are new in this load: no contract governs their columns.

    `nesting` tells which columns may still be given a nested type. With `quarantines` a row that a frozen
    entity refuses is left out, as under `discard_row`, and no violation.
    """

    schema: Schema
    refusals: Refusals = field(default_factory=Refusals)
    growing: frozenset[str] = frozenset()
    nesting: Nesting = field(default_factory=Nesting)
    quarantines: bool = False


def growing_tables(schema: Schema) -> frozenset[str]:
    """Tables whose columns may still grow freely: those that never saw data."""
    return frozenset(t.name for t in schema.tables.values() if not t.seen_data)


def evolve(start: Evolution, seen: Observations, dialect: Dialect, naming: Naming) -> Evolution:
    """The schema after these observations.

    Evolving by the first part of the input and then by the others gives what evolving by all of it gives.
    Only what came first in a row that a contract drops is left to the next pass, which leaves that row out.

    Raises ContractViolation for all that a contract with `freeze` refuses, ContractError where a value
    cannot be placed at all.
    """
    evolver = _Evolver(start, dialect, naming)
    evolution = evolver.apply(seen)
    if evolver.violations:
        raise merge_violations(evolver.violations)
    return evolution


class _Evolver:
    def __init__(self, start: Evolution, dialect: Dialect, naming: Naming) -> None:
        self.schema = start.schema
        self.dialect = dialect
        self.naming = naming
        self.growing = set(start.growing)
        self.nesting = start.nesting
        self.quarantines = start.quarantines
        self.tables: dict[str, Verdict] = dict(start.refusals.tables)
        self.cells: dict[Refused, Verdict] = dict(start.refusals.cells)
        self.at: Position = ()
        self.row_start: Schema = start.schema
        self.dropped: list[tuple[Position, int, int]] = []
        self.violations: list[ContractViolation] = []

    def apply(self, seen: Observations) -> Evolution:
        # A table comes before the cells of its first row, its bookkeeping columns come after them.
        last = (1 << 62,)
        events: list[tuple[Position, int, object]] = []
        for name, table in seen.tables.items():
            events.append((table.position, 0, (name, table)))
            events.append((table.position + last, 1, (name, table.parent, table.bare)))
        events += [(cell.position, 2, (key, cell)) for key, cell in seen.cells.items()]
        events.sort(key=lambda event: event[:2])
        for position, _, event in events:
            if self.dropped and self.is_dropped(position):
                continue
            match event:
                case (CellKey() as key, Seen() as cell):
                    if position[:ROW] != self.at:
                        self.at, self.row_start = position[:ROW], self.schema
                    refused = len(self.cells)
                    self.cell(key, cell)
                    new = list(self.cells.values())[refused:]
                    if "discard_row" in new and not isinstance(
                        key.kind, TypedKind
                    ):  # a typed column is not one row
                        self.drop_row(seen.below)
                case (str() as name, TableSeen() as table):
                    self.table(name, table)
                case (str() as name, below, bool() as bare):
                    self.bookkeeping(name, str(below) if below is not None else None, bare)
        refusals = Refusals(dict(self.tables), dict(self.cells))
        return Evolution(self.schema, refusals, frozenset(self.growing), self.nesting, self.quarantines)

    def drop_row(self, below: Mapping[Position, int]) -> None:
        """Take back what the current row brought; it and its child rows bring nothing more.

        What other rows bring too is seen again when they are read with the new refusals.
        """
        self.schema = self.row_start
        *record, row = self.at
        self.dropped.append((tuple(record), row, below.get(self.at, row)))

    def is_dropped(self, position: Position) -> bool:
        *record, row = position[:ROW]
        return any(tuple(record) == of and first <= row <= last for of, first, last in self.dropped)

    def table(self, name: str, seen: TableSeen) -> None:
        parent = seen.parent
        if name in self.tables or (parent is not None and parent in self.tables):
            self.tables.setdefault(name, self.tables.get(parent or name, "discard_row"))
            return
        known = self.schema.tables.get(name)
        if known is not None and known.complete_columns:
            return
        if known is None:
            known = self.dialect.tables.new_table(self.schema, name, parent)
        mode = self.contract(name, parent).tables
        if mode == "freeze":
            self.violate(name, None, "tables", known, Seen(seen.position))
        if mode != "evolve":
            self.tables[name] = "discard_row"
            return
        if not self.dialect.tables.has_room(self.schema, name, None):
            self.tables[name] = "overflow"
            return
        self.growing.add(name)
        self.schema = self.schema.with_tables(known)

    def bookkeeping(self, name: str, below: str | None, bare: bool) -> None:
        if name in self.tables:
            return
        table = self.schema.tables.get(name)
        if table is None:
            return
        for column in () if bare else self.dialect.system_columns.columns(self.schema, name, below):
            known = table.columns.get(column.name)
            if known is None or not known.complete:
                table = _append(table, column if known is None else merge_column(column, known))
        self.schema = self.schema.with_tables(self.dialect.tables.mark_populated(table))

    def cell(self, key: CellKey, seen: Seen) -> None:
        name, column, kind = key
        if name in self.tables:
            return
        table = self.schema.tables.get(name)
        if table is None:
            return
        base = table.columns.get(column)
        if base is None or base.data_type is None:
            self.new_column(table, base, key, seen)
        elif base.data_type not in kind.fits:
            self.place_mismatch(table, key, seen)
        elif isinstance(kind, TypedKind) and kind.nested and self.nesting.takes(name, base):
            self.nesting = self.nesting.with_typed(name, column)
            if self.free(table, column) or self.contract(name).data_type == "evolve":
                self.schema = self.schema.with_tables(table.with_columns(with_nested_type(base, kind.nested)))

    def new_column(self, table: Table, declared: Column | None, key: CellKey, seen: Seen) -> None:
        model = self.dialect.tables.model_column(self.schema, table.name, key.column)
        data_type = self.dialect.types.first_type(self.schema, key.column, key.kind)
        if Refused(table.name, key.column) in self.cells:
            return
        if model is None and data_type not in key.kind.fits and data_type != key.kind.type:
            self.place_mismatch(table, key, seen)
            return
        mode = "evolve" if self.free(table, key.column) else self.contract(table.name).columns
        if mode == "freeze":
            self.violate(table.name, key.column, "columns", table, seen)
        if mode != "evolve":
            self.cells[Refused(table.name, key.column)] = (
                "discard_row" if mode == "discard_row" else "discard_value"
            )
            return
        if not self.dialect.tables.has_room(self.schema, table.name, key.column):
            self.cells[Refused(table.name, key.column)] = "overflow"
            return
        column = model or self.dialect.types.new_column(self.schema, key.column, data_type, key.kind)
        if isinstance(key.kind, TypedKind):
            column = with_nested_type(column, key.kind.nested)
            self.nesting = self.nesting.with_typed(table.name, key.column)
        if declared is not None:
            column = merge_column(column, declared)
        self.schema = self.schema.with_tables(_append(table, column))

    def place_mismatch(self, table: Table, key: CellKey, seen: Seen) -> None:
        target = self.dialect.types.on_type_mismatch(self.schema, self.naming, table, key.column, key.kind)
        if not isinstance(target, Column):
            return
        widens = target.name == key.column
        occupant = None if widens else table.columns.get(target.name)
        if occupant is not None and occupant.data_type is not None:
            if occupant.data_type != key.kind.type and occupant.data_type not in key.kind.fits:
                base = table.columns.get(key.column)
                raise ContractError(
                    f"table {table.name}: {seen.example or 'a value'} ({key.kind.type}) fits neither column "
                    f"{key.column} ({base.data_type if base else 'new'}) nor {target.name} "
                    f"({occupant.data_type}), the column of its values that do not fit; rename the key "
                    f"behind {target.name}, or give {key.column} a type that holds both"
                )
            return
        refusal = Refused(table.name, key.column, key.kind.type)
        if refusal in self.cells:
            return
        mode = (
            "evolve"
            if key.column.startswith(self.dialect.capabilities.system_prefix)
            else self.contract(table.name).data_type
        )
        if mode == "freeze":
            self.violate(table.name, key.column, "data_type", table, seen)
        if mode != "evolve":
            self.cells[refusal] = "discard_row" if mode == "discard_row" else "discard_value"
            return
        self.schema = self.schema.with_tables(table.with_columns(target))

    def free(self, table: Table, column: str) -> bool:
        return table.name in self.growing or column.startswith(self.dialect.capabilities.system_prefix)

    def contract(self, table: str, parent: str | None = None) -> Contract:
        known = table if table in self.schema.tables or parent is None else parent
        contract = contract_for(self.schema, known, prefix=self.dialect.capabilities.system_prefix)
        return contract.quarantined() if self.quarantines else contract

    def violate(self, name: str, column: str | None, entity: Entity, table: Table, seen: Seen) -> None:
        """Take note of a violation; what it brings is refused, so that the others are seen as well."""
        violation = ContractViolation(
            schema_name=self.schema.name,
            table=name,
            column=column,
            entity=entity,
            mode="freeze",
            table_schema=table,
            contract=self.contract(name, table.parent),
            item=json.loads(seen.item) if seen.item else None,
            reason=_reason(entity, table, column, seen),
            position=seen.position,
            count=seen.count,
        )
        self.violations.append(violation)


def _reason(entity: Entity, table: Table, column: str | None, seen: Seen) -> str:
    """Why, with the value where there is one; nothing leaves it to the entity."""
    if not seen.example or column is None:
        return ""
    if entity == "columns":
        return f"the data needs a new column for {seen.path}, first seen with {seen.example}"
    known = table.columns.get(column)
    type_ = known.data_type if known else None
    return f"{seen.example} at {seen.path} does not fit its column, which is {type_}" if type_ else ""


def _append(table: Table, column: Column) -> Table:
    """The table with the column at its end: a declared column moves there once it has a type."""
    others = dict(table.columns)
    others.pop(column.name, None)
    return replace(table, columns={**others, column.name: column})

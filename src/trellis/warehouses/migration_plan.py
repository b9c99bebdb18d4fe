"""From one schema to another that a person wrote: each change with its statements and what it costs.

Text only; nothing is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any, Final

from trellis.schema import personal_data
from trellis.schema.compare import (
    AddColumn,
    AddTable,
    Change,
    ChangeColumn,
    ChangeTable,
    DropColumn,
    DropTable,
    compare,
)
from trellis.schema.model import NESTED_TYPE, Column, Schema, Table
from trellis.schema.renames import NO_RENAMES, Renames
from trellis.schema.system import is_system
from trellis.warehouses import statements as sql
from trellis.warehouses.alterations import Alteration, AlterationWriter
from trellis.warehouses.schema_statements import SchemaNames, TableStatements
from trellis.warehouses.warehouse import Cost, Warehouse

_TYPE: Final = ("data_type", "precision", "scale", "timezone", NESTED_TYPE)
"""The properties of a column that make its type."""


@dataclass(frozen=True)
class MigrationStep:
    """One change. `statements` are executed in their order; there may be none."""

    text: str
    table: str
    column: str | None = None
    breaking: bool = False
    cost: Cost = "metadata"
    statements: tuple[str, ...] = ()
    backfill: bool = False
    """Whether rows get values."""
    note: str = ""
    alteration: Alteration | None = None
    """What no load makes that comes with the new schema."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "change": self.text,
            "table": self.table,
            "column": self.column,
            "breaking": self.breaking,
            "cost": self.cost,
            "backfill": self.backfill,
            "statements": [*self.statements],
            "note": self.note,
        }


@dataclass(frozen=True)
class MigrationPlan:
    """The way from one schema to the next in a warehouse.

    `fills` are values, by table and column, for rows that have none where a column becomes NOT NULL.
    `case_sensitive` is that of the schema's naming; what begins with `prefixes` is a dialect's own.
    """

    warehouse: Warehouse
    dataset: str
    before: Schema
    after: Schema
    renames: Renames = NO_RENAMES
    fills: Mapping[tuple[str, str], str] = field(default_factory=dict)
    case_sensitive: bool = True
    prefixes: tuple[str, ...] = ()

    @cached_property
    def renamed(self) -> Schema:
        """The schema before, under the names after."""
        return self.renames.apply(self.before)

    @cached_property
    def steps(self) -> tuple[MigrationStep, ...]:
        """Properties, names, what goes and comes, types, NOT NULL, and the order. Raises SchemaError."""
        changes = [
            change
            for change in compare(self.renamed, self.after)
            if not is_system(change.table, *self.prefixes)
        ]
        steps = [step for change in changes for step in self._steps(change)]
        required, properties = (
            [step for step in steps if step.alteration and step.alteration.kind == kind]
            for kind in ("set not null", "set properties")
        )
        return (
            *properties,
            *self._renamed(),
            *(step for step in steps if step not in (*required, *properties)),
            *self._retyped(changes),
            *required,
            *(step for name in self.after.tables for step in self._reordered(name)),
        )

    @cached_property
    def alterations(self) -> tuple[Alteration, ...]:
        return tuple(step.alteration for step in self.steps if step.alteration is not None)

    @cached_property
    def retyped(self) -> Mapping[str, Sequence[str]]:
        """The columns, by table, that are there and get another type."""
        columns: dict[str, list[str]] = {}
        for name, table in self.after.tables.items():
            known = self.renamed.tables[name].columns if name in self.renamed.tables else {}
            for column in table.complete_columns:
                old = known.get(column.name)
                if old is not None and old.complete and self._type(name, old) != self._type(name, column):
                    columns.setdefault(name, []).append(column.name)
        return columns

    @cached_property
    def _names(self) -> SchemaNames:
        return SchemaNames(self.warehouse, self.case_sensitive)

    def _format(self, table: str) -> Warehouse:
        return self.warehouse.formats.get(str(self.after.inherited(table, "table_format")), self.warehouse)

    def _relation(self, table: str) -> str:
        return self.warehouse.quote(self._names.of(self.dataset), self._names.of(table))

    def _writer(self, table: str) -> AlterationWriter:
        return AlterationWriter(self._format(table), self._relation, self._names.of)

    def _renamed(self) -> Iterator[MigrationStep]:
        for change in self.renames.changes():
            table, column = change.table, change.column
            step = MigrationStep(change.describe(), table, column, change.breaking)
            if column is None:
                step = self._altered(step, Alteration("rename table", change.before, name=table))
                cost = self._format(table).alterations.rename_table
                yield replace(step, cost=cost) if step.statements else step
                continue
            type_ = self._type(table, self.renamed.tables[table].columns[column])
            alteration = Alteration("rename column", table, change.before, column)
            yield self._with_mapping(self._altered(step, alteration, type_))

    def _altered(self, step: MigrationStep, alteration: Alteration, type_: str = "") -> MigrationStep:
        statements = self._writer(step.table).statements(alteration, type_)
        if not statements:
            return replace(step, cost="impossible", note=f"{self.warehouse.title} has no statement for it")
        return replace(step, statements=statements, alteration=alteration)

    def _with_mapping(self, step: MigrationStep) -> MigrationStep:
        """The step with the cost of a rename or a drop in a table that may map columns to its files."""
        alterations = self._format(step.table).alterations
        key = alterations.mapping_property
        if not step.statements:
            return step
        if not key:
            return replace(step, cost=alterations.rename)
        if sql.table_properties(self.after.tables[step.table]).get(key, "none") != "none":
            return step
        note = f"only metadata in a table whose {sql.PROPERTIES_HINT} have {key}: name"
        return replace(step, cost=alterations.rename, note=note)

    def _steps(self, change: Change) -> Iterator[MigrationStep]:
        table, name = change.table, change.column
        step = MigrationStep(change.describe(), table, name, change.breaking)
        match change:
            case ChangeColumn(property=property) if property in _TYPE:
                return
            case DropTable():
                yield self._altered(step, Alteration("drop table", table))
            case DropColumn(definition=column) if column.complete:
                yield self._with_mapping(self._altered(step, Alteration("drop column", table, column.name)))
            case AddTable(definition=definition) if definition.complete_columns:
                comments = self._comments(table, "", *(c.name for c in definition.complete_columns))
                yield replace(step, statements=(self._ddl(definition).create(), *comments))
            case AddColumn(definition=column) if column.complete:
                yield self._added(step, column)
            case ChangeTable(property=sql.PROPERTIES_HINT):
                yield self._with_properties(step)
            case (
                ChangeTable(property="description") | ChangeColumn(property="description" | personal_data.PII)
            ):
                yield self._described(step, name or "")
            case ChangeColumn(property="nullable", column=name):
                yield self._nullability(step, self.after.tables[table].columns[name])
            case _:
                yield step

    def _with_properties(self, step: MigrationStep) -> MigrationStep:
        """The step that sets what is new; what is gone from the schema stays with the table."""
        before, after = (sql.table_properties(s.tables[step.table]) for s in (self.renamed, self.after))
        changed = {key: value for key, value in after.items() if before.get(key) != value}
        alteration = Alteration("set properties", step.table, properties=changed)
        statements = self._writer(step.table).statements(alteration) if changed else ()
        if not statements:
            return replace(step, note="the table keeps its properties")
        return replace(step, statements=statements, alteration=alteration)

    def _described(self, step: MigrationStep, column: str) -> MigrationStep:
        """The step that writes a comment. What a schema describes is written by loads, too."""
        if comments := tuple(self._comments(step.table, column)):
            return replace(step, statements=comments)
        alteration = Alteration("drop comment", step.table, column)
        statements = self._writer(step.table).statements(alteration)
        return replace(step, statements=statements, alteration=alteration) if statements else step

    def _comments(self, table: str, *columns: str) -> Iterator[str]:
        """The comments on columns, the empty name being that of the table, which the schema describes."""
        definition, warehouse = self.after.tables[table], self._format(table)
        for name in columns:
            text = personal_data.comment_of(definition.columns[name]) if name else definition.description
            if text:
                yield from sql.comment_on(
                    warehouse, self._relation(table), name and self._names.of(name), text
                )

    def _added(self, step: MigrationStep, column: Column) -> MigrationStep:
        definition = self.after.tables[step.table]
        comments = self._comments(step.table, column.name)
        if not column.required:
            return replace(step, statements=(*self._ddl(definition).add([column]), *comments))
        fill = self.fills.get((step.table, column.name))
        alteration = Alteration("set not null", step.table, column.name, fill=fill)
        required = self._writer(step.table).statements(alteration, self._type(step.table, column))
        if not required:
            note = f"only a new table of {self.warehouse.title} can have it NOT NULL"
        else:
            note = "" if fill is not None else "fails if the table has rows; give them a value with --fill"
        added = self._ddl(definition).add([replace(column, nullable=True)])
        statements = (*added, *required, *comments)
        return replace(step, statements=statements, backfill=fill is not None, note=note)

    def _nullability(self, step: MigrationStep, column: Column) -> MigrationStep:
        type_ = self._type(step.table, column)
        if not column.required:
            step = self._altered(step, Alteration("drop not null", step.table, column.name), type_)
            cost = self._format(step.table).alterations.drop_not_null
            return replace(step, cost=cost) if step.statements else step
        fill = self.fills.get((step.table, column.name))
        step = self._altered(step, Alteration("set not null", step.table, column.name, fill=fill), type_)
        if not step.statements:
            note = f"{self.warehouse.title} cannot make a column NOT NULL that is there"
            return replace(step, note=note)
        if fill is None:
            cost = self._format(step.table).alterations.set_not_null
            return replace(step, cost=cost, note="fails if a row has NULL; give these a value with --fill")
        return replace(step, cost="rewrite", backfill=True)

    def _retyped(self, changes: Sequence[Change]) -> Iterator[MigrationStep]:
        """One step for each column whose type is another."""
        properties: dict[tuple[str, str], list[ChangeColumn]] = {}
        for change in changes:
            if isinstance(change, ChangeColumn) and change.property in _TYPE:
                properties.setdefault((change.table, change.column), []).append(change)
        for (table, name), of_column in properties.items():
            old, new = (schema.tables[table].columns[name] for schema in (self.renamed, self.after))
            text = "; ".join(change.describe() for change in of_column)
            step = MigrationStep(text, table, name, any(change.breaking for change in of_column))
            if old.complete and new.complete:
                yield self._with_type(step, old, new)
            elif new.complete:
                yield replace(step, statements=tuple(self._ddl(self.after.tables[table]).add([new])))

    def _with_type(self, step: MigrationStep, old: Column, new: Column) -> MigrationStep:
        warehouse, type_ = self._format(step.table), self._type(step.table, new)
        if self._type(step.table, old) == type_:
            return step
        cost = sql.cost_of(warehouse, replace(old, nullable=True), replace(new, nullable=True))
        if cost != "impossible":
            name = self._names.of(new.name)
            statement = sql.set_type(warehouse, self._relation(step.table), name, type_)
            return replace(step, cost=cost, statements=(statement,))
        if not (warehouse.syntax.rename_column and warehouse.syntax.drop_column):
            note = f"{self.warehouse.title} cannot change the type; load into a new table"
            return replace(step, cost="impossible", note=note)
        note = "the column becomes the last one of its table"
        return replace(
            step, cost="rewrite", backfill=True, note=note, statements=self._copied(step.table, new, type_)
        )

    def _copied(self, table: str, column: Column, type_: str) -> tuple[str, ...]:
        """The way around where no statement changes a type: another column takes the values and the name."""
        writer, copy = self._writer(table), f"{column.name}__retyped"
        added = self._ddl(self.after.tables[table]).add([replace(column, name=copy, nullable=True)])
        old, new = writer.quote(column.name), writer.quote(copy)
        copied = f"UPDATE {self._relation(table)} SET {new} = CAST({old} AS {type_}) WHERE {old} IS NOT NULL"
        return (
            *added,
            copied,
            *writer.statements(Alteration("drop column", table, column.name)),
            *writer.statements(Alteration("rename column", table, copy, column.name), type_),
        )

    def _reordered(self, name: str) -> Iterator[MigrationStep]:
        """A step for the order of the columns, if that changes."""
        if name not in self.renamed.tables or is_system(name, *self.prefixes):
            return
        target = [column.name for column in self.after.tables[name].complete_columns]
        known = [
            column.name for column in self.renamed.tables[name].complete_columns if column.name in target
        ]
        if known == [column for column in target if column in known]:
            return
        step = MigrationStep(f"{name}: its columns get another order", name)
        if self._format(name).syntax.move_column:
            yield replace(step, statements=tuple(self._moves(name, known, target)))
        else:
            note = f"no column of {self.warehouse.title} is moved: the table keeps its order"
            yield replace(step, note=note)

    def _moves(self, table: str, known: Sequence[str], target: Sequence[str]) -> Iterator[str]:
        warehouse, writer = self._format(table), self._writer(table)
        order = [*known, *(column for column in target if column not in known)]
        for index, name in enumerate(target):
            if order[index] == name:
                continue
            order.remove(name)
            order.insert(index, name)
            column = self.after.tables[table].columns[name]
            form = warehouse.syntax.required if column.required else warehouse.syntax.optional
            yield warehouse.syntax.move_column.format(
                table=self._relation(table),
                column=writer.quote(name),
                type=form.format(type=self._type(table, column)),
                place=f"AFTER {writer.quote(target[index - 1])}" if index else "FIRST",
            )

    def _ddl(self, table: Table) -> TableStatements:
        return TableStatements(self._format(table.name), self._names, self.dataset, table)

    def _type(self, table: str, column: Column) -> str:
        return self._format(table).type_of(column, table)


def likely_renames(plan: MigrationPlan) -> tuple[str, ...]:
    """What `--rename` may take: a column that goes, with the one that comes in its table with its type.

    Of several the two whose names are most alike.

    >>> from trellis.warehouses.catalog.databases import DUCKDB
    >>> old, new = (
    ...     Schema("s", {"t": Table("t", {n: Column(n, "text") for n in names})})
    ...     for names in (("actor__login", "org__url"), ("actor__name",))
    ... )
    >>> likely_renames(MigrationPlan(DUCKDB, "main", old, new))
    ('t.actor__login=actor__name',)
    """
    changes = compare(plan.renamed, plan.after)
    dropped = [(c.table, c.definition) for c in changes if isinstance(c, DropColumn)]
    added = [(c.table, c.definition) for c in changes if isinstance(c, AddColumn)]

    def nearest_column(table: str, column: Column, others: Sequence[tuple[str, Column]]) -> str | None:
        names = [
            other.name for owner, other in others if (owner, other.data_type) == (table, column.data_type)
        ]
        return max(names, key=lambda name: SequenceMatcher(None, name, column.name).ratio(), default=None)

    successors = {(table, column.name): nearest_column(table, column, added) for table, column in dropped}
    predecessors = {(table, column.name): nearest_column(table, column, dropped) for table, column in added}
    return tuple(
        f"{table}.{name}={successor}"
        for (table, name), successor in successors.items()
        if successor is not None and predecessors[table, successor] == name
    )

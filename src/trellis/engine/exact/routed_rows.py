"""Records that name their tables -> flat rows of these tables.

The router has named the columns; here their values meet the schema. Only a record with something that the
schema has no place for waits: its rows are taken back, and the other records go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from trellis.engine.exact.cells import CellWriter, Dropped
from trellis.engine.exact.findings import Findings
from trellis.engine.exact.slots import FieldBinding, TableBuilder
from trellis.engine.exact.walker import Flattener
from trellis.engine.plan import Discard, Plan, Row
from trellis.engine.text import to_json
from trellis.evolution.dialect.transforms import Route
from trellis.evolution.evolve import Verdict
from trellis.evolution.observe import Position
from trellis.evolution.record_outcome import Rejected

EXACT_IN_FLOAT = 10**15
"""A double holds every integer up to here exactly."""

Became = Literal["loaded", "dropped", "waits"]


class RoutedCellWriter(CellWriter):
    """Holds back values that no column takes until the record's rows are complete.

    `overflow` are the values of the current row for whose columns a quota leaves no room. `refused` are those
    of the record that no column takes; the dialect may have a dead-letter table for them.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, Findings())
        self.reset()

    def reset(self) -> None:
        self.overflow: dict[str, Any] = {}
        self.refused: list[tuple[TableBuilder, Mapping[str, Any], FieldBinding, Any, str]] = []

    def drop_row(self, item: Mapping[str, Any]) -> None:
        """Forget the values held back of a row that a contract drops."""
        self.overflow, self.refused = {}, [refused for refused in self.refused if refused[1] is not item]

    def _discard_misfit(
        self, builder: TableBuilder, binding: FieldBinding, value: Any, reason: str, item: Mapping[str, Any]
    ) -> None:
        self.refused.append((builder, item, binding, value, reason))

    def _refuse(
        self,
        builder: TableBuilder,
        binding: FieldBinding,
        value: Any,
        verdict: Verdict,
        reason: str,
        item: Mapping[str, Any],
    ) -> None:
        if verdict == "overflow":
            self.overflow[binding.path] = value
        else:
            super()._refuse(builder, binding, value, verdict, reason, item)


class RoutedFlattener(Flattener):
    """Routes the records of a task to their tables."""

    cells: RoutedCellWriter

    def __init__(self, plan: Plan, route: Route) -> None:
        self.route, self.read_line, self.lines = route.router, route.read_line, route.lines
        super().__init__(plan, cells=RoutedCellWriter(plan))

    def start_block(self) -> None:
        super().start_block()
        self.cells.reset()
        self.placed: list[TableBuilder] = []
        self.brings_news = False

    def clear_rows(self) -> None:
        """Rows stay from block to block, until `forget`: a block has few of each table."""

    def forget(self) -> None:
        super().clear_rows()

    def spread(self, item: Any, position: Position, check_big_ints: bool) -> Became:
        """Route one record. `check_big_ints`: some integer may have more than 15 digits. Raises Rejected."""
        if item.__class__ is not dict:
            raise Rejected("not an event: a JSON object is expected")
        routed = self.route(item, "/".join((self.plan.load_id, *map(str, position))))
        findings = self.findings
        findings.start_record(position)
        if routed.references:
            findings.observed.references.update(routed.references)
            return "waits"
        self.sequence = 0
        discards, self.placed, self.brings_news = len(findings.discards), [], False
        for lost in routed.lost:
            text = lost.value if isinstance(lost.value, str) else to_json(lost.value)
            discard = Discard(lost.table, lost.column, lost.path, text, findings.line, lost.reason)
            findings.discards.append(discard)
        loaded = False
        for table, row in routed.rows:
            builder = self.tables.by_place.get(table) or self.tables.root_builder(table)
            if builder.verdict is not None:
                findings.discard(builder, "", "", row, f"contract on tables: {builder.verdict}")
            elif self._add_flat_row(builder, row, check_big_ints):
                loaded = True
        try:
            reasons = self._write_dead_letters() if self.cells.refused else ()
        except Rejected:
            self._take_back(discards)
            raise
        if self.brings_news:
            self._take_back(discards)
            return "waits"
        findings.refusals.update(reasons)
        if routed.warning is not None:
            self.warnings[routed.warning] += 1
        return "loaded" if loaded else "dropped"

    def _take_back(self, discards: int) -> None:
        """Forget the rows of the current record, and its discards, which follow the first ones."""
        for builder in self.placed:
            builder.rows.pop()
            builder.origins.pop()
        del self.findings.discards[discards:]

    def shared_names(self) -> dict[str, set[str]]:
        return {name: {*raws} for name, raws in self.route.shared().items()}

    def _add_flat_row(self, builder: TableBuilder, item: Mapping[str, Any], check_big_ints: bool) -> bool:
        """Append a row whose values have the names of their columns."""
        others = _other_fields(builder, item, check_big_ints)
        if not others:
            builder.rows.append(item)  # type: ignore[arg-type]
            builder.origins.append(self.findings.line)
            self.placed.append(builder)
            return True
        findings, cells = self.findings, self.cells
        sequence, new_cells = self.sequence, len(findings.new_cells)
        self.sequence += 1
        findings.row, findings.ordinal = sequence, 0
        if not builder.in_schema:
            findings.saw_table(builder.name, None, (*findings.record, sequence))
            self.brings_news = True
        row: Row = {**item}
        for name in others:
            del row[name]
        try:
            for name in others:
                self._write_field(builder, name, item[name], row, item)
            if cells.overflow:
                overflow, cells.overflow = cells.overflow, {}
                name, value = self.plan.dialect.dead_letters.overflow(self.plan.schema, item, overflow)
                self._write_field(builder, name, value, row, item)
        except Dropped:
            findings.forget_since(new_cells)
            cells.drop_row(item)
            return False
        self.brings_news = self.brings_news or findings.ordinal > 0
        builder.rows.append(row)
        builder.origins.append(findings.line)
        self.placed.append(builder)
        return True

    def _write_field(
        self, builder: TableBuilder, name: str, value: Any, row: Row, item: Mapping[str, Any]
    ) -> None:
        binding = builder.bindings.get(name) or self.tables.add_binding(builder, builder.bindings, None, name)
        kind = value.__class__
        if kind in binding.direct_classes and (kind is not int or -EXACT_IN_FLOAT <= value <= EXACT_IN_FLOAT):
            row[name] = value
            if builder.in_schema:
                builder.direct_fields.add((name, kind))
        else:
            self.cells.write_value(builder, binding, value, row, item)

    def _write_dead_letters(self) -> list[str]:
        """Write refused values into the dialect's dead-letter table, if it has one; the reasons of these."""
        refused, self.cells.refused = self.cells.refused, []
        reasons = []
        for builder, item, binding, value, reason in refused:
            dead_letter = self.plan.dialect.dead_letters.dead_letter(
                self.plan.schema, builder.name, item, binding.name, value, reason
            )
            if dead_letter is None:
                self.findings.discard(builder, binding.name, binding.path, value, reason)
            else:
                reasons.append(reason)
                self._add_flat_row(
                    self.tables.root_builder(dead_letter[0]), dead_letter[1], check_big_ints=True
                )
        return reasons


def _other_fields(builder: TableBuilder, item: Mapping[str, Any], check_big_ints: bool) -> list[str]:
    """The fields of a row that do not go straight into their columns, as far as is known, in their order."""
    others = {*zip(item, map(type, item.values()), strict=True)} - builder.direct_fields
    if check_big_ints:
        others |= {
            (name, int)
            for name, value in item.items()
            if value.__class__ is int and not -EXACT_IN_FLOAT <= value <= EXACT_IN_FLOAT
        }
    if len(others) < 2:
        return [name for name, _ in others]
    names = {name for name, _ in others}
    return [name for name in item if name in names]

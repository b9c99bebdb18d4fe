"""Records that tell their tables themselves -> flat rows of these tables.

The router has named the columns; here their values meet the schema. A record with something that the schema
has no place for waits by itself: what it brought is taken back, and the others go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from trellis.engine.exact.cells import Cells, Dropped
from trellis.engine.exact.findings import Findings
from trellis.engine.exact.slots import Slot, TableWalk
from trellis.engine.exact.text import to_json
from trellis.engine.exact.walker import Walker
from trellis.engine.plan import Discard, Plan, Row
from trellis.evolution.dialect.transforms import Router
from trellis.evolution.evolve import Verdict
from trellis.evolution.observe import Position
from trellis.evolution.record import Rejected

SURE = 10**15
"""Every integer up to here is a float, too."""

Became = Literal["loaded", "dropped", "waits"]


class SpreadCells(Cells):
    """What has no place waits here until it is known whether the dialect keeps it.

    `over` are the values of the row at hand that its table is too full for, `refused` those of the record
    that no column takes.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, Findings())
        self.start()

    def start(self) -> None:
        self.over: dict[str, Any] = {}
        self.refused: list[tuple[TableWalk, Row, Slot, Any, str]] = []

    def forget(self, out: Row) -> None:
        """Forget what waits of a row that is dropped."""
        self.over, self.refused = {}, [each for each in self.refused if each[1] is not out]

    def _misfit(self, walk: TableWalk, slot: Slot, value: Any, reason: str, out: Row) -> None:
        self.refused.append((walk, out, slot, value, reason))

    def _refuse(
        self, walk: TableWalk, slot: Slot, value: Any, verdict: Verdict, reason: str, item: Mapping[str, Any]
    ) -> None:
        if verdict == "overflow":
            self.over[slot.path] = value
        else:
            super()._refuse(walk, slot, value, verdict, reason, item)


class Spreader(Walker):
    """Spreads the records of a task over tables."""

    cells: SpreadCells

    def __init__(self, plan: Plan, route: Router) -> None:
        self.route = route
        super().__init__(plan, cells=SpreadCells(plan))

    def start(self) -> None:
        super().start()
        self.cells.start()
        self.placed: list[TableWalk] = []
        self.news = False

    def forget_rows(self) -> None:
        """Rows stay from block to block, until `forget`."""

    def forget(self) -> None:
        super().forget_rows()

    def spread(self, item: Any, position: Position, wary: bool) -> Became:
        """Spread one record. `wary`: it may hold integers of more than 15 digits. Raises Rejected."""
        if item.__class__ is not dict:
            raise Rejected("not an event: a JSON object is expected")
        found = self.route(item, "/".join((self.plan.load_id, *map(str, position))))
        findings = self.findings
        findings.at(position)
        self.sequence = 0
        discards, self.placed, self.news = len(findings.discards), [], False
        for lost in found.lost:
            text = lost.value if isinstance(lost.value, str) else to_json(lost.value)
            gone = Discard(lost.table, lost.column, lost.path, text, findings.line, lost.reason)
            findings.discards.append(gone)
        loaded = False
        for table, row in found.rows:
            walk = self.tables.by_place.get(table) or self.tables.root(table)
            if walk.verdict is not None:
                findings.discard(walk, "", "", row, f"contract on tables: {walk.verdict}")
            elif self._flat(walk, row, wary):
                loaded = True
        refused = self._keep_refused() if self.cells.refused else ()
        if self.news:
            for walk in self.placed:
                walk.rows.pop()
            del findings.discards[discards:]
            return "waits"
        findings.refusals.update(refused)
        if found.oddity is not None:
            self.oddities[found.oddity] += 1
        return "loaded" if loaded else "dropped"

    def shared(self) -> dict[str, set[str]]:
        return {name: {*raws} for name, raws in self.route.shared().items()}

    def _flat(self, walk: TableWalk, row: Mapping[str, Any], wary: bool) -> bool:
        """Append a row whose values have the names of their columns already."""
        if not wary and walk.pairs.issuperset(zip(row, map(type, row.values()), strict=False)):
            walk.rows.append(row)  # type: ignore[arg-type]
            self.placed.append(walk)
            return True
        findings, cells = self.findings, self.cells
        sequence, fresh = self.sequence, len(findings.fresh)
        self.sequence += 1
        findings.row, findings.ordinal = sequence, 0
        if not walk.known:
            findings.saw_table(walk.name, None, (*findings.record, sequence))
            self.news = True
        out: Row = {}
        try:
            for name, value in row.items():
                self._into(walk, name, value, out, row)
            if cells.over:
                over, cells.over = cells.over, {}
                name, value = self.plan.dialect.dead_letters.overflow(self.plan.schema, row, over)
                self._into(walk, name, value, out, row)
        except Dropped:
            findings.forget(fresh)
            cells.forget(out)
            return False
        self.news = self.news or findings.ordinal > 0
        walk.rows.append(out)
        self.placed.append(walk)
        return True

    def _into(self, walk: TableWalk, name: str, value: Any, out: Row, row: Mapping[str, Any]) -> None:
        slot = walk.slots.get(name) or self.tables.slot(walk, walk.slots, None, name)
        kind = value.__class__
        if kind in slot.directs and (kind is not int or -SURE <= value <= SURE):
            out[name] = value
            if walk.known:
                walk.pairs.add((name, kind))
        else:
            self.cells.put(walk, slot, value, out, row)

    def _keep_refused(self) -> list[str]:
        """Keep the values that had no place where the dialect keeps such; the reasons of those."""
        waiting, self.cells.refused = self.cells.refused, []
        reasons = []
        for walk, row, slot, value, reason in waiting:
            kept = self.plan.dialect.dead_letters.dead_letter(
                self.plan.schema, walk.name, row, slot.name, value, reason
            )
            if kept is None:
                self.findings.discard(walk, slot.name, slot.path, value, reason)
            else:
                reasons.append(reason)
                self._flat(self.tables.root(kept[0]), kept[1], wary=True)
        return reasons

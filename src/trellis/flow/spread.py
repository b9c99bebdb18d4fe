"""Records that tell their tables themselves -> flat rows of these tables.

The router has named the columns; here their values meet the schema. A record with something that the schema
has no place for waits by itself: what it brought is taken back, and the others go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from trellis.evolution.dialect import Router
from trellis.evolution.evolve import Verdict
from trellis.evolution.kinds import Kind
from trellis.evolution.observe import Position
from trellis.evolution.record import Rejected
from trellis.flow.plan import Discard, Plan, Row
from trellis.flow.slots import Slot, TableWalk
from trellis.flow.text import to_json
from trellis.flow.walk import Dropped, Walker

SURE = 10**15
"""Every integer up to here is a float, too."""

Became = Literal["loaded", "dropped", "waits"]


class Spreader(Walker):
    """Spreads the records of a task over tables."""

    def __init__(self, plan: Plan, route: Router) -> None:
        self.route = route
        super().__init__(plan)

    def start(self) -> None:
        super().start()
        self.refused: list[tuple[TableWalk, Row, Slot, Any, str]] = []
        self.over: dict[str, Any] = {}
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
        self.where = position
        self.line = position[-1]
        self.sequence = 0
        discards, self.placed, self.news = len(self.discards), [], False
        for lost in found.lost:
            text = lost.value if isinstance(lost.value, str) else to_json(lost.value)
            self.discards.append(Discard(lost.table, lost.column, lost.path, text, self.line, lost.reason))
        loaded = False
        for table, row in found.rows:
            walk = self.tables.get(table) or self.root(table)
            if walk.verdict is not None:
                self._discard(walk, "", "", row, f"contract on tables: {walk.verdict}")
            elif self._flat(walk, row, wary):
                loaded = True
        refused = self._keep_refused() if self.refused else ()
        if self.news:
            for walk in self.placed:
                walk.rows.pop()
            del self.discards[discards:]
            return "waits"
        self.refusals.update(refused)
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
        sequence, fresh = self.sequence, len(self.fresh)
        self.sequence += 1
        self.ordinal = 0
        self.row_sequence = sequence
        if not walk.known:
            self.observed.saw_table(walk.name, None, (*self.where, sequence))
            self.news = True
        out: Row = {}
        news = self.news
        try:
            for name, value in row.items():
                self._into(walk, name, value, out, row)
            if self.over:
                over, self.over = self.over, {}
                name, value = self.dialect.keep.overflow(self.plan.schema, row, over)
                self._into(walk, name, value, out, row)
        except Dropped:
            self._forget(fresh)
            self.news = news
            self.over, self.refused = {}, [each for each in self.refused if each[1] is not out]
            return False
        walk.rows.append(out)
        self.placed.append(walk)
        return True

    def _into(self, walk: TableWalk, name: str, value: Any, out: Row, row: Mapping[str, Any]) -> None:
        slot = walk.slots.get(name) or self._slot(walk, walk.slots, None, name)
        kind = value.__class__
        if kind in slot.directs and (kind is not int or -SURE <= value <= SURE):
            out[name] = value
            if walk.known:
                walk.pairs.add((name, kind))
        else:
            self._cell(walk, slot, value, out, row)

    def _keep_refused(self) -> list[str]:
        """Keep the values that had no place where the dialect keeps such; the reasons of those."""
        waiting, self.refused = self.refused, []
        reasons = []
        for walk, row, slot, value, reason in waiting:
            kept = self.dialect.keep.refused(self.plan.schema, walk.name, row, slot.name, value, reason)
            if kept is None:
                self._discard(walk, slot.name, slot.path, value, reason)
            else:
                reasons.append(reason)
                self._flat(self.root(kept[0]), kept[1], wary=True)
        return reasons

    def _misfit(self, walk: TableWalk, slot: Slot, value: Any, reason: str, out: Row) -> None:
        self.refused.append((walk, out, slot, value, reason))

    def _observe(self, walk: TableWalk, slot: Slot, kind: Kind, value: Any, item: Mapping[str, Any]) -> None:
        super()._observe(walk, slot, kind, value, item)
        self.news = True

    def _refuse(
        self, walk: TableWalk, slot: Slot, value: Any, verdict: Verdict, reason: str, item: Mapping[str, Any]
    ) -> None:
        if verdict == "overflow":
            self.over[slot.path] = value
        else:
            super()._refuse(walk, slot, value, verdict, reason, item)


def spreader_of(plan: Plan) -> Spreader | None:
    """None where a user names the one table that records belong to."""
    closed = {name for name, verdict in plan.refusals.tables.items() if verdict == "overflow"}
    route = plan.dialect.route.router(plan.schema, plan.now, closed)
    return None if route is None else Spreader(plan, route)

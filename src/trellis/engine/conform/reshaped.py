"""Records that code of the user reshapes: flat rows of the tables that it names -> rows of these tables."""

from __future__ import annotations

from typing import Any

from trellis.engine.conform.learned import Conformer
from trellis.engine.exact.slots import TableWalk
from trellis.engine.exact.tables import Tables
from trellis.engine.exact.text import count_keys
from trellis.engine.exact.walker import Walker
from trellis.engine.plan import Plan
from trellis.errors import UsageError
from trellis.evolution.dialect.transforms import EmittedRow, RowEmitter
from trellis.evolution.observe import Position
from trellis.schema.model import NOTHING


class ReshapeConformer(Conformer):
    """Every block goes the exact way: nobody knows what the user's code does."""

    takes_columns = False

    def __init__(self, plan: Plan, reshape: RowEmitter) -> None:
        super().__init__(plan, fast=False)
        self.walker = ReshapeWalker(plan, reshape)


class ReshapeWalker(Walker):
    """Walks the rows that the user's code makes of the records; bookkeeping columns are what it says."""

    def __init__(self, plan: Plan, reshape: RowEmitter) -> None:
        self.reshape = reshape
        self.parents = {name: table.parent for name, table in plan.schema.tables.items()}
        super().__init__(plan, ReshapeTables(plan))

    def record(self, root: TableWalk, item: Any, position: Position) -> bool:
        findings = self.findings
        findings.at(position)
        self.sequence = 0
        keys, discards, loaded = self.keys, len(findings.discards), False
        rows = self.reshape(item, self.plan.load_id, root.name, findings.place)
        taken: bool | None = None
        try:
            while True:
                taken = self._told(rows.send(taken))
                loaded = loaded or taken
        except StopIteration:
            pass
        self.keys = keys + count_keys(item)
        first = (*position, 0)
        below = findings.observed.below
        if first in below:  # should a contract drop it, the rest of the record goes with it
            below[first] = self.sequence - 1
        if not loaded and len(findings.discards) == discards:
            findings.discard(root, "", "", item, "no row: the normalizer made none of the record")
        return loaded

    def _told(self, told: EmittedRow) -> bool:
        """Append a row; whether it is loaded."""
        walk, findings = self.tables.root(told.table), self.findings
        if walk.verdict is not None:
            findings.discard(walk, "", "", told.row, f"contract on tables: {walk.verdict}")
            return False
        if not told.row:
            return False
        if not walk.known:
            if walk.name not in self.parents:
                self._place_below(walk.name, told.parent)
            place = (*findings.record, self.sequence)
            findings.saw_table(walk.name, self.parents[walk.name], place)
        return self._row(walk, told.row, None, 0, NOTHING)

    def _place_below(self, name: str, parent: str | None) -> None:
        """Remember the parent of a new table; a table that is above itself is an error."""
        self.parents[name] = above = parent
        while above is not None:
            if above == name:
                raise UsageError(
                    f"{self.findings.place}: the normalizer says that table {name} is below {parent}, which "
                    f"is below {name}; a table cannot be above itself"
                )
            above = self.parents.get(above)


class ReshapeTables(Tables):
    """The user's code may give bookkeeping columns, and has to give those that are not filled in."""

    def _new_table(
        self, name: str, fragments: tuple[str, ...], parent: TableWalk | None, budget: int
    ) -> TableWalk:
        walk = super()._new_table(name, fragments, parent, budget)
        walk.kept = frozenset()
        walk.required = _required(walk)
        return walk


def _required(walk: TableWalk) -> tuple[str, ...]:
    """The columns that each row has to have: all required ones but those that are filled in."""
    filled = (walk.keys.row_id, walk.keys.load_id)
    columns = walk.table.complete_columns if walk.table else ()
    return tuple(column.name for column in columns if column.required and column.name not in filled)

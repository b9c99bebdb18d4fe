"""Records that user code turns into flat rows, each with its table -> rows of these tables."""

from __future__ import annotations

from typing import Any

from trellis.engine.conform.learned import LearnedConformer
from trellis.engine.exact.slots import TableBuilder
from trellis.engine.exact.tables import TableBuilders
from trellis.engine.exact.walker import Flattener
from trellis.engine.plan import Plan
from trellis.engine.text import count_keys
from trellis.errors import UsageError
from trellis.evolution.dialect.transforms import EmittedRow, RowEmitter
from trellis.evolution.observe import Position
from trellis.schema.model import NOTHING


class EmittedConformer(LearnedConformer):
    """Every record takes the exact path, since nothing is known of what the user's code does."""

    takes_columns = False
    peeks_by_columns = False

    def __init__(self, plan: Plan, emitter: RowEmitter) -> None:
        super().__init__(plan, columnar=False)
        self.flattener = EmittedFlattener(plan, emitter)


class EmittedFlattener(Flattener):
    """Flattens the rows that the user's code makes of the records; it may fill system columns itself."""

    def __init__(self, plan: Plan, emitter: RowEmitter) -> None:
        self.emitter = emitter
        self.parents = {name: table.parent for name, table in plan.schema.tables.items()}
        super().__init__(plan, EmittedTableBuilders(plan))

    def flatten_record(self, root: TableBuilder, item: Any, position: Position) -> bool:
        findings = self.findings
        findings.start_record(position)
        self.sequence = 0
        key_count, discards, loaded = self.key_count, len(findings.discards), False
        rows = self.emitter(item, self.plan.load_id, root.name, findings.place)
        accepted: bool | None = None
        try:
            while True:
                accepted = self._add_emitted_row(rows.send(accepted))
                loaded = loaded or accepted
        except StopIteration:
            pass
        self.key_count = key_count + count_keys(item)
        first = (*position, 0)
        below = findings.observed.below
        if first in below:  # a contract that drops the first row drops the whole record
            below[first] = self.sequence - 1
        if not loaded and len(findings.discards) == discards:
            findings.discard(root, "", "", item, "no row: the normalizer made none of the record")
        return loaded

    def _add_emitted_row(self, emitted: EmittedRow) -> bool:
        """Append a row; whether it is loaded."""
        builder, findings = self.tables.root_builder(emitted.table), self.findings
        if builder.verdict is not None:
            findings.discard(builder, "", "", emitted.row, f"contract on tables: {builder.verdict}")
            return False
        if not emitted.row:
            return False
        if not builder.in_schema:
            if builder.name not in self.parents:
                self._set_parent(builder.name, emitted.parent)
            place = (*findings.record, self.sequence)
            findings.saw_table(builder.name, self.parents[builder.name], place)
        return self._add_row(builder, emitted.row, None, 0, NOTHING)

    def _set_parent(self, name: str, parent: str | None) -> None:
        """Remember the parent of a new table. Raises UsageError for a table that is its own ancestor."""
        self.parents[name] = ancestor = parent
        while ancestor is not None:
            if ancestor == name:
                raise UsageError(
                    f"{self.findings.place}: the normalizer says that table {name} is below {parent}, which "
                    f"is below {name}; a table cannot be above itself"
                )
            ancestor = self.parents.get(ancestor)


class EmittedTableBuilders(TableBuilders):
    """User code may fill system columns, and has to fill those that the engine does not."""

    def _new_builder(
        self, name: str, fragments: tuple[str, ...], parent: TableBuilder | None, budget: int
    ) -> TableBuilder:
        builder = super()._new_builder(name, fragments, parent, budget)
        builder.reserved_names = frozenset()
        builder.required = _required(builder)
        return builder


def _required(builder: TableBuilder) -> tuple[str, ...]:
    """The columns that each row must bring: all required ones but those that the engine fills."""
    filled = (builder.keys.row_id, builder.keys.load_id)
    columns = builder.table.complete_columns if builder.table else ()
    return tuple(column.name for column in columns if column.required and column.name not in filled)

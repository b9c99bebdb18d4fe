"""What flattening a block yields beside rows: cells that the schema lacks, and discarded values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from trellis.engine.exact.slots import FieldBinding, TableBuilder
from trellis.engine.plan import Discard
from trellis.engine.text import item_text, to_json
from trellis.evolution.contract import ContractViolation, missing_value_violation
from trellis.evolution.observe import CellKey, Observations, Position, Seen
from trellis.evolution.scalars.kinds import Kind
from trellis.evolution.scalars.losses import Loss


class MissingValue(NamedTuple):
    """A row without a value for a required column; `path` is empty where the record lacks its key."""

    builder: TableBuilder
    column: str
    path: str
    position: Position


class Findings:
    """The findings since the last `reset`, and the position of the current row.

    `row` counts the rows of the record, `ordinal` the observations in the row. `news_count` counts all
    observations of the block but those in rows that a contract drops. `new_cells` are the cells observed for
    the first time or earlier than before, with what was known of them, so that those of a dropped row can be
    taken back.
    """

    def __init__(self) -> None:
        self.file = ""
        self.record: Position = ()
        self.line = 0
        self.row = 0
        self.ordinal = 0
        self.reset()

    def reset(self) -> None:
        self.observed = Observations()
        self.news_count = 0
        self.new_cells: list[tuple[CellKey, Seen | None]] = []
        self.discards: list[Discard] = []
        self.refusals: Counter[str] = Counter()
        self.losses: list[str] = []
        self.missing: list[MissingValue] = []

    def start_record(self, record: Position) -> None:
        """What follows belongs to this record."""
        self.record = record
        self.line = record[-1]

    def miss(self, builder: TableBuilder, column: str, path: str = "") -> None:
        self.missing.append(MissingValue(builder, column, path, (*self.record, self.row)))

    def violations(self, schema_name: str) -> list[ContractViolation]:
        """Those of missing values: one for each column and path, with the first place and the count."""
        groups: dict[tuple[str, str, str], list[MissingValue]] = {}
        for value in self.missing:
            groups.setdefault((value.builder.name, value.column, value.path), []).append(value)
        return [
            missing_value_violation(
                schema_name,
                *key,
                table_schema=values[0].builder.table,
                position=values[0].position,
                count=len(values),
            )
            for key, values in groups.items()
        ]

    @property
    def place(self) -> str:
        """The file and number of the current record, for messages."""
        return f"{self.file or 'records'}, record {self.line + 1}"

    def observe(
        self, builder: TableBuilder, binding: FieldBinding, kind: Kind, value: Any, item: Mapping[str, Any]
    ) -> None:
        position = (*self.record, self.row, self.ordinal)
        self.ordinal += 1
        self.news_count += 1
        key = CellKey(builder.name, binding.name, kind)
        known = self.observed.cells.get(key)
        if known is not None and known.position < position:
            known.count += 1
            return
        count = known.count + 1 if known is not None else 1
        self.new_cells.append((key, known))
        self.observed.cells[key] = Seen(position, count, binding.path, to_json(value)[:200], item_text(item))

    def saw_table(self, name: str, parent: str | None, position: Position) -> None:
        self.news_count += 1
        self.observed.saw_table(name, parent, position)

    def forget_since(self, count: int) -> None:
        """Take back all new cells but the first `count`, for a row that a contract drops."""
        for key, known in reversed(self.new_cells[count:]):
            if known is None:
                del self.observed.cells[key]
            else:
                self.observed.cells[key] = known
        del self.new_cells[count:]

    def discard(
        self,
        builder: TableBuilder,
        column: str,
        path: str,
        value: Any,
        reason: str,
        row: str | None = None,
        is_truncated: bool = False,
    ) -> None:
        text = value if isinstance(value, str) else to_json(value)
        self.discards.append(Discard(builder.name, column, path, text, self.line, reason, row, is_truncated))

    def record_loss(self, builder: TableBuilder, column: str, loss: Loss) -> None:
        self.losses.append(f"{builder.name}.{column}: {loss.message}")

    def record_collision(self, builder: TableBuilder, binding: FieldBinding, value: Any) -> None:
        self.discard(
            builder,
            binding.name,
            binding.path,
            value,
            f"collision: another key of the record is named {binding.name} too",
        )

"""What flattening a block finds beside rows: news for the schema, values without a place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from trellis.engine.exact.slots import FieldBinding, TableBuilder
from trellis.engine.exact.text import item_text, to_json
from trellis.engine.plan import Discard
from trellis.evolution.kinds import Kind
from trellis.evolution.losses import Loss
from trellis.evolution.observe import CellKey, Observations, Position, Seen


class Findings:
    """The findings since the last `start`, and the place of the row at hand.

    `row` counts the rows of its record, `ordinal` the news in the row, `news` all news: what the schema has
    no place for in rows that no contract drops.
    """

    def __init__(self) -> None:
        self.file = ""
        self.record: Position = ()
        self.line = 0
        self.row = 0
        self.ordinal = 0
        self.start()

    def start(self) -> None:
        self.observed = Observations()
        self.news = 0
        self.fresh: list[CellKey] = []
        self.discards: list[Discard] = []
        self.refusals: Counter[str] = Counter()
        self.losses: list[str] = []

    def at(self, record: Position) -> None:
        """What comes next is of this record."""
        self.record = record
        self.line = record[-1]

    @property
    def place(self) -> str:
        """Where the record at hand stands, for people."""
        return f"{self.file or 'records'}, record {self.line + 1}"

    def observe(
        self, builder: TableBuilder, binding: FieldBinding, kind: Kind, value: Any, item: Mapping[str, Any]
    ) -> None:
        position = (*self.record, self.row, self.ordinal)
        self.ordinal += 1
        self.news += 1
        key = CellKey(builder.name, binding.name, kind)
        known = self.observed.cells.get(key)
        if known is not None:
            known.count += 1
            return
        self.fresh.append(key)
        self.observed.cells[key] = Seen(position, 1, binding.path, to_json(value)[:200], item_text(item))

    def saw_table(self, name: str, parent: str | None, position: Position) -> None:
        self.news += 1
        self.observed.saw_table(name, parent, position)

    def forget(self, fresh: int) -> None:
        """Take back what was seen first in a row that is dropped: all that is fresh beyond so many."""
        for key in self.fresh[fresh:]:
            del self.observed.cells[key]
        del self.fresh[fresh:]

    def discard(
        self, builder: TableBuilder, column: str, path: str, value: Any, reason: str, row: str | None = None
    ) -> None:
        text = value if isinstance(value, str) else to_json(value)
        self.discards.append(Discard(builder.name, column, path, text, self.line, reason, row))

    def lost(self, builder: TableBuilder, column: str, loss: Loss) -> None:
        self.losses.append(f"{builder.name}.{column}: {loss.said}")

    def collision(self, builder: TableBuilder, binding: FieldBinding, value: Any) -> None:
        self.discard(
            builder,
            binding.name,
            binding.path,
            value,
            f"collision: another key of the record is named {binding.name} too",
        )

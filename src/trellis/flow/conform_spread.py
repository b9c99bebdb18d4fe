"""A block of records that tell their tables themselves -> batches of these tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from trellis.evolution.dialect import Rejected
from trellis.evolution.observe import Position
from trellis.flow.blocks import Block, Split
from trellis.flow.conform import Conformed, Conformer
from trellis.flow.lines import SAFE, BadLine, duplicates, has_long_number, line_may_repeat, record
from trellis.flow.plan import Counts, Discard, Plan, Reject
from trellis.flow.spread import Became, Spreader, spreader_of
from trellis.flow.text import to_json

_QUOTE = rb"\u0022"


def conformer_of(plan: Plan, fast: bool = True) -> Conformer:
    """What conforms the records of a task."""
    spreader = spreader_of(plan)
    return Conformer(plan, fast) if spreader is None else SpreadConformer(plan, spreader)


class SpreadConformer(Conformer):
    """Only the lines of a block wait that have something new in them."""

    def __init__(self, plan: Plan, spreader: Spreader) -> None:
        super().__init__(plan, fast=False)
        self.walker = self.spreader = spreader

    def block(self, split: Split, block: Block, only: Sequence[int] | None = None) -> Conformed:
        spreader, chosen = self.spreader, None if only is None else {*only}
        spreader.start()
        spreader.file = split.path
        counts, rejects, waiting = Counts(), [], []
        wary = has_long_number(block.data, SAFE)
        for at, line in enumerate(block.lines, block.line):
            if not line or (chosen is not None and at not in chosen) or line.isspace():
                continue
            try:
                careful = wary and has_long_number(line, SAFE)
                item = record(line, careful)
                became = self._spread(item, (split.file, split.number, at), counts, careful)
            except (BadLine, Rejected) as bad:
                counts.read += 1
                counts.rejected += 1
                rejects.append(Reject(at, line, str(bad)))
                continue
            if became == "waits":
                waiting.append(at)
            elif line_may_repeat(line, _keys_of(item, line)):
                self._doubled_keys(line, at)
        made = self._made(counts, rejects, self._seed(split.file, split.number, block.offset))
        if waiting:
            made.observed, made.waiting = spreader.observed, tuple(waiting)
        return made

    def items(self, items: Sequence[Any], file: int, number: int, first: int, name: str) -> Conformed:
        self.spreader.start()
        self.spreader.file = name
        counts, rejects = Counts(), []
        for at, item in enumerate(items, first):
            try:
                self._spread(item, (file, number, at), counts, wary=True)
            except Rejected as bad:
                counts.read += 1
                counts.rejected += 1
                rejects.append(Reject(at, to_json(item).encode(), str(bad)))
        return self._finish(counts, rejects, self._seed(file, number, first))

    def _spread(self, item: Any, position: Position, counts: Counts, wary: bool) -> Became:
        became = self.spreader.spread(item, position, wary)
        if became != "waits":
            counts.read += 1
            counts.loaded += became == "loaded"
            counts.dropped += became == "dropped"
        return became

    def _doubled_keys(self, line: bytes, at: int) -> None:
        reason = "duplicate key: a later value of the same key replaced it"
        for key, value in duplicates(line):
            if value is not None:
                text = value if isinstance(value, str) else to_json(value)
                self.spreader.discards.append(Discard("", "", key, text, at, reason))


def _keys_of(item: Any, line: bytes) -> int:
    """How many keys a record holds, counted as `may_repeat` counts those of its line."""
    return -1 if _QUOTE in line else orjson.dumps(item, default=str).count(b'":')

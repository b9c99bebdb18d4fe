"""A block of records that tell their tables themselves -> batches of these tables."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import orjson

from trellis.engine.columnar.event_batcher import Sorts
from trellis.engine.conform.learned import LearnedConformer
from trellis.engine.conform.outcome import Conformed, Line, parse_records
from trellis.engine.exact.routed_rows import Became, Spreader
from trellis.engine.exact.text import to_json
from trellis.engine.input.blocks import Block, Split
from trellis.engine.input.lines import (
    SAFE,
    BadLine,
    has_long_number,
    may_repeat,
    record,
    replaced_values,
)
from trellis.engine.plan import Counts, Discard, Plan
from trellis.engine.staging.batches import TableBatch
from trellis.errors import ContractError
from trellis.evolution.observe import Position
from trellis.evolution.record import DUPLICATE_KEY, Rejected

CHECKED = 2_000
"""Records whose keys are counted together."""
HELD = 30_000
"""Rows over all tables that become arrays together: with hundreds of tables a block has few of each."""

_QUOTE = rb"\u0022"


class SpreadConformer(LearnedConformer):
    """Only the lines of a block wait that have something new in them.

    Ordinary records go by the recipes of their sorts, once the first block has shown what they look like.
    There are few of each sort in a block, so blocks are larger here.
    """

    times = 3
    takes_columns = False

    def __init__(self, plan: Plan, spreader: Spreader, fast: bool = True) -> None:
        super().__init__(plan, fast)
        self.flattener = self.spreader = spreader
        self.sorts: Sorts | None = None

    def block(self, split: Split, block: Block, only: Sequence[int] | None = None) -> Conformed:
        if self.fast and self.sorts is None:
            self._learn_from(self.plan.sample or block.sample())
        spreader, chosen = self.spreader, None if only is None else {*only}
        spreader.start()
        spreader.findings.file = split.path
        outcome, waiting = Conformed(), list[int]()
        big = has_long_number(block.data, SAFE)
        seed = self._seed(self._file(split.file), split.number, block.offset)
        lines = [(at, line) for at, line in block.numbered if chosen is None or at in chosen]
        if self.sorts is not None:
            lines = self._by_recipe(lines, big, outcome, seed)
        done: list[tuple[int, bytes, Any]] = []
        for at, line, item in parse_records(lines, big, outcome):
            if len(done) >= CHECKED:
                self._keep_replaced_values(done)
                done.clear()
            place = (self._file(split.file), split.number, at)
            try:
                became = self._spread(item, place, outcome.counts, big and has_long_number(line, SAFE))
            except Rejected as bad:
                outcome.reject(at, line, str(bad), bad.kind)
                continue
            if became == "waits":
                waiting.append(at)
            else:
                done.append((at, line, item))
        self._keep_replaced_values(done)
        return self._with_waiting(outcome, waiting, seed)

    def _learn_from(self, sample: Sequence[bytes]) -> None:
        """Spread records only to see what they look like."""
        spreader = self.spreader
        for line in sample:
            with suppress(BadLine, Rejected, ContractError):
                spreader.spread(record(line), (0, 0, 0), True)
        spreader.forget()
        spreader.oddities.clear()
        spreader.start()
        self.sorts = Sorts(spreader)

    def _by_recipe(self, lines: Sequence[Line], big: bool, outcome: Conformed, seed: bytes) -> list[Line]:
        """Take ordinary records by the recipes of their sorts; the other lines."""
        assert self.sorts is not None
        candidates: list[Line] = []
        others: list[Line] = []
        for numbered in lines:
            line = numbered[1]
            whole = line.startswith(b"{") and line.endswith(b"}")
            (candidates if whole and not (big and has_long_number(line, SAFE)) else others).append(numbered)
        batches, left, done = self.sorts.rows(candidates, self._id_generator(seed))
        outcome.batches += batches
        outcome.counts.add(Counts(done, done))
        return sorted((*others, *left))

    def rest(self) -> list[TableBatch]:
        batches = super()._batches(b"", 0)
        self.spreader.forget()
        return batches

    def _batches(self, seed: bytes, first: int) -> list[TableBatch]:
        held = sum(len(builder.rows) for builder in self.spreader.tables.by_place.values())
        return self.rest() if held >= HELD else []

    def items(
        self,
        items: Sequence[Any],
        file: int,
        number: int,
        first: int,
        name: str,
        only: Sequence[int] | None = None,
    ) -> Conformed:
        spreader, chosen = self.spreader, None if only is None else {*only}
        spreader.start()
        spreader.findings.file = name
        outcome, waiting = Conformed(), list[int]()
        for at, item in enumerate(items, first):
            if chosen is not None and at not in chosen:
                continue
            try:
                if (
                    self._spread(item, (self._file(file), number, at), outcome.counts, check_big_ints=True)
                    == "waits"
                ):
                    waiting.append(at)
            except Rejected as bad:
                outcome.reject(at, to_json(item).encode("utf-8", "backslashreplace"), str(bad))
        return self._with_waiting(outcome, waiting, self._seed(self._file(file), number, first))

    def _with_waiting(self, outcome: Conformed, waiting: Sequence[int], seed: bytes) -> Conformed:
        self._closed(outcome, seed, 0)
        if waiting:
            outcome.observed, outcome.waiting = self.spreader.findings.observed, tuple(waiting)
        return outcome

    def _spread(self, item: Any, position: Position, counts: Counts, check_big_ints: bool) -> Became:
        became = self.spreader.spread(item, position, check_big_ints)
        if became != "waits":
            counts.read += 1
            counts.loaded += became == "loaded"
            counts.dropped += became == "dropped"
        return became

    def _keep_replaced_values(self, done: Sequence[tuple[int, bytes, Any]]) -> None:
        """Discard what a later value of the same key of the same object replaced."""
        lines = [line for _, line, _ in done]
        if not may_repeat(lines, _keys_of([item for _, _, item in done], lines)):
            return
        for at, line, item in done:
            for key, value in replaced_values(line, _keys_of(item, (line,))):
                text = value if isinstance(value, str) else to_json(value)
                self.spreader.findings.discards.append(Discard("", "", key, text, at, DUPLICATE_KEY))


def _keys_of(value: Any, lines: Sequence[bytes]) -> int:
    """How many keys the records of these lines hold, counted as `may_repeat` counts those of the lines."""
    if any(_QUOTE in line for line in lines):
        return -1
    try:
        return orjson.dumps(value).count(b'":')
    except TypeError:  # an integer of more than 64 bits
        return -1

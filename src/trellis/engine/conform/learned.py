"""A block of records -> batches of every table: the fast path where it holds, else the exact one."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from trellis.engine.columnar.lines import Layout, NotClean, layout_of
from trellis.engine.columnar.typed.batch import TypedBatch
from trellis.engine.exact.slots import TableWalk
from trellis.engine.exact.walker import Walker
from trellis.engine.input.blocks import Block, Split
from trellis.engine.input.lines import BadLine, duplicates, has_long_number, may_repeat, record
from trellis.engine.input.parquet import RowBatch, rows_of
from trellis.engine.plan import Counts, Discard, Plan, Reject
from trellis.engine.staging.batches import Keyring, TableBatch, batch_of_rows
from trellis.evolution.observe import Observations, Position

_DEEP = 12_000
_QUOTE = rb"\u0022"


@dataclass
class Conformed:
    """One block's outcome. With `observed`, the schema has no place for some of it.

    Then the lines numbered in `waiting` do not count yet; if it is None, nothing of the block does.
    """

    counts: Counts = field(default_factory=Counts)
    batches: list[TableBatch] = field(default_factory=list)
    discards: list[Discard] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    observed: Observations | None = None
    waiting: tuple[int, ...] | None = None


class Conformer:
    """Keeps what it learned of the records from block to block.

    `times` is how many times as large as usual its blocks are to be. `takes_columns`: rows that have types go
    into their table column by column.
    """

    times = 1
    learns = True
    takes_columns = True

    def __init__(self, plan: Plan, fast: bool = True) -> None:
        self.plan = plan
        self.walker = Walker(plan)
        self.fast = fast
        self.layout: Layout | None = None
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEEP))

    def block(self, split: Split, block: Block, only: Sequence[int] | None = None) -> Conformed:
        """Conform the lines of a block, or `only` those of these numbers. Raises ContractError."""
        seed = self._seed(self._file(split.file), split.number, block.offset)
        if self.layout is not None:
            try:
                records = self.layout.read(block.data)
                made = Conformed(batches=self.layout.spread(records, block.data, self._keyring(seed)))
                made.counts = Counts(records.num_rows, records.num_rows)
                return made
            except NotClean:
                self.layout = None
        made = self._exact_lines(split, block, seed)
        if self.fast and made.observed is None:
            self.layout = layout_of(self.walker.tables.root(self.plan.table))
        return made

    def batch(self, split: Split, rows: RowBatch, only: Sequence[int] | None = None) -> Conformed:
        """Conform rows that have types already: by columns, and one by one where that is not enough."""
        if not self.takes_columns:
            return self.items(rows_of(rows.batch), split.file, split.number, rows.first, split.path, only)
        walker = self.walker
        walker.start()
        walker.findings.file = split.path
        place = (self._file(split.file), split.number, rows.first)
        typed = TypedBatch(self.plan, walker, rows.batch, place, rows.cut)
        seen = Observations() if typed.exact else typed.observed()
        if seen:
            if typed.nests:
                self._one_by_one(typed.items(), place, Counts())
                seen.merge(typed.without_columns(walker.findings.observed))
            return Conformed(observed=seen)
        if not typed.exact:
            typed.fit()
        if typed.wider:
            return Conformed(observed=typed.wider)
        if typed.placed and not typed.exact:
            return Conformed(typed.counts, typed.rows(self._keyring(self._seed(*place))), typed.discards)
        counts = Counts()
        loaded = self._one_by_one(typed.items(), place, counts)
        made = self._finish(counts, [], self._seed(*place))
        if made.observed is None:
            typed.put_into(made.batches, loaded)
        return made

    def _one_by_one(self, items: Sequence[Any], place: Position, counts: Counts) -> list[bool]:
        """Walk records that begin at a place; whether each of them is loaded."""
        *before, first = place
        return [self._record(item, (*before, at), counts) for at, item in enumerate(items, first)]

    def items(
        self,
        items: Sequence[Any],
        file: int,
        number: int,
        first: int,
        name: str,
        only: Sequence[int] | None = None,
    ) -> Conformed:
        """Conform records that are Python values already. `first` counts the records before them."""
        self.walker.start()
        self.walker.findings.file = name
        counts = Counts()
        for at, item in enumerate(items, first):
            self._record(item, (self._file(file), number, at), counts)
        return self._finish(counts, [], self._seed(self._file(file), number, first))

    def _exact_lines(self, split: Split, block: Block, seed: bytes) -> Conformed:
        walker = self.walker
        walker.start()
        walker.findings.file = split.path
        counts, rejects = Counts(), []
        wary = has_long_number(block.data)
        for at, line in enumerate(block.lines, block.line):
            if not line or line.isspace():
                continue
            try:
                item = record(line, wary)
            except BadLine as bad:
                counts.read += 1
                counts.rejected += 1
                rejects.append(Reject(at, line, str(bad)))
                continue
            before = walker.keys
            if self._record(item, (self._file(split.file), split.number, at), counts):
                self._doubled(line, walker.keys - before, at)
        return self._finish(counts, rejects, seed)

    def _record(self, item: Any, position: Position, counts: Counts) -> bool:
        walker = self.walker
        loaded = walker.record(walker.tables.root(self.plan.table), item, position)
        counts.read += 1
        counts.loaded += loaded
        counts.dropped += not loaded
        return loaded

    def _doubled(self, line: bytes, keys: int, at: int) -> None:
        """JSON lets a key stand twice in one object; the last value counts, the others are discarded."""
        if not may_repeat((line,), keys):
            return
        for key, value in duplicates(line):
            if value is not None:
                self.walker.duplicate(self.plan.table, key, value, at)

    def _finish(self, counts: Counts, rejects: list[Reject], seed: bytes) -> Conformed:
        observed = self.walker.findings.observed
        if observed:
            return Conformed(observed=observed)
        return self._made(counts, rejects, seed)

    def untyped(self) -> set[tuple[str, str]]:
        """As `Tables.untyped`."""
        return self.walker.tables.untyped()

    def shared(self) -> dict[str, set[str]]:
        """As `Walker.shared`."""
        return self.walker.shared()

    @property
    def oddities(self) -> Counter[str]:
        """What is no fault, and how often."""
        return self.walker.oddities

    def rest(self) -> list[TableBatch]:
        """Rows of earlier blocks that were held back until there are more of them."""
        return []

    def _made(self, counts: Counts, rejects: list[Reject], seed: bytes) -> Conformed:
        findings = self.walker.findings
        self.walker.oddities.update(findings.losses)
        return Conformed(counts, self._batches(seed), findings.discards, rejects, findings.refusals)

    def _batches(self, seed: bytes) -> list[TableBatch]:
        keyring = self._keyring(seed)
        walks = _parents_first(self.walker.tables.by_place.values())
        made = [batch_of_rows(walk, keyring) for walk in walks if walk.rows]
        self.walker.oddities.update(keyring.oddities)
        return made

    def _keyring(self, seed: bytes) -> Keyring:
        return Keyring(self.plan.dialect, self.plan.schema, self.plan.load_id, seed, self.plan.now)

    def _file(self, number: int) -> int:
        """The number of a file among all of the load."""
        return self.plan.first_file + number

    def _seed(self, *place: int) -> bytes:
        return "/".join((self.plan.load_id, *map(str, place))).encode()


def _parents_first(walks: Iterable[TableWalk]) -> list[TableWalk]:
    def depth(walk: TableWalk) -> int:
        count = 0
        while walk.parent is not None:
            walk, count = walk.parent, count + 1
        return count

    return sorted(walks, key=depth)

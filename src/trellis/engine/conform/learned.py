"""A block of records -> batches of every table: by columns what goes that way, the other lines one by one."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa

from trellis.engine.columnar.layout import Layout, layout_of
from trellis.engine.columnar.rows import spread
from trellis.engine.columnar.strict import FEW, FastPathMiss, Indexes, StrictReader
from trellis.engine.columnar.typed.batch import TypedBatch
from trellis.engine.conform.outcome import Conformed, parse_records
from trellis.engine.exact.slots import TableBuilder
from trellis.engine.exact.walker import Flattener
from trellis.engine.input.blocks import Block, Split
from trellis.engine.input.lines import BadLine, has_long_number, record, replaced_values
from trellis.engine.input.parquet import RowBatch, rows_of
from trellis.engine.plan import Counts, Plan
from trellis.engine.staging.batches import RowIdGenerator, TableBatch, batch_of_rows, in_order_of_input
from trellis.errors import ContractError
from trellis.evolution.observe import Observations, Position

_DEEP: Final = 12_000
PROBE: Final = 256
"""Lines that are walked to learn what the others look like."""
EXAMPLES: Final = 200
"""Lines with something new that a task gives back, so that the next pass knows what to expect."""
EXAMPLE_BYTES: Final = 1 << 18


@dataclass
class _BlockWork:
    """The lines of a block, their numbers in the split, and what became of them so far.

    `first` is the number of the first line of the whole block, `waiting` the numbers of lines with news.
    """

    split: Split
    lines: pa.BinaryArray
    numbers: Indexes
    first: int
    seed: bytes
    outcome: Conformed = field(default_factory=Conformed)
    waiting: list[int] = field(default_factory=list)


class LearnedConformer:
    """Keeps what it learned of the records from block to block.

    `times` is how many times as large as usual its blocks are to be. `takes_columns`: rows that have types go
    into their table column by column. `examples` are lines that show what the schema had no place for.
    """

    times = 1
    learns = True
    takes_columns = True

    def __init__(self, plan: Plan, fast: bool = True) -> None:
        self.plan = plan
        self.flattener = Flattener(plan)
        self.fast = fast
        self.layout: Layout | None = None
        self.reader: StrictReader | None = None
        self.layout_revision = 0
        self.has_seen_sample = False
        self.examples: list[bytes] = []
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEEP))

    def block(self, split: Split, block: Block, only: Sequence[int] | None = None) -> Conformed:
        """Conform the lines of a block, or `only` those of these numbers. Raises ContractError.

        Lines with something that the schema has no place for wait; the others are conformed.
        """
        if self.fast and not self.has_seen_sample:
            self._learn_from(self.plan.sample)
        flattener = self.flattener
        flattener.start()
        flattener.findings.file = split.path
        seed = self._seed(self._file(split.file), split.number, block.offset)
        lines = block.line_array
        numbers = np.array(block.numbers or range(block.line, block.line + len(lines)), np.int64)
        if only is not None:
            chosen = np.isin(numbers, np.array(only, np.int64))
            lines, numbers = lines.filter(pa.array(chosen)), numbers[chosen]
        work = _BlockWork(split, lines, numbers, block.line, seed)
        todo: Indexes = np.arange(len(lines))
        while self.fast and len(todo):
            if self.reader is None:
                self._one_by_one(work, todo[:PROBE])
                todo = todo[PROBE:]
                if not self._learn():
                    break
                continue
            read = self.reader.read(lines, todo)
            misfits = self._by_columns(work, read.records, read.lines)
            self._one_by_one(work, np.union1d(read.misfits, misfits))
            todo = read.unread
            if len(todo):
                self._one_by_one(work, todo[:FEW])
                todo = todo[FEW:]
            if not self._learn():
                break
        self._one_by_one(work, todo)
        if self.fast:
            self._learn()
        return self._conformed(work)

    def _by_columns(self, work: _BlockWork, records: pa.Table, indexes: Indexes) -> Indexes:
        """Take the records of the lines with these indexes; the indexes of those that do not go this way."""
        assert self.layout is not None
        if not len(indexes):
            return indexes
        numbers, id_generator = work.numbers[indexes], self._id_generator(work.seed, work.first)
        try:
            items = self._items(work.lines, indexes)
            batches, misses = spread(self.layout, records, numbers, id_generator, items)
        except FastPathMiss:
            if len(indexes) <= FEW:
                return indexes
            half = len(indexes) // 2
            parts = (records.slice(0, half), indexes[:half]), (records.slice(half), indexes[half:])
            return np.concatenate([self._by_columns(work, *part) for part in parts])
        work.outcome.batches += batches
        loaded = len(indexes) - len(misses)
        work.outcome.counts.add(Counts(loaded, loaded))
        return indexes[misses]

    def _items(self, lines: pa.BinaryArray, indexes: Indexes) -> list[Any]:
        """The records as they came, where their ids are hashes of them. Raises FastPathMiss."""
        assert self.layout is not None
        if not self.layout.root.keys.of_item:
            return []
        try:
            return [orjson.loads(line) for line in lines.take(pa.array(indexes)).to_pylist()]
        except orjson.JSONDecodeError:
            raise FastPathMiss from None

    def _learn_from(self, sample: Sequence[bytes]) -> None:
        """Walk records only to see what they look like."""
        self.has_seen_sample = True
        flattener = self.flattener
        flattener.start()
        root = flattener.tables.root(self.plan.table)
        for line in sample:
            with suppress(BadLine, ContractError):
                flattener.record(root, record(line), (0, 0, 0))
        flattener.oddities.clear()
        flattener.start()
        self._learn()

    def _learn(self) -> bool:
        """Make the layout anew if more is known of the records than it was made of; whether it was made."""
        known = self.flattener.tables.revision
        if known == self.layout_revision or not self.fast:
            return False
        self.layout_revision = known
        layout = self.layout = layout_of(self.flattener.tables.root(self.plan.table))
        self.reader = None if layout is None else StrictReader(layout.schema, layout.misfits)
        return layout is not None

    def batch(self, split: Split, rows: RowBatch, only: Sequence[int] | None = None) -> Conformed:
        """Conform rows that have types already: by columns, and one by one where that is not enough."""
        if not self.takes_columns:
            return self.items(rows_of(rows.batch), split.file, split.number, rows.first, split.path, only)
        flattener = self.flattener
        flattener.start()
        flattener.findings.file = split.path
        place = (self._file(split.file), split.number, rows.first)
        typed = TypedBatch(self.plan, flattener, rows.batch, place, rows.cut)
        seen = Observations() if typed.exact else typed.observed()
        if seen:
            if typed.nests:
                self._records(typed.items(), place, Counts())
                seen.merge(typed.without_columns(flattener.findings.observed))
            return Conformed(observed=seen)
        if not typed.exact:
            typed.fit()
        if typed.wider:
            return Conformed(observed=typed.wider)
        if typed.placed and not typed.exact:
            return Conformed(typed.counts, typed.rows(self._id_generator(self._seed(*place))), typed.discards)
        counts = Counts()
        loaded = self._records(typed.items(), place, counts)
        made = self._finish(counts, self._seed(*place), rows.first)
        if made.observed is None:
            typed.put_into(made.batches, loaded)
        return made

    def _records(self, items: Sequence[Any], place: Position, counts: Counts) -> list[bool]:
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
        self.flattener.start()
        self.flattener.findings.file = name
        counts = Counts()
        for at, item in enumerate(items, first):
            self._record(item, (self._file(file), number, at), counts)
        return self._finish(counts, self._seed(self._file(file), number, first), first)

    def _one_by_one(self, work: _BlockWork, chosen: Indexes) -> None:
        """Walk the records of the lines with these indexes."""
        if not len(chosen):
            return
        findings, counts, lines = self.flattener.findings, work.outcome.counts, work.lines
        texts = lines.to_pylist() if len(chosen) == len(lines) else lines.take(pa.array(chosen)).to_pylist()
        numbered = zip(work.numbers[chosen].tolist(), (text[:-1] for text in texts), strict=True)
        big = has_long_number(b"".join(texts))
        for at, line, item in parse_records(numbered, big, work.outcome):
            keys, news = self.flattener.keys, findings.news
            discards, losses = len(findings.discards), len(findings.losses)
            loaded = self._record(item, (self._file(work.split.file), work.split.number, at), counts)
            if findings.news > news:
                work.waiting.append(at)
                self._take_back(at, loaded, counts)
                del findings.discards[discards:], findings.losses[losses:]
                if len(self.examples) < EXAMPLES and len(line) < EXAMPLE_BYTES:
                    self.examples.append(line)
            elif loaded:
                for key, value in replaced_values(line, self.flattener.keys - keys):
                    self.flattener.duplicate(self.plan.table, key, value, at)

    def _conformed(self, work: _BlockWork) -> Conformed:
        """What the block became, rows in the order of the input."""
        outcome = self._closed(work.outcome, work.seed, work.first)
        outcome.batches = in_order_of_input(outcome.batches)
        if self.flattener.findings.observed:
            outcome.observed, outcome.waiting = self.flattener.findings.observed, tuple(sorted(work.waiting))
        return outcome

    def _take_back(self, at: int, loaded: bool, counts: Counts) -> None:
        self.flattener.remove_record(at)
        counts.read -= 1
        counts.loaded -= loaded
        counts.dropped -= not loaded

    def _record(self, item: Any, position: Position, counts: Counts) -> bool:
        flattener = self.flattener
        loaded = flattener.record(flattener.tables.root(self.plan.table), item, position)
        counts.read += 1
        counts.loaded += loaded
        counts.dropped += not loaded
        return loaded

    def _finish(self, counts: Counts, seed: bytes, first: int) -> Conformed:
        observed = self.flattener.findings.observed
        if observed:
            return Conformed(observed=observed)
        return self._closed(Conformed(counts), seed, first)

    def untyped(self) -> set[tuple[str, str]]:
        """As `TableBuilders.untyped`."""
        return self.flattener.tables.untyped()

    def shared(self) -> dict[str, set[str]]:
        """As `Flattener.shared`."""
        return self.flattener.shared()

    @property
    def oddities(self) -> Counter[str]:
        """What is no fault, and how often."""
        return self.flattener.oddities

    def rest(self) -> list[TableBatch]:
        """Rows of earlier blocks that were held back until there are more of them."""
        return []

    def _closed(self, outcome: Conformed, seed: bytes, first: int) -> Conformed:
        """The outcome of a block with what the flattener holds of it."""
        findings = self.flattener.findings
        self.flattener.oddities.update(findings.losses)
        outcome.batches += self._batches(seed, first)
        outcome.discards += sorted(findings.discards, key=lambda discard: discard.line)
        outcome.rejects.sort(key=lambda reject: reject.line)
        outcome.refusals.update(findings.refusals)
        return outcome

    def _batches(self, seed: bytes, first: int) -> list[TableBatch]:
        id_generator = self._id_generator(seed, first)
        builders = _parents_first(self.flattener.tables.by_place.values())
        made = [batch_of_rows(builder, id_generator) for builder in builders if builder.rows]
        self.flattener.oddities.update(id_generator.oddities)
        return made

    def _id_generator(self, seed: bytes, first: int = 0) -> RowIdGenerator:
        plan = self.plan
        return RowIdGenerator(plan.dialect, plan.schema, plan.load_id, seed, plan.now, first)

    def _file(self, number: int) -> int:
        """The number of a file among all of the load."""
        return self.plan.first_file + number

    def _seed(self, *place: int) -> bytes:
        return "/".join((self.plan.load_id, *map(str, place))).encode()


def _parents_first(builders: Iterable[TableBuilder]) -> list[TableBuilder]:
    def depth(builder: TableBuilder) -> int:
        count = 0
        while builder.parent is not None:
            builder, count = builder.parent, count + 1
        return count

    return sorted(builders, key=depth)

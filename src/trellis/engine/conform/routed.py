"""A block of records that name their tables -> batches of these tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from trellis.engine.columnar.entity_lines.batcher import LineBatcher, PlacedLines
from trellis.engine.columnar.event_batcher import EventTypeBatcher
from trellis.engine.columnar.event_sources import EventLines, EventRows, Events, can_take
from trellis.engine.columnar.strict import Indexes
from trellis.engine.conform.block_work import BlockWork
from trellis.engine.conform.learned import LearnedConformer
from trellis.engine.conform.outcome import Conformed, parse_records
from trellis.engine.exact.routed_rows import Became, RoutedFlattener
from trellis.engine.input.blocks import SAMPLE_LINES, Block, Split
from trellis.engine.input.lines import (
    SAFE,
    BadLine,
    may_repeat,
    record,
    replaced_values,
)
from trellis.engine.input.parquet import RowBatch, rows_of
from trellis.engine.plan import Counts, Discard, Plan
from trellis.engine.staging.batches import TableBatch
from trellis.engine.text import to_json
from trellis.errors import ContractError
from trellis.evolution.observe import Position
from trellis.evolution.record_outcome import DUPLICATE_KEY, Rejected
from trellis.schema.value_rules import has_rules

RECORDS_PER_CHECK = 2_000
"""Records whose keys are counted together to find duplicate keys."""
LEARNED_LINES = 512
"""Lines of the first block that show which keys records have."""
BUFFERED_ROWS = 30_000
"""Rows of all tables collected before they become arrays: a block has few rows of each table."""

_QUOTE = rb"\u0022"


class RoutedConformer(LearnedConformer):
    """Routes records to their tables; only a record with something new waits.

    Ordinary records of one event type are projected together, column by column, once the first block has
    shown what they look like. A block has few records of each event type, so blocks are larger here.
    """

    times = 3
    peeks_by_columns = False

    def __init__(self, plan: Plan, router: RoutedFlattener, columnar: bool = True) -> None:
        super().__init__(plan, columnar and router.read_line is None)
        self.flattener = self.router = router
        self.batcher: EventTypeBatcher | None = None
        self.has_rules = has_rules(plan.schema)
        counts_tables = self.has_rules or plan.dialect.capabilities.tables_fail_alone
        self.line_batcher: LineBatcher | None = None
        if columnar and router.lines is not None and not counts_tables:
            self.line_batcher = LineBatcher(router.lines, router.tables)

    def block(self, split: Split, block: Block, only: Sequence[int] | None = None) -> Conformed:
        if self.columnar and self.batcher is None:
            self._learn_from(self._records([*self.plan.sample, *_spread_lines(block)]))
        self.router.start_block()
        self.router.findings.file = split.path
        work = BlockWork.of(
            split, block, self._seed(self._file(split.file), split.number, block.offset), only
        )
        pending: Indexes = np.arange(len(work.lines))
        if self.line_batcher is not None:
            self._conform_by_columns(self.line_batcher, work)
            return self._with_waiting(work.outcome, sorted(work.waiting), work.seed)
        have_big_ints = work.have_long_number(SAFE)
        if self.batcher is not None:
            ordinary = pending[~have_big_ints]
            lines = EventLines(work.lines)
            remaining = self._project(lines, ordinary, work.numbers, work.outcome, work.seed)
            self._keep_telling(work, np.concatenate(self.batcher.telling))
            pending = np.union1d(pending[have_big_ints], remaining)
        self._route_lines(work, pending, {*work.numbers[have_big_ints].tolist()})
        return self._with_waiting(work.outcome, work.waiting, work.seed)

    def batch(self, split: Split, rows: RowBatch, only: Sequence[int] | None = None) -> Conformed:
        """Conform typed rows: by event type, and one by one where that is not enough."""
        if self.columnar and self.batcher is None:
            self._learn_from(rows_of(rows.batch.slice(0, SAMPLE_LINES)))
        place = self._file(split.file), split.number, rows.first
        self.router.start_block()
        self.router.findings.file = split.path
        outcome, pending = Conformed(), np.arange(rows.batch.num_rows)
        if only is not None:
            pending = pending[np.isin(pending + rows.first, np.array(only, np.int64))]
        if can_take(rows.batch):
            if self.batcher is not None:
                numbers, seed = np.arange(rows.batch.num_rows) + rows.first, self._seed(*place)
                pending = self._project(EventRows(rows.batch), pending, numbers, outcome, seed)
            items = rows_of(rows.batch.take(pa.array(pending)))
        else:
            every_item = rows_of(rows.batch)
            items = [every_item[row] for row in pending.tolist()]
        numbered_items = zip((pending + rows.first).tolist(), items, strict=True)
        waiting = self._route_items(numbered_items, place, outcome)
        return self._with_waiting(outcome, waiting, self._seed(*place))

    def _route_lines(self, work: BlockWork, indexes: Indexes, with_big_ints: Set[int]) -> None:
        """Route the records of the lines with these indexes, one by one."""
        routed: list[tuple[int, bytes, Any]] = []
        for number, line, item in self._read_records(work, indexes, bool(with_big_ints)):
            if len(routed) >= RECORDS_PER_CHECK:
                self._keep_replaced_values(routed)
                routed.clear()
            position = (self._file(work.split.file), work.split.number, number)
            try:
                result = self._route(item, position, work.outcome, number in with_big_ints)
            except Rejected as bad:
                work.outcome.reject(number, line, str(bad), bad.kind)
                continue
            if result == "waits":
                work.waiting.append(number)
            else:
                routed.append((number, line, item))
        self._keep_replaced_values(routed)

    def _read_records(
        self, work: BlockWork, indexes: Indexes, has_big_ints: bool
    ) -> Iterator[tuple[int, bytes, Any]]:
        """The records of the lines with these indexes; a line that is no record is rejected."""
        lines, read_line = work.numbered_lines(indexes), self.router.read_line
        if read_line is None:
            yield from parse_records(lines, has_big_ints, work.outcome)
            return
        for number, line in lines:
            if not line or line.isspace():
                continue
            try:
                item = read_line(line)
            except Rejected as bad:
                work.outcome.reject(number, line, str(bad), bad.kind)
            else:
                yield number, line, item

    def _records(self, lines: Sequence[bytes]) -> Iterator[dict[str, Any]]:
        for line in lines:
            with suppress(BadLine):
                yield record(line)

    def _learn_from(self, sample: Iterable[Any]) -> None:
        """Route sample records only to learn what they look like."""
        router = self.router
        for item in sample:
            with suppress(Rejected, ContractError):
                router.spread(item, (0, 0, 0), True)
        router.forget()
        router.warnings.clear()
        router.start_block()
        self.batcher = EventTypeBatcher(router)

    def _project(
        self, events: Events, indexes: Indexes, numbers: Indexes, outcome: Conformed, seed: bytes
    ) -> Indexes:
        """Project ordinary records by event type; the indexes that are left for the exact path.

        `numbers` are those of all records.
        """
        assert self.batcher is not None
        batches, remaining, by_tables = self.batcher.rows(events, indexes, self._id_generator(seed))
        for batch in batches:
            batch.origins = numbers[batch.origins]
        outcome.batches += batches
        outcome.by_tables.update(by_tables)
        outcome.counts.add(Counts(by_tables.total(), by_tables.total()))
        return remaining

    def _conform_by_columns(self, batcher: LineBatcher, work: BlockWork) -> None:
        """Build the rows of ordinary lines by columns; the others take the exact path."""
        place = "/".join(map(str, (self.plan.load_id, self._file(work.split.file), work.split.number, "")))
        placed = PlacedLines(work.lines, work.numbers, place)
        built = batcher.build_batches(placed, np.arange(len(work.lines)), self._id_generator(work.seed))
        for batch in built.batches:
            assert batch.origins is not None
            batch.origins = work.numbers[batch.origins]
        work.outcome.batches += built.batches
        loaded = len(work.lines) - len(built.remaining)
        work.outcome.counts.add(Counts(loaded, loaded))
        remaining = built.remaining
        if built.unknown:
            remaining = self._postpone(work, remaining, built.unknown)
        self._route_lines(work, remaining, {*work.numbers[remaining].tolist()})

    def _postpone(self, work: BlockWork, remaining: Indexes, unknown: Mapping[str, Indexes]) -> Indexes:
        """Let lines wait that need nothing but schemas which are not known; those that are left of the
        remaining ones.

        The first line of each schema is routed: if it waits for the schema, so do all that have one.
        """
        firsts = np.array(sorted({int(indexes[0]) for indexes in unknown.values() if len(indexes)}), np.int64)
        self._route_lines(work, firsts, {*work.numbers[firsts].tolist()})
        referred = self.router.findings.observed.references
        others = [indexes for reference, indexes in unknown.items() if reference not in referred]
        waiting = np.setdiff1d(np.concatenate([*unknown.values()]), np.concatenate([firsts, *others]))
        work.waiting += work.numbers[waiting].tolist()
        return np.setdiff1d(remaining, np.concatenate([firsts, waiting]))

    def flush_rows(self) -> list[TableBatch]:
        batches = super()._batches(b"", 0)
        self.router.forget()
        return batches

    def _batches(self, seed: bytes, first: int) -> list[TableBatch]:
        buffered = sum(len(builder.rows) for builder in self.router.tables.by_place.values())
        return self.flush_rows() if buffered >= BUFFERED_ROWS or self.has_rules else []

    def items(
        self, split: Split, first: int, items: Sequence[Any], only: Sequence[int] | None = None
    ) -> Conformed:
        self.router.start_block()
        self.router.findings.file = split.path
        outcome, selected = Conformed(), None if only is None else {*only}
        numbered_items = (
            (line, item) for line, item in enumerate(items, first) if selected is None or line in selected
        )
        place = self._file(split.file), split.number, first
        waiting = self._route_items(numbered_items, place, outcome)
        return self._with_waiting(outcome, waiting, self._seed(*place))

    def _route_items(
        self, items: Iterable[tuple[int, Any]], place: Position, outcome: Conformed
    ) -> list[int]:
        """Route records that are Python values, each with its number; the numbers of those that wait."""
        waiting = list[int]()
        *split, _ = place
        for line, item in items:
            try:
                if self._route(item, (*split, line), outcome, check_big_ints=True) == "waits":
                    waiting.append(line)
            except Rejected as bad:
                outcome.reject(line, to_json(item).encode("utf-8", "backslashreplace"), str(bad))
        return waiting

    def _with_waiting(self, outcome: Conformed, waiting: Sequence[int], seed: bytes) -> Conformed:
        self._complete(outcome, seed, 0)
        if waiting:
            outcome.observed, outcome.waiting = self.router.findings.observed, tuple(waiting)
        return outcome

    def _route(self, item: Any, position: Position, outcome: Conformed, check_big_ints: bool) -> Became:
        result, counts = self.router.spread(item, position, check_big_ints), outcome.counts
        if result == "loaded":
            outcome.by_tables[tuple([builder.name for builder in self.router.placed])] += 1
        if result != "waits":
            counts.read += 1
            counts.loaded += result == "loaded"
            counts.dropped += result == "dropped"
        return result

    def _keep_replaced_values(self, routed: Sequence[tuple[int, bytes, Any]]) -> None:
        """Discard values that a later value of the same key in the same object replaced."""
        if self.router.read_line is not None:
            return
        lines = [line for _, line, _ in routed]
        if not may_repeat(lines, _count_keys([item for _, _, item in routed], lines)):
            return
        for number, line, item in routed:
            for key, value in replaced_values(line, _count_keys(item, (line,))):
                text = value if isinstance(value, str) else to_json(value)
                self.router.findings.discards.append(Discard("", "", key, text, number, DUPLICATE_KEY))


def _spread_lines(block: Block) -> list[bytes]:
    """Lines from all parts of a block: the first ones have few of many event types."""
    lines: list[bytes] = block.line_array[:: max(len(block.line_array) // LEARNED_LINES, 1)].to_pylist()
    return lines


def _count_keys(value: Any, lines: Sequence[bytes]) -> int:
    """The number of keys in the records of these lines, counted as `may_repeat` counts them in the text."""
    if any(_QUOTE in line for line in lines):
        return -1
    try:
        return orjson.dumps(value).count(b'":')
    except TypeError:  # an integer of more than 64 bits
        return -1

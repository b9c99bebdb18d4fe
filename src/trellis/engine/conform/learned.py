"""A block of records -> batches of every table: column by column where possible, other lines one by one."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa

from trellis.engine.columnar.layout import Layout, layout_of
from trellis.engine.columnar.new_keys import NewKeyReader
from trellis.engine.columnar.parts import build_in_parts
from trellis.engine.columnar.rows import build_batches
from trellis.engine.columnar.strict import MIN_SPLIT, FastPathMiss, Indexes, StrictReader
from trellis.engine.columnar.typed.batch import TypedBatch
from trellis.engine.conform.block_work import BlockWork
from trellis.engine.conform.outcome import Conformed, parse_records
from trellis.engine.exact.slots import TableBuilder
from trellis.engine.exact.walker import Flattener
from trellis.engine.input.blocks import Block, Split
from trellis.engine.input.lines import BadLine, has_long_number, record, replaced_values
from trellis.engine.input.parquet import RowBatch, rows_of
from trellis.engine.input.python_values import plain_record
from trellis.engine.plan import Counts, Peek, Plan
from trellis.engine.staging.batches import RowIdGenerator, TableBatch, batch_of_rows, in_order_of_input
from trellis.errors import ContractError
from trellis.evolution.contract import ContractViolation
from trellis.evolution.observe import Observations, Position

_RECURSION_LIMIT: Final = 12_000
PROBE: Final = 256
"""Lines that are flattened first to learn what the others look like."""
EXAMPLES: Final = 200
"""Lines with something new, and lines that made a read fail, that a task keeps for those after it."""
EXAMPLE_BYTES: Final = 1 << 18


class LearnedConformer:
    """Learns what the records look like and keeps that from block to block.

    `times` is how many times as large as usual its blocks are. `takes_columns`: typed rows go into their
    table column by column. `examples` are lines that hold what the schema had no place for, `telling` those
    that made a read of many fail. `peeks_by_columns`: the head of a block is enough for that.
    """

    times = 1
    learns = True
    peeks_by_columns = True
    takes_columns = True

    def __init__(self, plan: Plan, columnar: bool = True) -> None:
        self.plan = plan
        self.flattener = Flattener(plan)
        self.columnar = columnar
        self.layout: Layout | None = None
        self.reader: StrictReader | None = None
        self.new_keys: NewKeyReader | None = None
        self.layout_revision = 0
        self.has_seen_sample = False
        self.examples: list[bytes] = []
        self.telling: list[bytes] = []
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION_LIMIT))

    def peek(self, split: Split, block: Block) -> Peek:
        """Conform a block; the sample are its first lines, and those that these had not prepared for."""
        self.columnar = self.peeks_by_columns
        observed = self.block(split, block).observed or Observations()
        return Peek(observed, tuple(dict.fromkeys((*block.sample(), *self.telling))))

    def block(self, split: Split, block: Block, only: Sequence[int] | None = None) -> Conformed:
        """Conform the lines of a block, or `only` those of these numbers. Raises ContractError.

        Lines with something that the schema has no place for wait; the others are conformed.
        """
        if self.columnar and not self.has_seen_sample:
            self._learn_from(self.plan.sample)
        flattener = self.flattener
        flattener.start_block()
        flattener.findings.file = split.path
        work = BlockWork.of(
            split, block, self._seed(self._file(split.file), split.number, block.offset), only
        )
        pending: Indexes = np.arange(len(work.lines))
        while self.columnar and len(pending):
            if self.reader is None:
                self._one_by_one(work, pending[:PROBE])
                pending = pending[PROBE:]
                if not self._learn():
                    break
                continue
            read = self.reader.read(work.lines, pending)
            self._keep_telling(work, read.telling)
            misfits = self._by_columns(work, read.records, read.lines)
            self._conform_misfits(work, np.union1d(read.misfits, misfits))
            pending = read.unread
            if len(pending):
                self._one_by_one(work, pending[:MIN_SPLIT])
                pending = pending[MIN_SPLIT:]
            if not self._learn():
                break
        self._conform_misfits(work, pending)
        if self.columnar:
            self._learn()
        return self._conformed(work)

    def _by_columns(self, work: BlockWork, records: pa.Table, indexes: Indexes) -> Indexes:
        """Conform the lines with these indexes by columns; the indexes that are left for the exact path."""
        assert self.layout is not None
        layout = self.layout

        def build(records: pa.Table, indexes: Indexes) -> Indexes:
            id_generator = self._id_generator(work.seed, work.first)
            items = self._parsed_records(work.lines, indexes)
            batches, misses = build_batches(layout, records, work.numbers[indexes], id_generator, items)
            work.outcome.batches += batches
            loaded = len(indexes) - len(misses)
            work.outcome.counts.add(Counts(loaded, loaded))
            return indexes[misses]

        return build_in_parts(build, records, indexes, MIN_SPLIT)

    def _keep_telling(self, work: BlockWork, indexes: Indexes) -> None:
        for text in work.texts(indexes):
            if len(self.telling) < EXAMPLES and len(text) < EXAMPLE_BYTES:
                self.telling.append(text[:-1])

    def _parsed_records(self, lines: pa.BinaryArray, indexes: Indexes) -> list[Any]:
        """The parsed records, where row ids are hashes of whole records. Raises FastPathMiss."""
        assert self.layout is not None
        if not self.layout.root.keys.of_item:
            return []
        try:
            return [orjson.loads(line) for line in lines.take(pa.array(indexes)).to_pylist()]
        except orjson.JSONDecodeError:
            raise FastPathMiss from None

    def _learn_from(self, sample: Sequence[bytes]) -> None:
        """Flatten sample records only to learn what they look like."""
        self.has_seen_sample = True
        flattener = self.flattener
        flattener.start_block()
        root = flattener.tables.root_builder(self.plan.table)
        for line in sample:
            with suppress(BadLine, ContractError):
                flattener.flatten_record(root, record(line), (0, 0, 0))
        flattener.warnings.clear()
        flattener.start_block()
        self._learn()

    def _learn(self) -> bool:
        """Rebuild the layout if more is known of the records by now; whether there is a new one."""
        revision = self.flattener.tables.revision
        if revision == self.layout_revision or not self.columnar:
            return False
        self.layout_revision = revision
        layout = self.layout = layout_of(self.flattener.tables.root_builder(self.plan.table))
        self.reader = None if layout is None else StrictReader(layout.schema, layout.misfits)
        self.new_keys = None if layout is None else NewKeyReader.of(layout, self.flattener.cells.detect)
        return layout is not None

    def batch(self, split: Split, rows: RowBatch, only: Sequence[int] | None = None) -> Conformed:
        """Conform typed rows: by columns, and one by one where that is not enough."""
        if not self.takes_columns:
            return self.items(split, rows.first, rows_of(rows.batch), only)
        flattener = self.flattener
        flattener.start_block()
        flattener.findings.file = split.path
        place = (self._file(split.file), split.number, rows.first)
        typed = TypedBatch(self.plan, flattener, rows.batch, place, rows.cut)
        seen = Observations() if typed.needs_exact_path else typed.observed()
        if seen:
            if typed.has_nested_values:
                self._flatten_records(typed.items(), place, Counts())
                seen.merge(typed.without_columns(flattener.findings.observed))
            return Conformed(observed=seen)
        if not typed.needs_exact_path:
            typed.fit()
        if typed.wider:
            return Conformed(observed=typed.wider)
        if typed.placed and not typed.needs_exact_path:
            return Conformed(typed.counts, typed.rows(self._id_generator(self._seed(*place))), typed.discards)
        counts = Counts()
        loaded = self._flatten_records(typed.items(), place, counts)
        conformed = self._finish(counts, self._seed(*place), rows.first)
        if conformed.observed is None:
            typed.add_columns_to(conformed.batches, loaded)
        return conformed

    def _flatten_records(self, items: Sequence[Any], place: Position, counts: Counts) -> list[bool]:
        """Flatten records from a position on; for each whether it is loaded."""
        *split, first = place
        return [
            self._flatten_record(item, (*split, number), counts) for number, item in enumerate(items, first)
        ]

    def items(
        self, split: Split, first: int, items: Sequence[Any], only: Sequence[int] | None = None
    ) -> Conformed:
        """Conform records that are Python values already. `first` counts the records before them."""
        self.flattener.start_block()
        self.flattener.findings.file = split.path
        counts = Counts()
        for line, item in enumerate(items, first):
            try:
                plain = plain_record(item)
            except ContractError as bad:
                raise ContractError(f"{split.path}, record {line + 1}: {bad}") from None
            self._flatten_record(plain, (self._file(split.file), split.number, line), counts)
        return self._finish(counts, self._seed(self._file(split.file), split.number, first), first)

    def _conform_misfits(self, work: BlockWork, indexes: Indexes) -> None:
        """Conform lines that do not go by columns; those that bring what others brought only wait."""
        if self.new_keys is None or len(indexes) <= MIN_SPLIT:
            self._one_by_one(work, indexes)
            return
        cells = self.new_keys.read(work.lines, indexes)
        alike = np.unique(np.concatenate([*cells.values(), indexes[:0]]))
        firsts = np.unique([chosen.min() for chosen in cells.values()]).astype(np.int64)
        walked = np.union1d(np.setdiff1d(indexes, alike), firsts)
        self._one_by_one(work, walked)
        observed = self.flattener.findings.observed.cells
        refused = [chosen for key, chosen in cells.items() if key not in observed]
        refused_lines = np.setdiff1d(np.concatenate([*refused, indexes[:0]]), walked)
        self._one_by_one(work, refused_lines)
        left = np.setdiff1d(alike, np.union1d(walked, refused_lines))
        for key, chosen in cells.items():
            if key in observed:
                observed[key].count += int(np.isin(chosen, left).sum())
        work.waiting += work.numbers[left].tolist()

    def _one_by_one(self, work: BlockWork, indexes: Indexes) -> None:
        """Flatten the records of the lines with these indexes."""
        if not len(indexes):
            return
        findings, counts = self.flattener.findings, work.outcome.counts
        lines = work.numbered_lines(indexes)
        has_big_ints = has_long_number(b"\n".join([line for _, line in lines]))
        for number, line, item in parse_records(lines, has_big_ints, work.outcome):
            key_count, news_count = self.flattener.key_count, findings.news_count
            discards, losses = len(findings.discards), len(findings.losses)
            loaded = self._flatten_record(
                item, (self._file(work.split.file), work.split.number, number), counts
            )
            if findings.news_count > news_count:
                work.waiting.append(number)
                self._remove_record(number, loaded, counts)
                del findings.discards[discards:], findings.losses[losses:]
                if len(self.examples) < EXAMPLES and len(line) < EXAMPLE_BYTES:
                    self.examples.append(line)
            elif loaded:
                for key, value in replaced_values(line, self.flattener.key_count - key_count):
                    self.flattener.discard_duplicate(self.plan.table, key, value, number)

    def _conformed(self, work: BlockWork) -> Conformed:
        """The outcome of the block, rows in the order of the input."""
        outcome = self._complete(work.outcome, work.seed, work.first)
        outcome.batches = in_order_of_input(outcome.batches)
        if self.flattener.findings.observed:
            outcome.observed, outcome.waiting = self.flattener.findings.observed, tuple(sorted(work.waiting))
        return outcome

    def _remove_record(self, number: int, loaded: bool, counts: Counts) -> None:
        self.flattener.remove_record(number)
        counts.read -= 1
        counts.loaded -= loaded
        counts.dropped -= not loaded

    def _flatten_record(self, item: Any, position: Position, counts: Counts) -> bool:
        flattener, findings = self.flattener, self.flattener.findings
        news_count, missing = findings.news_count, len(findings.missing)
        loaded = flattener.flatten_record(flattener.tables.root_builder(self.plan.table), item, position)
        if findings.news_count > news_count:  # the record waits, and a contract may then drop its row
            del findings.missing[missing:]
        counts.read += 1
        counts.loaded += loaded
        counts.dropped += not loaded
        return loaded

    def _finish(self, counts: Counts, seed: bytes, first: int) -> Conformed:
        observed = self.flattener.findings.observed
        if observed:
            return Conformed(observed=observed, violations=self._violations())
        return self._complete(Conformed(counts), seed, first)

    def untyped_columns(self) -> set[tuple[str, str]]:
        """As `TableBuilders.untyped_columns`."""
        return self.flattener.tables.untyped_columns()

    def shared_names(self) -> dict[str, set[str]]:
        """As `Flattener.shared_names`."""
        return self.flattener.shared_names()

    @property
    def warnings(self) -> Counter[str]:
        """Things worth a note that are no error, and how often they occurred."""
        return self.flattener.warnings

    def flush_rows(self) -> list[TableBatch]:
        """The rows of earlier blocks that were held back to fill larger batches."""
        return []

    def _complete(self, outcome: Conformed, seed: bytes, first: int) -> Conformed:
        """The outcome of a block with the rows and findings of the flattener."""
        findings = self.flattener.findings
        self.flattener.warnings.update(findings.losses)
        outcome.batches += self._batches(seed, first)
        outcome.discards += sorted(findings.discards, key=lambda discard: discard.line)
        outcome.rejects.sort(key=lambda reject: reject.line)
        outcome.refusals.update(findings.refusals)
        outcome.violations = self._violations()
        return outcome

    def _batches(self, seed: bytes, first: int) -> list[TableBatch]:
        id_generator = self._id_generator(seed, first)
        builders = _parents_first(self.flattener.tables.by_place.values())
        batches = [batch_of_rows(builder, id_generator) for builder in builders if builder.rows]
        self.flattener.warnings.update(id_generator.warnings)
        return batches

    def _id_generator(self, seed: bytes, first: int = 0) -> RowIdGenerator:
        plan = self.plan
        return RowIdGenerator(plan.dialect, plan.schema, plan.load_id, seed, plan.now, first)

    def _violations(self) -> list[ContractViolation]:
        return self.flattener.findings.violations(self.plan.schema.name)

    def _file(self, number: int) -> int:
        """The number of a file among all files of the load."""
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

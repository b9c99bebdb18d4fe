"""One task of a load: conforms and stages a split, or the records that had to wait."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Final, NamedTuple

from trellis.engine.conform.choose import Conformer, conformer_of
from trellis.engine.conform.masks import Masks
from trellis.engine.conform.outcome import Conformed
from trellis.engine.conform.value_rules import RuleEnforcer
from trellis.engine.input.blocks import SAMPLE_BYTES, Block, Layout, Split, read_blocks
from trellis.engine.input.parquet import RowBatch, read_batches
from trellis.engine.input.places import Places
from trellis.engine.input.spool import Spooled, spool_lines, spool_rows, spooled_block, spooled_rows
from trellis.engine.plan import BlockRef, Counts, Peek, Plan
from trellis.engine.staging.dead_letters import (
    DISCARDS,
    REJECTS,
    TEXT_LIMIT,
    PlaceOf,
    discard_batch,
    reject_batch,
)
from trellis.engine.staging.stage import Stage, StagedFile
from trellis.engine.storage.storage import Storage
from trellis.errors import TrellisError
from trellis.evolution.contract import ContractViolation, merge_violations
from trellis.evolution.observe import Observations

Progress = Callable[[int], None]
Waiting = BlockRef | Spooled
"""Records that wait for a new schema: where to read them again, or where they were written."""
SPOOLED_LINES: Final = 4_096
"""So many lines of a block of a file are written when they wait; where more do the block is read again."""


@dataclass(frozen=True)
class Task:
    """`blocks` are the blocks to conform by offset, and their lines if not all; None: the whole split."""

    name: str
    split: Split
    blocks: Mapping[int, tuple[int, ...] | None] | None = None


@dataclass
class Outcome:
    """The result of a task: small, whatever the number of rows, as it travels to the driver."""

    task: str
    counts: Counts = field(default_factory=Counts)
    by_tables: Counter[tuple[str, ...]] = field(default_factory=Counter)
    files: list[StagedFile] = field(default_factory=list)
    pending: list[Waiting] = field(default_factory=list)
    observed: Observations = field(default_factory=Observations)
    discards: Counter[str] = field(default_factory=Counter)
    truncated: Counter[str] = field(default_factory=Counter)
    rejects: Counter[str] = field(default_factory=Counter)
    split: tuple[int, int] = (0, 0)
    path: str = ""
    """The file, where a line is told by its number in it."""
    lines: int = 0
    untyped: set[tuple[str, str]] = field(default_factory=set)
    shared: dict[str, set[str]] = field(default_factory=dict)
    warnings: Counter[str] = field(default_factory=Counter)
    examples: list[bytes] = field(default_factory=list)
    error: TrellisError | None = None


def run_task(plan: Plan, task: Task, progress: Progress) -> Outcome:
    """Conform and stage the blocks of a task. A deliberate error becomes part of the outcome."""
    parts = partial(read_parts, plan, task.split)
    return run_parts(plan, task.name, task.split, parts, task.blocks, progress)


def run_parts(
    plan: Plan,
    name: str,
    split: Split,
    parts: Callable[[Conformer], Iterator[Part]],
    selection: Mapping[int, tuple[int, ...] | None] | None,
    progress: Progress,
) -> Outcome:
    """Conform and stage the parts of a split, or only those at the offsets in `selection` and their lines."""
    violations: list[ContractViolation] = []
    outcome = Outcome(name, split=(plan.first_file + split.file, split.number), path=split.path)
    known = _telling_lines(plan.load_id, plan.table, plan.first_file)
    plan = replace(plan, sample=plan.sample + tuple(known))
    try:
        with Stage(plan.staging, f"{name}-{os.urandom(4).hex()}", plan.storage) as stage:
            conformer, rules, masks = conformer_of(plan), RuleEnforcer(plan), Masks(plan)
            for part in parts(conformer):
                if selection is None or part.offset in selection:
                    try:
                        conformed = part.conform(only=selection[part.offset] if selection else None)
                    except ContractViolation as violation:
                        conformed = Conformed()
                        violations.append(violation)
                    rules.enforce(split, conformed, part.record_text)
                    masks.mask_block(conformed)
                    violations += conformed.violations
                    if conformed.observed is not None:
                        outcome.observed.merge(conformed.observed)
                        if conformed.waiting != ():
                            outcome.pending.append(part.wait(conformed.waiting))
                    if conformed.observed is None or conformed.waiting is not None:
                        stage_part(plan, conformed, partial(_place, split, part.places), stage, outcome)
                        stage.limit_waiting(part.size)
                    progress(part.size)
                if part.places is not None:
                    outcome.path = ""
                if part.places is None or not part.places.has_files:
                    outcome.lines = part.lines
            for batch in conformer.flush_rows():
                masks.mask_batch(batch)
                stage.add(plan.schema.tables[batch.table], batch)
            outcome.untyped = conformer.untyped_columns()
            outcome.shared = conformer.shared_names()
            outcome.warnings += conformer.warnings
            outcome.examples = conformer.examples
            for line in conformer.telling:
                if sum(map(len, known)) + len(line) <= SAMPLE_BYTES:
                    known[line] = None
        outcome.files = stage.files
        if violations:
            outcome.error = merge_violations(violations)
    except TrellisError as bad:
        outcome.error = bad
    return outcome


@lru_cache(maxsize=8)
def _telling_lines(load_id: str, table: str, first_file: int) -> dict[bytes, None]:
    """Lines that made a read fail in a task of this process, from which its later tasks learn at once."""
    return {}


def spooling_lines(plan: Plan, split: Split, blocks: Iterable[Block], conformer: Conformer) -> Iterator[Part]:
    """The blocks of a source that can be read only once: lines that wait are written to a file."""
    for block in blocks:
        wait = partial(spool_lines, plan.staging, plan.storage, split, block)
        lines = block.numbers[-1] + 1 if block.numbers else block.line + block.data.count(b"\n")
        conform = partial(conformer.block, split, block)
        yield Part(block.offset, len(block.data), lines, conform, wait, block.record_text, block.places)


def spooling_rows(
    plan: Plan, split: Split, batches: Iterable[RowBatch], conformer: Conformer
) -> Iterator[Part]:
    """The typed rows of a source that can be read only once: rows that wait are written to a file."""
    for rows in batches:
        lines = rows.first + rows.batch.num_rows
        conform, wait = (
            partial(conformer.batch, split, rows),
            partial(spool_rows, plan.staging, plan.storage, split, rows),
        )
        yield Part(rows.number, rows.batch.nbytes, lines, conform, wait, rows.record_text, rows.places)


@dataclass(frozen=True)
class SpooledTask:
    """Conforms the records of one split that were written to wait."""

    name: str
    spooled: Sequence[Spooled]

    @property
    def records(self) -> int:
        return sum(spooled.records for spooled in self.spooled)


def run_spooled_task(plan: Plan, task: SpooledTask) -> Outcome:
    """Conform and stage records of one split that had to wait."""
    split = task.spooled[0].split

    def parts(conformer: Conformer) -> Iterator[Part]:
        for records in task.spooled:
            if records.holds_lines:
                yield from spooling_lines(plan, split, [spooled_block(records, plan.storage)], conformer)
            else:
                yield from spooling_rows(plan, split, [spooled_rows(records, plan.storage)], conformer)

    return run_parts(plan, task.name, split, parts, None, lambda size: None)


def read_parts(plan: Plan, split: Split, conformer: Conformer) -> Iterator[Part]:
    """The blocks of a split, whatever it holds."""
    return _READERS[split.layout](plan, split, conformer)


class Part(NamedTuple):
    """A block to conform; `lines` counts the lines of the split up to its end.

    `wait` makes the lines with these numbers available to a later pass, or all of them if it gets None.
    `record_text` gives the record with a number as JSON. `places` is where its records came from, if that is
    not their number in the split.
    """

    offset: int
    size: int
    lines: int
    conform: Callable[..., Conformed]
    wait: Callable[[tuple[int, ...] | None], Waiting]
    record_text: Callable[[int], str]
    places: Places | None = None


def peek_split(conformer: Conformer, split: Split, storage: Storage) -> Peek | None:
    """What the first records of a split show; None where it has none."""
    if split.layout == "parquet":
        for rows in read_batches(split, storage):
            return Peek(conformer.batch(split, rows.head()).observed or Observations())
        return None
    for block in read_blocks(split, storage=storage):
        return conformer.peek(split, block.head())
    return None


def _text_parts(plan: Plan, split: Split, conformer: Conformer) -> Iterator[Part]:
    for block in read_blocks(split, conformer.times, plan.storage):
        lines = block.line + block.data.count(b"\n") + (not block.data.endswith(b"\n"))
        conform, wait = partial(conformer.block, split, block), partial(_set_aside, plan, split, block)
        yield Part(block.offset, len(block.data), lines, conform, wait, block.record_text)


def _set_aside(plan: Plan, split: Split, block: Block, lines: tuple[int, ...] | None) -> Waiting:
    """Lines of a block that wait: written where they are few, else to be read again."""
    if lines is None or len(lines) > SPOOLED_LINES:
        return BlockRef(split, block.offset, lines)
    return spool_lines(plan.staging, plan.storage, split, block, lines)


def _row_parts(plan: Plan, split: Split, conformer: Conformer) -> Iterator[Part]:
    for rows in read_batches(split, plan.storage):
        lines = rows.first + rows.batch.num_rows
        conform, wait = partial(conformer.batch, split, rows), partial(BlockRef, split, rows.number)
        yield Part(rows.number, rows.batch.nbytes, lines, conform, wait, rows.record_text)


_READERS: Mapping[Layout, Callable[[Plan, Split, Conformer], Iterator[Part]]] = {
    "lines": _text_parts,
    "array": _text_parts,
    "parquet": _row_parts,
}


def _place(split: Split, places: Places | None, number: int) -> tuple[str, int]:
    if places is None:
        return split.path, number
    file, position = places.place(number)
    return file or split.path, position


def stage_part(plan: Plan, conformed: Conformed, place_of: PlaceOf, stage: Stage, outcome: Outcome) -> None:
    """Stage the rows and dead letters of a part, and count them."""
    outcome.counts.add(conformed.counts)
    outcome.by_tables.update(conformed.by_tables)
    for batch in conformed.batches:
        stage.add(plan.schema.tables[batch.table], batch)
    outcome.discards.update(conformed.refusals)
    outcome.warnings.update(conformed.warnings)
    if conformed.discards:
        for discard in conformed.discards:
            counts = outcome.truncated if discard.is_truncated else outcome.discards
            counts[discard.reason.partition(":")[0]] += 1
        stage.add(DISCARDS, discard_batch(conformed.discards, plan.load_id, place_of))
    if conformed.rejects:
        outcome.rejects.update(reject.kind or reject.reason.partition(":")[0] for reject in conformed.rejects)
        limit = None if plan.dialect.capabilities.keeps_rejected_lines else TEXT_LIMIT
        stage.add(REJECTS, reject_batch(conformed.rejects, plan.load_id, place_of, limit))

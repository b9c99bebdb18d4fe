"""One task of a load: some splits, or the blocks that had to wait, conformed and staged."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol

from trellis.engine.conform.choose import AnyConformer, conformer_of
from trellis.engine.conform.learned import Conformed
from trellis.engine.input.blocks import Layout, Split, read_blocks
from trellis.engine.input.parquet import read_batches
from trellis.engine.plan import BlockRef, Counts, Plan
from trellis.engine.staging.dead_letters import DISCARDS, REJECTS, discard_batch, reject_batch
from trellis.engine.staging.stage import Stage, StagedFile
from trellis.engine.storage.storage import Storage
from trellis.errors import TrellisError
from trellis.evolution.observe import Observations

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Task:
    """`blocks` names the blocks to do, and the lines of them if not all; None means all of the split."""

    name: str
    split: Split
    blocks: Mapping[int, tuple[int, ...] | None] | None = None


@dataclass
class Outcome:
    """What became of a task: small, whatever the number of rows."""

    task: str
    counts: Counts = field(default_factory=Counts)
    files: list[StagedFile] = field(default_factory=list)
    pending: list[BlockRef] = field(default_factory=list)
    observed: Observations = field(default_factory=Observations)
    discards: Counter[str] = field(default_factory=Counter)
    rejects: Counter[str] = field(default_factory=Counter)
    split: tuple[int, int] = (0, 0)
    lines: int = 0
    untyped: set[tuple[str, str]] = field(default_factory=set)
    shared: dict[str, set[str]] = field(default_factory=dict)
    oddities: Counter[str] = field(default_factory=Counter)
    error: TrellisError | None = None


class Run(Protocol):
    """Runs tasks somewhere and gives their outcomes, in any order."""

    def __call__(self, plan: Plan, tasks: list[Task], progress: Progress) -> Iterator[Outcome]: ...


def run_here(plan: Plan, tasks: list[Task], progress: Progress) -> Iterator[Outcome]:
    """Run the tasks one after the other in this process."""
    for task in tasks:
        yield run_task(plan, task, progress)


def run_task(plan: Plan, task: Task, progress: Progress) -> Outcome:
    """Conform and stage the blocks of a task. A deliberate error becomes part of the outcome."""
    parts = partial(read_parts, split=task.split, storage=plan.storage)
    return run_parts(plan, task.name, task.split, parts, task.blocks, progress)


def run_parts(
    plan: Plan,
    name: str,
    split: Split,
    parts: Callable[[AnyConformer], Iterator[Part]],
    wanted: Mapping[int, tuple[int, ...] | None] | None,
    progress: Progress,
) -> Outcome:
    """Conform and stage the parts of a split, or those at the offsets in `wanted`, or lines of them."""
    outcome = Outcome(name, split=(plan.first_file + split.file, split.number))
    try:
        with Stage(plan.staging, f"{name}-{os.urandom(4).hex()}", plan.storage) as stage:
            conformer = conformer_of(plan)
            for part in parts(conformer):
                if wanted is None or part.offset in wanted:
                    made = part.conform(only=wanted[part.offset] if wanted else None)
                    if made.observed is not None:
                        outcome.observed.merge(made.observed)
                        outcome.pending.append(BlockRef(split, part.offset, made.waiting))
                    if made.observed is None or made.waiting is not None:
                        keep(plan, made, split.path, stage, outcome)
                    progress(part.size)
                outcome.lines = part.lines
            for batch in conformer.rest():
                stage.add(plan.schema.tables[batch.table], batch)
            outcome.untyped = conformer.untyped()
            outcome.shared = conformer.shared()
            outcome.oddities = conformer.oddities
        outcome.files = stage.files
    except TrellisError as bad:
        outcome.error = bad
    return outcome


def read_parts(conformer: AnyConformer, split: Split, storage: Storage) -> Iterator[Part]:
    """The blocks of a split, whatever it holds."""
    return _READERS[split.layout](conformer, split, storage)


class Part(NamedTuple):
    """A block that waits to be conformed; `lines` counts those of the split up to its end."""

    offset: int
    size: int
    lines: int
    conform: Callable[..., Conformed]


def _text_parts(conformer: AnyConformer, split: Split, storage: Storage) -> Iterator[Part]:
    for block in read_blocks(split, conformer.times, storage):
        lines = block.line + block.data.count(b"\n") + (not block.data.endswith(b"\n"))
        yield Part(block.offset, len(block.data), lines, partial(conformer.block, split, block))


def _row_parts(conformer: AnyConformer, split: Split, storage: Storage) -> Iterator[Part]:
    for rows in read_batches(split, storage):
        lines = rows.first + rows.batch.num_rows
        yield Part(rows.number, rows.batch.nbytes, lines, partial(conformer.batch, split, rows))


_READERS: Mapping[Layout, Callable[[AnyConformer, Split, Storage], Iterator[Part]]] = {
    "lines": _text_parts,
    "array": _text_parts,
    "parquet": _row_parts,
}


def keep(plan: Plan, made: Conformed, file: str, stage: Stage, outcome: Outcome) -> None:
    """Stage what a block became and count it."""
    outcome.counts.add(made.counts)
    for batch in made.batches:
        stage.add(plan.schema.tables[batch.table], batch)
    outcome.discards.update(made.refusals)
    if made.discards:
        outcome.discards.update(each.reason.partition(":")[0] for each in made.discards)
        stage.add(DISCARDS, discard_batch(made.discards, plan.load_id, file))
    if made.rejects:
        outcome.rejects.update(each.kind or each.reason.partition(":")[0] for each in made.rejects)
        stage.add(REJECTS, reject_batch(made.rejects, plan.load_id, file))

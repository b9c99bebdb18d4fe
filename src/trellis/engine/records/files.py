"""Records in a fixed order: peeked at once, then run through tasks as often as needed."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from trellis.engine.conform.choose import conformer_of
from trellis.engine.input.blocks import Split
from trellis.engine.input.files import InputFile, split_for, splits_of
from trellis.engine.input.spool import Spooled
from trellis.engine.parallel import Parallel, in_threads, one_by_one
from trellis.engine.plan import Peek, Plan, lines_by_offset
from trellis.engine.records.items import WHERE, Chunks, run_items
from trellis.engine.runner import Runner
from trellis.engine.storage.location import is_remote
from trellis.engine.storage.storage import DEFAULT_STORAGE, Storage
from trellis.engine.task import Outcome, Progress, SpooledTask, Task, Waiting, peek_split, run_spooled_task
from trellis.evolution.observe import Observations

DRIVER_LINES: Final = 10_000
"""So many lines that waited are conformed by the driver itself: a job on the workers starts later."""


class Records(Protocol):
    """Records in a fixed order, to be read as often as needed."""

    name: str
    weight: int | None
    parallel: Parallel
    file_count: int
    """How many files they come from, or more; records of no file count as one."""

    def fingerprint(self, *parts: str) -> str | None:
        """What identifies this input; None where it cannot be told from another."""
        ...

    def peek(self, plan: Plan) -> Peek:
        """A look at the first records."""
        ...

    def run(self, plan: Plan, pending: Sequence[Waiting] | None, progress: Progress) -> Iterator[Outcome]:
        """Conform and stage all records, or only the blocks that had to wait."""
        ...


class FileRecords:
    """Files of records, a task per split."""

    def __init__(
        self,
        files: Sequence[InputFile],
        runner: Runner,
        storage: Storage = DEFAULT_STORAGE,
        split_size: int | None = None,
    ) -> None:
        self.files = files
        self.runner = runner
        self.storage = storage
        self.parallel: Parallel = runner.parallel
        self.split_size = split_size
        self._first_plan_splits: list[Split] | None = None
        self.name = table_of_file(files[0].path) if files else ""
        self.file_count = len(files)
        self.weight: int | None = sum(file.size for file in files)

    def _splits(self, plan: Plan) -> list[Split]:
        """The splits of all files; a later pass has those of the first one."""
        if self._first_plan_splits is None:
            tables = len(plan.schema.tables)
            size = self.split_size or split_for(self.files, self.runner.cores(), tables)
            self._first_plan_splits = splits_of(self.files, size, self.storage)
        return self._first_plan_splits

    def fingerprint(self, *parts: str) -> str | None:
        return fingerprint_of(((file.location, file.size, file.version) for file in self.files), *parts)

    def peek(self, plan: Plan) -> Peek:
        conformer = conformer_of(plan, columnar=False)
        self.runner.check_staging(plan.staging)
        for split in self._first_splits() if conformer.learns else ():
            peek = peek_split(conformer, split, plan.storage)
            if peek is not None:
                return peek
        return Peek(Observations())

    def _first_splits(self) -> Iterator[Split]:
        """Splits that begin as those of the tasks do, without waiting for a Spark to say how many."""
        for number, file in enumerate(self.files):
            for split in splits_of([file], self.split_size or sys.maxsize, self.storage):
                yield replace(split, file=number)

    def run(self, plan: Plan, pending: Sequence[Waiting] | None, progress: Progress) -> Iterator[Outcome]:
        names = {split: f"{number:06d}" for number, split in enumerate(self._splits(plan))}
        if pending is None:
            tasks = [Task(f"{name}-0", split) for split, name in names.items()]
            if tasks:
                yield from self.runner.run_tasks(plan, tasks, progress)
            return
        blocks: dict[Split, dict[int, tuple[int, ...] | None]] = {}
        lines: dict[Split, list[Spooled]] = {}
        for waiting in pending:
            if isinstance(waiting, Spooled):
                lines.setdefault(waiting.split, []).append(waiting)
            else:
                blocks.setdefault(waiting.split, {})[waiting.offset] = waiting.lines
        if blocks:
            tasks = [Task(f"{names[split]}-1", split, selection) for split, selection in blocks.items()]
            yield from self.runner.run_tasks(plan, tasks, progress)
        if lines:
            spooled_tasks = [SpooledTask(f"{names[split]}-1", spooled) for split, spooled in lines.items()]
            is_small = sum(task.records for task in spooled_tasks) <= DRIVER_LINES
            parallel = one_by_one if is_small else self.parallel
            yield from parallel(partial(run_spooled_task, plan), spooled_tasks)


class ItemRecords:
    """Records that are Python values already, in chunks."""

    def __init__(self, chunks: Chunks) -> None:
        self.chunks = chunks
        self.name = ""
        self.weight: int | None = None
        self.file_count = 1
        self.parallel: Parallel = in_threads

    def fingerprint(self, *parts: str) -> str | None:
        return None

    def peek(self, plan: Plan) -> Peek:
        conformer = conformer_of(plan)
        for chunk in self.chunks() if conformer.learns else ():
            return Peek(conformer.items(WHERE, 0, chunk).observed or Observations())
        return Peek(Observations())

    def run(self, plan: Plan, pending: Sequence[Waiting] | None, progress: Progress) -> Iterator[Outcome]:
        chunks = None if pending is None else lines_by_offset(pending)
        return run_items(plan, self.chunks, chunks, progress)


def fingerprint_of(files: Iterable[tuple[str, int, str]], *parts: str) -> str:
    """What identifies files by location, size and version, and whatever else matters of a load."""
    digest = hashlib.sha256("\0".join(parts).encode())
    for location, size, version in files:
        where = location if is_remote(location) else os.path.realpath(location)
        digest.update(f"\0{where}\0{size}\0{version}".encode())
    return digest.hexdigest()[:24]


def table_of_file(path: str) -> str:
    """`data/orders-2024-01.jsonl.gz` -> `orders`: the file's name without dates, numbers and endings."""
    stem = Path(path).name.split(".")[0]
    return re.sub(r"[-_.]+\d[\d\-_.T:Z]*$", "", stem) or stem

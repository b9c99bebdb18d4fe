"""Records in a fixed order: peeked at once, then run through tasks as often as needed."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from trellis.engine.conform.choose import conformer_of
from trellis.engine.input.blocks import Split
from trellis.engine.input.files import InputFile, split_for, splits_of
from trellis.engine.input.items import Chunks, run_items
from trellis.engine.parallel import Parallel, in_threads
from trellis.engine.plan import BlockRef, Plan
from trellis.engine.storage.location import is_remote
from trellis.engine.storage.storage import DEFAULT_STORAGE, Storage
from trellis.engine.task import Outcome, Progress, Run, Task, read_parts
from trellis.evolution.observe import Observations


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

    def peek(self, plan: Plan) -> Observations:
        """What the first records show that the schema has no place for."""
        ...

    def run(self, plan: Plan, pending: Sequence[BlockRef] | None, progress: Progress) -> Iterator[Outcome]:
        """Conform and stage all records, or only the blocks that had to wait."""
        ...


class FileRecords:
    """Files of records, a task per split."""

    def __init__(
        self,
        files: Sequence[InputFile],
        run: Run,
        parallel: Parallel = in_threads,
        storage: Storage = DEFAULT_STORAGE,
        split_size: int | None = None,
    ) -> None:
        self.files = files
        self.run_tasks = run
        self.parallel = parallel
        self.splits = splits_of(files, split_size or split_for(files), storage)
        self.name = _table_name(files[0].path) if files else ""
        self.file_count = len(files)
        self.weight: int | None = sum(file.size for file in files)

    def fingerprint(self, *parts: str) -> str | None:
        digest = hashlib.sha256("\0".join(parts).encode())
        for file in self.files:
            where = file.location if is_remote(file.location) else os.path.realpath(file.location)
            digest.update(f"\0{where}\0{file.size}\0{file.version}".encode())
        return digest.hexdigest()[:24]

    def peek(self, plan: Plan) -> Observations:
        conformer = conformer_of(plan, fast=False)
        for split in self.splits if conformer.learns else ():
            for part in read_parts(conformer, split, plan.storage):
                return part.conform().observed or Observations()
        return Observations()

    def run(self, plan: Plan, pending: Sequence[BlockRef] | None, progress: Progress) -> Iterator[Outcome]:
        if pending is None:
            tasks = [Task(f"{number:06d}-0", split) for number, split in enumerate(self.splits)]
        else:
            waiting: dict[Split, dict[int, tuple[int, ...] | None]] = {}
            for ref in pending:
                waiting.setdefault(ref.split, {})[ref.offset] = ref.lines
            tasks = [
                Task(f"{number:06d}-1", split, waiting[split])
                for number, split in enumerate(self.splits)
                if split in waiting
            ]
        return self.run_tasks(plan, tasks, progress) if tasks else iter(())


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

    def peek(self, plan: Plan) -> Observations:
        conformer = conformer_of(plan)
        for chunk in self.chunks() if conformer.learns else ():
            return conformer.items(chunk, 0, 0, 0, "records").observed or Observations()
        return Observations()

    def run(self, plan: Plan, pending: Sequence[BlockRef] | None, progress: Progress) -> Iterator[Outcome]:
        wanted = None if pending is None else {ref.offset: ref.lines for ref in pending}
        return run_items(plan, self.chunks, wanted, progress)


def _table_name(path: str) -> str:
    """`data/orders-2024-01.jsonl.gz` -> `orders`: the file's name without dates, numbers and endings."""
    stem = Path(path).name.split(".")[0]
    return re.sub(r"[-_.]+\d[\d\-_.T:Z]*$", "", stem) or stem

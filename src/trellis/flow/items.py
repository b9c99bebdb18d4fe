"""Records that are Python values already: cut into chunks, replayable, conformed in this process."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from trellis.errors import TrellisError
from trellis.flow.blocks import Split
from trellis.flow.conform_spread import conformer_of
from trellis.flow.plan import BlockRef, Plan
from trellis.flow.stage import Stage
from trellis.flow.task import Outcome, Progress, keep

CHUNK = 5_000
WHERE = Split(0, 0, "records")

Wanted = Mapping[int, tuple[int, ...] | None] | None


class Chunks:
    """Lists of records, the same every time it is called."""

    def __init__(self, replay: Callable[[], Iterator[Sequence[Any]]]) -> None:
        self._replay = replay

    def __call__(self) -> Iterator[Sequence[Any]]:
        return self._replay()

    @staticmethod
    def of(items: Iterable[Any]) -> Chunks:
        """Chunks of an iterable. What can be iterated only once is kept in a temporary file."""
        if isinstance(items, Sequence):
            return Chunks(lambda: (items[at : at + CHUNK] for at in range(0, len(items), CHUNK)))
        return Chunks(_Spool(_cut(iter(items))))


def run_items(plan: Plan, chunks: Chunks, wanted: Wanted, progress: Progress) -> Iterator[Outcome]:
    """Conform and stage the chunks, or those numbered in `wanted`, or what it says of them."""
    outcome = Outcome("items", split=(plan.first_file, 0))
    try:
        with Stage(plan.staging, f"items-{os.urandom(4).hex()}") as stage:
            conformer, first = conformer_of(plan), 0
            for number, chunk in enumerate(chunks()):
                if wanted is None or number in wanted:
                    only = wanted[number] if wanted else None
                    made = conformer.items(chunk, 0, 0, first, WHERE.path, only)
                    if made.observed is not None:
                        outcome.observed.merge(made.observed)
                        outcome.pending.append(BlockRef(WHERE, number, made.waiting))
                    if made.observed is None or made.waiting is not None:
                        keep(plan, made, WHERE.path, stage, outcome)
                    progress(len(chunk))
                first += len(chunk)
            for batch in conformer.rest():
                stage.add(plan.schema.tables[batch.table], batch)
            outcome.untyped = conformer.walker.untyped()
            outcome.shared = conformer.walker.shared()
            outcome.oddities = conformer.walker.oddities
        outcome.files = stage.files
    except TrellisError as bad:
        outcome.error = bad
    yield outcome


class _Spool:
    """Chunks of a one-time iterator: written as they come, read back from then on."""

    def __init__(self, chunks: Iterator[list[Any]]) -> None:
        self.chunks: Iterator[list[Any]] | None = chunks
        self.file = tempfile.TemporaryFile(prefix="trellis-")  # noqa: SIM115
        self.ends: list[int] = []

    def __call__(self) -> Iterator[list[Any]]:
        at = number = 0
        while True:
            if number < len(self.ends):
                self.file.seek(at)
                chunk = pickle.loads(self.file.read(self.ends[number] - at))
            else:
                made = next(self.chunks, None) if self.chunks is not None else None
                if made is None:
                    return
                chunk = made
                self.file.seek(at)
                self.file.write(pickle.dumps(chunk, protocol=5))
                self.ends.append(self.file.tell())
            at = self.ends[number]
            number += 1
            yield chunk


def _cut(items: Iterator[Any]) -> Iterator[list[Any]]:
    while chunk := list(islice(items, CHUNK)):
        yield chunk

"""Records that are Python values already: cut into chunks, replayable, conformed in this process."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from trellis.engine.conform.choose import AnyConformer
from trellis.engine.input.blocks import Split
from trellis.engine.plan import BlockRef, Plan
from trellis.engine.task import Outcome, Part, Progress, run_parts

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

    def parts(conformer: AnyConformer) -> Iterator[Part]:
        first = 0
        for number, chunk in enumerate(chunks()):
            conform = partial(conformer.items, chunk, 0, 0, first, WHERE.path)
            first += len(chunk)
            yield Part(number, len(chunk), first, conform, partial(BlockRef, WHERE, number))

    yield run_parts(plan, "items", WHERE, parts, wanted, progress)


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

"""Records that are Python values already: cut into chunks, replayable, conformed in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, islice
from typing import Any

from trellis.engine.conform.choose import Conformer
from trellis.engine.input.blocks import Split
from trellis.engine.input.chunk_file import ChunkFile
from trellis.engine.input.python_values import plain_record
from trellis.engine.plan import BlockRef, Plan
from trellis.engine.task import Outcome, Part, Progress, run_parts
from trellis.engine.text import to_json

CHUNK = 5_000
WHERE = Split(0, 0, "records")

Selection = Mapping[int, tuple[int, ...] | None] | None


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


def run_items(plan: Plan, chunks: Chunks, blocks: Selection, progress: Progress) -> Iterator[Outcome]:
    """Conform and stage the chunks, or those numbered in `blocks`, or the records of them named there."""

    def parts(conformer: Conformer) -> Iterator[Part]:
        first = 0
        for number, chunk in enumerate(chunks()):
            conform, text = partial(conformer.items, WHERE, first, chunk), partial(_record_text, chunk, first)
            first += len(chunk)
            yield Part(number, len(chunk), first, conform, partial(BlockRef, WHERE, number), text)

    yield run_parts(plan, "items", WHERE, parts, blocks, progress)


class _Spool:
    """Chunks of a one-time iterator: written as they come, read back from then on."""

    def __init__(self, chunks: Iterator[list[Any]]) -> None:
        self.chunks = chunks
        self.file = ChunkFile()

    def __call__(self) -> Iterator[list[Any]]:
        for number in count():
            if number < len(self.file):
                yield self.file.read(number)
                continue
            chunk = next(self.chunks, None)
            if chunk is None:
                return
            self.file.append(chunk)
            yield chunk


def _record_text(chunk: Sequence[Any], first: int, number: int) -> str:
    """The record with a number as JSON; `first` is the number of the first of the chunk."""
    return to_json(plain_record(chunk[number - first]))


def _cut(items: Iterator[Any]) -> Iterator[list[Any]]:
    while chunk := list(islice(items, CHUNK)):
        yield chunk

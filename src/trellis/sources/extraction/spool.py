"""Items in the order they came, to be read as often as needed: in memory while few, then in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any

from trellis.engine.input.chunk_file import ChunkFile

CHUNK = 5_000


class Spool:
    """A list that keeps only its newest items in memory.

    >>> items = Spool(chunk=2)
    >>> items.extend(range(5))
    >>> list(items), list(items.chunks()), len(items)
    ([0, 1, 2, 3, 4], [[0, 1], [2, 3], [4]], 5)
    """

    def __init__(self, chunk: int = CHUNK, item_class: Callable[..., Any] | None = None) -> None:
        self.chunk = chunk
        self.item_class = item_class
        self._count = 0
        self._file = ChunkFile()
        self._newest: list[Any] = []
        self._weight = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        for chunk in self.chunks():
            yield from chunk

    def append(self, item: Any, weight: int = 1) -> None:
        """Add an item; one of weight 0 alone is never a reason to write to the file."""
        self._newest.append(item)
        self._count += 1
        self._weight += weight
        if self._weight >= self.chunk:
            self._spill()

    def extend(self, items: Iterable[Any]) -> None:
        for item in items:
            self.append(item)

    def chunks(self) -> Iterator[list[Any]]:
        """The items in lists, the same every time."""
        for number in range(len(self._file)):
            rows = self._file.read(number)
            yield rows if self.item_class is None else [self.item_class(*row) for row in rows]
        if self._newest:
            yield list(self._newest)

    def _spill(self) -> None:
        self._file.append(self._newest if self.item_class is None else list(map(_values, self._newest)))
        self._newest, self._weight = [], 0


def _values(item: Any) -> list[Any]:
    return [getattr(item, field.name) for field in fields(item)]

"""Items in the order they came, to be read as often as needed: in memory while few, then in a file."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO, Any

from trellis.errors import UsageError

CHUNK = 5_000


class Spool:
    """A list that keeps only its newest items in memory.

    >>> items = Spool(chunk=2)
    >>> items.extend(range(5))
    >>> list(items), list(items.chunks()), len(items)
    ([0, 1, 2, 3, 4], [[0, 1], [2, 3], [4]], 5)
    """

    def __init__(self, chunk: int = CHUNK) -> None:
        self.chunk = chunk
        self._count = 0
        self._ends: list[int] = []
        self._file: IO[bytes] | None = None
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
        start = 0
        for end in list(self._ends):
            assert self._file is not None
            self._file.seek(start)
            yield pickle.loads(self._file.read(end - start))
            start = end
        if self._newest:
            yield list(self._newest)

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="trellis-")  # noqa: SIM115
        start = self._ends[-1] if self._ends else 0
        self._file.seek(start)
        try:
            self._file.write(pickle.dumps(self._newest, protocol=5))
        except Exception as why:
            raise UsageError(
                f"rows cannot be kept in a temporary file ({why}): yield dicts of plain values"
            ) from why
        self._ends.append(self._file.tell())
        self._newest, self._weight = [], 0

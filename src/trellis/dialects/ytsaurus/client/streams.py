"""Rows in a format as files that scripts read and write."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO


class BlockReader(io.RawIOBase):
    """A file with the bytes of blocks, which are made as it is read."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = memoryview(block)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def open_stream(source: Any) -> BinaryIO:
    """Text, bytes, a file or an iterable of bytes as a file."""
    if hasattr(source, "read"):
        stream: BinaryIO = source
        return stream
    if isinstance(source, str | bytes):
        return io.BytesIO(source.encode() if isinstance(source, str) else source)
    return io.BufferedReader(BlockReader(iter(source)))

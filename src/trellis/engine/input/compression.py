"""Compressed files as streams of their content. A file that ends too early raises EOFError."""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Literal, cast

from trellis.engine.storage.storage import BUFFER, Storage

if TYPE_CHECKING:
    from zstandard import ZstdDecompressionObj

Compression = Literal["", "gzip", "zstd", "bz2"]

_CHUNK = 128 << 10
"""Compressed bytes that are read at once: they become at most some megabytes."""


@contextmanager
def decompressed(
    location: str, compression: Compression, storage: Storage, buffer: int = BUFFER
) -> Iterator[IO[bytes]]:
    """The decompressed bytes of a file, to be used as a context. Raises OSError, UsageError, StorageError."""
    with storage.explained(location), storage.open_input(location, buffer) as stream:
        if not compression:
            yield stream
            return
        with _READERS[compression](stream) as content:
            yield content


def zstd_error() -> type[Exception]:
    """What is raised for a damaged Zstandard file."""
    import zstandard

    return zstandard.ZstdError


class _ZstdReader(io.RawIOBase):
    """All frames of a Zstandard file. The stream reader of the library takes a cut frame for a whole one."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.frame: ZstdDecompressionObj | None = None
        self.rest = b""
        self.content = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.content and self._advance():
            pass
        size = min(len(buffer), len(self.content))
        buffer[:size] = self.content[:size]
        self.content = self.content[size:]
        return size

    def _advance(self) -> bool:
        """Decompress one more chunk; False at the end of the file."""
        import zstandard

        chunk, self.rest = self.rest or self.stream.read(_CHUNK), b""
        if not chunk:
            if self.frame is not None:
                raise EOFError
            return False
        if self.frame is None:
            self.frame = zstandard.ZstdDecompressor().decompressobj()
        self.content = memoryview(self.frame.decompress(chunk))
        if self.frame.eof:
            self.rest, self.frame = self.frame.unused_data, None
        return True


_READERS: Mapping[Compression, Callable[[IO[bytes]], IO[bytes]]] = {
    "gzip": lambda stream: cast(IO[bytes], gzip.GzipFile(fileobj=stream)),
    "bz2": lambda stream: cast(IO[bytes], bz2.BZ2File(stream)),
    "zstd": lambda stream: cast(IO[bytes], io.BufferedReader(_ZstdReader(stream), BUFFER)),
}

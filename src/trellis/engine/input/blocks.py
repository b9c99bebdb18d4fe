"""Splits of files, and the blocks of whole lines that a split is read in.

A split of a plain file starts at any byte: its first line is the first that begins in it, its last
the last that does. Compressed files and JSON arrays are one split each. The blocks of a split are the
same whenever it is read, so a block can be asked for again by its offset.
"""

from __future__ import annotations

import codecs
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO, Literal

import numpy as np
import pyarrow as pa

from trellis.engine.input.compression import Compression, decompressed, zstd_error
from trellis.engine.input.places import Places
from trellis.engine.storage.storage import DEFAULT_STORAGE, Storage
from trellis.errors import UsageError

BLOCK = 8 << 20
PEEK_BYTES = 1 << 20
"""How much of the first block is looked at before a load."""
SPLIT = 64 << 20
SAMPLE_LINES, SAMPLE_BYTES = 256, 256 << 10
BOM = b"\xef\xbb\xbf"

Layout = Literal["lines", "array", "parquet"]


@dataclass(frozen=True)
class Split:
    """A part of one input file: `start <= byte < end`; `end` is None for the whole of it.

    `path` is what the user calls the file, `location` where it is for every process; the path, if empty.
    """

    file: int
    number: int
    path: str
    layout: Layout = "lines"
    compression: Compression = ""
    start: int = 0
    end: int | None = None
    location: str = ""


@dataclass(frozen=True)
class Block:
    """Whole lines. `line` counts those before it in the split, `offset` is its place in the stream.

    `numbers` are those of its lines where some between them are left out, `places` where its lines came from
    if that is not the number of the line in its file.
    """

    data: bytes
    line: int
    offset: int
    numbers: tuple[int, ...] | None = None
    places: Places | None = None

    @property
    def numbered(self) -> list[tuple[int, bytes]]:
        """Its lines, each with its number in the split."""
        lines = self.lines
        return list(zip(self.numbers or range(self.line, self.line + len(lines)), lines, strict=True))

    @property
    def line_array(self) -> pa.BinaryArray:
        """The lines, each with its newline."""
        return line_array(self.data)

    def record_text(self, number: int) -> str:
        """The line with a number, without its newline."""
        index = number - self.line if self.numbers is None else self.numbers.index(number)
        return self.lines[index].decode("utf-8", "replace")

    def head(self) -> Block:
        """The first of its lines."""
        end = self.data.find(b"\n", PEEK_BYTES)
        return self if end < 0 else replace(self, data=self.data[: end + 1])

    def sample(self) -> tuple[bytes, ...]:
        """Its first lines."""
        end = self.data.find(b"\n", SAMPLE_BYTES)
        head = self.data if end < 0 else self.data[:end]
        return tuple(head.split(b"\n", SAMPLE_LINES)[:SAMPLE_LINES])

    @property
    def lines(self) -> list[bytes]:
        lines = self.data.split(b"\n")
        if lines and not lines[-1]:
            lines.pop()
        return lines


def line_array(data: bytes) -> pa.BinaryArray:
    """The lines of some bytes, each with its newline, without copying them.

    >>> line_array(b'{"a":1}\\n{"a":2}').to_pylist()
    [b'{"a":1}\\n', b'{"a":2}\\n']
    """
    if not data.endswith(b"\n"):
        data += b"\n"
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == 0x0A) + 1
    offsets = np.zeros(len(ends) + 1, np.int32)
    offsets[1:] = ends
    return pa.BinaryArray.from_buffers(
        pa.binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )


def read_blocks(split: Split, times: int = 1, storage: Storage = DEFAULT_STORAGE) -> Iterator[Block]:
    """The blocks of a split, in order, so many times as large as usual.

    Raises UsageError for a damaged compressed file or one that cannot be read, StorageError.
    """
    where = split.location or split.path
    try:
        with decompressed(where, split.compression, storage) as stream:
            if split.layout == "array":
                yield from _array_blocks(stream, split.path)
            else:
                yield from _line_blocks(stream, split.start, split.end, times)
    except FileNotFoundError:
        raise UsageError(
            f"{split.path}: no such file on {os.uname().nodename}; where several machines load, give files "
            "that all of them see, in a shared folder or an object store such as s3a://"
        ) from None
    except PermissionError as bad:
        raise UsageError(f"{split.path}: cannot be read ({bad.strerror}); check its rights") from None
    except EOFError:
        raise UsageError(
            f"{split.path}: the {split.compression} stream ends in the middle of the file; "
            "nothing was loaded; fetch the file again"
        ) from None
    except (OSError, zlib.error, zstd_error()) as bad:
        raise UsageError(
            f"{split.path}: cannot be read to its end ({bad}); nothing was loaded; fetch the file again"
        ) from None


def _line_blocks(stream: IO[bytes], start: int, end: int | None, times: int) -> Iterator[Block]:
    offset, head = start, b""
    if start:
        stream.seek(start - 1)
        offset += len(stream.readline()) - 1
    else:
        head = stream.read(len(BOM))
        if head == BOM:
            offset, head = len(BOM), b""
        elif end is not None:
            stream.seek(0)
            head = b""
    if end is None or offset < end:
        yield from _from_here(stream, head, offset, end, BLOCK * times)


def _from_here(stream: IO[bytes], rest: bytes, offset: int, end: int | None, size: int) -> Iterator[Block]:
    line = 0
    while True:
        want = size if end is None else min(size, end - offset)
        more = stream.read(max(want - len(rest), 1))
        if not more and not rest:
            return
        if more:
            tail = b"" if more.endswith(b"\n") else stream.readline()
            data = b"".join((rest, more, tail))
        else:
            data = rest
        rest = b""
        yield Block(data, line, offset)
        line += data.count(b"\n")
        offset += len(data)
        if end is not None and offset >= end:
            return


def _array_blocks(stream: IO[bytes], path: str) -> Iterator[Block]:
    """The elements of a JSON array as lines.

    Raises UsageError where the array is damaged: how many records are lost in it is not known.
    """
    elements: list[bytes] = []
    size = line = offset = 0
    for element in _elements(stream, path):
        elements.append(element)
        size += len(element) + 1
        if size >= BLOCK:
            data = b"\n".join(elements) + b"\n"
            yield Block(data, line, offset)
            line, offset, size = line + len(elements), offset + len(data), 0
            elements = []
    if elements:
        yield Block(b"\n".join(elements) + b"\n", line, offset)


def _elements(stream: IO[bytes], path: str) -> Iterator[bytes]:
    scan = json.JSONDecoder(parse_int=str, parse_float=str, object_pairs_hook=len).raw_decode
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    text, at, done = "", 0, False

    def fill() -> bool:
        nonlocal text, at, done
        data = stream.read(max(BLOCK, len(text) - at))
        done = not data
        text, at = text[at:] + decoder.decode(data, final=done), 0
        return not done

    def skip() -> str:
        nonlocal at
        while True:
            while at < len(text) and text[at] in " \t\r\n\ufeff":
                at += 1
            if at < len(text) or done or not fill():
                return text[at : at + 1]

    skip()
    at += 1
    count = 0
    while True:
        mark = skip()
        if mark == "]":
            at += 1
            if skip():
                break
            return
        if count:
            if mark != ",":
                break
            at += 1
            skip()
        try:
            _, stop = scan(text, at)
            while stop == len(text) and not done:
                fill()
                _, stop = scan(text, at)
        except (ValueError, RecursionError):
            if not done and fill():
                continue
            break
        yield _one_line(text[at:stop])
        at = stop
        count += 1
    here = repr(text[at : at + 40]) if at < len(text) else "the end of the file"
    raise UsageError(
        f"{path}: the JSON array is damaged after element {count}, at {here}; nothing was loaded; "
        "repair the file, or write one record per line"
    )


def _one_line(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape").replace(b"\r", b" ").replace(b"\n", b" ")

"""What the user points at -> the input files in order, and the splits they are read in."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from trellis.engine.input.blocks import BOM, SPLIT, Layout, Split
from trellis.engine.input.compression import Compression, decompressed, zstd_error
from trellis.engine.input.int96 import ParquetInput
from trellis.engine.input.parquet import row_groups
from trellis.engine.storage.location import is_remote
from trellis.engine.storage.storage import DEFAULT_STORAGE, FileStatus, Storage
from trellis.errors import UsageError

Range = tuple[int, int | None]
T = TypeVar("T")
R = TypeVar("R")

_COMPRESSIONS: Mapping[str, Compression] = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bz2"}
_TEXT = {".jsonl", ".ndjson", ".json", ".jsonlines", ".log", ".txt", ""}
_MAGIC: tuple[tuple[bytes, Compression], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bz2"),
)
_EXPANDS = 8
LEAST, MOST, TASKS = 4 << 20, 4 * SPLIT, 16
"""The bytes of a split, and how many splits a large input is cut into as long as none gets too large."""
STAGED_FILES = 1_000
"""So many files are staged, if there are cores for all splits: each has one per table."""
HEAD = 4096
"""Bytes from which the kind of a file is told."""
FIRST_LINE = 64 << 10
THREADS = 32
"""How many remote files are opened at once."""


@dataclass(frozen=True)
class InputFile:
    """One file of records.

    `path` is what the user calls it, `location` where it is for every process; the path, if empty. `version`
    tells its content from a later one.
    """

    path: str
    layout: Layout
    compression: Compression
    size: int
    location: str = ""
    version: str = ""

    @property
    def weight(self) -> int:
        """About how many bytes there are to parse."""
        return self.size * _EXPANDS if self.compression else self.size


def input_files(sources: Sequence[str], storage: Storage = DEFAULT_STORAGE) -> list[InputFile]:
    """The files behind paths, URLs, patterns and folders, in the order given, names sorted within each.

    Raises UsageError for what is not there, cannot be read, or is of no known or of mixed kinds;
    StorageError where a remote file system fails.
    """
    return describe_files(list_files(sources, storage), sources, storage)


def list_files(sources: Sequence[str], storage: Storage) -> list[FileStatus]:
    """The files behind paths, URLs, patterns and folders, in order. Raises UsageError, StorageError."""
    return [file for source in sources for file in storage.list_files(source)]


def describe_files(
    listed: Sequence[FileStatus],
    sources: Sequence[str],
    storage: Storage,
    line_extensions: Sequence[str] = (),
) -> list[InputFile]:
    """Files that are listed, with what is in them; lines where they have one of these endings, too.

    Raises UsageError, StorageError.
    """
    describe = partial(_describe, storage, _TEXT.union(line_extensions))
    files = _at_once(describe, listed, [file.location for file in listed])
    kinds = {"parquet" if file.layout == "parquet" else "JSON" for file in files}
    if len(kinds) > 1:
        raise UsageError(
            f"{', '.join(sources)}: holds both Parquet and JSON files; name one kind, for example with a "
            "pattern like '*.jsonl'"
        )
    return files


def split_for(files: Sequence[InputFile], cores: int = 1, tables: int = 1) -> int:
    """Bytes of a split: small enough that all cores have one, but every split makes a file per table, so
    large inputs and those of many tables get larger ones.
    """
    total = sum(file.size for file in files)
    tasks = min(TASKS, max(STAGED_FILES // max(tables, 1), 1))
    return min(max(min(max(SPLIT, total // tasks), -(-total // cores)), LEAST), MOST)


def splits_of(
    files: Sequence[InputFile], size: int = SPLIT, storage: Storage = DEFAULT_STORAGE
) -> list[Split]:
    """Plain files of lines are cut every `size` bytes, all others are one split each."""
    return [
        Split(number, at, file.path, file.layout, file.compression, start, end, file.location)
        for number, (file, ranges) in enumerate(zip(files, _ranges(files, size, storage), strict=True))
        for at, (start, end) in enumerate(ranges)
    ]


def _ranges(files: Sequence[InputFile], size: int, storage: Storage) -> list[Sequence[Range]]:
    """The parts of each file: ranges of bytes or, in Parquet, of row groups."""

    def parts(file: InputFile) -> Sequence[Range]:
        if file.layout == "parquet":
            return row_groups(ParquetInput(file.path, file.location or file.path, storage), size)
        if file.layout == "lines" and not file.compression and file.size > size:
            return [(start, min(start + size, file.size)) for start in range(0, file.size, size)]
        return [(0, None)]

    return _at_once(parts, files, [file.location for file in files])


def first_lines(files: Sequence[FileStatus], storage: Storage) -> list[bytes]:
    """The first line of each file, decompressed, up to 64 kB of it. Raises UsageError, StorageError."""

    def first_line(file: FileStatus) -> bytes:
        compression = _COMPRESSIONS.get(Path(file.name).suffix, "")
        try:
            with decompressed(file.location, compression, storage, FIRST_LINE) as stream:
                return stream.read(FIRST_LINE).removeprefix(BOM).partition(b"\n")[0].rstrip(b"\r")
        except (OSError, EOFError, zlib.error, zstd_error()) as bad:
            raise UsageError(f"{file.name}: cannot be read ({bad}); nothing was loaded") from None

    return _at_once(first_line, files, [file.location for file in files])


def _at_once(work: Callable[[T], R], files: Sequence[T], locations: Sequence[str]) -> list[R]:
    """Work on each file; in threads where they are remote, as opening such a file is mostly waiting."""
    if len(files) < 2 or not any(map(is_remote, locations)):
        return list(map(work, files))
    with ThreadPoolExecutor(min(THREADS, len(files))) as pool:
        return list(pool.map(work, files))


def _describe(storage: Storage, text_extensions: Set[str], file: FileStatus) -> InputFile:
    name = Path(file.name)
    try:
        head, version = storage.read_head(file, HEAD)
    except OSError as bad:
        raise UsageError(f"{file.name}: cannot be read ({bad.strerror or bad}); check its rights") from None
    if name.suffix == ".parquet" or head.startswith(b"PAR1"):
        return InputFile(file.name, "parquet", "", file.size, file.location, version)
    compression: Compression = _COMPRESSIONS.get(name.suffix, "")
    if not compression:
        compression = next((kind for magic, kind in _MAGIC if head.startswith(magic)), "")
    ending = Path(name.stem).suffix if compression else name.suffix
    if ending.lower() not in text_extensions and not head.lstrip().startswith((b"{", b"[")):
        raise UsageError(
            f"{file.name}: files of kind {ending!r} are not read; JSON lines, JSON arrays (both also .gz, "
            ".zst, .bz2) and Parquet are; name another format that Spark reads with --format"
        )
    if compression:
        try:
            with decompressed(file.location, compression, storage, HEAD) as stream:
                head = stream.read(HEAD)
        except (OSError, EOFError, zlib.error, zstd_error()):
            head = b""
    layout = layout_of(head.removeprefix(BOM).lstrip())
    return InputFile(file.name, layout, compression, file.size, file.location, version)


def layout_of(head: bytes) -> Layout:
    """An array, unless its first line is a whole value by itself and others follow."""
    if not head.startswith(b"["):
        return "lines"
    line, _, rest = head.partition(b"\n")
    try:
        json.loads(line)
    except ValueError:
        return "array"
    return "lines" if rest.strip() else "array"

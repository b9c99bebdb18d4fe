"""What the user points at -> the input files in order, and the splits they are read in."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trellis.engine.input.blocks import BOM, SPLIT, Compression, Layout, Split, open_stream
from trellis.engine.input.parquet import row_groups
from trellis.errors import UsageError

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


@dataclass(frozen=True)
class InputFile:
    """One file of records."""

    path: str
    layout: Layout
    compression: Compression
    size: int

    @property
    def weight(self) -> int:
        """About how many bytes there are to parse."""
        return self.size * _EXPANDS if self.compression else self.size


def input_files(sources: Sequence[str]) -> list[InputFile]:
    """The files behind paths, globs and folders, in the order given, names sorted within each.

    Raises UsageError for what is not there, cannot be read, or is of no known or of mixed kinds.
    """
    found = [file for source in sources for file in _expand(source)]
    kinds = {"parquet" if file.layout == "parquet" else "JSON" for file in found}
    if len(kinds) > 1:
        raise UsageError(
            f"{', '.join(sources)}: holds both Parquet and JSON files; name one kind, for example with a "
            "pattern like '*.jsonl'"
        )
    return found


def split_for(files: Sequence[InputFile], cores: int = 1) -> int:
    """Bytes of a split: small enough that all cores have one, but every split makes a file per table, so
    large inputs get larger ones.
    """
    total = sum(file.size for file in files)
    return min(max(min(max(SPLIT, total // TASKS), -(-total // cores)), LEAST), MOST)


def splits_of(files: Sequence[InputFile], size: int = SPLIT) -> list[Split]:
    """Plain files of lines are cut every `size` bytes, all others are one split each."""
    made = []
    for number, file in enumerate(files):
        if file.layout == "lines" and not file.compression and file.size > size:
            starts = range(0, file.size, size)
            made += [
                Split(number, at, file.path, file.layout, "", start, min(start + size, file.size))
                for at, start in enumerate(starts)
            ]
        elif file.layout == "parquet":
            ranges = row_groups(file.path, size)
            made += [
                Split(number, at, file.path, "parquet", "", start, end)
                for at, (start, end) in enumerate(ranges)
            ]
        else:
            made.append(Split(number, 0, file.path, file.layout, file.compression))
    return made


def _expand(source: str) -> Iterator[InputFile]:
    path = source.removeprefix("file://")
    if os.path.isdir(path):
        paths = sorted(_files_below(path))
        if not paths:
            raise UsageError(f"{source}: the folder holds no files")
    elif os.path.exists(path):
        paths = [path]
    else:
        paths = sorted(p for p in glob.glob(path, recursive=True) if os.path.isfile(p))
        if not paths:
            raise UsageError(_missing(source))
    for each in paths:
        yield _describe(each)


def _files_below(folder: str) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(("_", ".")))
        yield from (os.path.join(here, name) for name in names if not name.startswith(("_", ".")))


def _missing(source: str) -> str:
    if glob.has_magic(source):
        return f"{source}: no file matches this pattern"
    parent = Path(source).parent
    if not parent.exists():
        return f"{source}: no such file; the folder {parent} does not exist either"
    from difflib import get_close_matches

    close = get_close_matches(Path(source).name, [p.name for p in parent.iterdir()], n=1)
    return f"{source}: no such file" + (
        f"; did you mean {parent / close[0]}?" if close else f" in {parent.resolve()}"
    )


def _describe(path: str) -> InputFile:
    name = Path(path)
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as stream:
            head = stream.read(4096)
    except OSError as bad:
        raise UsageError(f"{path}: cannot be read ({bad.strerror}); check its rights") from None
    if name.suffix == ".parquet" or head.startswith(b"PAR1"):
        return InputFile(path, "parquet", "", size)
    compression: Compression = _COMPRESSIONS.get(name.suffix, "")
    if not compression:
        compression = next((kind for magic, kind in _MAGIC if head.startswith(magic)), "")
    ending = Path(name.stem).suffix if compression else name.suffix
    if ending.lower() not in _TEXT and not head.lstrip().startswith((b"{", b"[")):
        raise UsageError(
            f"{path}: files of kind {ending!r} are not read; JSON lines, JSON arrays (both also .gz, .zst, "
            ".bz2) and Parquet are"
        )
    if compression:
        try:
            with open_stream(path, compression) as stream:
                head = stream.read(4096)
        except (OSError, EOFError):
            head = b""
    return InputFile(path, _layout(head.removeprefix(BOM).lstrip()), compression, size)


def _layout(head: bytes) -> Layout:
    """An array, unless its first line is a whole value by itself and others follow."""
    if not head.startswith(b"["):
        return "lines"
    line, _, rest = head.partition(b"\n")
    try:
        json.loads(line)
    except ValueError:
        return "array"
    return "lines" if rest.strip() else "array"

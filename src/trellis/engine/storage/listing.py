"""The files behind a path, a folder or a pattern of a remote file system, in the order of their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from glob import has_magic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

ANY_DEPTH = "**"


def is_hidden(name: str) -> bool:
    """Whether a file or folder below a folder of input is none of it: `_SUCCESS`, `.part-0.crc`."""
    return name.startswith(("_", "."))


def files_below(files: FileSystem, folder: str) -> list[FileInfo]:
    """All files below a folder but hidden ones, and those in hidden folders."""
    return [
        info
        for info in _listed(files, folder, recursive=True)
        if info.is_file and not any(map(is_hidden, _names(info.path, folder)))
    ]


def files_matching(files: FileSystem, pattern: str) -> list[FileInfo]:
    """The files that a pattern such as `bucket/raw/2026-*/*.jsonl` names; `**` stands for any folders."""
    parts = pattern.split("/")
    fixed = next(at for at, part in enumerate(parts) if has_magic(part))
    folder, tail = "/".join(parts[:fixed]) or "/", parts[fixed:]
    if ANY_DEPTH in tail:
        infos = [
            info
            for info in _listed(files, folder, recursive=True)
            if _matches(_names(info.path, folder), tail)
        ]
    else:
        infos = list(_by_level(files, folder, tail))
    return sorted((info for info in infos if info.is_file), key=lambda info: str(info.path))


def _by_level(files: FileSystem, folder: str, parts: Sequence[str]) -> Iterator[FileInfo]:
    """Only the folders that match are listed."""
    part, *rest = parts
    if not has_magic(part):
        inner = f"{folder}/{part}"
        if rest:
            yield from _by_level(files, inner, rest)
        else:
            yield files.get_file_info(inner)
        return
    for info in _listed(files, folder, recursive=False):
        if _matches_name(info.base_name, part):
            if not rest:
                yield info
            elif not info.is_file:
                yield from _by_level(files, info.path, rest)


def _listed(files: FileSystem, folder: str, recursive: bool) -> list[FileInfo]:
    from pyarrow.fs import FileSelector

    infos = files.get_file_info(FileSelector(folder, allow_not_found=True, recursive=recursive))
    return sorted(infos, key=lambda info: str(info.path))


def _names(path: str, folder: str) -> list[str]:
    return path.removeprefix(folder).strip("/").split("/")


def _matches(names: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether the names of folders and of a file match the parts of a pattern.

    >>> _matches(["2026", "01", "a.jsonl"], ["**", "*.jsonl"]), _matches([".x", "a.jsonl"], ["**", "*.jsonl"])
    (True, False)
    """
    if not parts:
        return not names
    part, *rest = parts
    if part == ANY_DEPTH:
        if not rest and names:
            return not any(name.startswith(".") for name in names)
        return _matches(names, rest) or (
            bool(names) and not names[0].startswith(".") and _matches(names[1:], parts)
        )
    return bool(names) and _matches_name(names[0], part) and _matches(names[1:], rest)


def _matches_name(name: str, part: str) -> bool:
    return fnmatchcase(name, part) and (part.startswith(".") or not name.startswith("."))

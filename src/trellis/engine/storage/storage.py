"""One way to every file: a local path is opened by Python, a URL by `pyarrow.fs`."""

from __future__ import annotations

import glob
import io
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from trellis.engine.storage.failures import explained, missing_container
from trellis.engine.storage.listing import files_below, files_matching, is_hidden
from trellis.engine.storage.location import absolute, is_remote, local_path, parse_url
from trellis.engine.storage.settings import StorageSettings
from trellis.engine.storage.stores import file_system
from trellis.errors import UsageError

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

BUFFER = 1 << 20
COPY = 8 << 20


class EmptyFolder(UsageError):
    """A folder of input is there, and no file is in it."""

    @staticmethod
    def of(source: str) -> EmptyFolder:
        return EmptyFolder(
            f"{source}: the folder holds no files; check the path, or wait until they are there"
        )


@dataclass(frozen=True)
class FileStatus:
    """A file as it is listed: the user's name for it, where it is, its bytes, when it was written."""

    name: str
    location: str
    size: int
    modified_ns: int


@dataclass(frozen=True)
class Storage:
    """All file systems, with the settings of a load. It can be pickled: files are opened where it is used.

    Methods raise UsageError or StorageError for what a remote file system refuses, OSError for local files.
    """

    settings: StorageSettings = field(default_factory=StorageSettings)

    def list_files(self, source: str) -> list[FileStatus]:
        """The files of a path, a folder or a pattern, sorted by name. Raises UsageError where there are none.

        Below a folder files and folders whose names begin with `_` or `.` are left out.
        """
        if not is_remote(source):
            return [_local_status(path) for path in _local_files(source)]
        place = parse_url(source)
        with explained(source, self.settings):
            infos = self._remote_files(source)
        return [_remote_status(place.url(str(info.path)), info) for info in infos]

    def status(self, location: str) -> FileStatus | None:
        """A file or folder; None where there is none."""
        if not is_remote(location):
            return _local_status(location) if os.path.exists(location) else None
        path, files = self._remote(location)
        with explained(location, self.settings):
            info = files.get_file_info(path)
        return _remote_status(location, info) if info.type else None

    def read_head(self, file: FileStatus, size: int) -> tuple[bytes, str]:
        """The first bytes of a file, and what tells its content from a later one: a tag, or the time."""
        if not is_remote(file.location):
            with open(file.location, "rb") as stream:
                return stream.read(size), str(file.modified_ns)
        path, files = self._remote(file.location)
        with (
            explained(file.location, self.settings),
            files.open_input_stream(path, compression=None) as stream,
        ):
            tags = {name.lower(): value.decode() for name, value in (stream.metadata() or {}).items()}
            return stream.read(size), tags.get("etag") or str(file.modified_ns)

    def open_input(self, location: str, buffer: int = BUFFER) -> IO[bytes]:
        """A file to read, from its beginning or from anywhere in it."""
        if not is_remote(location):
            return open(location, "rb", buffering=buffer)
        path, files = self._remote(location)
        with explained(location, self.settings):
            return cast(IO[bytes], io.BufferedReader(files.open_input_file(path), buffer))

    def arrow_path(self, location: str) -> tuple[str, FileSystem | None]:
        """Path and file system as the functions of Arrow take them; None is the local file system."""
        return self._remote(location) if is_remote(location) else (location, None)

    def make_folder(self, location: str) -> None:
        """Make a folder for files, with those around it, where the file system needs one."""
        if not is_remote(location):
            os.makedirs(location, exist_ok=True)
        elif not parse_url(location).in_bucket:
            path, files = self._remote(location)
            with explained(location, self.settings):
                files.create_dir(path, recursive=True)

    def write_file(self, location: str, data: bytes) -> None:
        """Write a file that is seen whole or not at all, in place of one of that name."""
        if is_remote(location) and parse_url(location).in_bucket:  # an object appears when it is complete
            path, files = self._remote(location)
            with (
                explained(location, self.settings),
                files.open_output_stream(path, compression=None) as stream,
            ):
                stream.write(data)
            return
        unfinished = f"{location}.{secrets.token_hex(4)}"
        path, files = self.arrow_path(unfinished)
        with (
            explained(location, self.settings),
            files.open_output_stream(path, compression=None) if files else open(path, "wb") as stream,
        ):
            stream.write(data)
        self.rename(unfinished, location)

    def rename(self, source: str, target: str) -> None:
        """Rename a file, in place of one of that name: in one step, but on object stores, which copy it."""
        if not is_remote(source):
            os.replace(source, target)
            return
        path, files = self._remote(source)
        with explained(source, self.settings):
            files.move(path, self._remote(target)[0])

    def delete_tree(self, location: str) -> None:
        """Delete a folder and all that is in it, if it is there; what is left of a local one is no error."""
        if not is_remote(location):
            shutil.rmtree(location, ignore_errors=True)
            return
        path, files = self._remote(location)
        with explained(location, self.settings), suppress(FileNotFoundError):
            files.delete_dir(path)

    def download(self, location: str, target: str) -> None:
        """Copy a file to a local path; the folder of that is made."""
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        with (
            explained(location, self.settings),
            self.open_input(location, COPY) as stream,
            open(target, "wb") as file,
        ):
            shutil.copyfileobj(stream, file, COPY)

    def copy_file(self, source: str, target: str) -> None:
        """Copy a file, of which one or both are remote; within a store that is the work of the store."""
        if not is_remote(target):
            self.download(source, target)
            return
        path, files = self._remote(target)
        with explained(target, self.settings):
            if is_remote(source) and parse_url(source).store == parse_url(target).store:
                files.copy_file(self._remote(source)[0], path)
                return
            with (
                self.open_input(source, COPY) as stream,
                files.open_output_stream(path, compression=None) as copy,
            ):
                shutil.copyfileobj(stream, copy, COPY)

    def explained(self, location: str) -> AbstractContextManager[None]:
        """What the file system of a location refuses inside is raised as one sentence, if it is remote."""
        return explained(location, self.settings)

    def _remote(self, location: str) -> tuple[str, FileSystem]:
        place = parse_url(location)
        with explained(location, self.settings):
            return place.path, file_system(place.store, place.prefix, place.authority, self.settings)

    def _remote_files(self, source: str) -> list[FileInfo]:
        place = parse_url(source)
        path, files = self._remote(source)
        info = files.get_file_info(path)
        if info.is_file:
            return [info]
        if info.type:
            infos = files_below(files, path)
            if not infos:
                raise EmptyFolder.of(source)
            return infos
        infos = files_matching(files, path) if glob.has_magic(path) else []
        if infos:
            return infos
        if place.in_bucket and not files.get_file_info(place.container).type:
            raise missing_container(place, self.settings)
        raise UsageError(
            f"{source}: no file matches this pattern"
            if glob.has_magic(path)
            else f"{source}: no such file" + (f" in {place.container}" if place.in_bucket else "")
        )


DEFAULT_STORAGE = Storage()
"""Without settings: remote files are opened as the environment of the process allows."""


def _remote_status(location: str, info: FileInfo) -> FileStatus:
    return FileStatus(location, location, info.size or 0, info.mtime_ns or 0)


def _local_files(source: str) -> list[str]:
    path = local_path(source)
    if os.path.isdir(path):
        paths = sorted(_local_files_below(path))
        if not paths:
            raise EmptyFolder.of(source)
        return paths
    if os.path.exists(path):
        return [path]
    paths = sorted(filter(os.path.isfile, glob.glob(path, recursive=True)))
    if not paths:
        raise UsageError(_missing(source, path))
    return paths


def _local_files_below(folder: str) -> Iterator[str]:
    for below, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not is_hidden(name))
        yield from (os.path.join(below, name) for name in names if not is_hidden(name))


def _local_status(path: str) -> FileStatus:
    try:
        status = os.stat(path)
    except OSError as bad:
        raise UsageError(f"{path}: cannot be read ({bad.strerror}); check its rights") from None
    return FileStatus(path, absolute(path), status.st_size, status.st_mtime_ns)


def _missing(source: str, path: str) -> str:
    if glob.has_magic(path):
        return f"{source}: no file matches this pattern"
    parent = Path(path).parent
    if not parent.exists():
        return f"{source}: no such file; the folder {parent} does not exist either"
    from difflib import get_close_matches

    close = get_close_matches(Path(path).name, os.listdir(parent), n=1)
    return f"{source}: no such file" + (
        f"; did you mean {parent / close[0]}?" if close else f" in {parent.resolve()}"
    )

"""Folders and files on a local or mounted file system: made, written for good, removed."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trellis.errors import DestinationError

STAGING_VARIABLE = "TRELLIS_STAGING"
_LOCK_POLL = 0.02
_ATTEMPTS = 100
"""How often a folder is made whose parent other loads remove, as it was empty."""
_CAUSES = {
    errno.ENOSPC: "the disk is full; free some space and load again",
    errno.EDQUOT: "the disk quota is used up; free some space and load again",
    errno.EFBIG: "a file is larger than this process may write; raise the limit (ulimit -f) and load again",
    errno.EROFS: "the file system is read-only; name another folder",
    errno.EACCES: "this user may not write there; change its rights or name another folder",
    errno.EPERM: "this user may not write there; change its rights or name another folder",
    errno.ENOTDIR: "part of the path is a file, not a folder; name another folder",
    errno.EEXIST: "there is a file of that name, not a folder; name another folder",
    errno.EMFILE: "too many files are open; raise the limit (ulimit -n) and load again",
}


@contextmanager
def explain_os_errors(where: str) -> Iterator[None]:
    """What the operating system refuses becomes one sentence about `where`."""
    try:
        yield
    except OSError as bad:
        raise DestinationError(f"{where}: {_CAUSES.get(_number(bad)) or bad}; nothing was loaded") from bad


def make_folder(path: str) -> str:
    """The path itself, once it is a folder in which files can be made. Raises DestinationError."""
    with explain_os_errors(path):
        for _ in range(_ATTEMPTS):
            with suppress(FileNotFoundError):
                os.makedirs(path, exist_ok=True)
                break
        else:  # in a file system without folders of users, such as /proc
            raise DestinationError(
                f"{path}: no folder can be made there; name another one; nothing was loaded"
            )
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "not writable", path)
    return path


def staging_root() -> str:
    """A folder that only this user writes to, unless the environment names one."""
    if named := os.environ.get(STAGING_VARIABLE):
        return named
    root = os.path.join(tempfile.gettempdir(), f"trellis-{os.getuid()}")
    with explain_os_errors(root), suppress(FileExistsError):
        os.mkdir(root, mode=0o700)
    status = os.lstat(root)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise DestinationError(
            f"{root}: it belongs to somebody else; set {STAGING_VARIABLE} to a folder of your own"
        )
    return root


def is_temporary(folder: str) -> bool:
    """Whether a folder of loads is one that the system may empty, for example when the machine restarts."""
    return STAGING_VARIABLE not in os.environ and Path(folder).is_relative_to(staging_root())


def write_durably(path: str, content: bytes) -> None:
    """Write a file that a crash of the machine does not take away."""
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_to_disk(path: str) -> None:
    """Let a written file, or the names in a folder, survive a crash of the machine."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def move_file(source: str, target: str) -> None:
    """Rename a file, or where that is on another file system: copy it, seen under its name when complete."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        os.rename(source, target)
    except OSError as bad:
        if bad.errno != errno.EXDEV:
            raise
        shutil.copyfile(source, f"{target}.part")
        os.rename(f"{target}.part", target)
        os.unlink(source)


def link_file(source: str, target: str) -> None:
    """Give a file a second name, or a copy where its file system cannot; it is seen when complete."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, f"{target}.part")
        os.rename(f"{target}.part", target)


def remove_file(path: str) -> None:
    """Remove a file, and its folder if that was the last; what is gone already is fine."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    with suppress(OSError):
        Path(path).parent.rmdir()


@contextmanager
def exclusive_lock(path: str, wait: float, *, remove: bool = False) -> Iterator[None]:
    """Hold a lock file: the loads of one machine touch the files one after the other. `remove`: no file is
    left when it is let go."""
    descriptor = _open_locked(path, wait)
    try:
        yield
        if remove:
            os.unlink(path)
    finally:
        os.close(descriptor)


def _open_locked(path: str, wait: float) -> int:
    """The lock file, once nobody else holds it. Who held it before may have removed it, and its folder."""
    limit = time.monotonic() + wait
    while True:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                _wait_for_lock(descriptor, path, wait, limit)
                if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)


def _wait_for_lock(descriptor: int, path: str, wait: float, limit: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= limit:
                raise DestinationError(
                    f"{path}: another load holds it and did not let go within {wait:.0f} seconds; "
                    "see whether a process hangs, and load again"
                ) from None
            time.sleep(_LOCK_POLL)


def _number(bad: OSError) -> int:
    """The error's number, which Arrow tells only in words."""
    if bad.errno is not None:
        return bad.errno
    in_words = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return next((number for number in in_words if os.strerror(number).lower() in str(bad).lower()), 0)

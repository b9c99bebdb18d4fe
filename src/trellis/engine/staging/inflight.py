"""A note beside the staged files of who is loading what, so that a load that was killed is picked up.

Running the same load again after a crash takes over its load id: if the crash came after the commit,
the destination knows the id and nothing is loaded twice. Folders of dead loads are removed.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from trellis.engine.staging.folder import CLAIM, StagingFolder, is_removed
from trellis.engine.storage.storage import DEFAULT_STORAGE, Storage
from trellis.errors import DestinationError

_SUFFIX = ".load"
PENDING = "pending"
"""The folder of what destinations refused, beside those of the loads."""


class InFlight:
    """Use as a context around a load; `load_id` is the id to load under.

    `fingerprint` identifies what is loaded; None means that a repeated load is a new one.
    """

    def __init__(
        self,
        folder: str,
        fingerprint: str | None,
        load_id: str | None,
        storage: Storage = DEFAULT_STORAGE,
    ) -> None:
        self.folder = Path(folder)
        self.storage = storage
        self.note = self.folder / f"{fingerprint}{_SUFFIX}" if fingerprint else None
        self.load_id = load_id or f"{time.time():.6f}"
        self.done = False

    def __enter__(self) -> InFlight:
        _sweep(self.folder, self.storage)
        if self.note is not None:
            left = _read(self.note)
            if left is not None and not _alive(left):
                self.load_id = str(left["load_id"])
            elif left is not None:
                self.note = None
        if self.note is not None:
            _write(self.note, {"load_id": self.load_id, **_me()})
        return self

    def claim(self, staging: StagingFolder) -> None:
        """Mark a staging folder as used by this process."""
        _write(Path(staging.home) / CLAIM, {**_me(), "rows": staging.rows})

    def finished(self) -> None:
        """The destination has the load, or will never get it: the note has done its service."""
        self.done = True
        if self.note is not None:
            self.note.unlink(missing_ok=True)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if not self.done and kind is not None:
            self.finished()
        with suppress(OSError):
            self.folder.rmdir()


def _sweep(folder: Path, storage: Storage) -> None:
    """Remove the staging folders of dead loads; one without a claim may be that of a load which begins."""
    for home in list(folder.iterdir()) if folder.is_dir() else ():
        left = _read(home / CLAIM)
        if is_removed(home.name):
            shutil.rmtree(home, ignore_errors=True)
        elif left is not None and not _alive(left):
            StagingFolder(str(home), str(left.get("rows", home)), storage).remove()


def _write(path: Path, note: dict[str, object]) -> None:
    try:
        while True:
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # another load may just have removed the empty folder
                DEFAULT_STORAGE.write_file(str(path), json.dumps(note).encode())
                return
    except OSError as bad:
        raise DestinationError(
            f"{path.parent}: cannot be written ({bad.strerror or bad}); check the path, its rights and "
            "the free space"
        ) from None


def _me() -> dict[str, object]:
    return {"pid": os.getpid(), "host": os.uname().nodename, "started": _started(os.getpid())}


def _alive(left: dict[str, object]) -> bool:
    if left.get("host") != os.uname().nodename:
        return True
    pid = int(str(left.get("pid", 0)))
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return left.get("started") == _started(pid)


def _started(pid: int) -> str:
    """When a process began, so that a reused number is not taken for it."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _read(path: Path) -> dict[str, object] | None:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None

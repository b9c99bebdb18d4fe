"""A note beside the staged files that says which process loads what, so that a killed load is picked up.

Running the same load again after a crash takes over its load id: if the crash came after the commit,
the destination knows the id and nothing is loaded twice. Folders of dead loads are removed.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from trellis.engine.staging.folder import CLAIM, StagingFolder, is_removed
from trellis.engine.staging.stage import folder_name
from trellis.engine.storage.storage import DEFAULT_STORAGE, Storage
from trellis.errors import DestinationError

_SUFFIX = ".load"
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT)
"""The folder is there, or another load has just taken the new one for left over."""
_ATTEMPTS = 100
"""How often a folder is made anew that other loads remove; one that cannot be made at all looks the same."""
_NEW = ".new"
"""The end of the name of a folder until it has a claim; no load's name has a dot (`folder_name`)."""
_CLAIM_SECONDS = 60.0
PENDING = "pending"
"""The folder of loads that their destination refused, beside the folders of running loads."""


class LoadNote:
    """A context around a load; `load_id` is the id to load under.

    `fingerprint` identifies the input and the destination; None means that a repeated load is a new one.
    An id that nobody gave is the time, and of two loads that begin in one microsecond beside one destination
    the second gets a later one: with the same id it would be taken for a repetition, and lose its rows.
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
        self.load_id = load_id or ""
        self.done = False

    def __enter__(self) -> LoadNote:
        _remove_dead_loads(self.folder, self.storage)
        if self.note is not None:
            note = _read_note(self.note)
            if note is not None and not _is_alive(note):
                self.load_id = str(note["load_id"])
            elif note is not None:
                self.note = None
        self.load_id = self.load_id or self._reserve_id()
        if self.note is not None:
            _write_note(self.note, {"load_id": self.load_id, **_this_process()})
        return self

    def claim(self, staging: StagingFolder) -> None:
        """Mark a staging folder as used by this process."""
        _write_note(Path(staging.home) / CLAIM, {**_this_process(), "rows": staging.rows})

    def finished(self) -> None:
        """Remove the note: the destination has the load, or will never get it."""
        self.done = True
        if self.note is not None:
            self.note.unlink(missing_ok=True)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if not self.done and kind is not None:
            self.finished()
        home = self.folder / folder_name(self.load_id)
        with suppress(OSError):
            if os.listdir(home) == [CLAIM]:
                shutil.rmtree(home)
        with suppress(OSError):
            self.folder.rmdir()

    def _reserve_id(self) -> str:
        """The time as an id whose folder, with a claim in it, was not there before."""
        while True:
            load_id = f"{time.time():.6f}"
            home = self.folder / folder_name(load_id)
            new_home = f"{home}-{secrets.token_hex(4)}{_NEW}"
            _write_note(Path(new_home) / CLAIM, {**_this_process(), "rows": str(home)})
            try:
                os.rename(new_home, home)
            except OSError as bad:
                shutil.rmtree(new_home, ignore_errors=True)
                if bad.errno not in _TAKEN:
                    raise _not_writable(self.folder, bad) from None
            else:
                return load_id


def _remove_dead_loads(folder: Path, storage: Storage) -> None:
    """Remove the staging folders of dead loads; one without a claim may belong to a load that starts."""
    homes = list[Path]()
    with suppress(FileNotFoundError, NotADirectoryError):
        homes += folder.iterdir()
    for home in homes:
        claim = _read_note(home / CLAIM)
        if home.suffix == _NEW:
            _remove_new_folder(home, claim)
        elif is_removed(home.name):
            shutil.rmtree(home, ignore_errors=True)
        elif claim is not None and not _is_alive(claim):
            StagingFolder(str(home), str(claim.get("rows", home)), storage).remove()


def _remove_new_folder(home: Path, claim: Mapping[str, object] | None) -> None:
    """Remove a folder whose load died before it was ready; one that is being claimed has no claim yet."""
    with suppress(OSError):
        home.rmdir()
        return
    with suppress(OSError):
        is_fresh = time.time() - home.stat().st_mtime < _CLAIM_SECONDS
        if not (is_fresh if claim is None else _is_alive(claim)):
            shutil.rmtree(home, ignore_errors=True)


def _write_note(path: Path, note: dict[str, object]) -> None:
    for attempt in range(_ATTEMPTS):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            DEFAULT_STORAGE.write_file(str(path), json.dumps(note).encode())
        except OSError as bad:
            # Another load may just have removed the empty folder, or the one around it.
            is_removed_again = isinstance(bad, FileNotFoundError | FileExistsError)
            if not is_removed_again or attempt == _ATTEMPTS - 1:
                raise _not_writable(path.parent, bad) from None
        else:
            return


def _not_writable(folder: Path, bad: OSError) -> DestinationError:
    return DestinationError(
        f"{folder}: cannot be written ({bad.strerror or bad}); check the path, its rights and the free space"
    )


def _this_process() -> dict[str, object]:
    return {"pid": os.getpid(), "host": os.uname().nodename, "started": _start_time(os.getpid())}


def _is_alive(process: Mapping[str, object]) -> bool:
    if process.get("host") != os.uname().nodename:
        return True
    pid = int(str(process.get("pid", 0)))
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return process.get("started") == _start_time(pid)


def _start_time(pid: int) -> str:
    """When a process started: another one that reuses its id has another time."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _read_note(path: Path) -> dict[str, object] | None:
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None

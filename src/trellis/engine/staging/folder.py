"""The folder of a load's staged files: beside the destination, or below a root that all workers can reach."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from trellis.engine.parallel import in_threads
from trellis.engine.staging.stage import StagedFile, folder_name
from trellis.engine.storage.location import is_remote
from trellis.engine.storage.storage import Storage
from trellis.errors import DestinationError, TrellisError

CLAIM = "_owner"
"""The file in a load's home that names the process it belongs to."""
_REMOVED = ".removed"
NOTE = b"Rows of a load of Trellis that is under way. Once it is over this folder may be deleted.\n"


@dataclass(frozen=True)
class StagingFolder:
    """`home` is the load's folder beside the destination, `rows` the location that tasks write to."""

    home: str
    rows: str
    storage: Storage

    @staticmethod
    def of(home: str, root: str | None, load_id: str, storage: Storage) -> StagingFolder:
        """The folder of a load. `root` is where the user wants files staged, None: at home."""
        home = os.path.abspath(home)
        rows = f"{root.rstrip('/')}/{folder_name(load_id)}-{secrets.token_hex(4)}" if root else home
        return StagingFolder(home, rows, storage)

    def make(self) -> None:
        """Make `rows`, so that a root that cannot be written is refused before anything is read.

        Raises DestinationError, UsageError, StorageError.
        """
        if self.rows == self.home:
            return
        try:
            self.storage.make_folder(self.rows)
            self.storage.write_file(f"{self.rows}/_trellis", NOTE)
        except TrellisError:
            shutil.rmtree(self.home, ignore_errors=True)
            raise
        except OSError as bad:
            shutil.rmtree(self.home, ignore_errors=True)
            raise DestinationError(
                f"{self.rows}: rows cannot be staged there ({bad.strerror or bad}); check the path, its "
                "rights and the free space, or name another folder with --staging"
            ) from None

    def below(self, name: str) -> str:
        """The location of a subfolder, for tasks."""
        return f"{self.rows}/{name}"

    def fetch(self, files: Sequence[StagedFile]) -> list[StagedFile]:
        """The files where the destination reads them: remote ones are copied. Raises what `make` raises."""
        if not is_remote(self.rows):
            return list(files)
        return list(in_threads(partial(_fetch, self), files))

    def bring_home(self, files: Mapping[str, Sequence[StagedFile]]) -> dict[str, list[StagedFile]]:
        """The files of a load that is kept: all of them in `home`. Raises DestinationError."""
        return {table: [_move(self, file) for file in staged] for table, staged in files.items()}

    def remove(self, kept: bool = False) -> None:
        """Delete the folder; with `kept` all but what is in `home`.

        Where remote files cannot be deleted now the claim in `home` stays, so that a later load deletes them.
        """
        try:
            if self.rows != self.home:
                self.storage.delete_tree(self.rows)
        except TrellisError:
            return
        if not kept:
            _delete_folder(self.home)


def is_removed(name: str) -> bool:
    """Whether a folder of this name is left over from a removal; no load's name has a dot (`folder_name`)."""
    return name.endswith(_REMOVED)


def removable(home: str) -> str:
    """Another name for a folder, under which any later load removes it."""
    return f"{home}-{secrets.token_hex(4)}{_REMOVED}"


def _delete_folder(home: str) -> None:
    """Rename a folder, then delete it: if this process dies in between, the name marks it as left over."""
    removed = removable(home)
    with suppress(OSError):
        os.rename(home, removed)
        shutil.rmtree(removed, ignore_errors=True)


def _fetch(folder: StagingFolder, file: StagedFile) -> StagedFile:
    target = folder.home + file.path.removeprefix(folder.rows)
    try:
        folder.storage.download(file.path, target)
    except OSError as bad:
        raise _copy_failure(target, bad) from None
    return replace(file, path=target)


def _move(folder: StagingFolder, file: StagedFile) -> StagedFile:
    if file.path.startswith(f"{folder.home}/"):
        return file
    if is_remote(file.path):
        return _fetch(folder, file)
    target = folder.home + file.path.removeprefix(folder.rows)
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.move(file.path, target)
    except OSError as bad:
        raise _copy_failure(target, bad) from None
    return replace(file, path=target)


def _copy_failure(target: str, bad: OSError) -> DestinationError:
    return DestinationError(
        f"{target}: a staged file cannot be copied there ({bad.strerror or bad}); free some space"
    )

"""The files of pending loads: written whole or not at all, read with care, never unpickled."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from glob import escape
from itertools import chain
from pathlib import Path
from urllib.parse import quote, unquote

from trellis.destinations.folder import explain_os_errors, sync_to_disk, write_durably
from trellis.engine.staging.stage import folder_name
from trellis.errors import DestinationError
from trellis.pipelines.packages.codec import Malformed
from trellis.pipelines.packages.document import (
    VERSION,
    NewerVersion,
    Package,
    from_document,
    pipeline_of,
    to_document,
)

_SUFFIX = ".package"
_PICKLE = b"\x80"
"""How every pickle begins that an older version wrote; no JSON does."""
_DISCARD = "discard it with `trellis drop --pending` (in Python: drop_pending())"


@dataclass(frozen=True)
class Packages:
    """The packages of one pipeline in a folder beside those of the staged files."""

    folder: Path
    pipeline: str

    def keep(self, package: Package) -> None:
        """Keep a package whose staged files stay where they are. Raises DestinationError."""
        file, staging = self._file(package.commit.load_id), self._staging(package.commit.load_id)
        unfinished, home = file.with_suffix(".unfinished"), Path(os.path.abspath(staging))
        (staging / "_owner").unlink(missing_ok=True)  # nobody's, so that nobody sweeps it
        with explain_os_errors(str(file)):
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                for staged in chain.from_iterable(package.commit.files.values()):
                    sync_to_disk(staged.path)
                write_durably(str(unfinished), to_document(package, self.pipeline, home).encode())
                os.replace(unfinished, file)
                sync_to_disk(str(self.folder))
            except OSError:
                unfinished.unlink(missing_ok=True)
                raise

    def oldest(self) -> Package | None:
        """The package that was kept first. Raises DestinationError where it cannot be read."""
        for file, content in self._contents():
            return self._read(file, content)
        return None

    def check_files(self, package: Package) -> None:
        """Raise DestinationError where a staged file is not there any more."""
        for staged in chain.from_iterable(package.commit.files.values()):
            if not os.path.exists(staged.path):
                raise _damaged(
                    self._file(package.commit.load_id), f"its staged file {staged.path} is missing"
                )

    def done(self, package: Package) -> None:
        """The destination has it, or never will."""
        self._file(package.commit.load_id).unlink(missing_ok=True)
        shutil.rmtree(self._staging(package.commit.load_id), ignore_errors=True)

    def drop(self) -> int:
        """Forget all packages of the pipeline, and their rows; how many there were."""
        files = [file for file, _ in self._contents()]
        for file in files:
            if load_id := unquote(file.name[len(self.pipeline) + 1 : -len(_SUFFIX)]):
                shutil.rmtree(self._staging(load_id), ignore_errors=True)
            file.unlink(missing_ok=True)
        return len(files)

    def _contents(self) -> Iterator[tuple[Path, bytes]]:
        """The files of the pipeline, oldest first: not those of one whose name only begins like it."""
        for file in sorted(self.folder.glob(f"{escape(self.pipeline)}-*{_SUFFIX}")):
            try:
                content = file.read_bytes()
            except OSError as bad:
                raise DestinationError(
                    f"{file}: this pending load cannot be read ({bad.strerror or bad}); give this user the "
                    "right to read it"
                ) from bad
            if pipeline_of(content) in (self.pipeline, None):
                yield file, content

    def _read(self, file: Path, content: bytes) -> Package:
        if content.startswith(_PICKLE):
            raise DestinationError(
                f"{file}: an older version of Trellis stored this pending load as a pickle, which is no "
                f"longer read; load it with that version, or {_DISCARD}"
            )
        try:
            package = from_document(content, self._staging)
            if self._file(package.commit.load_id) != file:
                raise Malformed("commit.load_id: expected the load id in the name of the file")
        except NewerVersion as newer:
            raise DestinationError(
                f"{file}: this pending load has format version {newer.version}, and this version of Trellis "
                f"reads versions up to {VERSION}; upgrade Trellis, or {_DISCARD}"
            ) from None
        except Malformed as bad:
            raise _damaged(file, str(bad)) from None
        return package

    def _file(self, load_id: str) -> Path:
        return self.folder / f"{self.pipeline}-{quote(load_id, safe='')}{_SUFFIX}"

    def _staging(self, load_id: str) -> Path:
        return self.folder.parent / folder_name(load_id)


def _damaged(file: Path, reason: str) -> DestinationError:
    return DestinationError(
        f"{file}: this pending load is damaged ({reason}); restore the file from a backup, or {_DISCARD}"
    )

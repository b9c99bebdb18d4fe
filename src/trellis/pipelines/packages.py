"""Loads that were extracted and staged but that the destination refused: kept, and tried first next time.

The rows of a source may be gone once they were read. So a package stays in its folder until the destination
takes it, or until somebody drops it (spec dlt.md, section 17).
"""

from __future__ import annotations

import pickle
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from trellis.destinations.base import Commit
from trellis.errors import DestinationError
from trellis.pipelines.report import Report

_SUFFIX = ".package"


@dataclass(frozen=True)
class Package:
    """A commit with its staged files, and the report of the load."""

    commit: Commit
    report: Report
    staging: str


@dataclass(frozen=True)
class Packages:
    """The packages of one pipeline in a folder."""

    folder: Path
    pipeline: str

    def keep(self, package: Package) -> None:
        """Keep a package whose staged files stay where they are."""
        (Path(package.staging) / "_owner").unlink(missing_ok=True)  # nobody's, so that nobody sweeps it
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = self._file(package).with_suffix(".unfinished")
        unfinished.write_bytes(pickle.dumps(package))
        unfinished.replace(self._file(package))

    def oldest(self) -> Package | None:
        """The package that was kept first. Raises DestinationError where it cannot be read."""
        for file in sorted(self.folder.glob(f"{self.pipeline}-*{_SUFFIX}")):
            try:
                found = pickle.loads(file.read_bytes())
            except Exception:
                found = None
            if not isinstance(found, Package):
                raise DestinationError(
                    f"{file}: the pending package cannot be read by this version; load it with the version "
                    "that kept it, or drop it with drop_pending()"
                )
            return found
        return None

    def done(self, package: Package) -> None:
        """The destination has it, or never will."""
        self._file(package).unlink(missing_ok=True)
        shutil.rmtree(package.staging, ignore_errors=True)

    def drop(self) -> int:
        """Forget all packages of the pipeline, and their rows; how many there were."""
        files = list(self.folder.glob(f"{self.pipeline}-*{_SUFFIX}"))
        for file in files:
            with suppress(Exception):  # of a file that cannot be read the rows stay
                shutil.rmtree(pickle.loads(file.read_bytes()).staging, ignore_errors=True)
            file.unlink(missing_ok=True)
        return len(files)

    def _file(self, package: Package) -> Path:
        return self.folder / f"{self.pipeline}-{package.commit.load_id}{_SUFFIX}"

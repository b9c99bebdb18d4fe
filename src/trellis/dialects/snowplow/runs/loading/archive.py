"""Loaded runs moved out of the way, into a folder from which they load again elsewhere."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trellis.destinations.folder import explain_os_errors
from trellis.dialects.snowplow.runs.loading.loader import RunLoader
from trellis.dialects.snowplow.runs.manifest import COMPLETION_FILE, find_runs
from trellis.errors import UsageError

_PART: Final = ".part"


@dataclass(frozen=True)
class ArchivedRun:
    """Where a run went; None where it stays, as it is not loaded."""

    run: str
    target: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"run": self.run, "archived": None if self.target is None else str(self.target)}


def archive_runs(loader: RunLoader, place: str, archive: Path) -> Iterator[ArchivedRun]:
    """Move the runs that are loaded, each when it is asked for. Raises UsageError, DestinationError.

    A run is always whole, in one of the places; one that is in both, as a move was interrupted, ends up in
    the archive alone.
    """
    for run in find_runs(place):
        target = None
        if loader.state(run) == "loaded":
            with explain_os_errors(str(archive)):
                archive.mkdir(parents=True, exist_ok=True)
                target = _move(run, archive / run.name)
        yield ArchivedRun(run.name, target)


def _move(run: Path, target: Path) -> Path:
    """Copy under another name first: a folder may be on another file system. Raises UsageError."""
    if target.exists() and target.samefile(run):
        raise UsageError(f"{run}: it is in the archive already; name another folder with --into")
    if not target.exists():
        draft = target.with_name(f"{target.name}{_PART}")
        shutil.rmtree(draft, ignore_errors=True)
        shutil.copytree(run, draft)
        draft.rename(target)
    elif (target / COMPLETION_FILE).read_bytes() != (run / COMPLETION_FILE).read_bytes():
        raise UsageError(f"{target}: another run of this name is archived; name another folder")
    shutil.rmtree(run)
    return target

"""Loads of new files: those that no such load brought into the table yet, as the destination remembers."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from trellis.destinations.base import Destination, StateConflict
from trellis.dialects import get_dialect
from trellis.engine.input.files import list_files
from trellis.engine.input.source_format import named_format
from trellis.engine.plan import Counts
from trellis.engine.records.files import table_of_file
from trellis.engine.staging.loaded_files import LOADED_FILES, FileClaim, FileVersion
from trellis.engine.storage.location import foreign_scheme
from trellis.engine.storage.storage import FileStatus, Storage
from trellis.errors import UsageError
from trellis.pipelines.loading.options import LoadSettings
from trellis.pipelines.report import Report

if TYPE_CHECKING:
    from trellis.pipelines.pipeline import Pipeline

TRIES = 5
NAMED = 3
"""Changed files that a note names."""

FileState = Literal["new", "loaded", "changed"]
LoadFiles = Callable[[Sequence[str], LoadSettings, FileClaim], Report]
"""Loads the files of these names."""


@dataclass(frozen=True)
class LoadedFile:
    """A file that a load of new files brought, as it was then."""

    path: str
    size: int
    modified_at: datetime
    table: str
    load_id: str
    loaded_at: datetime
    sequence: int

    @property
    def version(self) -> FileVersion:
        return FileVersion(self.path, self.size, self.modified_at)


@dataclass(frozen=True)
class ListedFile:
    """A file of a source, and whether it is loaded. `last` is its last load."""

    name: str
    version: FileVersion
    state: FileState
    last: LoadedFile | None = None


@dataclass(frozen=True)
class FileLog:
    """The files that loads of new files brought into one table, in the order of the loads.

    `interrupted` are those of a load that was killed while its tables were committed one by one.
    """

    loaded: tuple[LoadedFile, ...]
    interrupted: tuple[LoadedFile, ...] = ()

    @property
    def next_number(self) -> int:
        return max((file.sequence for file in (*self.loaded, *self.interrupted)), default=0) + 1

    def compare(self, files: Iterable[FileStatus]) -> list[ListedFile]:
        """The files of a source, each with its state."""
        last_loads = {file.path: file for file in self.loaded}
        return [_listed(file, last_loads) for file in files]


def _listed(file: FileStatus, last_loads: dict[str, LoadedFile]) -> ListedFile:
    version = FileVersion.of(file)
    last = last_loads.get(version.path)
    if last is None:
        return ListedFile(file.name, version, "new")
    return ListedFile(file.name, version, "loaded" if last.version == version else "changed", last)


def read_file_log(pipeline: Pipeline, table: str) -> FileLog:
    """What the destination remembers of the loads of new files into a table. Raises DestinationError."""
    files = [file for file in loaded_files(pipeline.destination, pipeline.dataset) if file.table == table]
    committed = committed_loads(pipeline) if files else set()
    return FileLog(
        tuple(file for file in files if file.load_id in committed),
        tuple(file for file in files if file.load_id not in committed),
    )


def loaded_files(destination: Destination, dataset: str) -> list[LoadedFile]:
    """All files that loads of new files brought into a dataset, the oldest load of each table first."""
    if LOADED_FILES.name not in destination.catalog(dataset):
        return []
    rows = (row for batch in destination.batches(dataset, LOADED_FILES.name) for row in batch.to_pylist())
    files = [
        LoadedFile(
            path=row["path"],
            size=row["size"],
            modified_at=row["modified_at"],
            table=row["table_name"] or "",
            load_id=row["load_id"],
            loaded_at=row["loaded_at"],
            sequence=row["sequence"],
        )
        for row in rows
    ]
    return sorted(files, key=lambda file: (file.sequence, file.loaded_at, file.path))


def committed_loads(pipeline: Pipeline) -> set[str]:
    """The ids of the loads that a dataset holds."""
    metadata = get_dialect(pipeline.dialect).metadata.tables()
    if metadata.loads not in pipeline.destination.catalog(pipeline.dataset):
        return set()
    rows = pipeline.destination.query(pipeline.dataset, metadata.loads)
    return {str(row[metadata.load_id]) for row in rows}


def list_states(pipeline: Pipeline, sources: Sequence[str], table: str | None) -> list[ListedFile]:
    """The files of sources, and whether they are in the table; default the one that a load would take."""
    files = list_sources(sources, pipeline.storage)
    if not files:
        return []
    root = pipeline.root_table(table, table_of_file(files[0].name))
    return read_file_log(pipeline, root).compare(files)


def list_sources(sources: Sequence[str], storage: Storage) -> list[FileStatus]:
    """The files of paths, folders and patterns, each once; an empty folder has none.

    Raises UsageError, StorageError.
    """
    files: dict[str, FileStatus] = {}
    for source in sources:
        try:
            for file in list_files([source], storage):
                files.setdefault(FileVersion.of(file).path, file)
        except UsageError:
            if not os.path.isdir(source) and not glob.has_magic(source):
                raise
    return [*files.values()]


def load_new_files(pipeline: Pipeline, source: Any, settings: LoadSettings, load: LoadFiles) -> Report:
    """Load the files of a source that are new in the table. Raises what a load raises.

    A load of such files that was killed half way is completed first.
    """
    for attempt in range(TRIES):
        try:
            return _load(pipeline, _paths(source, settings), settings, load)
        except StateConflict:
            if attempt == TRIES - 1:
                raise
    raise AssertionError("unreachable")


def _load(pipeline: Pipeline, paths: Sequence[str], settings: LoadSettings, load: LoadFiles) -> Report:
    files = list_sources(paths, pipeline.storage)
    if not files:
        return _nothing(pipeline, settings, "no files there yet")
    table = pipeline.root_table(settings.table, table_of_file(files[0].name))
    settings = replace(settings, table=table or None)
    log = read_file_log(pipeline, table)
    listed, notes = log.compare(files), list[str]()
    completed: Report | None = None
    for load_id in dict.fromkeys(file.load_id for file in log.interrupted):
        completed = _complete(log, load_id, listed, settings, load)
        notes.append(f"load {load_id}, which was interrupted, is complete now")
    if completed is not None:
        log = read_file_log(pipeline, table)
        listed = log.compare(files)
    changed = [file for file in listed if file.state == "changed"]
    chosen = [file for file in listed if file.state == "new"]
    if settings.reload_changed:
        chosen += changed
    elif changed:
        notes.append(_changed_note(changed))
    if not chosen and completed is not None:
        return replace(completed, notes=(*completed.notes, *notes))
    if not chosen:
        return _nothing(pipeline, settings, f"no new files among {len(listed):,}", *notes)
    claim = FileClaim(table, log.next_number, tuple(file.version for file in chosen))
    state = "new or changed" if settings.reload_changed else "new"
    notes.append(f"{len(chosen):,} of {len(listed):,} files are {state}")
    report = load([file.name for file in chosen], settings, claim)
    return replace(report, notes=(*report.notes, *notes))


def _complete(
    log: FileLog, load_id: str, listed: Sequence[ListedFile], settings: LoadSettings, load: LoadFiles
) -> Report:
    """Repeat a load that was killed between the commits of its tables. Raises UsageError."""
    interrupted = [file for file in log.interrupted if file.load_id == load_id]
    names = {file.version: file.name for file in listed}
    missing = [file.path for file in interrupted if file.version not in names]
    if missing:
        raise UsageError(
            f"{missing[0]}: load {load_id} of this file was interrupted, and the file is not there any more "
            "as it was; put it back, so that the load can be completed"
        )
    claim = FileClaim(
        interrupted[0].table,
        interrupted[0].sequence,
        tuple(file.version for file in interrupted),
        is_repeated=True,
    )
    chosen = [names[file.version] for file in interrupted]
    return load(chosen, replace(settings, load_id=load_id), claim)


def _nothing(pipeline: Pipeline, settings: LoadSettings, *notes: str) -> Report:
    """The report of a load that had nothing to do."""
    return Report(
        settings.load_id or "", pipeline.dataset, pipeline.destination.url, pipeline.dialect,
        pipeline.schema, Counts(), already_loaded=True, notes=(f"{notes[0]}; nothing was loaded", *notes[1:]),
    )  # fmt: skip


def _changed_note(changed: Sequence[ListedFile]) -> str:
    named = ", ".join(file.name for file in changed[:NAMED])
    more = f" and {len(changed) - NAMED:,} more" if len(changed) > NAMED else ""
    what = "1 file" if len(changed) == 1 else f"{len(changed):,} files"
    return (
        f"{what} changed after the load, and the new content was not loaded: {named}{more}; load it with "
        "--reload-changed (reload_changed=True), best with the mode merge"
    )


def _paths(source: Any, settings: LoadSettings) -> list[str]:
    paths = [source] if isinstance(source, (str, Path)) else source
    if not isinstance(paths, Sequence) or not all(isinstance(path, (str, Path)) for path in paths):
        raise UsageError(f"new_only is for files, and the source is a {type(source).__name__}; leave it out")
    names = [str(path) for path in paths]
    named = named_format(names, settings.format)
    foreign = [name for name in names if foreign_scheme(name)]
    if foreign or (named is not None and named.address != "files"):
        raise UsageError(
            f"{', '.join(foreign or names)}: new_only is for files that Trellis lists; stream this "
            "source with --trigger available-now, which remembers what it read"
        )
    return names

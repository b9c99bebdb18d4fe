"""`_trellis_files`: the files that loads of new files brought, each in the commit that brought it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from trellis.engine.staging.batches import TableBatch, array_of
from trellis.engine.staging.stage import Stage, StagedFile
from trellis.engine.storage.location import is_remote, parse_url
from trellis.engine.storage.storage import FileStatus
from trellis.schema.model import Column, DataType, Table

_TYPES: dict[str, DataType] = {
    "load_id": "text",
    "table_name": "text",
    "sequence": "bigint",
    "path": "text",
    "size": "bigint",
    "modified_at": "timestamp",
    "loaded_at": "timestamp",
}
LOADED_FILES = Table(
    "_trellis_files",
    {name: Column(name, data_type, nullable=False) for name, data_type in _TYPES.items()},
    description="Files that loads of new files brought: of which table, path, size and time of the content.",
)
"""`sequence` counts the loads of new files into a table."""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class FileVersion:
    """The content of a file, as far as a listing shows it. `path` is the same however a user writes it."""

    path: str
    size: int
    modified_at: datetime

    @staticmethod
    def of(file: FileStatus) -> FileVersion:
        modified = _EPOCH + timedelta(microseconds=file.modified_ns // 1000)
        return FileVersion(_canonical_path(file.location), file.size, modified)


@dataclass(frozen=True)
class FileClaim:
    """The files that a load brings into a table, as the load of this number in the sequence.

    `is_repeated`: a load that was killed put them on record.
    """

    table: str
    sequence: int
    files: tuple[FileVersion, ...]
    is_repeated: bool = False

    def stage(self, folder: str, load_id: str, now: datetime) -> Sequence[StagedFile]:
        """The rows of `_trellis_files`, as a staged file in a local folder."""
        rows = [
            (load_id, self.table, self.sequence, file.path, file.size, file.modified_at, now)
            for file in self.files
        ]
        batch = TableBatch(LOADED_FILES.name, len(rows))
        for column, values in zip(LOADED_FILES.complete_columns, zip(*rows, strict=True), strict=False):
            batch.columns[column.name] = array_of(LOADED_FILES, column, list(values))
        with Stage(folder, f"files-{os.urandom(4).hex()}") as stage:
            stage.add(LOADED_FILES, batch)
        return stage.files


def _canonical_path(location: str) -> str:
    """
    >>> _canonical_path("s3a://raw/2026/01.jsonl"), _canonical_path("/raw/../raw/a.jsonl")
    ('s3://raw/2026/01.jsonl', '/raw/a.jsonl')
    """
    if not is_remote(location):
        return os.path.realpath(location)
    place = parse_url(location)
    return f"{place.store}://{place.authority}/{place.key}"

"""Iceberg's Hadoop catalog without a JVM: the files in a table's folder say which metadata is the newest.

A commit writes `metadata/v8.metadata.json` where `v7` was the newest, and loses if there is such a file.
`version-hint.text` names a version that is not much older; without it the files themselves tell.
"""

from __future__ import annotations

import os
import re
import secrets
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError as PydanticError
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError, ValidationError
from pyiceberg.io import load_file_io
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.metadata import TableMetadata, new_table_metadata
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.table.update import AddSnapshotUpdate, TableRequirement, TableUpdate, update_table_metadata

from trellis.destinations.folder import explain_os_errors, sync_to_disk, write_durably
from trellis.destinations.iceberg.object_store import file_io_properties
from trellis.destinations.lake.files import child, list_files, storage_of
from trellis.destinations.lake.formats import LABEL_PROPERTY
from trellis.destinations.lake.store import LabelConflict
from trellis.destinations.refusals import first_line
from trellis.engine.storage.location import is_remote
from trellis.errors import DestinationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyiceberg.typedef import Identifier

_HINT: Final = "version-hint.text"
_VERSION: Final = re.compile(r"v(\d+)(?:\.gz)?\.metadata\.json")
_SUFFIXES: Final = (".metadata.json", ".gz.metadata.json")


class HadoopCatalog(NoopCatalog):
    """The tables below a folder; an identifier is a dataset and a table.

    Of two commits to one version one wins. On object stores that takes a store without other writers at the
    same moment, as it does for Iceberg's own.
    """

    def __init__(self, warehouse: str) -> None:
        super().__init__("trellis", **file_io_properties(warehouse))
        self.warehouse = warehouse

    def location(self, identifier: Identifier) -> str:
        return child(self.warehouse, *identifier)

    def has_table(self, identifier: Identifier) -> bool:
        return _newest_metadata(self.location(identifier)) is not None

    def load_table(self, identifier: str | Identifier) -> Table:
        """Raises NoSuchTableError, DestinationError."""
        identifier = self.identifier_to_tuple(identifier)
        location = _newest_metadata(self.location(identifier))
        if location is None:
            raise NoSuchTableError(".".join(identifier))
        io = load_file_io(self.properties, location)
        try:
            metadata = FromInputFile.table_metadata(io.new_input(location))
        except (ValidationError, ValueError) as bad:
            raise DestinationError(
                f"{location}: pyiceberg does not read it as the metadata of a table ({_reason(bad)}); "
                "restore the file if it is damaged, or load through a catalog of Spark (spark:CATALOG.SCHEMA)"
            ) from bad
        return _LoadedTable(identifier, metadata, location, io, self)

    def add_table(
        self, identifier: Identifier, schema: Schema, spec: PartitionSpec, properties: Mapping[str, str]
    ) -> None:
        """Create a table. Raises CommitFailedException where there is one."""
        location = self.location(identifier)
        metadata = new_table_metadata(schema, spec, UNSORTED_SORT_ORDER, location, dict(properties))
        _write_version(location, 1, metadata)

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """Raises CommitFailedException, LabelConflict where another commit has the label of this one."""
        current = self.load_table(table.name())
        if any(isinstance(update, AddSnapshotUpdate) for update in updates):
            _check_columns(table.metadata, current.metadata)
        _refuse_second(current.metadata, updates)
        for requirement in requirements:
            requirement.validate(current.metadata)
        metadata = update_table_metadata(
            current.metadata, updates, metadata_location=current.metadata_location
        )
        number = _number_of(current.metadata_location) + 1
        location = _write_version(self.location(table.name()), number, metadata)
        return CommitTableResponse.model_validate({"metadata": metadata, "metadata-location": location})


class _LoadedTable(Table):
    """A table whose files are for the columns that it had when it was loaded."""

    def refresh(self) -> Table:
        """Raises CommitFailedException, which ends a transaction, where the columns changed."""
        planned = self.metadata
        super().refresh()
        _check_columns(planned, self.metadata)
        return self


def _reason(bad: Exception) -> str:
    cause = bad.__cause__
    return str(cause.errors()[0]["msg"]) if isinstance(cause, PydanticError) else first_line(bad)


def _check_columns(planned: TableMetadata, current: TableMetadata) -> None:
    if planned.current_schema_id != current.current_schema_id:
        raise CommitFailedException("the columns of the table changed meanwhile")


def has_label(metadata: TableMetadata, label: str) -> bool:
    """Whether a snapshot of the table was committed under a label."""
    return snapshot_with(metadata, label) is not None


def snapshot_with(metadata: TableMetadata, label: str) -> Snapshot | None:
    """The snapshot of the table that was committed under a label."""
    for snapshot in metadata.snapshots:
        if snapshot.summary is not None and snapshot.summary[LABEL_PROPERTY] == label:
            return snapshot
    return None


def _refuse_second(metadata: TableMetadata, updates: tuple[TableUpdate, ...]) -> None:
    """Raises LabelConflict for a snapshot whose label the table has."""
    for update in updates:
        summary = update.snapshot.summary if isinstance(update, AddSnapshotUpdate) else None
        label = summary[LABEL_PROPERTY] if summary is not None else None
        if label and has_label(metadata, label):
            raise LabelConflict


def _newest_metadata(table: str) -> str | None:
    """The location of the newest metadata of a table."""
    folder = child(table, "metadata")
    number = _hint(child(folder, _HINT))
    newest = _find_version(folder, number) if number else None
    if newest is None:
        versions = (_VERSION.fullmatch(name) for name in list_files(folder))
        number = max((int(version[1]) for version in versions if version), default=0)
        newest = _find_version(folder, number)
    while later := _find_version(folder, number + 1):
        number, newest = number + 1, later
    return newest


def _hint(location: str) -> int:
    """The version that a hint names, 0 where there is none: a crash may leave the file empty."""
    if storage_of(location).status(location) is None:
        return 0
    with storage_of(location).open_input(location) as stream:
        text = stream.read()
    return int(text) if text.strip().isdigit() else 0


def _find_version(folder: str, number: int) -> str | None:
    locations = (child(folder, f"v{number}{suffix}") for suffix in _SUFFIXES)
    return next((location for location in locations if storage_of(folder).status(location)), None)


def _number_of(location: str) -> int:
    name = _VERSION.search(location)
    assert name is not None, location
    return int(name[1])


def _write_version(table: str, number: int, metadata: TableMetadata) -> str:
    """Write the metadata of a version. Raises CommitFailedException where there is one."""
    location = child(table, "metadata", f"v{number}{_SUFFIXES[0]}")
    content = metadata.model_dump_json(exclude_none=True).encode()
    storage = storage_of(location)
    if _find_version(child(table, "metadata"), number):
        raise CommitFailedException(f"{location} is there already")
    if is_remote(location):
        storage.write_file(location, content)
    else:
        _write_new_file(location, content)
    storage.write_file(child(table, "metadata", _HINT), str(number).encode())
    return location


def _write_new_file(path: str, content: bytes) -> None:
    """Write a file that survives a crash of the machine. Raises CommitFailedException where there is one."""
    folder = os.path.dirname(path)
    unfinished = f"{path}.{secrets.token_hex(4)}"
    with explain_os_errors(folder):
        os.makedirs(folder, exist_ok=True)
        write_durably(unfinished, content)
        try:
            os.link(unfinished, path)
        except FileExistsError as bad:
            raise CommitFailedException(f"{path} is there already") from bad
        finally:
            os.unlink(unfinished)
        sync_to_disk(folder)

"""The files of a lake, which are on this machine or on an object store."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from trellis.destinations.folder import explain_os_errors, link_file, staging_root, sync_to_disk
from trellis.destinations.lake.store import TableName
from trellis.engine.spark.storage import current_storage
from trellis.engine.staging.stage import folder_name
from trellis.engine.storage.location import is_remote
from trellis.engine.storage.storage import DEFAULT_STORAGE, Storage
from trellis.errors import SchemaError

_STAGING = "_trellis/staging"
_LONGEST_NAME = 255
"""Bytes that the name of a folder may have."""


def storage_of(location: str) -> Storage:
    """How files at a location are opened now."""
    return current_storage() if is_remote(location) else DEFAULT_STORAGE


def staging_folders(root: str) -> tuple[str, str | None]:
    """Where the loads into a lake have their local folders, and where rows are staged if that is elsewhere.

    >>> staging_folders("shop/lake")
    ('shop/lake/_trellis/staging', None)
    >>> staging_folders("s3a://acme/lake")[1]
    's3a://acme/lake/_trellis/staging'
    """
    if not is_remote(root):
        return os.path.join(root, _STAGING), None
    return os.path.join(staging_root(), folder_name(root)), f"{root.rstrip('/')}/{_STAGING}"


def list_folders(location: str) -> Sequence[str]:
    """The names of the folders in a folder, sorted; none where there is no such folder."""
    return sorted(name for name, is_folder in _list(location) if is_folder)


def list_files(location: str) -> Sequence[str]:
    """The names of the files in a folder, sorted; none where there is no such folder."""
    return sorted(name for name, is_folder in _list(location) if not is_folder)


def _list(location: str) -> Iterator[tuple[str, bool]]:
    """The names in a folder, and whether they are those of folders."""
    if not is_remote(location):
        for name in os.listdir(location) if os.path.isdir(location) else ():
            yield name, os.path.isdir(os.path.join(location, name))
        return
    from pyarrow.fs import FileSelector

    storage = storage_of(location)
    with storage.explained(location):
        path, files = storage.arrow_path(location)
        assert files is not None
        for info in files.get_file_info(FileSelector(path, allow_not_found=True)):
            yield info.base_name, not info.is_file


def place_file(source: str, target: str) -> None:
    """Give a file a second location, where it is seen when it is complete. Raises DestinationError."""
    if is_remote(source) or is_remote(target):
        storage_of(target if is_remote(target) else source).copy_file(source, target)
        return
    with explain_os_errors(os.path.dirname(target)):
        link_file(source, target)
        sync_to_disk(target)


def child(location: str, *names: str) -> str:
    """The location of something in a folder."""
    return "/".join((location.rstrip("/"), *(name for name in names if name)))


def check_folders(name: TableName, title: str) -> None:
    """Raises SchemaError for a table of the format of that title that no folder can be called after."""
    for part in (name.dataset, name.table) if name.dataset else (name.table,):
        if "/" in part or part in ("", ".", "..") or len(os.fsencode(part)) > _LONGEST_NAME:
            raise SchemaError(
                f"table {name.table}: {part!r} is no name of a folder, which every table of {title} has; "
                "rename it",
                table=name.table,
            )

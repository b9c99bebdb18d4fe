"""Manifests: numbered lists of the files that make up the tables of a dataset. The highest number counts.

A manifest is never changed. A load adds the next number, which only one load can get.
"""

from __future__ import annotations

import errno
import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trellis.destinations.folder import sync_to_disk, write_durably
from trellis.errors import DestinationError

FORMAT = 1
KEEP = 50
KEEP_SECONDS = 3600.0
_NAME = re.compile(r"\d{20}\.json")


@dataclass(frozen=True)
class LiveFile:
    """A Parquet file: its path below the root of the destination, how many of the table's columns it has."""

    path: str
    rows: int
    columns: int


@dataclass(frozen=True)
class LiveTable:
    """The files of a table, and its columns with their Arrow types, whichever files they are in."""

    columns: Mapping[str, str] = field(default_factory=dict)
    files: tuple[LiveFile, ...] = ()

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)


@dataclass(frozen=True)
class Manifest:
    """`schemas` has the version hash of every schema that was loaded into this dataset."""

    number: int = 0
    load_id: str | None = None
    schemas: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, LiveTable] = field(default_factory=dict)

    @property
    def paths(self) -> set[str]:
        return {file.path for table in self.tables.values() for file in table.files}

    def to_json(self) -> str:
        tables = {
            name: {
                "columns": dict(table.columns),
                "files": [{"path": f.path, "rows": f.rows, "columns": f.columns} for f in table.files],
            }
            for name, table in self.tables.items()
        }
        document = {
            "format": FORMAT,
            "number": self.number,
            "previous": self.number - 1 or None,
            "load_id": self.load_id,
            "schemas": dict(self.schemas),
            "tables": tables,
        }
        return json.dumps(document, ensure_ascii=False, indent=1)

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Manifest:
        tables = {
            name: LiveTable(
                table["columns"], tuple(LiveFile(f["path"], f["rows"], f["columns"]) for f in table["files"])
            )
            for name, table in document["tables"].items()
        }
        return Manifest(document["number"], document["load_id"], document["schemas"], tables)


class Manifests:
    """The manifests in a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def number(self) -> int:
        """The highest number, 0 if there is none."""
        numbers = self._numbers()
        return numbers[-1] if numbers else 0

    def newest(self) -> Manifest:
        while number := self.number():
            path = self._path(number)
            try:
                with open(path, encoding="utf-8") as file:
                    document = json.load(file)
                if document["format"] > FORMAT:
                    raise DestinationError(f"{path}: a newer version of Trellis wrote it; update Trellis")
                return Manifest.from_dict(document)
            except FileNotFoundError:
                continue
            except (ValueError, KeyError, TypeError, AttributeError) as bad:
                raise DestinationError(
                    f"{path}: it is damaged ({bad}); restore it from a backup, or remove it to go back "
                    "to the load before"
                ) from bad
        return Manifest()

    def add(self, manifest: Manifest, scratch: str) -> bool:
        """Make it the newest; False if another load got the number first. `scratch`: where to write it."""
        os.makedirs(self.folder, exist_ok=True)
        written = os.path.join(scratch, f"manifest-{manifest.number}.json")
        write_durably(written, manifest.to_json().encode())
        try:
            os.link(written, self._path(manifest.number))
        except FileExistsError:
            return False
        except OSError as bad:
            if bad.errno in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
                raise DestinationError(
                    f"{self.folder}: its file system has no hard links, without which loads cannot be kept "
                    "apart; name a folder on another one; nothing was loaded"
                ) from bad
            raise
        finally:
            os.unlink(written)
        sync_to_disk(self.folder)
        return True

    def prune(self) -> None:
        """Remove manifests that neither a reader nor a writer can still be working with."""
        for number in self._numbers()[:-KEEP]:
            path = Path(self._path(number))
            if time.time() - path.stat().st_mtime > KEEP_SECONDS:
                path.unlink(missing_ok=True)

    def _numbers(self) -> list[int]:
        try:
            names = os.listdir(self.folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(int(name[:20]) for name in names if _NAME.fullmatch(name))

    def _path(self, number: int) -> str:
        return os.path.join(self.folder, f"{number:020d}.json")

"""A list of the files that a commit adds and removes, written before it touches them.

The next load cleans up after a load that was killed: of the listed files it removes those that are not in the
newest manifest. No other file is ever removed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from trellis.destinations.folder import remove_file, sync_to_disk, write_durably
from trellis.destinations.parquet.manifest import Manifest
from trellis.engine.staging.stage import folder_name

_SUFFIX = ".json"


class Intents:
    """`root` is the folder that paths are relative to; loads in `staging` are at work."""

    def __init__(self, folder: str, root: str, staging: str) -> None:
        self.folder = folder
        self.root = root
        self.staging = staging

    def write(self, load_id: str, paths: Iterable[str], scratch: str) -> None:
        os.makedirs(self.folder, exist_ok=True)
        written = os.path.join(scratch, "intent.json")
        write_durably(written, json.dumps(sorted(paths)).encode())
        os.replace(written, self._note(load_id))
        sync_to_disk(self.folder)

    def clean_up(self, load_id: str, newest: Manifest) -> None:
        """Clean up after this load."""
        self._clean_up(self._note(load_id), newest)

    def clean_up_dead_loads(self, load_id: str, newest: Manifest) -> None:
        """Clean up after this load and those that were killed."""
        current = self._note(load_id)
        for note in Path(self.folder).glob(f"*{_SUFFIX}"):
            at_work = os.path.isdir(os.path.join(self.staging, note.name.removesuffix(_SUFFIX)))
            if note == current or not at_work:
                self._clean_up(note, newest)

    def _clean_up(self, note: Path, newest: Manifest) -> None:
        try:
            paths = json.loads(note.read_text())
        except FileNotFoundError:
            return
        live = newest.paths
        for path in paths:
            if path not in live:
                remove_file(os.path.join(self.root, path))
        note.unlink(missing_ok=True)

    def exists(self, load_id: str) -> bool:
        return self._note(load_id).exists()

    def _note(self, load_id: str) -> Path:
        return Path(self.folder, folder_name(load_id) + _SUFFIX)

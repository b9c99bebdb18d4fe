"""Progress of tasks in other processes: each leaves a number in a folder, the driver adds them up."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from trellis.engine.task import Progress

_PAUSE = 0.25


class ProgressNote:
    """Leaves the number of bytes that a task is done with; a folder that is not there gets none."""

    def __init__(self, folder: str, task: str) -> None:
        self.path = os.path.join(folder, task)
        self.done = 0

    def __call__(self, size: int) -> None:
        self.done += size
        try:
            with open(self.path, "w") as note:
                note.write(str(self.done))
        except OSError:
            return


class ProgressNotes:
    """Reads the notes in a folder while the tasks run. Use as a context."""

    def __init__(self, folder: str, progress: Progress) -> None:
        self.folder = Path(folder)
        self.progress = progress
        self.seen = 0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._poll, daemon=True)

    def _poll(self) -> None:
        while not self.stop.wait(_PAUSE):
            self._add_up()

    def _add_up(self) -> None:
        total = 0
        for note in self.folder.glob("*"):
            text = note.read_text()
            total += int(text) if text.isdigit() else 0
        if total > self.seen:
            self.progress(total - self.seen)
            self.seen = total

    def __enter__(self) -> ProgressNotes:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join()
        self._add_up()
        for note in self.folder.glob("*"):
            note.unlink(missing_ok=True)

"""Run a contender as a process of its own and watch the memory of all the processes it starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from processes import resident, tree

HERE = Path(__file__).parent
_EVERY = 0.1


@dataclass
class Run:
    """One run of one contender. `peak` is in bytes, by role: all, driver, jvm, workers."""

    wall: float
    figures: dict[str, Any] = field(default_factory=dict)
    peak: dict[str, int] = field(default_factory=dict)
    error: str | None = None


def run(script: str, *options: str, limit: float = 3600.0) -> Run:
    """Run a script of this folder; the last line it prints is its figures."""
    return run_command([sys.executable, str(HERE / script), *options], limit)


def run_command(command: Sequence[str], limit: float = 3600.0) -> Run:
    began = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with _Watch(process.pid) as watch:
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return Run(perf_counter() - began, error=f"stopped after {limit:.0f} s")
    wall = perf_counter() - began
    if process.returncode:
        told = [line for line in err.splitlines() if line.strip()]
        return Run(wall, error=told[-1] if told else f"exit code {process.returncode}")
    lines = [line for line in out.splitlines() if line.startswith("{")]
    return Run(wall, json.loads(lines[-1]) if lines else {}, watch.peak)


class _Watch:
    """Samples resident memory of a process and all below it; pages they share count in each."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.peak: dict[str, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._stop.wait(_EVERY):
            held = {"all": 0, "driver": 0, "jvm": 0, "workers": 0}
            for pid in tree(self.pid):
                size, program = resident(pid)
                role = "driver" if pid == self.pid else "jvm" if program == "java" else "workers"
                held[role] += size
                held["all"] += size
            for role, size in held.items():
                self.peak[role] = max(self.peak.get(role, 0), size)

    def __enter__(self) -> _Watch:
        if os.path.exists("/proc/self/statm"):
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

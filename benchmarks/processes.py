"""A process and all that it started, as Linux shows them under /proc. Elsewhere there is nothing to see."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")


def tree(root: int) -> Iterator[int]:
    """The process and those below it."""
    below = [root]
    while below:
        pid = below.pop()
        yield pid
        threads: list[str] = []
        with suppress(OSError):  # it has ended
            threads = os.listdir(f"/proc/{pid}/task")
        for thread in threads:
            with suppress(OSError):
                below += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())


def resident(pid: int) -> tuple[int, str]:
    """Bytes in memory, and the name of the program."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * _PAGE, Path(f"/proc/{pid}/comm").read_text().strip()
    except (OSError, IndexError):
        return 0, ""


def cpu_seconds(root: int) -> float:
    """Processor time of the process, of those below it, and of those that have ended and were waited for."""
    ticks = 0
    for pid in tree(root):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / _TICK

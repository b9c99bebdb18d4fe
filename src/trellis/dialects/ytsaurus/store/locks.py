"""Locks on nodes. The system releases those of a process that dies."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError


@contextmanager
def hold_lock(folder: Path, node_id: str, path: str, verb: str, *, exclusive: bool) -> Iterator[None]:
    """Hold the lock of a node. Raises YtError with the code 402, which names who holds it."""
    descriptor = os.open(folder / node_id, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 1000, 0).decode("utf-8", "replace") or "another command"
            raise YtError(
                f"cannot {verb} {path}: it is locked by {holder}; wait for it and run this again",
                ErrorCode.CONCURRENT_LOCK,
                attributes={"path": path, "holder": holder},
            ) from None
        moment = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
        os.ftruncate(descriptor, 0)
        os.pwrite(
            descriptor, f"{verb} (process {os.getpid()} on {socket.gethostname()}, {moment})".encode(), 0
        )
        yield
    finally:
        os.close(descriptor)

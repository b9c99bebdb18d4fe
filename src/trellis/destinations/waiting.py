"""Waiting for a lock of another process, with one notice when that takes more than a moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

Notify = Callable[[str], object]
NOTICE_AFTER = 1.0
"""Seconds."""
RESUMED = "going on"
"""The notice that the wait is over."""


@runtime_checkable
class NotifiesWaiting(Protocol):
    """A destination that gives a notice when it waits for a process, and when it resumes."""

    notify: Notify


def ignore_notice(_: str) -> None:
    """A `Notify` for nobody."""


class LockWait:
    """One wait of at most `limit` seconds."""

    def __init__(self, limit: float, notify: Notify) -> None:
        self.limit = limit
        self.notify = notify
        self.is_notified = False
        self.started = time.monotonic()

    def sleep(self, seconds: float, reason: str) -> bool:
        """Wait a little more; False where the time is over. `reason` is a clause of the notice."""
        waited = time.monotonic() - self.started
        if waited >= self.limit:
            return False
        if waited >= NOTICE_AFTER and not self.is_notified:
            self.is_notified = True
            self.notify(f"{reason}; waiting for up to {self.limit:.0f} seconds")
        time.sleep(seconds)
        return True

    def finish(self) -> None:
        if self.is_notified:
            self.notify(RESUMED)

"""Waiting for a process that holds what a destination needs: told once, when it takes more than a moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

Say = Callable[[str], object]
MOMENT = 1.0
RESUMED = "going on"


@runtime_checkable
class NotifiesWaiting(Protocol):
    """A destination that says for whom it waits, and that it goes on."""

    say: Say


def silent(_: str) -> None:
    """For nobody."""


class Wait:
    """One wait of at most so many seconds."""

    def __init__(self, most: float, say: Say) -> None:
        self.most = most
        self.say = say
        self.told = False
        self.started = time.monotonic()

    def pause(self, seconds: float, why: str) -> bool:
        """Wait a little more; False where the time is over. `why` is a clause for who waits."""
        waited = time.monotonic() - self.started
        if waited >= self.most:
            return False
        if waited >= MOMENT and not self.told:
            self.told = True
            self.say(f"{why}; waiting for up to {self.most:.0f} seconds")
        time.sleep(seconds)
        return True

    def over(self) -> None:
        if self.told:
            self.say(RESUMED)

"""Attempts at a warehouse that may be reached later."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from trellis.dialects.snowplow.runs.warehouses.base import WarehouseUnavailable

T = TypeVar("T")
FIRST_PAUSE: Final = 30.0
"""Seconds before the second attempt; each further pause is twice as long."""


@dataclass(frozen=True)
class Retries:
    """Repeats what a warehouse that is out of reach, locked or restarted did not let through."""

    pauses: Sequence[float] = ()
    wait: Callable[[float], None] = field(default=time.sleep, compare=False)

    @staticmethod
    def of(count: int) -> Retries:
        """
        >>> Retries.of(3).pauses
        (30.0, 60.0, 120.0)
        """
        return Retries(tuple(FIRST_PAUSE * 2**number for number in range(count)))

    def run(self, attempt: Callable[[int], T]) -> T:
        """The result of the first attempt that succeeds; it is called with its number, counted from 1.

        Warns before each pause. Raises what the last attempt raises, and at once what is not
        WarehouseUnavailable.
        """
        for number, pause in enumerate(self.pauses, start=1):
            try:
                return attempt(number)
            except WarehouseUnavailable as error:
                warnings.warn(f"{error}; trying again in {pause:g} s", stacklevel=2)
                self.wait(pause)
        return attempt(len(self.pauses) + 1)

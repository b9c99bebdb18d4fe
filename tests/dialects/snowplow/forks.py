"""Work that is done in a fork of this process, so that it can be killed."""

from __future__ import annotations

import os
from collections.abc import Callable


def in_fork(work: Callable[[], None]) -> int:
    """The status with which a fork of this process ends."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]

"""Functions as jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from trellis.dialects.ytsaurus.store.jobs.job import TaskFunction


def on_rows(function: Callable[[Any], Iterable[Any]]) -> TaskFunction:
    """A function that takes a row."""
    return TaskFunction(lambda groups: (row for _, rows in groups for item in rows for row in function(item)))


def on_groups(function: Callable[[Any, Any], Iterable[Any]]) -> TaskFunction:
    """A function that takes a key and its rows."""
    return TaskFunction(lambda groups: (row for group in groups for row in function(*group)))

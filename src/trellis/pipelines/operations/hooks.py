"""Functions of the user's that are called around loads: `trellis.hooks`.

    @trellis.hooks.on_drift
    def announce(drift):
        post("#data", f"{drift.load.dataset}: {', '.join(c.describe() for c in drift.report.changes)}")

The environment variable TRELLIS_HOOKS says what is to be enabled before a load, separated by commas, as
`enable` takes it: so commands have hooks, too.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from typing import Generic, TypeVar

from trellis.errors import UsageError
from trellis.pipelines.report import Report

HOOKS = "TRELLIS_HOOKS"
_OWN = {name: f"trellis.pipelines.operations.{name}:register" for name in ("openlineage", "openmetrics")}

E = TypeVar("E")


@dataclass(frozen=True)
class LoadStarted:
    """A load that begins."""

    pipeline: str
    destination: str
    dataset: str
    dialect: str
    started_at: datetime
    sources: tuple[str, ...] = ()
    """The paths, URLs and tables that it reads, where it reads such."""


@dataclass(frozen=True)
class LoadFinished:
    """A load that ended: with a report, or with an error and nothing loaded."""

    load: LoadStarted
    load_id: str
    seconds: float
    report: Report | None = None
    error: BaseException | None = None


@dataclass(frozen=True)
class LoadResult:
    """A load that was committed, and what it did."""

    load: LoadStarted
    report: Report


class Hook(Generic[E]):
    """The functions that are called with one kind of event, in the order in which they were added."""

    def __init__(self, name: str, can_stop: bool = False) -> None:
        self.name = name
        self.can_stop = can_stop
        self._functions: list[Callable[[E], object]] = []

    def __call__(self, function: Callable[[E], object]) -> Callable[[E], object]:
        """Add a function; as a decorator it leaves the function as it is."""
        self._functions.append(function)
        return function

    def remove(self, function: Callable[[E], object]) -> None:
        """Take a function out again. Raises ValueError for one that was not added."""
        self._functions.remove(function)

    def notify(self, event: E) -> None:
        """Call the functions. What one of them raises is a warning, unless the hook can stop a load."""
        for function in [*self._functions]:
            try:
                function(event)
            except Exception as error:
                if self.can_stop:
                    raise
                name = getattr(function, "__qualname__", repr(function))
                warnings.warn(f"hook {self.name}: {name} failed: {error!r}", stacklevel=2)

    def __repr__(self) -> str:
        return f"<hook {self.name} with {len(self._functions)} functions>"


before_load: Hook[LoadStarted] = Hook("before_load", can_stop=True)
"""Before a load reads anything. An exception stops the load."""
after_load: Hook[LoadFinished] = Hook("after_load")
"""After a load, also one that failed."""
on_drift: Hook[LoadResult] = Hook("on_drift")
"""After a load that changed the schema: `report.changes`."""
on_reject: Hook[LoadResult] = Hook("on_reject")
"""After a load that left records or values out: `report.rejects`, `report.discards`."""


def enable(*names: str) -> None:
    """Import modules whose hooks are to be called, or functions named `module:function`, and call these.

    `openlineage` and `openmetrics` are those of Trellis. What is enabled is not enabled again. Raises
    UsageError.
    """
    for name in names:
        _enable(_OWN.get(name, name))


def enable_named_hooks() -> None:
    """Enable the hooks that the environment variable names. Raises UsageError."""
    enable(*filter(None, map(str.strip, os.environ.get(HOOKS, "").split(","))))


@cache
def _enable(name: str) -> None:
    if "" not in sys.path:
        sys.path.append("")  # the module may be in the folder one is in
    module, _, function = name.partition(":")
    try:
        imported = import_module(module)
        if function:
            getattr(imported, function)()
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"hook {name}: it cannot be imported ({error}); give the name of a module, module:function, or "
            f"one of {', '.join(_OWN)}"
        ) from error

"""Trellis: the schema layer for Spark pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trellis.pipelines import Pipeline as Pipeline
    from trellis.pipelines import pipeline as pipeline
    from trellis.report import Report as Report

__version__ = "0.1.0"
_HOMES = {"Pipeline": "trellis.pipelines", "pipeline": "trellis.pipelines", "Report": "trellis.report"}


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first asked for: `import trellis` starts at once."""
    if name not in _HOMES:
        raise AttributeError(f"module 'trellis' has no attribute {name!r}")
    from importlib import import_module

    globals()[name] = found = getattr(import_module(_HOMES[name]), name)
    return found

"""Trellis: the schema layer for Spark pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trellis.pipelines.discards import list_discards as list_discards
    from trellis.pipelines.discards import list_rejects as list_rejects
    from trellis.pipelines.discards import replay_discards as replay_discards
    from trellis.pipelines.drift import drift as drift
    from trellis.pipelines.inspect import inspect as inspect
    from trellis.pipelines.operations import hooks as hooks
    from trellis.pipelines.pipeline import Pipeline as Pipeline
    from trellis.pipelines.pipeline import pipeline as pipeline
    from trellis.pipelines.read import read as read
    from trellis.pipelines.report import Report as Report
    from trellis.site.pages import write_docs as write_docs
    from trellis.sources import Resource as Resource
    from trellis.sources import Source as Source
    from trellis.sources import current as current
    from trellis.sources import files as files
    from trellis.sources import incremental as incremental
    from trellis.sources import mark as mark
    from trellis.sources import resource as resource
    from trellis.sources import secret as secret
    from trellis.sources import source as source
    from trellis.sources import transformer as transformer

__version__ = "0.1.0"
_HOMES = {
    "Pipeline": "trellis.pipelines.pipeline",
    "pipeline": "trellis.pipelines.pipeline",
    "Report": "trellis.pipelines.report",
    "read": "trellis.pipelines.read",
    "drift": "trellis.pipelines.drift",
    "inspect": "trellis.pipelines.inspect",
    "list_discards": "trellis.pipelines.discards",
    "list_rejects": "trellis.pipelines.discards",
    "replay_discards": "trellis.pipelines.discards",
    "write_docs": "trellis.site.pages",
    **dict.fromkeys(
        (
            *("Resource", "Source", "current", "files", "incremental", "mark"),
            *("resource", "secret", "source", "transformer"),
        ),
        "trellis.sources",
    ),
}
_MODULES = {
    "generate": "trellis.generate",
    "hooks": "trellis.pipelines.operations.hooks",
    "sources": "trellis.sources",
}


def __dir__() -> list[str]:
    return sorted((*_HOMES, *_MODULES, "__version__"))


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first asked for: `import trellis` starts at once."""
    from importlib import import_module

    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'trellis' has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_HOMES[name]), name)
    return value

"""What code in a source or a resource can reach while it runs: the schema, the state, the resource."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.errors import UsageError

if TYPE_CHECKING:
    from trellis.sources.resources import Resource
    from trellis.sources.schema_editor import SchemaEditor


@dataclass(frozen=True)
class Running:
    """What runs now. `state` is None in the body of a source, which runs before any load."""

    schema: SchemaEditor
    state: dict[str, Any] | None = None
    resource: Resource | None = None


RecallState = Callable[[], Mapping[str, Any]]
"""Reads what a pipeline remembers of its sources, by their names."""

_recall: ContextVar[RecallState | None] = ContextVar("trellis_recall", default=None)
_running: ContextVar[Running | None] = ContextVar("trellis_running", default=None)


class running:  # noqa: N801
    """Makes something current for as long as a block runs; entered for every page, so it is kept small."""

    __slots__ = ("now", "token")

    def __init__(self, now: Running) -> None:
        self.now = now

    def __enter__(self) -> None:
        self.token = _running.set(self.now)

    def __exit__(self, *_: object) -> None:
        _running.reset(self.token)


def recall_from(recall: RecallState) -> None:
    """Say whose state the bodies of sources read from now on: that of the pipeline that was made last."""
    _recall.set(recall)


def source_schema() -> SchemaEditor:
    """The schema of the source that runs; what is changed in it holds for this load and is stored with it."""
    return _now("source_schema").schema


def source_state() -> dict[str, Any]:
    """A dict that is kept from load to load, of the whole source. It is stored when the load succeeds.

    The body of a source gets a copy of what the pipeline that was made last remembers; what it changes there
    is not stored.
    """
    now, recall = _now("source_state"), _recall.get()
    if now.state is not None:
        return now.state
    if recall is None:
        raise UsageError(
            "current.source_state: the body of a source reads the state of the pipeline that was made last,"
            " and there is none; make it first, with trellis.pipeline, or ask in a resource"
        )
    return copy.deepcopy(dict(recall().get(now.schema.name) or {}))


def resource_state(name: str | None = None) -> dict[str, Any]:
    """A dict that is kept from load to load, of the resource that runs or of the one named."""
    state = source_state()
    state_of_resource: dict[str, Any] = state.setdefault("resources", {}).setdefault(
        name or resource().name, {}
    )
    return state_of_resource


def resource() -> Resource:
    """The resource that runs."""
    running_resource = _now("resource").resource
    if running_resource is None:
        raise UsageError("current.resource: no resource runs here; ask in the function of a resource")
    return running_resource


def _now(what: str) -> Running:
    now = _running.get()
    if now is None:
        raise UsageError(
            f"current.{what}: no source runs here; ask in a function made with trellis.source or"
            " trellis.resource, while it is loaded"
        )
    return now

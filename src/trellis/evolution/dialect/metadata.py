"""The tables in which a dialect records schema versions, loads, and the state of pipelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from trellis.schema.model import Schema

State = Mapping[str, Any]
"""What a pipeline remembers from load to load, JSON but for dates, times and decimals."""


@dataclass(frozen=True)
class MetadataTables:
    """Names of tables: `versions` of the schema, `loads`, and `states` of pipelines ("" for none).

    `load_id` is a column of `loads`. A row of `states` names its pipeline in `pipeline_name`; the newest is
    the last by the columns of `newest`.
    """

    versions: str
    loads: str
    load_id: str
    states: str = ""
    newest: tuple[str, ...] = ()


class MetadataStore(Protocol):
    def tables(self) -> MetadataTables: ...

    def rows(
        self, schema: Schema, load_id: str, now: datetime, *, fresh: bool, state: State | None
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The rows of these tables that go in with a load of this (saved) schema.

        `fresh`: this version of it is new; `state`: what is remembered from now on, if that changed.
        """
        ...

    def restore_state(self, row: Mapping[str, Any] | None, pipeline: str, dataset: str) -> State:
        """What a pipeline remembers of its sources, from its newest row of `states`."""
        ...

    def next_state(self, state: State, schema_name: str, sources: State | None) -> State | None:
        """What it remembers after a load; None if nothing changed. `sources`: None leaves them."""
        ...

"""`_dlt_version`, `_dlt_loads` and `_dlt_pipeline_state`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from trellis.dialects.dlt.load.load_records import load_records
from trellis.dialects.dlt.load.state import decoded, new_state, remembered
from trellis.dialects.dlt.system_tables import LOADS, STATE, VERSION
from trellis.evolution.dialect.metadata import MetadataTables, State
from trellis.schema.model import Schema


class DltMetadata:
    def tables(self) -> MetadataTables:
        return MetadataTables(VERSION, LOADS, "load_id", STATE, ("created_at", "version"))

    def rows(
        self, schema: Schema, load_id: str, now: datetime, *, fresh: bool, state: State | None
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        return load_records(schema, load_id, now, fresh=fresh, state=state)

    def restore_state(self, row: Mapping[str, Any] | None, pipeline: str, dataset: str) -> State:
        return new_state(pipeline, dataset) if row is None else decoded(row)

    def next_state(self, state: State, schema_name: str, sources: State | None) -> State | None:
        return remembered(state, schema_name, sources)

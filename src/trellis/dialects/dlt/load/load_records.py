"""The rows a load leaves in the `_dlt_*` tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from trellis.dialects.dlt.load.state import State, state_row
from trellis.dialects.dlt.system_tables import LOADS, STATE, VERSION
from trellis.schema.documents.document import to_json
from trellis.schema.model import Schema

Records = Mapping[str, Sequence[Mapping[str, Any]]]


def load_records(schema: Schema, load_id: str, now: datetime, *, fresh: bool, state: State | None) -> Records:
    """The rows to insert. `fresh`: this version of the schema is new; `state`: the pipeline's new one."""
    rows: dict[str, list[Mapping[str, Any]]] = {
        LOADS: [
            {
                "load_id": load_id,
                "schema_name": schema.name,
                "status": 0,
                "inserted_at": now,
                "schema_version_hash": schema.stored_hash,
            }
        ]
    }
    if fresh:
        rows[VERSION] = [
            {
                "version": schema.stored_version,
                "engine_version": schema.engine_version,
                "inserted_at": now,
                "schema_name": schema.name,
                "version_hash": schema.stored_hash,
                "schema": to_json(schema),
            }
        ]
    if state is not None:
        rows[STATE] = [state_row(state, load_id, now)]
    return rows

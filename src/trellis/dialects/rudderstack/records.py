"""The rows a load leaves in our own tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from trellis.dialects.rudderstack.system import JOURNAL
from trellis.schema.document import to_json
from trellis.schema.model import Schema

Records = Mapping[str, Sequence[Mapping[str, Any]]]


def load_records(schema: Schema, load_id: str, now: datetime, *, fresh: bool) -> Records:
    """The rows to insert. `fresh`: this version of the schema is new."""
    rows: dict[str, list[Mapping[str, Any]]] = {
        JOURNAL.loads: [
            {
                "load_id": load_id,
                "schema_name": schema.name,
                "inserted_at": now,
                "schema_version_hash": schema.stored_hash,
            }
        ]
    }
    if fresh:
        rows[JOURNAL.versions] = [
            {
                "version": schema.stored_version,
                "inserted_at": now,
                "schema_name": schema.name,
                "version_hash": schema.stored_hash,
                "schema": to_json(schema),
            }
        ]
    return rows

"""The rows a load leaves in the `_dlt_*` tables (spec dlt.md, section 17)."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from trellis.dialects.dlt.keys import random_keys
from trellis.dialects.dlt.system import LOAD_ID, LOADS, ROW_ID, STATE, VERSION
from trellis.schema.document import to_json
from trellis.schema.model import Schema

STATE_ENGINE = 4
Records = Mapping[str, Sequence[Mapping[str, Any]]]


def load_records(
    schema: Schema, load_id: str, dataset: str, now: datetime, *, fresh: bool, first: bool
) -> Records:
    """The rows to insert. `fresh`: this version of the schema is new; `first`: the pipeline is."""
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
    if first:
        rows[STATE] = [_state(schema.name, load_id, dataset, now)]
    return rows


def _state(name: str, load_id: str, dataset: str, now: datetime) -> Mapping[str, Any]:
    state = {
        "_state_version": 1,
        "_state_engine_version": STATE_ENGINE,
        "pipeline_name": name,
        "dataset_name": dataset,
        "default_schema_name": name,
        "schema_names": [name],
        "sources": {},
    }
    text = json.dumps(state, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    digest = base64.b64encode(hashlib.sha3_256(text).digest()).decode()
    return {
        "version": 1,
        "engine_version": STATE_ENGINE,
        "pipeline_name": name,
        "state": base64.b64encode(zlib.compress(text, 9)).decode(),
        "created_at": now,
        "version_hash": digest,
        LOAD_ID: load_id,
        ROW_ID: random_keys(f"{load_id}/{STATE}".encode(), 1)[0],
    }

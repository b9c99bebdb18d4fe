"""What a pipeline remembers of its sources: cursors, tokens, schema names.

The state is one JSON document, kept as rows of `_dlt_pipeline_state`, the newest of which counts. Values that
JSON has no type for are text behind a private-use character, as in the keys of rows.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from trellis.dialects.dlt.load.row_ids import canonical, random_keys
from trellis.dialects.dlt.system_tables import LOAD_ID, ROW_ID, STATE
from trellis.errors import SchemaError
from trellis.evolution.scalars.values import HexBytes, Wei

ENGINE = 4
State = Mapping[str, Any]

_VERSION, _ENGINE, _HASH, _LOCAL = "_state_version", "_state_engine_version", "_version_hash", "_local"


def new_state(pipeline: str, dataset: str) -> dict[str, Any]:
    """The state of a pipeline that never ran."""
    return {
        _VERSION: 0,
        _ENGINE: ENGINE,
        "pipeline_name": pipeline,
        "dataset_name": dataset,
        "default_schema_name": None,
        "schema_names": [],
    }


def decoded(row: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a row of the table. Raises SchemaError."""
    try:
        text = _unpacked(str(row["state"]))
        state = json.loads(text, object_hook=_values)
    except (ValueError, zlib.error) as bad:
        raise SchemaError(
            f"the state of pipeline {row.get('pipeline_name')} in {STATE} cannot be read ({bad}); delete its "
            "newest row to go back to the one before"
        ) from None
    if int(state.get(_ENGINE, 0)) > ENGINE:
        raise SchemaError(
            f"the state of pipeline {row.get('pipeline_name')} was written by a newer dlt (state engine "
            f"{state[_ENGINE]}, this is {ENGINE}): there is no upgrade path; use a newer Trellis"
        )
    return dict(state)


def remembered(old: State, schema_name: str, sources: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The state after a load into this schema, or None if it is the same as before."""
    new = dict(old)
    if sources or (sources is not None and "sources" in old):
        new["sources"] = dict(sources)
    new["schema_names"] = list(dict.fromkeys((*(old.get("schema_names") or ()), schema_name)))
    new["default_schema_name"] = old.get("default_schema_name") or schema_name
    new[_HASH] = state_hash(new)
    if new[_HASH] == old.get(_HASH):
        return None
    new[_VERSION] = int(old.get(_VERSION) or 0) + 1
    return new


def state_hash(state: State) -> str:
    """The hash of what a state says, without its version."""
    content = {k: v for k, v in state.items() if k not in (_VERSION, _ENGINE, _HASH, _LOCAL)}
    return base64.b64encode(hashlib.sha3_256(canonical(content)).digest()).decode()


def state_row(state: State, load_id: str, now: datetime) -> Mapping[str, Any]:
    """The row that keeps it."""
    text = canonical({key: value for key, value in state.items() if key != _LOCAL})
    return {
        "version": state[_VERSION],
        "engine_version": state[_ENGINE],
        "pipeline_name": state["pipeline_name"],
        "state": base64.b64encode(zlib.compress(text, 9)).decode(),
        "created_at": now,
        "version_hash": state[_HASH],
        LOAD_ID: load_id,
        ROW_ID: random_keys(f"{load_id}/{STATE}".encode(), 1)[0],
    }


def _unpacked(text: str) -> bytes:
    try:
        return zlib.decompress(base64.b64decode(text, validate=True))
    except binascii.Error:
        return text.encode()


def _values(content: dict[str, Any]) -> dict[str, Any]:
    return {key: _value(value) for key, value in content.items()}


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return [_value(one) for one in value]
    if isinstance(value, str) and value[:1] in _TYPES:
        return _TYPES[value[0]](value[1:])
    return value


def _hex(text: str) -> HexBytes:
    return HexBytes.fromhex(text.removeprefix("0x"))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


_TYPES: Mapping[str, Callable[[str], Any]] = dict(
    zip(
        map(chr, range(0xF026, 0xF02E)),
        (
            Decimal,
            _moment,
            date.fromisoformat,
            UUID,
            _hex,
            base64.b64decode,
            Wei,
            time.fromisoformat,
        ),
        strict=True,
    )
)

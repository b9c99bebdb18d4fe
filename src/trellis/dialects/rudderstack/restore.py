"""Refused values that their column takes by now (spec rudderstack.md, section 12.2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from trellis.dialects.rudderstack.named import Named
from trellis.dialects.rudderstack.times import parse
from trellis.dialects.rudderstack.type import RudderType
from trellis.dialects.rudderstack.values import JsonText
from trellis.evolution.dialect import Restored
from trellis.evolution.values import MISFIT
from trellis.schema.model import Schema

_INCOMPATIBLE: Final = "incompatible schema conversion from "
_OUT_OF_RANGE: Final = "value out of range for int"

_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "int": int,
    "float": float,
    "boolean": lambda text: json.loads(text) is True,
    "datetime": parse,
    "string": str,
    "text": str,
    "json": JsonText,
}
"""From the type that a reason names and the printed value to the value as it came."""


def restored(schema: Schema, named: Named, kept: Mapping[str, Any]) -> Restored | None:
    """What a row of `rudder_discards` brings back; None where the column still does not take it."""
    row_id, table, name, printed, reason = (kept[each] for each in named.discard_columns)
    column = schema.tables[table].columns.get(name) if table in schema.tables else None
    if column is None or not column.complete:
        return None
    came = "int" if reason == _OUT_OF_RANGE else reason.removeprefix(_INCOMPATIBLE).rpartition(" to ")[2]
    try:
        value = _READ[came](printed)
    except (KeyError, ValueError):
        return None
    fitted = RudderType().coercer(schema, column)(value)
    if value is None or fitted is MISFIT:
        return None
    return Restored(table, name, fitted, {named.column("id"): row_id}, named.column("received_at"))

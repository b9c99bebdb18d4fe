"""Refused values that their column takes by now (spec rudderstack.md, section 12.2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from trellis.dialects.rudderstack.diff import neutral_of
from trellis.dialects.rudderstack.named import Named
from trellis.dialects.rudderstack.times import parse
from trellis.dialects.rudderstack.types import INCOMPATIBLE, OUT_OF_RANGE, RudderTypes
from trellis.dialects.rudderstack.values import JsonText, SpaceText
from trellis.evolution.dialect.dead_letters import RestoredValue
from trellis.evolution.values import MISFIT
from trellis.schema.model import Schema


def _text(text: str) -> str:
    return SpaceText(text) if text.isspace() else text


_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "int": int,
    "float": float,
    "boolean": lambda text: json.loads(text) is True,
    "datetime": parse,
    "string": _text,
    "text": _text,
    "json": JsonText,
}
"""From the type that a reason names and the printed value to the value as it came."""


def restored(schema: Schema, named: Named, kept: Mapping[str, Any]) -> RestoredValue | None:
    """What a row of `rudder_discards` brings back; None where the column still does not take it."""
    row_id, table, name, printed, reason = (kept[each] for each in named.discard_columns)
    columns = schema.tables[table].columns if table in schema.tables else {}
    column, id_ = columns.get(name), columns.get(named.column("id"))
    if column is None or id_ is None or not column.complete:
        return None
    value, key = _read(_came(reason), printed), _read(neutral_of(id_), row_id)
    if value is None or key is None:
        return None
    fitted = RudderTypes().coercer(schema, column)(value)
    if fitted is None or fitted is MISFIT:
        return None
    return RestoredValue(table, name, fitted, {id_.name: key}, named.column("received_at"))


def _came(reason: str) -> str:
    """The type that a value had."""
    if reason.startswith(OUT_OF_RANGE):
        return reason.removeprefix(OUT_OF_RANGE)
    return reason.rpartition(" to ")[2] if reason.startswith(INCOMPATIBLE) else ""


def _read(neutral: str, text: str) -> Any:
    try:
        return _READ[neutral](text) if neutral in _READ else None
    except ValueError:
        return None

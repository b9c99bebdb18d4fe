"""Discarded values that their column takes by now."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from trellis.dialects.rudderstack.events.cells import JsonText, SpaceText
from trellis.dialects.rudderstack.events.timestamps import parse
from trellis.dialects.rudderstack.identifiers.standard_names import StandardNames
from trellis.dialects.rudderstack.types import INCOMPATIBLE, OUT_OF_RANGE, RudderTypes
from trellis.dialects.rudderstack.warehouse.migration import neutral_of
from trellis.evolution.dialect.dead_letters import RestoredValue
from trellis.evolution.scalars.values import MISFIT
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
"""By the type that a reason names: from the printed value to the original."""


def restore_discard(schema: Schema, named: StandardNames, kept: Mapping[str, Any]) -> RestoredValue | None:
    """The value that a row of `rudder_discards` restores; None where its column still does not take it."""
    row_id, table, name, printed, reason = (kept[column] for column in named.discard_columns)
    columns = schema.tables[table].columns if table in schema.tables else {}
    column, id_ = columns.get(name), columns.get(named.column("id"))
    if column is None or id_ is None or not column.complete:
        return None
    value, key = _read(_original_type(reason), printed), _read(neutral_of(id_), row_id)
    if value is None or key is None:
        return None
    fitted = RudderTypes().coercer(schema, column)(value)
    if fitted is None or fitted is MISFIT:
        return None
    return RestoredValue(table, name, fitted, {id_.name: key}, named.column("received_at"))


def _original_type(reason: str) -> str:
    """The neutral type of the discarded value."""
    if reason.startswith(OUT_OF_RANGE):
        return reason.removeprefix(OUT_OF_RANGE)
    return reason.rpartition(" to ")[2] if reason.startswith(INCOMPATIBLE) else ""


def _read(neutral: str, text: str) -> Any:
    try:
        return _READ[neutral](text) if neutral in _READ else None
    except ValueError:
        return None

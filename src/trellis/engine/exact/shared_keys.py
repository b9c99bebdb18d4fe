"""Keys of one row that map to the same column: the first takes the value of the last, the others are lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trellis.engine.exact.slots import SEQUENCES, TableBuilder, Visit
from trellis.engine.exact.tables import TableBuilders

KeptValues = Mapping[tuple[int, Any], Any]
"""By object and key, for keys that share a column: the value to keep, OVERWRITTEN, or MOVED to the first."""
OVERWRITTEN: Final = object()
MOVED: Final = object()


class SharedNameFound(Exception):
    """Two keys of the current row map to the same column, so the row has to start over."""


def values_that_stay(tables: TableBuilders, builder: TableBuilder, start: Sequence[Visit]) -> KeptValues:
    stack, places_by_name = list(start), dict[str, list[tuple[int, Any, Any]]]()
    while stack:
        obj, bindings, outer = stack.pop()
        for key, value in obj.items():
            binding = bindings.get(key) or tables.add_binding(builder, bindings, outer, key)
            if value.__class__ is dict and not binding.keeps_json:
                stack.append((value, binding.inner, binding))
            elif binding.keeps_json or value.__class__ not in SEQUENCES:
                places_by_name.setdefault(binding.name, []).append((id(obj), key, value))
    kept: dict[tuple[int, Any], Any] = {}
    for places in places_by_name.values():
        if len(places) > 1:
            kept.update({(object_id, key): OVERWRITTEN for object_id, key, _ in places[1:-1]})
            kept[places[0][:2]], kept[places[-1][:2]] = places[-1][2], MOVED
    return kept

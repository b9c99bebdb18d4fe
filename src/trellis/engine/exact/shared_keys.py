"""Keys of one row that share a name: the first takes the value of the last, the others are overwritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trellis.engine.exact.slots import SEQUENCES, TableBuilder, Visit
from trellis.engine.exact.tables import TableBuilders

Last = Mapping[tuple[int, Any], Any]
"""Of keys that share a name, by object and key: the value that stays, OVERWRITTEN, or MOVED to the first."""
OVERWRITTEN: Final = object()
MOVED: Final = object()


class SharedNameFound(Exception):
    """A second key of the row at hand has the name of another one."""


def values_that_stay(tables: TableBuilders, builder: TableBuilder, start: Sequence[Visit]) -> Last:
    stack, seen = list(start), dict[str, list[tuple[int, Any, Any]]]()
    while stack:
        obj, bindings, outer = stack.pop()
        for key, value in obj.items():
            binding = bindings.get(key) or tables.add_binding(builder, bindings, outer, key)
            if value.__class__ is dict and not binding.keeps_json:
                stack.append((value, binding.inner, binding))
            elif binding.keeps_json or value.__class__ not in SEQUENCES:
                seen.setdefault(binding.name, []).append((id(obj), key, value))
    found: dict[tuple[int, Any], Any] = {}
    for places in seen.values():
        if len(places) > 1:
            found.update({(at, key): OVERWRITTEN for at, key, _ in places[1:-1]})
            found[places[0][:2]], found[places[-1][:2]] = places[-1][2], MOVED
    return found

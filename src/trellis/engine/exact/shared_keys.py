"""Keys of one row that share a name: the first takes the value of the last, the others are overwritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trellis.engine.exact.slots import SEQUENCES, TableWalk, Visit
from trellis.engine.exact.tables import Tables

Last = Mapping[tuple[int, Any], Any]
"""Of keys that share a name, by object and key: the value that stays, OVERWRITTEN, or MOVED to the first."""
OVERWRITTEN: Final = object()
MOVED: Final = object()


class Shared(Exception):
    """A second key of the row at hand has the name of another one."""


def last_values(tables: Tables, walk: TableWalk, start: Sequence[Visit]) -> Last:
    stack, seen = list(start), dict[str, list[tuple[int, Any, Any]]]()
    while stack:
        obj, slots, outer = stack.pop()
        for key, value in obj.items():
            slot = slots.get(key) or tables.slot(walk, slots, outer, key)
            if value.__class__ is dict and not slot.whole:
                stack.append((value, slot.inner, slot))
            elif slot.whole or value.__class__ not in SEQUENCES:
                seen.setdefault(slot.name, []).append((id(obj), key, value))
    found: dict[tuple[int, Any], Any] = {}
    for places in seen.values():
        if len(places) > 1:
            found.update({(at, key): OVERWRITTEN for at, key, _ in places[1:-1]})
            found[places[0][:2]], found[places[-1][:2]] = places[-1][2], MOVED
    return found

"""Values of a row as they came, before they met the schema: ids are hashes of some, rows below get others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trellis.engine.exact.findings import Findings
from trellis.engine.exact.slots import SEQUENCES, TableWalk
from trellis.errors import ContractError


def raw_values(walk: TableWalk, item: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The values of these columns; nested tables and objects are no values."""
    found: dict[str, Any] = {}
    stack = [(item, walk.slots)]
    while stack:
        obj, slots = stack.pop()
        for key, value in obj.items():
            slot = slots.get(key)
            if slot is None:  # a list in a list
                continue
            if value.__class__ is dict and not slot.whole:
                stack.append((value, slot.inner))
            elif value.__class__ in SEQUENCES and not slot.whole:
                continue
            elif value is not None and slot.name in names:
                found[slot.name] = value
    return found


def hashed(walk: TableWalk, item: Mapping[str, Any], findings: Findings) -> list[Any]:
    """The values of the columns that the row id is a hash of."""
    found = raw_values(walk, item, walk.keys.from_columns)
    missing = [name for name in walk.keys.from_columns if name not in found]
    if missing:
        raise ContractError(
            f"{findings.place}: key column {missing[0]} of table {walk.name} has no value; "
            "this way of merging needs the whole key in every record"
        )
    return [found[name] for name in walk.keys.from_columns]


def gifts(walk: TableWalk, item: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What the rows below this one get of it and of what it was given, under their names for it."""
    found = {**raw_values(walk, item, walk.gives), **given}
    return {to: found[name] for name, to in walk.gives.items() if name in found}

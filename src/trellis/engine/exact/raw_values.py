"""Values of a row as they came, before they met the schema: ids are hashes of some, rows below get others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trellis.engine.exact.findings import Findings
from trellis.engine.exact.slots import SEQUENCES, TableBuilder
from trellis.errors import ContractError


def values_of_columns(
    builder: TableBuilder, item: Mapping[str, Any], names: Collection[str]
) -> dict[str, Any]:
    """The values of these columns; nested tables and objects are no values."""
    found: dict[str, Any] = {}
    stack = [(item, builder.bindings)]
    while stack:
        obj, bindings = stack.pop()
        for key, value in obj.items():
            binding = bindings.get(key)
            if binding is None:  # a list in a list
                continue
            if value.__class__ is dict and not binding.keeps_json:
                stack.append((value, binding.inner))
            elif value.__class__ in SEQUENCES and not binding.keeps_json:
                continue
            elif value is not None and binding.name in names:
                found[binding.name] = value
    return found


def id_values(builder: TableBuilder, item: Mapping[str, Any], findings: Findings) -> list[Any]:
    """The values of the columns that the row id is a hash of."""
    found = values_of_columns(builder, item, builder.keys.from_columns)
    missing = [name for name in builder.keys.from_columns if name not in found]
    if missing:
        raise ContractError(
            f"{findings.place}: key column {missing[0]} of table {builder.name} has no value; "
            "this way of merging needs the whole key in every record"
        )
    return [found[name] for name in builder.keys.from_columns]


def inherited_values(
    builder: TableBuilder, item: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """What the rows below this one get of it and of what it was given, under their names for it."""
    found = {**values_of_columns(builder, item, builder.inherited_columns), **given}
    return {to: found[name] for name, to in builder.inherited_columns.items() if name in found}

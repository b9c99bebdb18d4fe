"""Raw values of a row, before conversion: row ids are hashes of some, child rows inherit others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trellis.engine.exact.findings import Findings
from trellis.engine.exact.slots import SEQUENCES, TableBuilder
from trellis.errors import ContractError


def values_of_columns(
    builder: TableBuilder, item: Mapping[str, Any], names: Collection[str]
) -> dict[str, Any]:
    """The raw values of these columns, except nulls and nested values."""
    values: dict[str, Any] = {}
    stack = [(item, builder.bindings)]
    while stack:
        obj, bindings = stack.pop()
        for key, value in obj.items():
            binding = bindings.get(key)
            if binding is None:  # the key "list" of a list in a list has no binding here
                continue
            if value.__class__ is dict and not binding.keeps_json:
                stack.append((value, binding.inner))
            elif value.__class__ in SEQUENCES and not binding.keeps_json:
                continue
            elif value is not None and binding.name in names:
                values[binding.name] = value
    return values


def id_values(builder: TableBuilder, item: Mapping[str, Any], findings: Findings) -> list[Any]:
    """The values of the columns that the row id is a hash of."""
    values = values_of_columns(builder, item, builder.keys.from_columns)
    missing = [name for name in builder.keys.from_columns if name not in values]
    if missing:
        raise ContractError(
            f"{findings.place}: key column {missing[0]} of table {builder.name} has no value; "
            "this way of merging needs the whole key in every record"
        )
    return [values[name] for name in builder.keys.from_columns]


def inherited_values(
    builder: TableBuilder, item: Mapping[str, Any], inherited: Mapping[str, Any]
) -> dict[str, Any]:
    """What the child rows inherit of this row and its ancestors, under the names of their columns."""
    values = {**values_of_columns(builder, item, builder.inherited_columns), **inherited}
    return {
        child_column: values[name]
        for name, child_column in builder.inherited_columns.items()
        if name in values
    }

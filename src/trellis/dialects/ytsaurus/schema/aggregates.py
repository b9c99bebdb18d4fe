"""Names of aggregate functions, and the types of the columns that may have them."""

from __future__ import annotations

import re
from typing import Final

from trellis.dialects.ytsaurus.schema.model import Column
from trellis.dialects.ytsaurus.types.model import List, without_tags

_NUMBERS: Final = ("int64", "uint64", "double")
_ORDERED: Final = (*_NUMBERS, "boolean", "string")
_TYPES: Final = {
    "sum": _NUMBERS,
    "min": _ORDERED,
    "max": _ORDERED,
    "first": (*_ORDERED, "any"),
    "xdelta": ("string",),
    "dict_sum": ("any",),
}
_NESTED: Final = re.compile(r"nested_(?:key\((\w+)\)|value\((\w+)(?:,\s*(?:sum|max))?\))")


def aggregate_fault(column: Column) -> str | None:
    """What is wrong with the aggregate of a column."""
    aggregate = column.aggregate or ""
    if column.is_key:
        return "a key column cannot have an aggregate"
    if _NESTED.fullmatch(aggregate):
        if isinstance(without_tags(column.type), List):
            return None
        return f"the aggregate {aggregate} is for lists, not {column.type}"
    if aggregate not in _TYPES:
        return f"there is no aggregate {aggregate!r}; expected one of {', '.join(_TYPES)}"
    name = column.simple.name
    if name not in _TYPES[aggregate]:
        return f"the aggregate {aggregate} is for {', '.join(_TYPES[aggregate])}, not {name}"
    return None


def nested_tables(columns: tuple[Column, ...]) -> tuple[set[str], set[str]]:
    """Names of nested tables that have keys, and of those that have values."""
    matches = [_NESTED.fullmatch(column.aggregate or "") for column in columns]
    return {m[1] for m in matches if m and m[1]}, {m[2] for m in matches if m and m[2]}

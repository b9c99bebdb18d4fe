"""Filters of Spark as a range of keys."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    LessThan,
    LessThanOrEqual,
)

from trellis.dialects.ytsaurus.paths.ranges import MAX, Limit, RowRange
from trellis.dialects.ytsaurus.schema.model import Column
from trellis.dialects.ytsaurus.types.model import SIGNED, UNSIGNED
from trellis.dialects.ytsaurus.types.simple import plain_name

_TYPES: Final = frozenset((*SIGNED, *UNSIGNED, "string", "utf8"))
"""Types whose values Spark hands over as they are."""


def range_of_filters(filters: Sequence[Filter], name: str, key: Column) -> RowRange | None:
    """The rows that may pass filters on a key column, called so in the frame; None where all may."""
    if plain_name(key.type) not in _TYPES or key.sort_order != "ascending":
        return None
    lower, upper = Limit(), Limit()
    for item in filters:
        match item:
            case EqualTo((column,), value) if column == name:
                lower, upper = Limit(key=(_plain(value),)), Limit(key=(_plain(value), MAX))
            case GreaterThanOrEqual((column,), value) if column == name:
                lower = Limit(key=(_plain(value),))
            case GreaterThan((column,), value) if column == name:
                lower = Limit(key=(_plain(value), MAX))
            case LessThan((column,), value) if column == name:
                upper = Limit(key=(_plain(value),))
            case LessThanOrEqual((column,), value) if column == name:
                upper = Limit(key=(_plain(value), MAX))
    return None if lower.is_open and upper.is_open else RowRange(lower, upper)


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, Decimal) else value

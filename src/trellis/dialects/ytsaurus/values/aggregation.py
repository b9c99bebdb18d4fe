"""What the aggregate of a column makes of its value and one that is inserted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.values.order import compare
from trellis.dialects.ytsaurus.yson.values import MAX_INT64, Uint64, kind_of


def aggregate_values(aggregate: str, state: Any, delta: Any) -> Any:
    """The value that stays. A null takes no part. Raises YtError for `xdelta` and `nested_...`.

    >>> aggregate_values("sum", 3, 4), aggregate_values("sum", 3, None), aggregate_values("first", 3, 4)
    (7, 3, 3)
    >>> aggregate_values("sum", Uint64(2**64 - 1), Uint64(2)), aggregate_values("sum", 2**63 - 1, 1)
    (1u, -9223372036854775808)
    """
    if state is None or delta is None:
        return delta if state is None else state
    match aggregate:
        case "sum":
            return _add(state, delta)
        case "min":
            return min(state, delta, key=_Ordered)
        case "max":
            return max(state, delta, key=_Ordered)
        case "first":
            return state
        case "dict_sum":
            return _add_maps(state, delta)
    raise YtError(f"values with the aggregate {aggregate} cannot be inserted; write the table anew")


class _Ordered:
    def __init__(self, value: Any) -> None:
        self._value = value

    def __lt__(self, other: _Ordered) -> bool:
        return compare(self._value, other._value) < 0


def _add(state: Any, delta: Any) -> Any:
    """Integers beyond 64 bits wrap around."""
    total = state + delta
    if isinstance(total, float):
        return total
    if kind_of(state) == "uint64":
        return Uint64(total % 2**64)
    return (total + MAX_INT64 + 1) % 2**64 - MAX_INT64 - 1


def _add_maps(state: Any, delta: Any) -> Any:
    """Integers at equal keys are added, those that become 0 are left out. Raises YtError (307)."""
    if not (isinstance(state, Mapping) and isinstance(delta, Mapping)):
        if kind_of(state) != "int64" or kind_of(delta) != "int64":
            raise YtError(
                f"dict_sum adds maps of integers, not {kind_of(state)} and {kind_of(delta)}",
                ErrorCode.SCHEMA_VIOLATION,
            )
        return _add(state, delta)
    total = {**state}
    for key, value in delta.items():
        total[key] = _add_maps(total[key], value) if key in total else value
    return {key: value for key, value in total.items() if value != 0 or isinstance(value, bool)}

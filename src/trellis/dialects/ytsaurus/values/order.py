"""The order of values, also of different kinds: by kind first, then by value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from struct import pack
from typing import Any, Final

from trellis.dialects.ytsaurus.errors import ErrorCode, YtError
from trellis.dialects.ytsaurus.schema.model import SortOrder
from trellis.dialects.ytsaurus.yson.values import Attributed, kind_of, to_bytes

_RANKS: Final = {
    "null": 0x02,
    "int64": 0x03,
    "uint64": 0x04,
    "double": 0x05,
    "boolean": 0x06,
    "string": 0x10,
    "list": 0x11,
}

SortKey = tuple[Any, ...]


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1. Raises YtError with the code 324 for maps and values with attributes, which have no order.

    >>> compare(None, -1), compare(0.0, -0.0), compare(1, 0.5)
    (-1, 0, -1)
    """
    first, second = sort_key(left), sort_key(right)
    return (first > second) - (first < second)


def sort_key(value: Any) -> SortKey:
    """A tuple that compares as the value does."""
    kind = kind_of(value)
    if kind == "map" or isinstance(value, Attributed):
        raise YtError(
            f"a {'map' if kind == 'map' else 'value with attributes'} has no order, so it cannot be a key",
            ErrorCode.INCOMPARABLE_VALUES,
        )
    rank = _RANKS[kind]
    match kind:
        case "null":
            return (rank,)
        case "double":
            return (rank, (1, 0.0) if math.isnan(value) else (0, value))
        case "string":
            return (rank, to_bytes(value))
        case "list":
            return (rank, tuple(map(sort_key, value)))
    return (rank, int(value))


def row_key(values: Iterable[Any]) -> SortKey:
    """The key of a row, in ascending order."""
    return tuple(map(sort_key, values))


def encode_key(values: Iterable[Any], orders: Sequence[SortOrder] = ()) -> bytes:
    """Bytes that compare as the key does; those of descending columns are inverted.

    >>> encode_key(["a"]) < encode_key(["a", None]) < encode_key(["a", 1]) < encode_key(["b"])
    True
    """
    parts = []
    for index, value in enumerate(values):
        part = _encode(sort_key(value))
        descending = index < len(orders) and orders[index] == "descending"
        parts.append(bytes(255 - byte for byte in part) if descending else part)
    return b"".join(parts)


def _encode(key: SortKey) -> bytes:
    rank = bytes([key[0]])
    match key[0]:
        case 0x02:
            return rank
        case 0x03:
            return rank + pack(">Q", key[1] + 2**63)
        case 0x04:
            return rank + pack(">Q", key[1])
        case 0x05:
            return rank + _encode_double(*key[1])
        case 0x06:
            return rank + pack("B", key[1])
        case 0x10:
            text: bytes = key[1]
            return rank + text.replace(b"\0", b"\0\xff") + b"\0\0"
    return rank + b"".join(map(_encode, key[1])) + b"\0"


def _encode_double(nan: int, value: float) -> bytes:
    if nan:
        return b"\xff" * 8
    bits = int.from_bytes(pack(">d", value + 0.0), "big")
    return pack(">Q", bits ^ (2**64 - 1 if bits >> 63 else 2**63))

"""`farm_hash`: the hash by which tables are sharded, equal to that of YTsaurus to the bit."""

from __future__ import annotations

from typing import Any, Final

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.yson.values import Uint64, kind_of, to_bytes
from trellis.errors import UsageError

_MASK: Final = 2**64 - 1
_FACTOR: Final = 0x9DDFEA08EB382D69
_SEED: Final = 0xDEADC0DE


def farm_hash(*values: Any) -> Uint64:
    """The hash of integers, booleans, strings and nulls. Raises YtError for other kinds.

    >>> farm_hash(1), farm_hash(None)
    (933529381690826619u, 3315701238936582721u)
    """
    result = _SEED
    for value in values:
        result = _combine(result, _hash(value))
    return Uint64(result ^ len(values))


def _hash(value: Any) -> int:
    match kind_of(value):
        case "string":
            return _fingerprint(to_bytes(value))
        case "null":
            return _mix(0)
        case "int64" | "uint64" | "boolean":
            return _mix(int(value) & _MASK)
        case kind:
            raise YtError(f"farm_hash takes no {kind}; expected integers, booleans, strings or null")


def _mix(value: int) -> int:
    mixed = value * _FACTOR & _MASK
    mixed ^= mixed >> 44
    mixed = mixed * _FACTOR & _MASK
    mixed ^= mixed >> 41
    return mixed * _FACTOR & _MASK


def _combine(low: int, high: int) -> int:
    first = (low ^ high) * _FACTOR & _MASK
    first ^= first >> 47
    return _mix(high ^ first)


def _fingerprint(text: bytes) -> int:
    try:
        from farmhash import fingerprint64
    except ImportError:
        raise UsageError(
            "farm_hash of text needs a library: install trellis-spark[ytsaurus], which brings pyfarmhash"
        ) from None
    fingerprint: int = fingerprint64(text)
    return fingerprint

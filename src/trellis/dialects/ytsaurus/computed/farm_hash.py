"""`farm_hash`: the hash by which tables are sharded, equal to that of YTsaurus to the bit."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.yson.values import Uint64, kind_of, to_bytes
from trellis.errors import UsageError

_MASK: Final = 2**64 - 1
_FACTOR: Final = 0x9DDFEA08EB382D69
SEED: Final = 0xDEADC0DE
"""The hash of no values, without their number."""
T = TypeVar("T", bound=Any)
"""An integer of 64 bits without sign, or an array of NumPy with such."""


def farm_hash(*values: Any) -> Uint64:
    """The hash of integers, booleans, strings and nulls. Raises YtError for other kinds.

    >>> farm_hash(1), farm_hash(None)
    (933529381690826619u, 3315701238936582721u)
    """
    result = SEED
    for value in values:
        result = combine_hashes(result, _hash(value))
    return Uint64(result ^ len(values))


def _hash(value: Any) -> int:
    match kind_of(value):
        case "string":
            return fingerprint(to_bytes(value))
        case "null":
            return mix_integer(0)
        case "int64" | "uint64" | "boolean":
            return mix_integer(int(value) & _MASK)
        case kind:
            raise YtError(f"farm_hash takes no {kind}; expected integers, booleans, strings or null")


def mix_integer(value: T) -> T:
    """The hash of an integer."""
    mixed = value * _FACTOR & _MASK
    mixed = (mixed ^ (mixed >> 44)) * _FACTOR & _MASK
    result: T = (mixed ^ (mixed >> 41)) * _FACTOR & _MASK
    return result


def combine_hashes(low: T, high: T) -> T:
    """The hash of some values and one more."""
    first = (low ^ high) * _FACTOR & _MASK
    combined: T = mix_integer(high ^ first ^ (first >> 47))
    return combined


def fingerprint(text: bytes) -> int:
    """The hash of a string. Raises UsageError without the library."""
    try:
        from farmhash import fingerprint64
    except ImportError:
        raise UsageError(
            "farm_hash of text needs a library: install trellis-spark[ytsaurus], which brings pyfarmhash"
        ) from None
    value: int = fingerprint64(text)
    return value

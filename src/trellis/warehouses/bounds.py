"""What the types of real columns hold at most, by the names that catalogs show."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_LARGEST_SINGLE: Final = 3.4028234663852886e38
_DIGITS = re.compile(r"(?:decimal|numeric|decimal128|decimal256)\((\d+),\s*(\d+)\)")
_LENGTH = re.compile(r"(?:character varying|varchar|character|char)\((\d+)\)")


@dataclass(frozen=True)
class TypeBounds:
    """The precision and scale of a type, and the least and the greatest number; None where it has none."""

    precision: int | None = None
    scale: int | None = None
    range: tuple[float, float] | None = None


_NUMBERS: Final[Mapping[str, TypeBounds]] = {
    **dict.fromkeys(("tinyint", "int8"), TypeBounds(8, range=(-(1 << 7), (1 << 7) - 1))),
    **dict.fromkeys(("smallint", "int16"), TypeBounds(16, range=(-(1 << 15), (1 << 15) - 1))),
    **dict.fromkeys(("integer", "int32"), TypeBounds(32, range=(-(1 << 31), (1 << 31) - 1))),
    "utinyint": TypeBounds(16, range=(0, (1 << 8) - 1)),
    "usmallint": TypeBounds(32, range=(0, (1 << 16) - 1)),
    "uinteger": TypeBounds(64, range=(0, (1 << 32) - 1)),
    "ubigint": TypeBounds(64, range=(0, (1 << 63) - 1)),
    **dict.fromkeys(("real", "float"), TypeBounds(24, range=(-_LARGEST_SINGLE, _LARGEST_SINGLE))),
}
"""Types with fewer numbers than a signed integer or a float of 64 bits.

The greatest of `ubigint` is that of a signed one, as no value of a load is greater.
"""


def bounds_of(native: str) -> TypeBounds:
    """The bounds of a type in the catalog of DuckDB, PostgreSQL or Parquet files.

    >>> bounds_of("decimal(18,4)"), bounds_of("character varying(10)")
    (TypeBounds(precision=18, scale=4, range=None), TypeBounds(precision=10, scale=None, range=None))
    >>> bounds_of("SMALLINT").range, bounds_of("bigint") == TypeBounds()
    ((-32768, 32767), True)
    """
    native = native.lower()
    if native in _NUMBERS:
        return _NUMBERS[native]
    if digits := _DIGITS.fullmatch(native):
        return TypeBounds(int(digits[1]), int(digits[2]))
    if length := _LENGTH.fullmatch(native):
        return TypeBounds(int(length[1]))
    return TypeBounds()

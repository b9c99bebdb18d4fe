"""Changes of a column's type that touch no row, by the names of types in Spark's SQL."""

from __future__ import annotations

from trellis.destinations.lake.types import decimal_size

_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_DIGITS = {"TINYINT": 10, "SMALLINT": 10, "INT": 10, "BIGINT": 20}
"""The digits before the point of decimals that hold integers of a type, as Delta counts them."""


def widens_in_iceberg(before: str, after: str) -> bool:
    """Whether Iceberg promotes a type to another.

    >>> widens_in_iceberg("INT", "BIGINT"), widens_in_iceberg("DECIMAL(9,2)", "DECIMAL(12,2)")
    (True, True)
    >>> widens_in_iceberg("BIGINT", "DOUBLE"), widens_in_iceberg("DECIMAL(9,2)", "DECIMAL(12,4)")
    (False, False)
    """
    old, new = decimal_size(before), decimal_size(after)
    if old and new:
        return new[1] == old[1] and new[0] >= old[0]
    return (before, after) in (("INT", "BIGINT"), ("FLOAT", "DOUBLE"))


def widens_in_delta(before: str, after: str) -> bool:
    """Whether Delta widens a type to another in a table with type widening.

    >>> widens_in_delta("SMALLINT", "BIGINT"), widens_in_delta("BIGINT", "DECIMAL(38,9)")
    (True, True)
    >>> widens_in_delta("DECIMAL(9,2)", "DECIMAL(12,4)"), widens_in_delta("BIGINT", "DOUBLE")
    (True, False)
    """
    old, new = decimal_size(before), decimal_size(after)
    if new:
        digits, scale = (old[0] - old[1], old[1]) if old else (_DIGITS.get(before), 0)
        return digits is not None and new[0] - new[1] >= digits and new[1] >= scale
    if before in _INTEGERS and after in _INTEGERS:
        return _INTEGERS.index(before) < _INTEGERS.index(after)
    small = (*_INTEGERS[:3], "FLOAT")
    return (before in small and after == "DOUBLE") or (before, after) == ("DATE", "TIMESTAMP_NTZ")

"""Lists and maps before conversion: an empty one is null, one of a single value is that value.

The first half of `DataTypeTransformer`, for every target but JSON and the complex types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.pinot.conversion.messages import abbreviated
from trellis.dialects.pinot.value.source_kinds import CannotConvert


def standardise(value: Any, single: bool = True) -> Any:
    """A scalar, a list of two or more scalars (only where `single` is false), or None.

    Raises CannotConvert for several values where one is expected.

    >>> standardise([None, 5]), standardise({"k": [5]}), standardise([]), standardise({"x": 1, "y": 2}, False)
    (5, 5, None, [1, 2])
    >>> standardise([5, 6])
    Traceback (most recent call last):
    CannotConvert: Cannot read single-value from a list of 2 values...
    """
    try:
        return _standardise(value, single)
    except RecursionError:
        raise CannotConvert("the lists and maps are nested too deep: flatten them") from None


def _standardise(value: Any, single: bool) -> Any:
    parts = _elements(value)
    while parts is not None:
        if len(parts) != 1:
            scalars = [scalar for part in parts if (scalar := _standardise(part, True)) is not None]
            if len(scalars) > 1:
                if single:
                    raise CannotConvert(_bracketed(value))
                return scalars
            return scalars[0] if scalars else None
        value = parts[0]
        parts = _elements(value)
    return value


def _elements(value: Any) -> Any:
    """The values of a list or map; None for a scalar."""
    if isinstance(value, list | tuple):
        return value
    return list(value.values()) if isinstance(value, Mapping) else None


def _bracketed(value: Any) -> str:
    kind = "map" if isinstance(value, Mapping) else "list"
    return (
        f"Cannot read single-value from a {kind} of {len(value)} values: {abbreviated(value)}; "
        "provide one value, or declare the column with singleValueField false"
    )

"""Lists and maps before conversion: what is empty is null, what holds one value is that value.

The first half of `DataTypeTransformer`, for every target but JSON and the complex types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.pinot.value.messages import shown
from trellis.dialects.pinot.value.source_kinds import CannotConvert


def standardise(value: Any, single: bool = True) -> Any:
    """A scalar, a list of two or more scalars (only where `single` is false), or None.

    Raises CannotConvert where several values stand in the place of one.

    >>> standardise([None, 5]), standardise({"k": [5]}), standardise([]), standardise({"x": 1, "y": 2}, False)
    (5, 5, None, [1, 2])
    >>> standardise([5, 6])
    Traceback (most recent call last):
    CannotConvert: Cannot read single-value from a list of 2 values...
    """
    try:
        return _standard(value, single)
    except RecursionError:
        raise CannotConvert("the lists and maps are nested too deep: flatten them") from None


def _standard(value: Any, single: bool) -> Any:
    parts = _parts(value)
    while parts is not None:
        if len(parts) != 1:
            found = [known for each in parts if (known := _standard(each, True)) is not None]
            if len(found) > 1:
                if single:
                    raise CannotConvert(_several(value))
                return found
            return found[0] if found else None
        value = parts[0]
        parts = _parts(value)
    return value


def _parts(value: Any) -> Any:
    """What a list or map holds; None for a scalar."""
    if isinstance(value, list | tuple):
        return value
    return list(value.values()) if isinstance(value, Mapping) else None


def _several(value: Any) -> str:
    sort = "map" if isinstance(value, Mapping) else "list"
    return (
        f"Cannot read single-value from a {sort} of {len(value)} values: {shown(value)}; "
        "give one value, or declare the column with singleValueField false"
    )

"""Lists and maps: a list or map for a column of one scalar or several, and the value of a complex column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.pinot.conversion.messages import abbreviated, conversion_error
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.json_text import first_json_value, key_text, may_follow
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


def complex_of(value: Any, target: PinotType) -> Any:
    """A map (LIST: a list) as it is, or the one that a text holds; None for null. Raises CannotConvert.

    >>> complex_of({"k": 5}, PinotType.MAP), complex_of("[1]", PinotType.LIST)
    ({'k': 5}, [1])
    """
    if value is None:
        return None
    if isinstance(value, str):
        return _from_text(value, target)
    if target is PinotType.LIST:
        if isinstance(value, list | tuple):
            return value if value.__class__ is list else list(value)
    elif isinstance(value, Mapping):
        return map_of(value)
    raise conversion_error(value, target)


def map_of(value: Mapping[Any, Any]) -> dict[str, Any]:
    """A map whose keys are texts. What it holds is not converted: its child fields coerce nothing.

    >>> map_of({1: 1.50, "k": None})
    {'1': 1.5, 'k': None}
    """
    if value.__class__ is dict and all(key.__class__ is str for key in value):
        return value
    return {key_text(key): entry for key, entry in value.items()}


def _from_text(text: str, target: PinotType) -> Any:
    """The JSON object (LIST: the JSON array) that a text starts with; None for `null`."""
    try:
        value, end = first_json_value(text)
    except (ValueError, RecursionError):
        raise conversion_error(text, target) from None
    if isinstance(value, list if target is PinotType.LIST else dict) or (
        value is None and may_follow(text, end)
    ):
        return value
    raise conversion_error(text, target)

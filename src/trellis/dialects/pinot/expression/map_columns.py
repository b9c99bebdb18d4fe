"""The columns that hold the keys and the values of a map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trellis.dialects.pinot.functions.arguments import FunctionError, as_text
from trellis.dialects.pinot.value.json_text.writer import utf16_key

KEYS: Final = "__KEYS"
VALUES: Final = "__VALUES"


def keys_of(value: Any) -> list[Any] | None:
    """The keys of a map in order; None where there is no map.

    >>> keys_of({"b": 1, "a": 2}), values_of({"b": 1, "a": 2})
    (['a', 'b'], [2, 1])
    """
    return None if value is None else [key for key, _ in _items(value)]


def values_of(value: Any) -> list[Any] | None:
    """The values of a map in the order of its keys; None where there is no map."""
    return None if value is None else [element for _, element in _items(value)]


def _items(value: Any) -> list[tuple[Any, Any]]:
    if not isinstance(value, Mapping):
        raise FunctionError(f"a map is expected, not a value of class {value.__class__.__name__}")
    if all(isinstance(key, int | float) for key in value):
        return sorted(value.items())
    return sorted(value.items(), key=lambda item: utf16_key(as_text(item[0])))

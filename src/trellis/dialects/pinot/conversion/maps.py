"""Conversion to complex types: maps and lists, as they are or from JSON text.

Numbers with a fraction in such a text become doubles. Child fields convert nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trellis.dialects.pinot.conversion.messages import conversion_error
from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.value.json_text.reader import may_follow
from trellis.dialects.pinot.value.json_text.writer import key_text


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
        value, end = _READER.raw_decode(text, len(text) - len(text.lstrip(" \t\n\r")))
    except (ValueError, RecursionError):
        raise conversion_error(text, target) from None
    if isinstance(value, list if target is PinotType.LIST else dict) or (
        value is None and may_follow(text, end)
    ):
        return value
    raise conversion_error(text, target)


def _refuse_constant(word: str) -> Any:
    raise ValueError(word)


_READER = json.JSONDecoder(parse_constant=_refuse_constant)

"""Values as text: for messages and for discards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any, Final

import orjson

ITEM_LIMIT: Final = 4096


def count_keys(value: Any) -> int:
    """How many keys a JSON value holds, at all depths."""
    count, stack = 0, [value]
    while stack:
        nested = stack.pop()
        if nested.__class__ is dict:
            count += len(nested)
            stack.extend(nested.values())
        elif nested.__class__ is list:
            stack.extend(nested)
    return count


def to_json(value: Any) -> str:
    """Any value as JSON; what JSON has no form for is a string."""
    try:
        return orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        return json.dumps(value, default=_plain, ensure_ascii=False)


def nested_text(value: Any) -> Any:
    """A list or map as JSON, in which a number that is not finite is a text; any other value as it is.

    >>> nested_text([1.5, float("-inf")]), nested_text("x")
    ('[1.5,"-Infinity"]', 'x')
    """
    return to_json(_finite(value)) if isinstance(value, (list, dict)) else value


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list):
        return list(map(_finite, value))
    return {key: _finite(member) for key, member in value.items()} if isinstance(value, dict) else value


def item_text(item: Mapping[str, Any]) -> str:
    """A record as JSON, or nothing where it is too long for a message."""
    text = to_json(item)
    return text if len(text) <= ITEM_LIMIT else ""


def _plain(value: Any) -> Any:
    if isinstance(value, (Decimal, datetime, date, time)):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    return str(value)

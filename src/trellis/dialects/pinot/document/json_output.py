"""JSON as Pinot writes it: Java's numbers, and the layout of Jackson's pretty printer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trellis.dialects.pinot.value.json_text import json_of, quoted


def compact(value: Any) -> str:
    """The value as JSON without blanks.

    >>> compact({"b": 1, "a": [1.10, "x", None, 1e20]})
    '{"b":1,"a":[1.1,"x",null,1.0E20]}'
    """
    return json_of(value, sort=False)


def pretty(value: Any, indent: str = "") -> str:
    """The value as JSON over several lines, as the controller answers it.

    >>> print(pretty({"a": [{"b": 1}], "c": {}, "d": ["x", "y"]}))
    {
      "a" : [ {
        "b" : 1
      } ],
      "c" : { },
      "d" : [ "x", "y" ]
    }
    """
    if isinstance(value, Mapping):
        if not value:
            return "{ }"
        inner = indent + "  "
        items = (f"{inner}{quoted(str(key))} : {pretty(entry, inner)}" for key, entry in value.items())
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    if isinstance(value, list | tuple):
        return "[ " + ", ".join(pretty(element, indent) for element in value) + " ]" if value else "[ ]"
    return compact(value)

"""JSON as Pinot writes it: Java's numbers, and the layout of Jackson's pretty printer."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from trellis.dialects.pinot.value.json_text.writer import quoted
from trellis.dialects.pinot.value.numbers.java_format import decimal_text, double_text, float_text
from trellis.dialects.pinot.value.source_kinds import Float32


def compact(value: Any) -> str:
    """The value as JSON without blanks.

    >>> compact({"b": 1, "a": [1.10, "x", None, 1e20]})
    '{"b":1,"a":[1.1,"x",null,1.0E20]}'
    """
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{quoted(str(key))}:{compact(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(compact, value)) + "]"
    return _scalar(value)


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
    return _scalar(value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = float_text(value) if isinstance(value, Float32) else double_text(value)
        return f'"{text}"' if text[-1] in "Ny" else text
    if isinstance(value, int | Decimal):
        return decimal_text(value)
    return quoted(str(value))

"""Schemas in the notation of the behaviour rows: `~[k:string^, v:int64!]u`."""

from __future__ import annotations

import re
from typing import Any

from trellis.dialects.ytsaurus.schema.document import parse_schema
from trellis.dialects.ytsaurus.schema.model import TableSchema
from trellis.dialects.ytsaurus.switches import Switches
from trellis.dialects.ytsaurus.yson.values import Attributed

COLUMN = re.compile(r"(\w+)(?::(\w+))?(!?)(\^?)(?:\((\w+)\))?(?:=(.+))?")
UPSTREAM = Switches.parse({"profile": "upstream"})


def document(text: str) -> Attributed:
    """`^` is an ascending key, `!` required, `(g)` a group, `=` an expression; the type is int64 by default.

    >>> document("[k:string^]u").value
    [{'name': 'k', 'type': 'string', 'sort_order': 'ascending'}]
    """
    match = re.fullmatch(r"(~?)\[(.*)\](u?)", text)
    assert match is not None, text
    columns = []
    for part in filter(None, re.split(r",\s*(?![^(]*\))", match[2])):
        column = COLUMN.fullmatch(part)
        assert column is not None, part
        name, type, required, key, group, expression = column.groups()
        parts: dict[str, Any] = {"name": name, "type": type or "int64"}
        if required:
            parts["required"] = True
        if key:
            parts["sort_order"] = "ascending"
        if group:
            parts["group"] = group
        if expression:
            parts["expression"] = expression
        columns.append(parts)
    return Attributed(columns, {"strict": not match[1], "unique_keys": bool(match[3])})


def schema(text: str) -> TableSchema:
    return parse_schema(document(text), UPSTREAM)

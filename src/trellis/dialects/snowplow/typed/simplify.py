"""Schemas without alternatives and tuples: what has no type of its own is one node that takes all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, Final

from trellis.dialects.snowplow.document.nodes import (
    Node,
    alternatives_of,
    enum_of,
    number_of,
    properties_of,
    required_of,
    types_of,
)

Simple = dict[str, Any]
"""A node with these keywords alone: type, properties, required, enum, items, format, bounds, multipleOf.

Types and required names are sets, and `is_closed` says that nothing but its properties is allowed.
"""

_ALL_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_EQUAL: Final = ("format", "multipleOf")


def simplify(node: Node) -> Simple:
    simple = _own(node)
    for keyword in ("oneOf", "anyOf"):
        narrowed = [_narrow(simple, simplify(alternative)) for alternative in alternatives_of(node, keyword)]
        possible = [alternative for alternative in narrowed if alternative is not None]
        if possible:
            simple = reduce(_widen, possible)
    return simple


def _own(node: Node) -> Simple:
    """The node without its alternatives."""
    simple: Simple = {
        "type": types_of(node) or None,
        "properties": {key: simplify(child) for key, child in properties_of(node).items()},
        "required": required_of(node),
        "enum": enum_of(node),
        "items": _items(node),
        "minimum": number_of(node, "minimum"),
        "maximum": number_of(node, "maximum"),
        "multipleOf": number_of(node, "multipleOf"),
        "format": node.get("format"),
        "is_closed": node.get("additionalProperties") is False and not node.get("patternProperties"),
    }
    return {keyword: value for keyword, value in simple.items() if value is not None}


def _items(node: Node) -> Simple | None:
    items = node.get("items")
    if isinstance(items, dict):
        return simplify(items) or None
    if not isinstance(items, list):
        return None
    further = node.get("additionalItems", True)
    alternatives = [simplify(item) for item in items if isinstance(item, dict)]
    if not alternatives:
        return None
    if isinstance(further, dict) and further:
        alternatives.append(simplify(further))
    item = reduce(_widen, alternatives)
    if further is True or further == {}:
        # Items beyond the tuple are of any type, and a null among them is one in JSON.
        item = {**item, "type": types_of_simple(item) | {*_ALL_TYPES}}
    return item


def types_of_simple(node: Simple) -> frozenset[str]:
    types: frozenset[str] = node.get("type", frozenset())
    return types


def _narrow(parent: Simple, alternative: Simple) -> Simple | None:
    """What both take; None where that is nothing."""
    types = _common(types_of_simple(parent), types_of_simple(alternative))
    if types is not None and not types:
        return None
    return _without_none(
        type=types,
        properties=_joined(parent, alternative, lambda ours, other: _narrow(ours, other) or ours),
        required=parent["required"] | alternative["required"],
        enum=_common_values(parent.get("enum"), alternative.get("enum")),
        items=_either(parent, alternative, "items", lambda ours, other: _narrow(ours, other) or ours),
        minimum=_either(parent, alternative, "minimum", max),
        maximum=_either(parent, alternative, "maximum", min),
        multipleOf=_either(parent, alternative, "multipleOf", max),
        format=_either(parent, alternative, "format", lambda ours, other: ours),
        is_closed=parent["is_closed"] or alternative["is_closed"],
    )


def _widen(left: Simple, right: Simple) -> Simple:
    """What takes the values of both."""
    types = [types_of_simple(node) for node in (left, right)]
    shared = {
        keyword: left[keyword]
        for keyword in _EQUAL
        if keyword in left and left[keyword] == right.get(keyword)
    }
    return _without_none(
        type=types[0] | types[1] if all(types) else None,
        properties=_joined(left, right, _widen),
        required=left["required"] & right["required"],
        enum=[*left["enum"], *right["enum"]] if "enum" in left and "enum" in right else None,
        items=_both(left, right, "items", _widen),
        minimum=_both(left, right, "minimum", min),
        maximum=_both(left, right, "maximum", max),
        is_closed=left["is_closed"] and right["is_closed"],
        **shared,
    )


def _joined(left: Simple, right: Simple, combine: Callable[[Simple, Simple], Simple]) -> dict[str, Simple]:
    properties: dict[str, Simple] = dict(left["properties"])
    for key, node in right["properties"].items():
        properties[key] = combine(properties[key], node) if key in properties else node
    return properties


def _either(left: Simple, right: Simple, keyword: str, combine: Callable[[Any, Any], Any]) -> Any:
    values = [node[keyword] for node in (left, right) if keyword in node]
    return combine(*values) if len(values) == 2 else next(iter(values), None)


def _both(left: Simple, right: Simple, keyword: str, combine: Callable[[Any, Any], Any]) -> Any:
    return combine(left[keyword], right[keyword]) if keyword in left and keyword in right else None


def _common(left: frozenset[str], right: frozenset[str]) -> frozenset[str] | None:
    """The types in both; None for any type. Each integer is a number."""
    if not left or not right:
        return (left or right) or None
    return frozenset(
        name
        for name in left | right
        if all(name in types or (name == "integer" and "number" in types) for types in (left, right))
    )


def _common_values(left: Iterable[Any] | None, right: list[Any] | None) -> list[Any] | None:
    if left is None or right is None:
        return right if left is None else [*left]
    return [value for value in left if value in right]


def _without_none(**keywords: Any) -> Simple:
    return {keyword: value for keyword, value in keywords.items() if value is not None}

"""What a node of a JSON schema says: its types, its null, its properties."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from trellis.dialects.snowplow.document.json_text import is_whole

Node = Mapping[str, Any]

_SUBSCHEMAS: Final = ("additionalProperties", "additionalItems", "items", "not")
_SUBSCHEMA_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SUBSCHEMA_MAPS: Final = ("properties", "patternProperties", "definitions")


def types_of(node: Node) -> frozenset[str]:
    """The types that a node declares; none where it declares no type."""
    declared = node.get("type")
    if isinstance(declared, str):
        return frozenset((declared,))
    return (
        frozenset(name for name in declared if isinstance(name, str))
        if isinstance(declared, list)
        else frozenset()
    )


def value_types_of(node: Node) -> frozenset[str]:
    """The types of a node without null."""
    return types_of(node) - {"null"}


def enum_of(node: Node) -> list[Any] | None:
    enum = node.get("enum")
    return enum if isinstance(enum, list) else None


def allows_null(node: Node) -> bool:
    """Whether its type or enum names null."""
    return "null" in types_of(node) or None in (enum_of(node) or ())


def properties_of(node: Node) -> Mapping[str, Node]:
    properties = node.get("properties")
    return _nodes(properties) if isinstance(properties, dict) else {}


def required_of(node: Node) -> frozenset[str]:
    required = node.get("required")
    return (
        frozenset(name for name in required if isinstance(name, str))
        if isinstance(required, list)
        else frozenset()
    )


def alternatives_of(node: Node, keyword: str) -> Sequence[Node]:
    alternatives = node.get(keyword)
    return [item for item in alternatives if isinstance(item, dict)] if isinstance(alternatives, list) else []


def number_of(node: Node, keyword: str) -> float | None:
    """The number of a keyword; None where it is absent or no number."""
    value = node.get(keyword)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def size_of(node: Node, keyword: str) -> int | None:
    """The whole number of a keyword."""
    value = number_of(node, keyword)
    return int(value) if value is not None and is_whole(value) and math.isfinite(value) else None


def pointer_to(*parts: str) -> str:
    """
    >>> pointer_to("geo", "a/b")
    '/geo/a~1b'
    """
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)


def walk_nodes(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Every node of a schema with its path, the root first."""
    yield path, node
    for keyword in _SUBSCHEMAS:
        if isinstance(subschema := node.get(keyword), dict):
            yield from walk_nodes(subschema, (*path, keyword))
    for keyword in (*_SUBSCHEMA_LISTS, "items"):
        if isinstance(subschemas := node.get(keyword), list):
            for index, item in enumerate(subschemas):
                if isinstance(item, dict):
                    yield from walk_nodes(item, (*path, keyword, str(index)))
    for keyword in _SUBSCHEMA_MAPS:
        if isinstance(subschemas := node.get(keyword), dict):
            for name, item in _nodes(subschemas).items():
                yield from walk_nodes(item, (*path, keyword, name))


def _nodes(subschemas: Mapping[str, Any]) -> Mapping[str, Node]:
    return {name: item for name, item in subschemas.items() if isinstance(item, dict)}

"""What proves instances of a schema to be valid, value by value, without a validator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from trellis.dialects.snowplow.document.json_text import is_whole
from trellis.dialects.snowplow.document.nodes import (
    Node,
    enum_of,
    number_of,
    properties_of,
    required_of,
    size_of,
    types_of,
)
from trellis.evolution.line_projection import ValueCheck
from trellis.evolution.projection import Path
from trellis.schema.model import DataType

Kinds = Mapping[Path, DataType]
"""As what the values of instances are read, by path: text, bigint, double or bool."""
_SILENT: Final = frozenset(("title", "description", "default", "examples", "$comment"))
"""Keywords that refuse nothing."""
_OBJECT_KEYWORDS: Final = _SILENT | {"type", "properties", "required", "additionalProperties"}
_KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    "text": _SILENT | {"type", "minLength", "maxLength", "enum", "format"},
    "bigint": _SILENT | {"type", "minimum", "maximum"},
    "double": _SILENT | {"type", "minimum", "maximum"},
    "bool": _SILENT | {"type"},
}
_TYPES: Final[Mapping[str, frozenset[str]]] = {
    "text": frozenset(("string",)),
    "bigint": frozenset(("integer", "number")),
    "double": frozenset(("number",)),
    "bool": frozenset(("boolean",)),
}
_LARGEST: Final = 2**53
"""Bounds up to here are exact as doubles."""
_DAY: Final = (
    r"[1-9][0-9]{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_HOUR: Final = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_FORMATS: Final[Mapping[str, str]] = {
    "date": f"^{_DAY}$",
    "date-time": rf"^{_DAY}T{_HOUR}:[0-5][0-9](?:\.[0-9]{{1,9}})?(?:Z|[-+]{_HOUR})$",
}
"""Patterns that only texts of a format match."""


def value_checks(body: Node, kinds: Kinds) -> tuple[ValueCheck, ...] | None:
    """The checks of all values at these paths and of the objects around them; None where a schema says
    something of the whole instance that they do not see. Instances have no values at other paths.

    >>> body = {"type": "object", "properties": {"berth": {"type": "string", "maxLength": 9}}}
    >>> value_checks(body, {("berth",): "text"})
    (ValueCheck(path=('berth',), ... max_length=9, ...),)
    """
    return tuple(_object_checks(body, (), kinds)) if _is_plain(body, (), kinds) else None


def _object_checks(node: Node, path: Path, kinds: Kinds) -> Iterator[ValueCheck]:
    properties, is_open = properties_of(node), node.get("additionalProperties", True) is True
    for key in _keys_below(path, kinds):
        inner, child, is_required = (*path, key), properties.get(key), key in required_of(node)
        if child is None:
            yield ValueCheck(inner, is_required, allows_null=is_open, is_unproven=not is_open)
        elif inner in kinds:
            yield _value_check(child, inner, kinds[inner], is_required)
        elif _is_plain(child, inner, kinds):
            yield ValueCheck(inner, is_required, _allows_null(child))
            yield from _object_checks(child, inner, kinds)
        else:
            yield ValueCheck(inner, is_required, is_unproven=True)


def _is_plain(node: Node, path: Path, kinds: Kinds) -> bool:
    """Whether an object is valid if the values in it are, and if all are there that have to be."""
    return (
        node.keys() <= _OBJECT_KEYWORDS
        and (not types_of(node) or "object" in types_of(node))
        and isinstance(node.get("additionalProperties", True), bool)
        and required_of(node) <= _keys_below(path, kinds).keys()
    )


def _keys_below(path: Path, kinds: Kinds) -> dict[str, None]:
    depth = len(path)
    return dict.fromkeys(inner[depth] for inner in kinds if inner[:depth] == path)


def _value_check(node: Node, path: Path, kind: DataType, is_required: bool) -> ValueCheck:
    types, enum, format = types_of(node), enum_of(node), node.get("format")
    pattern = None if format is None else _FORMATS.get(str(format))
    lengths = {name: size_of(node, name) for name in ("minLength", "maxLength") if name in node}
    bounds = {name: number_of(node, name) for name in ("minimum", "maximum") if name in node}
    is_proven = (
        node.keys() <= _KEYWORDS[kind]
        and (not types or not types.isdisjoint(_TYPES[kind]))
        and (format is None or pattern is not None)
        and ("enum" not in node or (enum is not None and all(isinstance(item, str) for item in _texts(enum))))
        and all(size is not None and size <= _LARGEST for size in lengths.values())
        and all(_is_exact(bound, kind) for bound in bounds.values())
    )
    if not is_proven:
        return ValueCheck(path, is_required, is_unproven=True)
    return ValueCheck(
        path,
        is_required,
        _allows_null(node),
        min_length=lengths.get("minLength"),
        max_length=lengths.get("maxLength"),
        minimum=_plain(bounds.get("minimum")),
        maximum=_plain(bounds.get("maximum")),
        choices=None if enum is None else tuple(_texts(enum)),
        pattern=pattern,
    )


def _texts(enum: list[object]) -> list[str]:
    return [item for item in enum if item is not None]  # type: ignore[misc]


def _is_exact(bound: float | None, kind: DataType) -> bool:
    return bound is not None and abs(bound) <= _LARGEST and (kind == "double" or is_whole(bound))


def _plain(bound: float | None) -> float | None:
    if bound is None:
        return None
    return int(bound) if is_whole(bound) else float(bound)


def _allows_null(node: Node) -> bool:
    types, enum = types_of(node), enum_of(node)
    return (not types or "null" in types) and (enum is None or None in enum)

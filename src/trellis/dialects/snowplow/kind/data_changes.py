"""What changed for data between two versions (docs/conformance/snowplow.md, section Kinds).

A change that needs no more than an ADDITION leaves all historical data valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from trellis.dialects.snowplow.document.json_text import canonical, decimal_of
from trellis.dialects.snowplow.document.nodes import (
    Node,
    alternatives_of,
    enum_of,
    number_of,
    pointer_to,
    properties_of,
    required_of,
    types_of,
    walk_nodes,
)
from trellis.dialects.snowplow.identity.keys import Kind
from trellis.dialects.snowplow.kind.rules import Change, Rule

_UPPER: Final = ("maxLength", "maximum", "maxItems", "maxProperties")
_LOWER: Final = ("minLength", "minimum", "minItems", "minProperties")
_STRICTER_WHEN_TRUE: Final = ("exclusiveMaximum", "exclusiveMinimum", "uniqueItems")
_TEXTS: Final[tuple[tuple[str, Rule, Rule], ...]] = (
    ("format", "format changed", "format removed"),
    ("pattern", "pattern changed", "pattern removed"),
)
_COMBINATIONS: Final = ("allOf", "not", "oneOf", "$ref", "dependencies", "patternProperties")
_ANY: Final[Node] = {}

Openness = Literal["open", "closed", "by schema"]


def data_changes(old: Node, new: Node) -> list[Change]:
    """Every change that concerns data. Descriptions, titles, defaults and the order of keys do not."""
    changes = list(_Comparison((), required=True).compare(old, new))
    if changes and any("$ref" in node for body in (old, new) for _, node in walk_nodes(body)):
        changes.append(
            Change("", "reference beside a change", "REVISION", "what $ref refers to may have changed")
        )
    return changes


@dataclass(frozen=True)
class _Comparison:
    """Compares the nodes at a path. `required` is whether every value has something there."""

    path: tuple[str, ...]
    required: bool

    def compare(self, old: Node, new: Node) -> Iterator[Change]:
        yield from self._types(old, new)
        yield from self._enum(old, new)
        yield from self._bounds(old, new)
        yield from self._multiple(old, new)
        for keyword, changed, removed in _TEXTS:
            if old.get(keyword) != new.get(keyword):
                if keyword in new:
                    yield self._change(changed, "REVISION", f"{keyword} {new[keyword]!r}")
                else:
                    yield self._change(removed, "ADDITION")
        yield from self._combinations(old, new)
        yield from self._openness(old, new, "additionalProperties")
        yield from self._properties(old, new)
        yield from self._items(old, new)

    def _types(self, old: Node, new: Node) -> Iterator[Change]:
        before, after = types_of(old), types_of(new)
        if before == after:
            return
        detail = f"from {_listed(before)} to {_listed(after)}"
        if before and after == before | {"null"}:
            yield self._change("null added", "ADDITION")
        elif before and after and self.required and not _expanded(before) & _expanded(after):
            yield self._change("types disjoint", "MODEL", detail)
        else:
            yield self._change("type changed", "REVISION", detail)

    def _enum(self, old: Node, new: Node) -> Iterator[Change]:
        before, after = enum_of(old), enum_of(new)
        if after is None:
            if before is not None:
                yield self._change("enum removed", "ADDITION")
            return
        values = {canonical(value) for value in after}
        if before is None:
            yield self._change("enum narrowed", "REVISION", "an enum is new")
            return
        gone = {canonical(value) for value in before} - values
        if gone and len(gone) == len({canonical(value) for value in before}) and self.required:
            yield self._change("enum disjoint", "MODEL")
        elif gone:
            yield self._change("enum narrowed", "REVISION", f"without {', '.join(sorted(gone))}")
        elif len(values) > len({canonical(value) for value in before}):
            yield self._change("enum extended", "ADDITION")

    def _bounds(self, old: Node, new: Node) -> Iterator[Change]:
        for keyword in (*_UPPER, *_LOWER):
            before, after = number_of(old, keyword), number_of(new, keyword)
            if before == after:
                continue
            grows = before is not None and after is not None and decimal_of(after) > decimal_of(before)
            loosened = after is None or (before is not None and grows == (keyword in _UPPER))
            yield self._bound(keyword, before, after, loosened)
        for keyword in _STRICTER_WHEN_TRUE:
            if bool(old.get(keyword)) != bool(new.get(keyword)):
                yield self._bound(keyword, old.get(keyword), new.get(keyword), not new.get(keyword))

    def _bound(self, keyword: str, before: object, after: object, loosened: bool) -> Change:
        detail = f"{keyword} from {_shown(before)} to {_shown(after)}"
        if loosened:
            return self._change("bound loosened", "ADDITION", detail)
        return self._change("bound tightened", "REVISION", detail)

    def _multiple(self, old: Node, new: Node) -> Iterator[Change]:
        before, after = number_of(old, "multipleOf"), number_of(new, "multipleOf")
        if before == after:
            return
        loosened = after is None or (before is not None and _is_multiple(before, after))
        detail = f"from {_shown(before)} to {_shown(after)}"
        if loosened:
            yield self._change("multipleOf loosened", "ADDITION", detail)
        else:
            yield self._change("multipleOf tightened", "REVISION", detail)

    def _combinations(self, old: Node, new: Node) -> Iterator[Change]:
        for keyword in _COMBINATIONS:
            if canonical(old.get(keyword)) != canonical(new.get(keyword)):
                yield self._change("combination changed", "REVISION", keyword)
        before, after = ({canonical(item) for item in alternatives_of(node, "anyOf")} for node in (old, new))
        if before != after:
            if before and before < after:
                yield self._change("alternative added", "ADDITION", "anyOf")
            else:
                yield self._change("combination changed", "REVISION", "anyOf")

    def _openness(self, old: Node, new: Node, keyword: str) -> Iterator[Change]:
        before, after = old.get(keyword, True), new.get(keyword, True)
        if isinstance(before, dict) and isinstance(after, dict):
            yield from self._below(keyword).compare(before, after)
        elif _openness(before) != _openness(after):
            if before is False or _openness(after) == "open":
                yield self._change("object opened", "ADDITION", keyword)
            else:
                yield self._change("object closed", "REVISION", keyword)

    def _properties(self, old: Node, new: Node) -> Iterator[Change]:
        before, after = properties_of(old), properties_of(new)
        for name, node in before.items():
            if name in after:
                yield from self._property(name, required_of(old), required_of(new)).compare(node, after[name])
            else:
                yield from self._removed(name, old, new)
        for name in after:
            if name not in before:
                yield from self._added(name, old, new)
        for name in sorted(required_of(old) ^ required_of(new)):
            if name in before or name not in after:
                yield from self._requirement(name, name in required_of(new), name in before and name in after)

    def _requirement(self, name: str, is_required: bool, is_property: bool) -> Iterator[Change]:
        child = self._below("properties", name)
        if is_required:
            yield child._change("made required", "REVISION")
        elif is_property:
            yield child._change("made optional", "ADDITION")

    def _added(self, name: str, old: Node, new: Node) -> Iterator[Change]:
        child = self._below("properties", name)
        is_closed = _openness(old.get("additionalProperties", True)) == "closed" and not old.get(
            "patternProperties"
        )
        if name in required_of(new):
            needs: Kind = "MODEL" if is_closed and self.required else "REVISION"
            yield child._change("required property added", needs)
        elif is_closed:
            yield child._change("property added", "ADDITION")
        else:
            yield child._change(
                "property added to an open object", "REVISION", "it may have arrived with another type"
            )

    def _removed(self, name: str, old: Node, new: Node) -> Iterator[Change]:
        child = self._below("properties", name)
        openness = _openness(new.get("additionalProperties", True))
        if openness == "open" and not new.get("patternProperties"):
            yield child._change("property removed", "ADDITION")
        else:
            was_required = self.required and name in required_of(old)
            needs: Kind = "MODEL" if was_required and openness == "closed" else "REVISION"
            yield child._change("property removed", needs)

    def _items(self, old: Node, new: Node) -> Iterator[Change]:
        before, after = old.get("items", _ANY), new.get("items", _ANY)
        child = self._below("items")
        tuples = [alternatives_of(node, "items") for node in (old, new)]
        if all(tuples) and len(tuples[0]) == len(tuples[1]):
            for index, (node, changed) in enumerate(zip(*tuples, strict=True)):
                yield from child._below(str(index)).compare(node, changed)
        elif isinstance(before, dict) and isinstance(after, dict):
            if before and after:
                yield from child.compare(before, after)
            elif before:
                yield child._change("items removed", "ADDITION")
            elif after:
                yield child._change("items added", "REVISION")
        else:
            yield child._change("type changed", "REVISION", "items")
        yield from self._openness(old, new, "additionalItems")

    def _property(self, name: str, before: frozenset[str], after: frozenset[str]) -> _Comparison:
        return _Comparison((*self.path, "properties", name), self.required and name in before & after)

    def _below(self, *parts: str) -> _Comparison:
        return _Comparison((*self.path, *parts), required=False)

    def _change(self, rule: Rule, needs: Kind, detail: str = "") -> Change:
        return Change(pointer_to(*self.path), rule, needs, detail)


def _openness(value: object) -> Openness:
    if value is False:
        return "closed"
    return "by schema" if isinstance(value, Mapping) and value else "open"


def _is_multiple(number: float, of: float) -> bool:
    return of != 0 and (Fraction(decimal_of(number)) / Fraction(decimal_of(of))).denominator == 1


def _expanded(types: frozenset[str]) -> frozenset[str]:
    """With what counts as one of them: each integer is a number."""
    return types | {"integer"} if "number" in types else types


def _listed(types: frozenset[str]) -> str:
    return " or ".join(sorted(types)) or "any type"


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)

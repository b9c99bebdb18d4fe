"""Made-up schemas, their instances, and changes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from hypothesis import strategies as st

from dialects.snowplow.families import Node, object_schema

KEYS: Final = ("a", "aB", "b", "camelCase", "x.y", "日本")
"""No two of them make one name."""
WORDS: Final = ("", "x", "tab\t", "open", "\\N", "half", "ü")
MOMENTS: Final = {
    "date": ("2024-02-29", "1969-12-31"),
    "date-time": ("2024-03-09T05:06:07Z", "2031-07-19T01:15:30.250-04:30"),
}
LARGE: Final = 2**63 - 1


@st.composite
def texts(draw: st.DrawFn) -> Node:
    node: Node = {"type": "string"}
    kind = draw(st.sampled_from(("plain", "length", "enum", "format")))
    if kind == "length":
        node["maxLength"] = draw(st.integers(5, 30))
    elif kind == "enum":
        node["enum"] = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True))
    elif kind == "format":
        node["format"] = draw(st.sampled_from(sorted(MOMENTS)))
    return node


@st.composite
def numbers(draw: st.DrawFn) -> Node:
    node: Node = {"type": draw(st.sampled_from(("integer", "number")))}
    if node["type"] == "number" and draw(st.booleans()):
        node["multipleOf"] = draw(st.sampled_from((0.01, 0.5, 1)))
    if draw(st.booleans()):
        node["minimum"] = draw(st.integers(-100_000, 0))
    if draw(st.booleans()):
        node["maximum"] = draw(st.sampled_from((0, 9, 40_000, 3_000_000_000)))
    return node


def nodes(depth: int = 2) -> st.SearchStrategy[Node]:
    union = {"type": ["boolean", "string"]}
    typed = st.one_of(texts(), numbers(), st.just({"type": "boolean"}), st.just(union))
    scalars = st.one_of(typed, typed.map(_nullable), st.just({}))
    if depth == 0:
        return scalars
    inner = nodes(depth - 1)
    arrays = inner.map(lambda item: {"type": "array", "items": item})
    choices = st.lists(objects(depth - 1), min_size=1, max_size=2).map(
        lambda alternatives: {"type": "object", "anyOf": alternatives}
    )
    return st.one_of(scalars, scalars, arrays, objects(depth - 1), choices)


def _nullable(node: Node) -> Node:
    if "enum" in node:
        return {**node, "type": [node["type"], "null"], "enum": [*node["enum"], None]}
    types = node["type"] if isinstance(node["type"], list) else [node["type"]]
    return {**node, "type": [*types, "null"]}


@st.composite
def objects(draw: st.DrawFn, depth: int = 2) -> Node:
    """A closed object."""
    properties = draw(st.dictionaries(st.sampled_from(KEYS), nodes(depth), min_size=1, max_size=4))
    required = draw(st.lists(st.sampled_from(sorted(properties)), unique=True, max_size=2))
    return object_schema(properties, required)


@st.composite
def instances(draw: st.DrawFn, node: Node) -> Any:
    """Values that the schema takes."""
    if "anyOf" in node:
        return draw(instances(draw(st.sampled_from(node["anyOf"]))))
    if "enum" in node:
        return draw(st.sampled_from(node["enum"]))
    declared = node.get("type", ["string", "null", "integer"])
    name = draw(st.sampled_from(declared)) if isinstance(declared, list) else declared
    if name == "object":
        return draw(_members(node))
    if name == "array":
        return draw(st.lists(instances(node.get("items", {})), max_size=3))
    if name in ("integer", "number"):
        return draw(_numbers(node, name))
    if name == "string":
        return draw(_strings(node))
    return draw(st.booleans()) if name == "boolean" else None


@st.composite
def _members(draw: st.DrawFn, node: Node) -> dict[str, Any]:
    required = node.get("required", ())
    properties = node.get("properties", {})
    return {
        key: draw(instances(child))
        for key, child in properties.items()
        if key in required or draw(st.booleans())
    }


@st.composite
def _numbers(draw: st.DrawFn, node: Node, name: str) -> float:
    number = draw(st.integers(node.get("minimum", -LARGE - 1), node.get("maximum", LARGE)))
    step = node.get("multipleOf")
    if name == "integer" or step == 1 or number in (node.get("minimum"), node.get("maximum")):
        return number
    hundredths = draw(st.sampled_from((0, 50) if step == 0.5 else (0, 7, 25, 50)))
    is_small = abs(number) < 10**10
    return float(f"{number}.{hundredths:02}") if is_small and number >= 0 and hundredths else number


@st.composite
def _strings(draw: st.DrawFn, node: Node) -> str:
    if "format" in node:
        return draw(st.sampled_from(MOMENTS[node["format"]]))
    return draw(st.sampled_from(WORDS))


Edit = Callable[[st.DrawFn, Node], Node]


def _add_property(draw: st.DrawFn, node: Node) -> Node:
    key = draw(st.sampled_from(KEYS))
    if "properties" not in node or key in node["properties"]:
        return node
    return {**node, "properties": {**node["properties"], key: draw(nodes(1))}}


def _drop_property(draw: st.DrawFn, node: Node) -> Node:
    if not node.get("properties"):
        return node
    key = draw(st.sampled_from(sorted(node["properties"])))
    return {**node, "properties": {name: child for name, child in node["properties"].items() if name != key}}


def _change_property(draw: st.DrawFn, node: Node) -> Node:
    if not node.get("properties"):
        return node
    key = draw(st.sampled_from(sorted(node["properties"])))
    return {**node, "properties": {**node["properties"], key: draw(edited(node["properties"][key]))}}


def _change_item(draw: st.DrawFn, node: Node) -> Node:
    return {**node, "items": draw(edited(node["items"]))} if "items" in node else node


def _set_keyword(draw: st.DrawFn, node: Node) -> Node:
    keyword, value = draw(
        st.sampled_from(
            (
                ("maxLength", 40),
                ("minimum", -100_001),
                ("maximum", 3_000_000_001),
                ("maximum", 1),
                ("multipleOf", 0.005),
                ("additionalProperties", True),
                ("additionalProperties", False),
                ("required", ["a"]),
                ("enum", [*WORDS, None, 1]),
                ("type", ["string", "null"]),
                ("type", "number"),
            )
        )
    )
    return {**node, keyword: value}


def _drop_keyword(draw: st.DrawFn, node: Node) -> Node:
    keywords = sorted(node.keys() - {"properties"})
    if not keywords:
        return node
    dropped = draw(st.sampled_from(keywords))
    return {keyword: value for keyword, value in node.items() if keyword != dropped}


def _add_null(draw: st.DrawFn, node: Node) -> Node:
    return {**node, "type": [node["type"], "null"]} if isinstance(node.get("type"), str) else node


_EDITS: Final[Sequence[Edit]] = (
    _add_property,
    _drop_property,
    _change_property,
    _change_property,
    _change_item,
    _set_keyword,
    _drop_keyword,
    _add_null,
)


@st.composite
def edited(draw: st.DrawFn, node: Node) -> Node:
    """The schema after one to three changes."""
    for edit in draw(st.lists(st.sampled_from(_EDITS), min_size=1, max_size=3)):
        node = edit(draw, node)
    return node


_KEYWORDS: Final = (
    *("type", "properties", "required", "enum", "items", "additionalItems", "additionalProperties"),
    *("patternProperties", "oneOf", "anyOf", "not", "$ref", "minimum", "maximum", "multipleOf", "minLength"),
    *("maxLength", "format", "exclusiveMinimum", "dependencies", "definitions", "a"),
)
_SCALARS: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(("object", "string", "integer", "null", "array", "date", "a")),
)


def nonsense() -> st.SearchStrategy[Node]:
    """Objects with the keywords of schemas, and anything for their values."""
    values = st.recursive(
        _SCALARS,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(_KEYWORDS), inner, max_size=4)
        ),
        max_leaves=20,
    )
    return st.dictionaries(st.sampled_from(_KEYWORDS), values, max_size=5)

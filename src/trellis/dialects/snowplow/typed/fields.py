"""The types of the values of a schema, and the columns that they make in a wide row."""

from __future__ import annotations

import decimal
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, Literal

from trellis.dialects.snowplow.columns.names import snake_case, wide_column_name
from trellis.dialects.snowplow.document.json_text import decimal_of
from trellis.dialects.snowplow.document.nodes import Node, allows_null
from trellis.dialects.snowplow.document.schema_document import SchemaDocument
from trellis.dialects.snowplow.typed.simplify import Simple, simplify, types_of_simple
from trellis.dialects.snowplow.typed.types import (
    BITS,
    BOOLEAN,
    DATE,
    DOUBLE,
    JSON,
    LONG,
    MAX_DIGITS,
    STRING,
    TIMESTAMP,
    Array,
    Decimal,
    Field,
    Struct,
    Type,
)

Entity = Literal["unstruct_event", "contexts"]
"""What a schema describes: an event, of which there is one; or what an event has any number of."""

_OTHER_SIGNS: Final = re.compile(r"[^A-Za-z0-9_]")
_PRECISIONS: Final = (9, 18, MAX_DIGITS)


def type_of_schema(body: Node) -> Type:
    """The type of the values of a schema. What has no type of its own is JSON."""
    simple = simplify(body)
    if simple["properties"] and not types_of_simple(simple):
        simple = {**simple, "type": frozenset(("object",))}
    return _type_of(simple) or JSON


def wide_column(document: SchemaDocument, entity: Entity) -> Field:
    """The column of a schema in a wide row."""
    name = wide_column_name(entity, document.key.family)
    data = type_of_schema(document.body)
    return Field(name, data if entity == "unstruct_event" else Array(data, nullable=False), nullable=True)


def field_name(key: str) -> str:
    """
    >>> [field_name(key) for key in ("ETag", "2fa", "a.b", "$ref_id")]
    ['e_tag', '_2fa', 'a_b', '_ref_id']
    """
    name = _OTHER_SIGNS.sub("_", snake_case(key))
    return f"_{name}" if name[:1].isdigit() else name


def _type_of(node: Simple) -> Type | None:
    """None for an object that holds nothing."""
    types = types_of_simple(node) - {"null"}
    if "number" in types:
        types -= {"integer"}
    if not types:
        return JSON if "type" in node else _enum_type(node.get("enum"))
    if len(types) > 1:
        return JSON
    (name,) = types
    if name == "string":
        return {"date": DATE, "date-time": TIMESTAMP}.get(str(node.get("format")), STRING)
    if name == "boolean":
        return BOOLEAN
    if name == "integer":
        return _integer_type(node)
    if name == "number":
        return _number_type(node)
    if name == "array":
        return _array_type(node)
    return _object_type(node)


def _enum_type(enum: Sequence[Any] | None) -> Type:
    """The type of a node that declares none."""
    values = [value for value in enum or () if value is not None]
    if values and all(isinstance(value, str) for value in values):
        return STRING
    if values and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        numbers = [decimal_of(value) for value in values]
        return _between(min(numbers), max(numbers), max(map(_scale, numbers)))
    return JSON


def _integer_type(node: Simple) -> Type:
    if "minimum" not in node or "maximum" not in node:
        return LONG
    return _between(decimal_of(node["minimum"]), decimal_of(node["maximum"]), 0)


def _number_type(node: Simple) -> Type:
    multiple = decimal_of(node["multipleOf"]) if "multipleOf" in node else None
    if multiple is None:
        return DOUBLE
    if _scale(multiple) == 0:
        return _integer_type(node)
    if "minimum" not in node or "maximum" not in node:
        return DOUBLE
    return _between(decimal_of(node["minimum"]), decimal_of(node["maximum"]), _scale(multiple))


def _between(smallest: decimal.Decimal, largest: decimal.Decimal, scale: int) -> Type:
    """The smallest type of the numbers in these bounds that have so many digits behind the point."""
    if scale == 0:
        for integer, bits in BITS.items():
            if -(2**bits) <= smallest and largest < 2**bits:
                return integer
    digits = max(max(abs(bound).adjusted(), 0) + 1 for bound in (smallest, largest)) + scale
    if scale == 0 and digits <= MAX_DIGITS:
        return Decimal(MAX_DIGITS, 0)
    return next((Decimal(size, scale) for size in _PRECISIONS if digits <= size), DOUBLE)


def _scale(number: decimal.Decimal) -> int:
    exponent = number.normalize().as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _array_type(node: Simple) -> Array:
    item = node.get("items")
    if item is None:
        return Array(JSON, nullable=True)
    return Array(_type_of(item) or JSON, _is_nullable(item))


def _object_type(node: Simple) -> Type | None:
    if not node["properties"]:
        return None if node["is_closed"] else JSON
    types = ((key, child, _type_of(child)) for key, child in sorted(node["properties"].items()))
    fields = [
        Field(field_name(key), data_type, key not in node["required"] or _is_nullable(child), (key,))
        for key, child, data_type in types
        if data_type is not None
    ]
    fields.sort(key=attrgetter("name", "keys"))
    merged = [_merge_namesakes(list(group)) for _, group in groupby(fields, attrgetter("name"))]
    return Struct(tuple(merged)) if merged else None


def _merge_namesakes(fields: Sequence[Field]) -> Field:
    """One field for keys of one name, with the type of the smallest key."""
    keys = tuple(key for field in fields for key in field.keys)
    return replace(fields[0], nullable=all(field.nullable for field in fields), keys=keys)


def _is_nullable(node: Simple) -> bool:
    """Whether it names null, or takes any value."""
    return allows_null({**node, "type": [*types_of_simple(node)]}) or not (
        types_of_simple(node) or "enum" in node
    )

"""The older form of a type: `type` and `required`."""

from __future__ import annotations

from typing import Final, NamedTuple

from trellis.dialects.ytsaurus.types.model import (
    PRIMITIVES,
    Decimal,
    Optional,
    Primitive,
    Tagged,
    Type,
    is_nullable,
    without_tags,
)

_RENAMED: Final = {"bool": "boolean", "yson": "any"}
SIMPLE_NAMES: Final = {_RENAMED.get(name, name): name for name in sorted(PRIMITIVES)}
"""Names of `type`, each with its name in `type_v3`."""


class SimpleType(NamedTuple):
    name: str
    required: bool


def simple_type(type: Type) -> SimpleType:
    """`type` and `required` of a type.

    >>> simple_type(Optional(Decimal(5, 2))), simple_type(Optional(Primitive("yson")))
    (SimpleType(name='string', required=False), SimpleType(name='any', required=False))
    """
    match type:
        case Primitive(name):
            return SimpleType(_RENAMED.get(name, name), not is_nullable(type))
        case Decimal():
            return SimpleType("string", True)
        case Tagged(_, item):
            return simple_type(item)
        case Optional(item):
            return SimpleType("any" if is_nullable(item) else simple_type(item).name, False)
    return SimpleType("any", True)


def type_of_simple(name: str, required: bool) -> Type:
    """The type of a column that has `type` alone. The name is one of `SIMPLE_NAMES`."""
    primitive = Primitive(SIMPLE_NAMES[name])
    return primitive if required or is_nullable(primitive) else Optional(primitive)


def plain_name(type: Type) -> str | None:
    """The primitive type whose values are stored as they are; None for what is stored as YSON.

    >>> plain_name(Optional(Primitive("utf8"))), plain_name(Decimal(5, 2)), plain_name(Primitive("yson"))
    ('utf8', 'string', None)
    """
    plain = without_tags(type)
    if isinstance(plain, Optional) and not is_nullable(plain.item):
        plain = without_tags(plain.item)
    if isinstance(plain, Decimal):
        return "string"
    return plain.name if isinstance(plain, Primitive) and plain.name != "yson" else None

"""Compatibility of two types."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from trellis.dialects.ytsaurus.types.model import (
    LONG_TIMES,
    SIGNED,
    TIMES,
    UNSIGNED,
    YSON,
    Dict,
    List,
    Member,
    Optional,
    Primitive,
    Struct,
    Tuple,
    Type,
    Variant,
    is_nullable,
    without_tags,
)

Level = Literal["full", "validate", "incompatible"]

_LEVELS: Final[tuple[Level, ...]] = ("full", "validate", "incompatible")
_FIT_ANY: Final = frozenset(
    (
        *(*SIGNED, *UNSIGNED, *TIMES, *LONG_TIMES),
        *("float", "double", "string", "utf8", "bool", "null", "void"),
    )
)
_FIT_SOME: Final = {("double", "float"), ("string", "utf8")}
_FIT_ALL: Final = {("float", "double"), ("utf8", "string")}


@dataclass(frozen=True)
class Compatibility:
    """`full`: every old value is a new one; `validate`: some are; `incompatible`: never converted."""

    level: Level
    reason: str = ""
    """Why it is not full."""


FULL: Final = Compatibility("full")


def type_compatibility(old: Type, new: Type) -> Compatibility:
    """
    >>> type_compatibility(Primitive("int64"), Primitive("int32")).level
    'validate'
    """
    old, new = without_tags(old), without_tags(new)
    if old == new:
        return FULL
    if isinstance(old, Optional) or isinstance(new, Optional):
        return _optional_compatibility(old, new)
    match old, new:
        case Primitive(before), Primitive(after):
            return _primitive_compatibility(before, after)
        case List(before), List(after):
            return type_compatibility(before, after)
        case Dict(), Dict():
            parts = ((old.key, new.key), (old.value, new.value))
            return worst(type_compatibility(*pair) for pair in parts)
        case Tuple(before), Tuple(after) if len(before) == len(after):
            return worst(map(type_compatibility, before, after))
        case Struct(before), Struct(after):
            return _struct_compatibility(old, new, before, after)
        case Variant(), Variant() if old.named == new.named:
            return _variant_compatibility(old, new)
    return _incompatible(old, new)


def worst(results: Iterable[Compatibility]) -> Compatibility:
    return max(results, key=lambda result: _LEVELS.index(result.level), default=FULL)


def _optional_compatibility(old: Type, new: Type) -> Compatibility:
    (before, old_depth), (after, new_depth) = _unwrap(old), _unwrap(new)
    if after == YSON and new_depth == 1 and old_depth < 2:
        return type_compatibility(before, after) if before != YSON else FULL
    if old_depth == new_depth or (old_depth, new_depth) == (0, 1):
        return type_compatibility(before, after)
    if (old_depth, new_depth) == (1, 0):
        return worst((Compatibility("validate", f"{new} holds no null"), type_compatibility(before, after)))
    return _incompatible(old, new)


def _unwrap(type: Type) -> tuple[Type, int]:
    depth = 0
    while isinstance(type, Optional):
        type, depth = without_tags(type.item), depth + 1
    return type, depth


def _primitive_compatibility(before: str, after: str) -> Compatibility:
    for sizes in (SIGNED, UNSIGNED):
        if before in sizes and after in sizes:
            if sizes[after] >= sizes[before]:
                return FULL
            return Compatibility("validate", f"values of {before} may be out of range of {after}")
    if (before, after) in _FIT_ALL or (after == "yson" and before in _FIT_ANY):
        return FULL
    if (before, after) in _FIT_SOME:
        return Compatibility("validate", f"not every {before} is {after}")
    return _incompatible(Primitive(before), Primitive(after))


def _struct_compatibility(
    old: Type, new: Type, before: tuple[Member, ...], after: tuple[Member, ...]
) -> Compatibility:
    names = [member.name for member in before]
    if names != [member.name for member in after[: len(before)]]:
        return Compatibility("incompatible", f"{new} does not begin with the members of {old}")
    for member in after[len(before) :]:
        if not is_nullable(member.type):
            return Compatibility("incompatible", f"the new member {member.name} is required")
    return worst(type_compatibility(*types) for types in zip(_types(before), _types(after), strict=False))


def _variant_compatibility(old: Variant, new: Variant) -> Compatibility:
    count = len(old.alternatives)
    before, after = old.alternatives, new.alternatives[:count]
    if len(after) < count or _names(before) != _names(after):
        return Compatibility("incompatible", f"{new} does not begin with the alternatives of {old}")
    return worst(map(type_compatibility, old.types, new.types))


def _types(members: tuple[Member, ...]) -> list[Type]:
    return [member.type for member in members]


def _names(alternatives: Iterable[Member | Type]) -> list[str]:
    return [item.name if isinstance(item, Member) else "" for item in alternatives]


def _incompatible(old: Type, new: Type) -> Compatibility:
    return Compatibility("incompatible", f"{old} is not converted to {new}")

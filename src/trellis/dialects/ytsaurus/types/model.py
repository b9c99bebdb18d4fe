"""Types as values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

SIGNED: Final = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
UNSIGNED: Final = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}
TIMES: Final = ("date", "datetime", "timestamp", "interval")
LONG_TIMES: Final = ("date32", "datetime64", "timestamp64", "interval64")
ZONED_TIMES: Final = {
    "tz_date": 2,
    "tz_datetime": 4,
    "tz_timestamp": 8,
    "tz_date32": 4,
    "tz_datetime64": 8,
    "tz_timestamp64": 8,
}
"""Types with a time zone, each with the bytes of its time."""
PRIMITIVES: Final = frozenset(
    (
        *(*SIGNED, *UNSIGNED, *TIMES, *LONG_TIMES, *ZONED_TIMES),
        *("float", "double", "bool", "string", "utf8", "json", "uuid", "yson", "null", "void"),
    )
)
"""The names of `type_v3`. In `type` bool is boolean and yson is any."""


@dataclass(frozen=True)
class Primitive:
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Decimal:
    precision: int
    scale: int

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True)
class Optional:
    item: Type

    def __str__(self) -> str:
        return f"optional<{self.item}>"


@dataclass(frozen=True)
class List:
    item: Type

    def __str__(self) -> str:
        return f"list<{self.item}>"


@dataclass(frozen=True)
class Member:
    name: str
    type: Type

    def __str__(self) -> str:
        return f"{self.name}:{self.type}"


@dataclass(frozen=True)
class Struct:
    members: tuple[Member, ...]

    def __str__(self) -> str:
        return f"struct<{','.join(map(str, self.members))}>"


@dataclass(frozen=True)
class Tuple:
    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return f"tuple<{','.join(map(str, self.elements))}>"


@dataclass(frozen=True)
class Variant:
    """One of several alternatives: of named members, or of elements by their number."""

    alternatives: tuple[Member, ...] | tuple[Type, ...]
    named: bool

    def __str__(self) -> str:
        return f"variant<{','.join(map(str, self.alternatives))}>"

    @property
    def types(self) -> tuple[Type, ...]:
        return tuple(item.type if isinstance(item, Member) else item for item in self.alternatives)


@dataclass(frozen=True)
class Dict:
    key: Type
    value: Type

    def __str__(self) -> str:
        return f"dict<{self.key},{self.value}>"


@dataclass(frozen=True)
class Tagged:
    tag: str
    item: Type

    def __str__(self) -> str:
        return f"tagged<{self.tag},{self.item}>"


Type = Primitive | Decimal | Optional | List | Struct | Tuple | Variant | Dict | Tagged

YSON: Final = Primitive("yson")
ANY: Final = Optional(YSON)
"""What `type=any` is."""


def parts_of(type: Type) -> tuple[Type, ...]:
    """The types that a type is made of, one level down."""
    match type:
        case Optional(item) | List(item) | Tagged(_, item):
            return (item,)
        case Struct(members):
            return tuple(member.type for member in members)
        case Tuple(elements):
            return elements
        case Variant():
            return type.types
        case Dict(key, value):
            return (key, value)
    return ()


def iter_types(type: Type) -> Iterator[Type]:
    """The type and everything in it."""
    yield type
    for part in parts_of(type):
        yield from iter_types(part)


def without_tags(type: Type) -> Type:
    while isinstance(type, Tagged):
        type = type.item
    return type


def is_nullable(type: Type) -> bool:
    """Whether null is a value of the type."""
    plain = without_tags(type)
    return isinstance(plain, Optional) or plain in (Primitive("null"), Primitive("void"))


def complexity_of(type: Type) -> int:
    """What a column counts for in the limit of a table.

    >>> [complexity_of(type) for type in (ANY, List(ANY), Decimal(5, 2))]
    [1, 2, 1]
    """
    item = type.item if isinstance(type, Optional) else type
    if isinstance(item, Primitive | Decimal):
        return 1
    return 1 + sum(map(complexity_of, parts_of(type)))


def depth_of(type: Type) -> int:
    """How many types are around the innermost one."""
    return max((depth_of(part) + 1 for part in parts_of(type)), default=0)


def is_comparable(type: Type) -> bool:
    """Whether values have an order, so that the type may be that of a key column."""
    match type:
        case Primitive(name):
            return name not in ("json", "yson")
        case Optional(item):
            return item == YSON or is_comparable(item)
        case Decimal():
            return True
        case Struct() | Dict() | Variant(named=True):
            return False
        case Tuple() if YSON in iter_types(type):
            return False
    return all(map(is_comparable, parts_of(type)))

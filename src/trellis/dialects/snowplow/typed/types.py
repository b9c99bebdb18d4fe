"""The types of values in typed files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

ScalarName = Literal["boolean", "int", "long", "double", "string", "date", "timestamp", "json"]


@dataclass(frozen=True)
class Scalar:
    """A type without parts. `json` is stored as text."""

    name: ScalarName

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Decimal:
    precision: int
    scale: int

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True)
class Array:
    item: Type
    nullable: bool
    """Whether an item may be null."""

    def __str__(self) -> str:
        return f"array<{self.item}{'' if self.nullable else '!'}>"


@dataclass(frozen=True)
class Field:
    """A member of a struct, or a column."""

    name: str
    type: Type
    nullable: bool
    keys: tuple[str, ...] = ()
    """The keys of an object that its value may be under. The first with a value that fits counts."""

    def __str__(self) -> str:
        return f"{self.name}:{self.type}{'' if self.nullable else '!'}"


@dataclass(frozen=True)
class Struct:
    fields: tuple[Field, ...]

    def __str__(self) -> str:
        return f"struct<{','.join(map(str, self.fields))}>"


Type = Scalar | Decimal | Array | Struct

BOOLEAN: Final = Scalar("boolean")
INT: Final = Scalar("int")
LONG: Final = Scalar("long")
DOUBLE: Final = Scalar("double")
STRING: Final = Scalar("string")
DATE: Final = Scalar("date")
TIMESTAMP: Final = Scalar("timestamp")
JSON: Final = Scalar("json")
BITS: Final = {INT: 31, LONG: 63}
MAX_DIGITS: Final = 38
_ARROW: Final[dict[ScalarName, str]] = {
    "boolean": "bool",
    "int": "int32",
    "long": "int64",
    "double": "double",
    "string": "string",
    "date": "date32",
    "timestamp": "timestamp[us]",
    "json": "string",
}
_WORDS: Final[dict[ScalarName, str]] = {
    "boolean": "true or false",
    "int": "an integer of 32 bits",
    "long": "an integer of 64 bits",
    "double": "a number of at most 1.8e308",
    "string": "a text",
    "date": "a date such as 2031-04-05",
    "timestamp": "a time with a zone such as 2031-04-05T06:00:00Z",
    "json": "a value",
}


def describe_type(data_type: Type) -> str:
    """What a type takes, in words.

    >>> describe_type(Decimal(9, 2))
    'a number of at most 7 digits before and 2 after the point'
    """
    if isinstance(data_type, Array):
        return "an array"
    if isinstance(data_type, Struct):
        return "an object"
    if isinstance(data_type, Decimal):
        digits = data_type.precision - data_type.scale
        return f"a number of at most {digits} digits before and {data_type.scale} after the point"
    return _WORDS[data_type.name]


def arrow_name(data_type: Type) -> str:
    """What Arrow calls the type of stored values, any part of which may be NULL: a later version may lack it.

    >>> arrow_name(Array(Struct((Field("a", LONG, False), Field("b", Decimal(9, 2), True))), False))
    'list<struct<a: int64, b: decimal128(9, 2)>>'
    """
    if isinstance(data_type, Array):
        return f"list<{arrow_name(data_type.item)}>"
    if isinstance(data_type, Struct):
        fields = ", ".join(f"{field.name}: {arrow_name(field.type)}" for field in data_type.fields)
        return f"struct<{fields}>"
    if isinstance(data_type, Decimal):
        return f"decimal128({data_type.precision}, {data_type.scale})"
    return _ARROW[data_type.name]

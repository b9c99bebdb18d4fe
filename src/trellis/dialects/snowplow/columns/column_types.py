"""The type that a leaf of a schema gives its column (docs/conformance/snowplow.md, R-38 to R-50)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal

from trellis.dialects.snowplow.document.json_text import decimal_of, is_whole, write_json
from trellis.dialects.snowplow.document.nodes import (
    Node,
    enum_of,
    number_of,
    size_of,
    types_of,
    value_types_of,
)

TypeName = Literal[
    "SMALLINT", "INT", "BIGINT", "DECIMAL", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP", "CHAR", "VARCHAR"
]


@dataclass(frozen=True)
class ColumnType:
    """A type of SQL. `size` is the length of a text or the digits of a decimal, None where it says none."""

    name: TypeName
    size: int | None = None
    scale: int = 0


SMALLINT: Final = ColumnType("SMALLINT")
INT: Final = ColumnType("INT")
BIGINT: Final = ColumnType("BIGINT")
DECIMAL: Final = ColumnType("DECIMAL")
DOUBLE: Final = ColumnType("DOUBLE")
BOOLEAN: Final = ColumnType("BOOLEAN")
DATE: Final = ColumnType("DATE")
TIMESTAMP: Final = ColumnType("TIMESTAMP")
LARGEST: Final = {"SMALLINT": 2**15 - 1, "INT": 2**31 - 1, "BIGINT": 2**63 - 1}
MONEY: Final = Decimal("0.01")
MAX_VARCHAR, MAX_CHAR, DEFAULT_LENGTH = 65535, 4096, 4096
FORMAT_LENGTHS: Final = {"ipv6": 39, "ipv4": 15, "email": 255}


def varchar(length: int) -> ColumnType:
    return ColumnType("VARCHAR", length)


def char(length: int) -> ColumnType:
    return ColumnType("CHAR", length)


def type_of_leaf(node: Node, *, required: bool = True, compat: bool = False) -> ColumnType:
    """The first rule that fits.

    `required` is whether the property and all around it are; `compat` repeats what Snowplow's own code does
    wrong.
    """
    leaf = _Leaf(node, value_types_of(node), required, compat)
    for rule in _RULES:
        if column_type := rule(leaf):
            return column_type if compat else _clamped(column_type)
    return varchar(DEFAULT_LENGTH)


@dataclass(frozen=True)
class _Leaf:
    node: Node
    types: frozenset[str]
    """Those of its values, without null."""
    required: bool
    compat: bool

    @property
    def enum(self) -> Sequence[Any] | None:
        return enum_of(self.node)

    @property
    def values(self) -> list[Any]:
        """Those of the enum without null."""
        return [value for value in self.enum or () if value is not None]

    @property
    def format(self) -> object:
        return self.node.get("format")


def _mixed_enum(leaf: _Leaf) -> ColumnType | None:
    kinds = (
        any(_is_number(value) for value in leaf.values),
        any(not _is_number(value) for value in leaf.values),
        any(isinstance(value, bool) for value in leaf.values),
    )
    return varchar(max(len(write_json(value)) for value in leaf.values)) if sum(kinds) > 1 else None


def _union(leaf: _Leaf) -> ColumnType | None:
    if len(leaf.types) < 2 or leaf.types == {"number", "integer"}:
        return None
    return varchar(10 if leaf.types == {"boolean", "integer"} else DEFAULT_LENGTH)


def _time(leaf: _Leaf) -> ColumnType | None:
    times = {"date-time": TIMESTAMP, "date": DATE}
    return times.get(str(leaf.format)) if leaf.types == {"string"} else None


def _array(leaf: _Leaf) -> ColumnType | None:
    return varchar(MAX_VARCHAR) if leaf.types == {"array"} else None


def _integer(leaf: _Leaf) -> ColumnType | None:
    maximum = number_of(leaf.node, "maximum")
    multiple = number_of(leaf.node, "multipleOf")
    if leaf.types == {"integer"}:
        if maximum is not None:
            return _integer_up_to(leaf, maximum)
        if leaf.enum is None:
            return BIGINT
        return _integer_enum(leaf)
    if not types_of(leaf.node) and leaf.required and leaf.enum is not None and (enum := _integer_enum(leaf)):
        return enum
    if multiple is not None and is_whole(multiple):
        return INT if maximum is None else _integer_up_to(leaf, maximum)
    return None


def _integer_enum(leaf: _Leaf) -> ColumnType | None:
    """A null in the enum is no integer, so such an enum is a text."""
    if not leaf.enum or not all(
        isinstance(value, int) and not isinstance(value, bool) for value in leaf.enum
    ):
        return None
    smallest = 0 if leaf.compat else min(leaf.enum)
    return _integer_type(max(leaf.enum), smallest)


def _integer_up_to(leaf: _Leaf, maximum: float) -> ColumnType:
    if not is_whole(maximum):
        return DECIMAL
    minimum = None if leaf.compat else number_of(leaf.node, "minimum")
    return _integer_type(maximum, 0 if minimum is None else minimum)


def _integer_type(largest: float, smallest: float) -> ColumnType:
    for column_type in (SMALLINT, INT):
        limit = LARGEST[column_type.name]
        if largest <= limit and smallest >= -limit - 1:
            return column_type
    return BIGINT


def _number(leaf: _Leaf) -> ColumnType | None:
    if leaf.types == {"number", "integer"}:
        return DOUBLE
    if leaf.types != {"number"}:
        return None
    multiple = number_of(leaf.node, "multipleOf")
    is_money = multiple is not None and decimal_of(multiple) == MONEY
    return ColumnType("DECIMAL", 36, 2) if is_money else DOUBLE


def _boolean(leaf: _Leaf) -> ColumnType | None:
    return BOOLEAN if leaf.types == {"boolean"} else None


def _fixed_length(leaf: _Leaf) -> ColumnType | None:
    length = size_of(leaf.node, "maxLength")
    is_fixed = length is not None and length == size_of(leaf.node, "minLength")
    return char(length) if length is not None and is_fixed and leaf.types == {"string"} else None


def _uuid(leaf: _Leaf) -> ColumnType | None:
    return char(36) if leaf.format == "uuid" and leaf.types == {"string"} else None


def _text(leaf: _Leaf) -> ColumnType | None:
    if leaf.types <= {"string"}:
        length = FORMAT_LENGTHS.get(str(leaf.format))
        if length is not None and not (leaf.compat and leaf.format == "ipv6"):
            return varchar(length)
        length = size_of(leaf.node, "maxLength")
        if length is not None and leaf.enum is None:
            return varchar(length)
    if leaf.values:
        lengths = [len(value if isinstance(value, str) else write_json(value)) for value in leaf.values]
        return char(lengths[0]) if len(lengths) == 1 else varchar(max(lengths))
    return None


_RULES: Final[Sequence[Callable[[_Leaf], ColumnType | None]]] = (
    _mixed_enum,
    _union,
    _time,
    _array,
    _integer,
    _number,
    _boolean,
    _fixed_length,
    _uuid,
    _text,
)


def _clamped(column_type: ColumnType) -> ColumnType:
    """Within what a warehouse takes: a text of no characters, or of too many, is refused."""
    length = column_type.size
    if length is None or column_type.name not in ("CHAR", "VARCHAR"):
        return column_type
    if column_type.name == "CHAR" and length <= MAX_CHAR:
        return char(max(length, 1))
    return varchar(min(max(length, 1), MAX_VARCHAR))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

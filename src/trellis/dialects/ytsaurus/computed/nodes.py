"""Expressions as values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

ValueKind = Literal["null", "int64", "uint64", "double", "boolean", "string", "any"]


@dataclass(frozen=True)
class Constant:
    kind: ValueKind
    value: Any


@dataclass(frozen=True)
class Reference:
    """A column, by its visible name."""

    name: str


@dataclass(frozen=True)
class Call:
    """An operator or a function, in lower case: `+`, `and`, `farm_hash`."""

    function: str
    arguments: tuple[Node, ...]


Node = Constant | Reference | Call


@dataclass(frozen=True)
class TypedNode:
    """A node with the kind of its value. Constants have their value in that kind."""

    node: Node
    kind: ValueKind
    arguments: tuple[TypedNode, ...] = ()


def iter_references(node: Node) -> Iterator[str]:
    match node:
        case Reference(name):
            yield name
        case Call(_, arguments):
            for argument in arguments:
                yield from iter_references(argument)

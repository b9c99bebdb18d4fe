"""An expression as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Column:
    """The value of a field of the row. Names are case-sensitive."""

    name: str


@dataclass(frozen=True)
class Literal:
    """A constant: None, bool, int, float or str."""

    value: bool | int | float | str | None


@dataclass(frozen=True)
class Call:
    """A function and its arguments. `name` is canonical: lower case, no underscores."""

    name: str
    arguments: tuple[Expression, ...] = ()


Expression = Union[Column, Literal, Call]  # noqa: UP007  (the classes stand above)


def canonical(name: str) -> str:
    """How Pinot compares names of functions.

    >>> canonical("TO_DATE_TIME")
    'todatetime'
    """
    return name.replace("_", "").lower()


def nodes(expression: Expression) -> Iterator[tuple[Expression, int]]:
    """Every node of the tree with its depth; the root has depth 1."""
    pending: list[tuple[Expression, int]] = [(expression, 1)]
    while pending:
        node, depth = pending.pop()
        yield node, depth
        if isinstance(node, Call):
            pending.extend((argument, depth + 1) for argument in node.arguments)


def arguments(expression: Expression) -> frozenset[str]:
    """The fields that a row must have for the expression.

    >>> sorted(arguments(Call("plus", (Column("b"), Call("abs", (Column("a"),))))))
    ['a', 'b']
    """
    return frozenset(node.name for node, _ in nodes(expression) if isinstance(node, Column))

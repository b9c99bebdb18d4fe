"""An expression as a tree, and as text again (spec pinot.md, section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Union


@dataclass(frozen=True)
class Column:
    """The value of a field of the row. Names are told apart by case."""

    name: str


@dataclass(frozen=True)
class Literal:
    """A value that stands in the text: None, bool, int, float or str."""

    value: bool | int | float | str | None


@dataclass(frozen=True)
class Call:
    """A function and what it is given. `name` is canonical: lower case, no underscores."""

    name: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Script:
    """`Groovy({text}, names...)`: it is read and listed, and never run."""

    text: str
    names: tuple[str, ...] = ()


Expression = Union[Column, Literal, Call, Script]  # noqa: UP007  (the classes stand above)


_SPECIAL: Final = ("not", "case", "cast", "extract", "trim", "timestampadd", "timestampdiff", "groovy")
"""Names that have a grammar of their own, unless they are quoted."""


def canonical(name: str) -> str:
    """How Pinot compares names of functions.

    >>> canonical("TO_DATE_TIME")
    'todatetime'
    """
    return name.replace("_", "").lower()


def nodes(expression: Expression) -> Iterator[tuple[Expression, int]]:
    """Every node of the tree with its depth; the root has depth 1."""
    waiting: list[tuple[Expression, int]] = [(expression, 1)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        if isinstance(node, Call):
            waiting.extend((each, depth + 1) for each in node.arguments)


def arguments(expression: Expression) -> frozenset[str]:
    """The fields that a row must have for the expression.

    >>> sorted(arguments(Call("plus", (Column("b"), Call("abs", (Column("a"),))))))
    ['a', 'b']
    """
    found: set[str] = set()
    for node, _ in nodes(expression):
        if isinstance(node, Column):
            found.add(node.name)
        elif isinstance(node, Script):
            found.update(node.names)
    return frozenset(found)


def written(expression: Expression) -> str:
    """The expression as text; reading it gives the same tree.

    >>> written(Call("concat", (Column("first name"), Literal("it's"), Literal(None))))
    'concat("first name",\\'it\\'\\'s\\',null)'
    """
    if isinstance(expression, Column):
        return '"' + expression.name.replace('"', '""') + '"'
    if isinstance(expression, Literal):
        return _literal(expression.value)
    if isinstance(expression, Script):
        return f"Groovy({{{expression.text}}}{''.join(f', {each}' for each in expression.names)})"
    name = expression.name if expression.name.isascii() and expression.name.isidentifier() else ""
    said = f'"{expression.name}"' if not name or name in _SPECIAL else name
    return f"{said}({','.join(map(written, expression.arguments))})"


def _literal(value: bool | int | float | str | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)

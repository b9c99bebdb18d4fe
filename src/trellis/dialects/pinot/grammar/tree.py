"""An expression as a tree, and as text again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Union


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


@dataclass(frozen=True)
class Script:
    """`Groovy({text}, names...)`: it is read and listed, and never run."""

    text: str
    names: tuple[str, ...] = ()


Expression = Union[Column, Literal, Call, Script]  # noqa: UP007  (the classes stand above)


_QUOTED_NAMES: Final = frozenset(("not", "case", "cast", "extract", "trim", "minus", "groovy"))
"""Names that are keywords of SQL or have a grammar of their own, unless they are quoted."""


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
    fields: set[str] = set()
    for node, _ in nodes(expression):
        if isinstance(node, Column):
            fields.add(node.name)
        elif isinstance(node, Script):
            fields.update(node.names)
    return frozenset(fields)


def to_text(expression: Expression) -> str:
    """The expression as text; reading it gives the same tree.

    >>> to_text(Call("concat", (Column("first name"), Literal("it's"), Literal(None))))
    'concat("first name",\\'it\\'\\'s\\',null)'
    """
    if isinstance(expression, Column):
        return '"' + expression.name.replace('"', '""') + '"'
    if isinstance(expression, Literal):
        return _literal_text(expression.value)
    if isinstance(expression, Script):
        return f"Groovy({{{expression.text}}}{''.join(f', {name}' for name in expression.names)})"
    name = expression.name
    if not name.isascii() or not name.isidentifier() or name in _QUOTED_NAMES:
        name = f'"{name}"'
    return f"{name}({','.join(map(to_text, expression.arguments))})"


def _literal_text(value: bool | int | float | str | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)

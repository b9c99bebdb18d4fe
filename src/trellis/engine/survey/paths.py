"""Paths of records and the kinds of values at them: a tree that `inspect` fills and prints."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Literal

Kind = Literal[
    "null", "bool", "int", "integer beyond 64 bits", "float", "string", "object", "array",
    "decimal", "timestamp", "date", "time", "binary",
]  # fmt: skip
EXAMPLE = 60
KINDS: Mapping[type, Kind] = {
    type(None): "null",
    bool: "bool",
    int: "int",
    float: "float",
    str: "string",
    dict: "object",
    list: "array",
    Decimal: "decimal",
    datetime: "timestamp",
    date: "date",
    time: "time",
    bytes: "binary",
}
_PLAIN_KEY = re.compile(r"[^\s.\[\]\"']+")


@dataclass(frozen=True)
class Place:
    """A file and the line (or element of an array, or row) in it, counted from 1."""

    file: str
    line: int


@dataclass
class Seen:
    """One kind of value at one path, or one kind of fault."""

    count: int
    first: Place
    example: str


@dataclass
class Node:
    """One path: what stood there, and the paths below it.

    `position` is that of its key in the object of the first record that has it.
    """

    path: str
    kinds: dict[Kind, Seen] = field(default_factory=dict)
    keys: dict[str, Node] = field(default_factory=dict)
    items: Node | None = None
    objects: int = 0
    timestamps: int = 0
    position: int = 0

    @property
    def count(self) -> int:
        return sum(seen.count for seen in self.kinds.values())

    def key(self, name: str) -> Node:
        node = self.keys.get(name)
        if node is None:
            node = self.keys[name] = Node(f"{self.path}.{shown(name)}" if self.path else shown(name))
        return node

    def item(self) -> Node:
        if self.items is None:
            self.items = Node(f"{self.path}[]")
        return self.items

    def below(self, rank: Callable[[Node], tuple[int, int, int, str]]) -> Iterator[tuple[Node, Node]]:
        """All paths below, depth first, each with the path around it; keys of one object by their rank."""
        stack = [(node, self) for node in sorted(self.keys.values(), key=rank)[::-1]]
        while stack:
            node, around = stack.pop()
            yield node, around
            if node.items is not None:
                stack.append((node.items, node))
            stack += ((inner, node) for inner in sorted(node.keys.values(), key=rank)[::-1])


def example(value: Any) -> str:
    """A value as a person would write it, cut.

    >>> example("a"), example({"id": 1, "tags": []}), example([1, 2])
    ('"a"', '{id, tags}', '[2 items]')
    """
    if isinstance(value, dict):
        text = "{" + ", ".join(shown(key) for key in list(value)[:12]) + "}"
    elif isinstance(value, list):
        text = f"[{len(value)} item{'' if len(value) == 1 else 's'}]"
    elif isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 8192:
        text = f"(an integer of about {value.bit_length() * 3 // 10} digits)"
    elif value is None or isinstance(value, (str, bool, int, float)):
        start = value[: EXAMPLE + 1] if isinstance(value, str) else value
        text = json.dumps(start, ensure_ascii=False)
        text = text if text.isprintable() else json.dumps(start)
    else:
        text = str(value)
    return text if len(text) <= EXAMPLE else f"{text[: EXAMPLE - 3]}..."


def shown(key: str) -> str:
    """A key as a part of a path: quoted where it would be taken for something else.

    >>> shown("id"), shown("a.b")
    ('id', '"a.b"')
    """
    return (
        key
        if _PLAIN_KEY.fullmatch(key) and key.isprintable()
        else json.dumps(key, ensure_ascii=not key.isprintable())
    )

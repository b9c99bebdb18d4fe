"""Objects of an event become columns of its rows (spec rudderstack.md, sections 2.5, 3.4 and 3.5).

What a key is called is learned once, in a tree like that of the keys. Most keys have a column of their own,
and their values go straight into it; the others are odd, and settled after the rest of the row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from trellis.dialects.rudderstack.events.cells import (
    ArrayText,
    Cell,
    JsonText,
    SpaceText,
    blank,
    json_text,
    plain,
)
from trellis.dialects.rudderstack.events.timestamps import Parse
from trellis.dialects.rudderstack.naming.names import Names
from trellis.dialects.rudderstack.naming.standard import SECTIONS
from trellis.evolution.record import Lost

MEMORY: Final = 100_000
"""Keys that a tree remembers before it starts anew; a deep one counts as many."""

Path = tuple[str, ...]
Row = dict[str, Cell]


@dataclass(frozen=True)
class Shape:
    """What decides over the keys of one type of event.

    Columns in `reserved` take no value of the user's; those of the paths in `held` hold it already. `json`
    are the paths of values that become one JSON value each. Objects `depth` keys deep are not flattened.
    Where `allowed` is given, a key is refused unless its column, or that of a key around it, is among them.
    Columns that begin with `yields`, whatever the case, may be in the row already, and stay as they are.
    """

    names: Names
    reserved: Collection[str] = ()
    held: Collection[Path] = ()
    json: Collection[Path] = ()
    json_class: type[str] = JsonText
    depth: int | None = None
    allowed: Collection[str] | None = None
    yields: str | None = None


class Odd:
    """A key whose value does not simply go into a column of its own.

    With `why` it is lost, `refused` it goes to the overflow; else other keys may have the same column.
    `whole`: the value is one JSON value, whatever it is.
    """

    __slots__ = ("column", "inside", "path", "rank", "refused", "tables", "whole", "why")

    def __init__(self, column: str, path: Path, inside: Path, rank: int) -> None:
        self.column = column
        self.path = path
        self.inside = inside
        self.rank = (rank, inside)
        self.why = ""
        self.refused = self.whole = False
        self.tables: set[str] = set()

    @property
    def rival(self) -> bool:
        return not (self.why or self.refused)


_PENDING: Final = SpaceText()
"""Holds the place of a cell that is settled later, so that columns come in the order of their keys."""

Found = list[tuple[Odd, Any, Any]]
"""Odd keys of a record: the key, its value as a cell, and as it came."""


class Node:
    """The keys of one object. `columns` has None for odd ones, `inner` has None for what is not flattened."""

    __slots__ = ("columns", "inner", "inside", "odd", "path", "prefix", "rank", "tree")

    def __init__(self, tree: Tree, path: Path, inside: Path, prefix: str, rank: int) -> None:
        self.tree = tree
        self.path = path
        self.inside = inside
        self.prefix = prefix
        self.rank = rank
        self.columns: dict[str, str | None] = {}
        self.inner: dict[str, Node | None] = {}
        self.odd: dict[str, Odd] = {}

    def column(self, key: Any) -> str | None:
        """Learn the column of a key."""
        tree, shape, text = self.tree, self.tree.shape, str(key)
        name = shape.names.column(self.prefix + text)
        odd = Odd(name, (*self.path, text), (*self.inside, text), self.rank)
        odd.refused = shape.allowed is not None and not _allowed(shape, odd.inside)
        odd.whole = odd.path in shape.json and odd.path not in shape.held
        tree.learned += len(odd.path)
        tree.news = True
        if not name:
            odd.why = "no name: the key has no letter and no digit"
        elif name in shape.reserved and odd.path not in shape.held:
            odd.why = f"reserved: RudderStack sets {name} itself"
        yields = shape.yields is not None and name.lower().startswith(shape.yields)
        own = odd.rival and tree.owns(name, self, key, odd)
        if own and not odd.whole and not yields:
            self.columns[key] = name
            return name
        self.columns[key] = None
        self.odd[key] = odd
        return None

    def below(self, key: Any) -> Node | None:
        """Learn what becomes of objects at a key: the node of their keys, or None if they are kept whole."""
        text = str(key)
        path, inside = (*self.path, text), (*self.inside, text)
        self.tree.learned += len(path)
        self.tree.news = True
        node = None
        if path not in self.tree.shape.json and len(inside) != self.tree.shape.depth:
            node = Node(self.tree, path, inside, f"{self.prefix}{text}_", self.rank)
        self.inner[key] = node
        return node

    def forget(self) -> None:
        self.columns.clear()
        self.inner.clear()
        self.odd.clear()


class Tree:
    """The keys of some sections of one type of event: where they begin, and which key has which column.

    `roots` maps the path of each section to its node; of keys with one column, the later section's wins.
    """

    def __init__(self, shape: Shape, sections: Sequence[tuple[Path, str]]) -> None:
        self.shape = shape
        self.roots = {
            path: Node(self, path, (), prefix, rank) for rank, (path, prefix) in enumerate(sections)
        }
        self.owners: dict[str, tuple[Node, Any, Odd] | None] = {}
        self.learned = 0
        self.news = self.clash = False

    def owns(self, column: str, node: Node, key: Any, odd: Odd) -> bool:
        """Whether the key is the first of its column. If not, the first one is odd from now on, too."""
        if column not in self.owners:
            self.owners[column] = (node, key, odd)
            return True
        first = self.owners[column]
        if first is not None:
            there, its_key, its_odd = first
            there.columns[its_key] = None
            there.odd[its_key] = its_odd
            self.owners[column] = None
        self.clash = True
        return False

    def shared(self) -> dict[str, set[str]]:
        """The keys of each column that has several, by the table where they were met.

        A key that had the column for itself until another came was met nobody knows where: anywhere.
        """
        rivals: dict[str, list[Odd]] = {}
        todo = list(self.roots.values())
        for node in todo:
            for odd in node.odd.values():
                if not (odd.why or odd.refused):
                    rivals.setdefault(odd.column, []).append(odd)
            todo += (inner for inner in node.inner.values() if inner is not None)
        found: dict[str, set[str]] = {}
        for column, keys in rivals.items():
            for table in set[str]().union(*(key.tables for key in keys)):
                paths = {".".join(key.path) for key in keys if not key.tables or table in key.tables}
                if len(paths) > 1:
                    found[f"column {column} of table {table}"] = paths
        return found

    def forget(self) -> None:
        for root in self.roots.values():
            root.forget()
        self.owners.clear()
        self.learned = 0


def spread(
    sections: Sequence[tuple[Mapping[str, Any], Node]],
    tree: Tree,
    row: Row,
    table: str,
    parse: Parse,
    lost: list[Lost],
    over: dict[str, Any],
) -> None:
    """Put the leaves of the sections (objects with their nodes in the tree) into the row.

    What no column takes is added to `lost`, what is refused to `over`.
    """
    size = len(row)
    odd: Found = []
    for item, node in sections:
        _flatten(item, node, row, parse, odd)
    if tree.news:
        if tree.clash:  # a key had a column for itself until this record
            while len(row) > size:
                row.popitem()
            odd.clear()
            for item, node in sections:
                _flatten(item, node, row, parse, odd)
        tree.news = tree.clash = False
        if tree.learned > MEMORY:
            tree.forget()
    if odd:
        _settle(odd, tree.shape, row, table, lost, over)


def json_paths(said: Sequence[str], kind: str) -> frozenset[Path]:
    """The paths of an event of this type; those that name no type are of the properties of track events.

    >>> sorted(json_paths(("a.b", "track.context.c", "page.properties.d"), "track"))
    [('context', 'c'), ('properties', 'a', 'b'), ('userProperties', 'a', 'b')]
    """
    found: set[Path] = set()
    for path in said:
        first, *rest = keys = path.split(".")
        if first in SECTIONS and rest:
            if first == kind:
                found.add(tuple(rest))
        elif kind == "track":
            found |= {("properties", *keys), ("userProperties", *keys)}
    return frozenset(found)


def _flatten(item: Mapping[str, Any], root: Node, row: Row, parse: Parse, odd: Found) -> None:
    """Of one object: its own keys, then those of the objects in it, level by level."""
    todo = [(item, root)]
    for item, node in todo:
        columns = node.columns
        for key, value in item.items():
            kind = value.__class__
            if kind is str:
                if not ":" <= value < "{":  # empty, a digit or white space first: plain text begins otherwise
                    if not value:
                        continue
                    if value[4:5] == "-":
                        value = parse(value) or value
                    elif value.isspace():
                        value = SpaceText(value)
            elif kind is dict:
                try:
                    below = node.inner[key]
                except KeyError:
                    below = node.below(key)
                if below is not None:
                    todo.append((value, below))
                    continue
                if not value and (*node.path, key) not in node.tree.shape.json:
                    continue
                value = ArrayText(json_text(value))
            elif kind is not int and kind is not bool:
                if value is None:
                    continue
                if kind is float:
                    if value.is_integer():
                        value = int(value)
                elif kind is list:
                    if len(value) < 2 and blank(value):
                        continue
                    value = ArrayText(json_text(value))
                else:
                    value = plain(value)
                    if value.__class__ is not datetime:
                        todo.append(({key: value}, node))
                        continue
            try:
                column = columns[key]
            except KeyError:
                column = node.column(key)
            if column is not None:
                row[column] = value
            else:
                found = node.odd[key]
                if found.rival:
                    row.setdefault(found.column, _PENDING)
                odd.append((found, value, item[key]))


def _settle(odd: Found, shape: Shape, row: Row, table: str, lost: list[Lost], over: dict[str, Any]) -> None:
    """Put the values of odd keys where they belong."""
    rivals: Found = []
    for key, value, raw in odd:
        key.tables.add(table)
        if key.refused:
            _overflow(key, raw, over, table, lost)
        elif key.why:
            if key.column not in row or not _same(row[key.column], value):
                lost.append(Lost(table, key.column, ".".join(key.path), raw, key.why))
        else:
            rivals.append((key, value, raw))
    if len(rivals) > 1:
        rivals.sort(key=_rank)
    winners: dict[str, tuple[Odd, Any]] = {}
    for key, value, raw in rivals:
        column = key.column
        if key.whole:
            value = shape.json_class(value if value.__class__ is ArrayText else json_text(raw))
        if column in winners:
            loser, said = winners[column]
            _collide(loser, said, row[column], ".".join(key.path), value, table, lost)
        elif row[column] is not _PENDING:
            _collide(key, raw, value, "the context", row[column], table, lost)
            continue
        row[column] = value
        winners[column] = key, raw


def _rank(rival: tuple[Odd, Any, Any]) -> tuple[int, Path]:
    return rival[0].rank


def _collide(key: Odd, raw: Any, value: Cell, winner: str, wins: Cell, table: str, lost: list[Lost]) -> None:
    if not _same(value, wins):
        reason = f"collision: {winner} has the same column"
        lost.append(Lost(table, key.column, ".".join(key.path), raw, reason))


def _same(one: Cell, other: Cell) -> bool:
    """Whether nothing is lost if only one of two cells is kept."""
    return one.__class__ is other.__class__ and one == other


class _Place(dict[str, Any]):
    """An object of the overflow, made of what was refused in it."""


def _overflow(key: Odd, raw: Any, over: dict[str, Any], table: str, lost: list[Lost]) -> None:
    """Keep a value below the keys it had; it takes the place of an earlier section's."""
    reason = f"collision: {'.'.join(key.path)} takes its place"
    place = over
    for depth, name in enumerate(key.inside[:-1], 1):
        inner = place.get(name)
        if not isinstance(inner, _Place):
            if inner is not None:
                lost.append(Lost(table, "", ".".join(key.inside[:depth]), inner, reason))
            inner = place[name] = _Place()
        place = inner
    name = key.inside[-1]
    if name in place and place[name] != raw:
        lost.append(Lost(table, "", ".".join(key.inside), place[name], reason))
    place[name] = raw


def _allowed(shape: Shape, inside: Path) -> bool:
    """Whether the column of a key, or of one around it, is allowed."""
    assert shape.allowed is not None
    return any(
        shape.names.column("_".join(inside[:end])) in shape.allowed for end in range(1, len(inside) + 1)
    )

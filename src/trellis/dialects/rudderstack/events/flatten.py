"""Objects of an event become columns of its rows.

The column of a key is learned once, in a tree like that of the keys. Most keys are alone in their column,
and their values go straight into it; the others are special, and set after the rest of the row.
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
    is_blank,
    json_text,
    to_plain,
)
from trellis.dialects.rudderstack.events.timestamps import Parse
from trellis.dialects.rudderstack.identifiers.names import Names
from trellis.dialects.rudderstack.identifiers.standard import SECTIONS
from trellis.evolution.record_outcome import LostValue

MAX_KEYS: Final = 100_000
"""Keys that a tree remembers before it starts anew; a deep one counts as many."""

Path = tuple[str, ...]
Row = dict[str, Cell]


@dataclass(frozen=True)
class KeyRules:
    """The rules for the keys of one type of event.

    Columns in `reserved` take no value of the user's; those of the paths in `held` hold it already. `json`
    are the paths of values that become one JSON value each. Objects `depth` keys deep are not flattened.
    Where `allowed` is given, a key is refused unless its column, or that of a key around it, is among them.
    Columns that begin with `yielding_prefix`, whatever the case, may be in the row already, and stay as they
    are.
    """

    names: Names
    reserved: Collection[str] = ()
    held: Collection[Path] = ()
    json: Collection[Path] = ()
    json_class: type[str] = JsonText
    depth: int | None = None
    allowed: Collection[str] | None = None
    yielding_prefix: str | None = None


class SpecialKey:
    """A key whose value is not simply the value of a column.

    With a `loss_reason` it is lost, `is_excluded` it goes to the overflow; else other keys share its column.
    `is_json`: the value is one JSON value, whatever it is.
    """

    __slots__ = ("column", "inside", "is_excluded", "is_json", "loss_reason", "path", "rank", "tables")

    def __init__(self, column: str, path: Path, inside: Path, rank: int) -> None:
        self.column = column
        self.path = path
        self.inside = inside
        self.rank = (rank, inside)
        self.loss_reason = ""
        self.is_excluded = self.is_json = False
        self.tables: set[str] = set()

    @property
    def competes(self) -> bool:
        return not (self.loss_reason or self.is_excluded)


_PENDING: Final = SpaceText()
"""A placeholder of cells that are set last, so that columns come in the order of their keys."""

SpecialValues = list[tuple[SpecialKey, Any, Any]]
"""The special keys of a record: the key, its value as a cell, and the raw value."""


class KeyNode:
    """The keys of one object.

    `columns` has None for special keys, `inner` for objects that are kept whole.
    """

    __slots__ = ("columns", "inner", "inside", "path", "prefix", "rank", "special", "tree")

    def __init__(self, tree: KeyTree, path: Path, inside: Path, prefix: str, rank: int) -> None:
        self.tree = tree
        self.path = path
        self.inside = inside
        self.prefix = prefix
        self.rank = rank
        self.columns: dict[str, str | None] = {}
        self.inner: dict[str, KeyNode | None] = {}
        self.special: dict[str, SpecialKey] = {}

    def column(self, key: Any) -> str | None:
        """Learn the column of a key."""
        tree, rules, text = self.tree, self.tree.rules, str(key)
        name = rules.names.column(self.prefix + text)
        special = SpecialKey(name, (*self.path, text), (*self.inside, text), self.rank)
        special.is_excluded = rules.allowed is not None and not _allowed(rules, special.inside)
        special.is_json = special.path in rules.json and special.path not in rules.held
        tree.learned += len(special.path)
        tree.news = True
        if not name:
            special.loss_reason = "no name: the key has no letter and no digit"
        elif name in rules.reserved and special.path not in rules.held:
            special.loss_reason = f"reserved: RudderStack sets {name} itself"
        yields = rules.yielding_prefix is not None and name.lower().startswith(rules.yielding_prefix)
        is_sole_key = special.competes and tree.owns(name, self, key, special)
        if is_sole_key and not special.is_json and not yields:
            self.columns[key] = name
            return name
        self.columns[key] = None
        self.special[key] = special
        return None

    def below(self, key: Any) -> KeyNode | None:
        """Learn the node of the objects at a key, or None if they are kept as JSON."""
        text = str(key)
        path, inside = (*self.path, text), (*self.inside, text)
        self.tree.learned += len(path)
        self.tree.news = True
        node = None
        if path not in self.tree.rules.json and len(inside) != self.tree.rules.depth:
            node = KeyNode(self.tree, path, inside, f"{self.prefix}{text}_", self.rank)
        self.inner[key] = node
        return node

    def forget(self) -> None:
        self.columns.clear()
        self.inner.clear()
        self.special.clear()


class KeyTree:
    """The keys of some sections of one type of event: where they begin, and which key has which column.

    `roots` maps the path of each section to its node; of keys with one column, the later section's wins.
    """

    def __init__(self, rules: KeyRules, sections: Sequence[tuple[Path, str]]) -> None:
        self.rules = rules
        self.roots = {
            path: KeyNode(self, path, (), prefix, rank) for rank, (path, prefix) in enumerate(sections)
        }
        self.owners: dict[str, tuple[KeyNode, Any, SpecialKey] | None] = {}
        self.learned = 0
        self.news = self.clash = False

    def owns(self, column: str, node: KeyNode, key: Any, special: SpecialKey) -> bool:
        """Whether the key is the first of its column. If not, the first one is special from now on, too."""
        if column not in self.owners:
            self.owners[column] = (node, key, special)
            return True
        first = self.owners[column]
        if first is not None:
            owner, its_key, its_special = first
            owner.columns[its_key] = None
            owner.special[its_key] = its_special
            self.owners[column] = None
        self.clash = True
        return False

    def shared(self) -> dict[str, set[str]]:
        """The keys of each column that has several, by the table where they were met.

        A key that was alone in its column until another one appeared counts for every table.
        """
        rivals: dict[str, list[SpecialKey]] = {}
        todo = list(self.roots.values())
        for node in todo:
            for special in node.special.values():
                if not (special.loss_reason or special.is_excluded):
                    rivals.setdefault(special.column, []).append(special)
            todo += (inner for inner in node.inner.values() if inner is not None)
        keys_by_name: dict[str, set[str]] = {}
        for column, keys in rivals.items():
            for table in set[str]().union(*(key.tables for key in keys)):
                paths = {".".join(key.path) for key in keys if not key.tables or table in key.tables}
                if len(paths) > 1:
                    keys_by_name[f"column {column} of table {table}"] = paths
        return keys_by_name

    def forget(self) -> None:
        for root in self.roots.values():
            root.forget()
        self.owners.clear()
        self.learned = 0


def flatten_sections(
    sections: Sequence[tuple[Mapping[str, Any], KeyNode]],
    tree: KeyTree,
    row: Row,
    table: str,
    parse: Parse,
    lost: list[LostValue],
    overflow: dict[str, Any],
) -> Row:
    """Put the leaves of the sections (objects with their nodes in the tree) into the row.

    Values without a column are added to `lost`, excluded ones to `overflow`. Returns what keys of the user
    would put into reserved columns.
    """
    size = len(row)
    special: SpecialValues = []
    for item, node in sections:
        _flatten(item, node, row, parse, special)
    if tree.news:
        if tree.clash:  # a key had a column for itself until this record
            while len(row) > size:
                row.popitem()
            special.clear()
            for item, node in sections:
                _flatten(item, node, row, parse, special)
        tree.news = tree.clash = False
        if tree.learned > MAX_KEYS:
            tree.forget()
    if not special:
        return {}
    _place_special_values(special, tree.rules, row, table, lost, overflow)
    return {key.column: value for key, value, _ in sorted(special, key=_rank) if key.loss_reason}


def json_paths(paths: Sequence[str], kind: str) -> frozenset[Path]:
    """The paths of an event of this type; those that name no type are of the properties of track events.

    >>> sorted(json_paths(("a.b", "track.context.c", "page.properties.d"), "track"))
    [('context', 'c'), ('properties', 'a', 'b'), ('userProperties', 'a', 'b')]
    """
    matching: set[Path] = set()
    for path in paths:
        first, *rest = keys = path.split(".")
        if first in SECTIONS and rest:
            if first == kind:
                matching.add(tuple(rest))
        elif kind == "track":
            matching |= {("properties", *keys), ("userProperties", *keys)}
    return frozenset(matching)


def _flatten(item: Mapping[str, Any], root: KeyNode, row: Row, parse: Parse, special: SpecialValues) -> None:
    """Flatten one object level by level: its keys, then those of the objects in it."""
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
                value = ArrayText(json_text(value))
            elif kind is not int and kind is not bool:
                if value is None:
                    continue
                if kind is float:
                    if value.is_integer():
                        value = int(value)
                elif kind is list:
                    if len(value) < 2 and is_blank(value):
                        continue
                    value = ArrayText(json_text(value))
                else:
                    value = to_plain(value)
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
                special_key = node.special[key]
                if special_key.competes:
                    row.setdefault(special_key.column, _PENDING)
                special.append((special_key, value, item[key]))


def _place_special_values(
    special: SpecialValues,
    rules: KeyRules,
    row: Row,
    table: str,
    lost: list[LostValue],
    overflow: dict[str, Any],
) -> None:
    """Put the values of special keys where they belong."""
    rivals: SpecialValues = []
    for key, value, raw in special:
        key.tables.add(table)
        if key.is_excluded:
            _overflow(key, raw, overflow, table, lost)
        elif key.loss_reason:
            if key.column not in row or not _is_same(row[key.column], value):
                lost.append(LostValue(table, key.column, ".".join(key.path), raw, key.loss_reason))
        else:
            rivals.append((key, value, raw))
    if len(rivals) > 1:
        rivals.sort(key=_rank)
    winners: dict[str, tuple[SpecialKey, Any]] = {}
    for key, value, raw in rivals:
        column = key.column
        if key.is_json:
            value = rules.json_class(value if value.__class__ is ArrayText else json_text(raw))
        if column in winners:
            loser, loser_value = winners[column]
            _report_collision(loser, loser_value, row[column], ".".join(key.path), value, table, lost)
        elif row[column] is not _PENDING:
            _report_collision(key, raw, value, "the context", row[column], table, lost)
            continue
        row[column] = value
        winners[column] = key, raw


def _rank(rival: tuple[SpecialKey, Any, Any]) -> tuple[int, Path]:
    return rival[0].rank


def _report_collision(
    key: SpecialKey, raw: Any, value: Cell, winner: str, wins: Cell, table: str, lost: list[LostValue]
) -> None:
    if not _is_same(value, wins):
        reason = f"collision: {winner} has the same column"
        lost.append(LostValue(table, key.column, ".".join(key.path), raw, reason))


def _is_same(one: Cell, other: Cell) -> bool:
    """Whether nothing is lost if only one of two cells is kept."""
    return one.__class__ is other.__class__ and one == other


class _Place(dict[str, Any]):
    """An object of the overflow with the excluded keys in it."""


def _overflow(key: SpecialKey, raw: Any, overflow: dict[str, Any], table: str, lost: list[LostValue]) -> None:
    """Keep a value below the keys it had; it takes the place of an earlier section's."""
    reason = f"collision: {'.'.join(key.path)} takes its place"
    place = overflow
    for depth, name in enumerate(key.inside[:-1], 1):
        inner = place.get(name)
        if not isinstance(inner, _Place):
            if inner is not None:
                lost.append(LostValue(table, "", ".".join(key.inside[:depth]), inner, reason))
            inner = place[name] = _Place()
        place = inner
    name = key.inside[-1]
    if name in place and place[name] != raw:
        lost.append(LostValue(table, "", ".".join(key.inside), place[name], reason))
    place[name] = raw


def _allowed(rules: KeyRules, inside: Path) -> bool:
    """Whether the column of a key, or of one around it, is allowed."""
    assert rules.allowed is not None
    return any(
        rules.names.column("_".join(inside[:end])) in rules.allowed for end in range(1, len(inside) + 1)
    )

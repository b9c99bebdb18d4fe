"""The scan behind `inspect`: every path of the records, every kind of value there, and where it was first.

A column at a time: the objects of a block are grouped by their keys, and each group is turned into columns,
so that a flat record costs little more than its parsing.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, compress, repeat
from typing import Any

import orjson

from trellis.engine.input.blocks import Block
from trellis.engine.input.lines import BadLine, duplicates, may_repeat, record
from trellis.engine.survey.paths import KINDS, Kind, Node, Place, Seen, example
from trellis.engine.text import count_keys
from trellis.evolution.scalars.iso import is_timestamp

LOW, HIGH = -(2**63), 2**63 - 1

_YEARS = frozenset(f"{century:02}" for century in range(100))
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG = b"0" * 19  # fewer digits always fit 64 bits
_BIG = re.compile(rb"(?<![\d.])\d{19}")  # orjson would make a float of what does not fit


class Survey:
    """Takes records block by block, in their order."""

    def __init__(self) -> None:
        self.root = Node("")
        self.records = 0
        self.rejects: dict[str, Seen] = {}
        self.doubled: dict[str, Seen] = {}
        self.file = ""
        self.number = 0
        self.keys = 0
        self.fresh: dict[int, int] = {}
        self.fresh_keys: dict[int, tuple[int, int]] = {}

    @property
    def rejected(self) -> int:
        return sum(seen.count for seen in self.rejects.values())

    def block(self, file: str, block: Block) -> None:
        """Take the lines of a block."""
        self.file = file
        lines = block.lines
        numbers: Sequence[int] = range(block.line + 1, block.line + 1 + len(lines))
        records = _parsed(block.data, lines)
        text: Sequence[bytes] = (block.data,)
        if records is None:
            lines, numbers, records = self._exact(lines, numbers)
            text = lines
        before = self.keys
        self.objects(records, numbers)
        if may_repeat(text, self.keys - before):
            self._doubled(lines, numbers, records)

    def items(self, file: str, items: Iterable[Any], first: int = 1) -> None:
        """Take records that are Python values already."""
        self.file = file
        self.objects([item if isinstance(item, dict) else {"value": item} for item in items], first=first)

    def reject(self, reason: str, number: int, text: str) -> None:
        """Count what is no record."""
        _add(self.rejects, reason, Place(self.file, number), text)

    def objects(self, records: Sequence[dict[str, Any]], numbers: Sequence[int] = (), first: int = 1) -> None:
        """Take records that are objects, with their numbers or the number of the first."""
        self.fresh, self.fresh_keys = {}, {}
        self.records += len(records)
        waiting: Waiting = deque()
        self._objects(self.root, records, numbers or range(first, first + len(records)), waiting)
        while waiting:
            self._column(*waiting.popleft(), waiting)

    def _column(self, node: Node, values: Sequence[Any], numbers: Sequence[int], waiting: Waiting) -> None:
        if len(values) == 1:
            classes: Collection[type] = (values[0].__class__,)
        else:
            classes = set(map(type, values))
        for cls in classes:
            if len(classes) == 1:
                chosen, at = values, numbers
            else:
                is_of_class = [value.__class__ is cls for value in values]
                chosen, at = list(compress(values, is_of_class)), list(compress(numbers, is_of_class))
            special = self._SPECIAL.get(cls)
            if special is None:
                self._saw(node, KINDS.get(cls, "string"), chosen, at)
            else:
                special(self, node, chosen, at, waiting)

    def _saw(self, node: Node, kind: Kind, values: Sequence[Any], numbers: Sequence[int]) -> None:
        """Count values of one kind. The first of a block is not always the first that is counted."""
        seen = node.kinds.get(kind)
        if seen is None:
            seen = node.kinds[kind] = Seen(0, Place(self.file, numbers[0]), example(values[0]))
            self.fresh[id(seen)] = numbers[0]
        elif numbers[0] < self.fresh.get(id(seen), 0):
            seen.first, seen.example = Place(self.file, numbers[0]), example(values[0])
            self.fresh[id(seen)] = numbers[0]
        seen.count += len(values)

    def _integers(self, node: Node, values: Sequence[int], numbers: Sequence[int], _: Waiting) -> None:
        if min(values) >= LOW and max(values) <= HIGH:
            self._saw(node, "int", values, numbers)
            return
        fits = [LOW <= value <= HIGH for value in values]
        if any(fits):
            self._saw(node, "int", list(compress(values, fits)), list(compress(numbers, fits)))
        beyond = [not fit for fit in fits]
        self._saw(
            node, "integer beyond 64 bits", list(compress(values, beyond)), list(compress(numbers, beyond))
        )

    def _texts(self, node: Node, values: Sequence[str], numbers: Sequence[int], _: Waiting) -> None:
        self._saw(node, "string", values, numbers)
        node.timestamps += sum(map(is_timestamp, [text for text in values if text[:2] in _YEARS]))

    def _arrays(
        self, node: Node, values: Sequence[list[Any]], numbers: Sequence[int], waiting: Waiting
    ) -> None:
        self._saw(node, "array", values, numbers)
        flat = list(chain.from_iterable(values))
        if flat:
            at = list(chain.from_iterable(map(repeat, numbers, map(len, values))))
            waiting.append((node.item(), flat, at))

    def _nested(
        self, node: Node, values: Sequence[dict[str, Any]], numbers: Sequence[int], waiting: Waiting
    ) -> None:
        self._saw(node, "object", values, numbers)
        self._objects(node, values, numbers, waiting)

    def _objects(
        self, node: Node, values: Sequence[dict[str, Any]], numbers: Sequence[int], waiting: Waiting
    ) -> None:
        node.objects += len(values)
        shapes: dict[tuple[str, ...], list[int]] = {}
        for at, value in enumerate(values):
            shapes.setdefault(tuple(value), []).append(at)
        cells = sum(len(shape) * len(chosen) for shape, chosen in shapes.items())
        self.keys += cells
        if len(shapes) * 8 > len(values) and len(values) > 8:
            names = dict.fromkeys(chain.from_iterable(shapes))
            if len(names) * len(values) <= 8 * cells:
                self._by_name(node, names, values, numbers, waiting)
                return
        for shape, chosen in shapes.items():
            if len(chosen) == len(values):
                objects, at_lines = values, numbers
            else:
                objects, at_lines = [values[at] for at in chosen], [numbers[at] for at in chosen]
            columns = zip(*[value.values() for value in objects], strict=True)
            waiting.extend(
                (self._key(node, key, at_lines[0], position), column, at_lines)
                for position, (key, column) in enumerate(zip(shape, columns, strict=True))
            )

    def _by_name(
        self,
        node: Node,
        names: Iterable[str],
        values: Sequence[dict[str, Any]],
        numbers: Sequence[int],
        waiting: Waiting,
    ) -> None:
        """Columns of objects that hardly ever have the same keys, but mostly the same few."""
        for name in names:
            has = [name in value for value in values]
            column = [value[name] for value in compress(values, has)]
            at_lines = numbers if len(column) == len(values) else list(compress(numbers, has))
            holders = zip(compress(values, has), at_lines, strict=True)
            position = min(list(value).index(name) for value, line in holders if line == at_lines[0])
            waiting.append((self._key(node, name, at_lines[0], position), column, at_lines))

    def _key(self, node: Node, name: str, line: int, position: int) -> Node:
        """The path of a key that a line has at this position, perhaps as the first of its block."""
        is_new = name not in node.keys
        key = node.key(name)
        if is_new or (line, position) < self.fresh_keys.get(id(key), (0, 0)):
            self.fresh_keys[id(key)] = line, position
            key.position = position
        return key

    def _exact(
        self, lines: Sequence[bytes], numbers: Sequence[int]
    ) -> tuple[list[bytes], list[int], list[dict[str, Any]]]:
        """The lines that are records; the others are counted with their reason."""
        good: list[tuple[bytes, int, dict[str, Any]]] = []
        for number, line in zip(numbers, lines, strict=True):
            if not line or line.isspace():
                continue
            try:
                good.append((line, number, record(line)))
            except BadLine as bad:
                self.reject(str(bad).partition(":")[0], number, str(bad))
        return [line for line, _, _ in good], [number for _, number, _ in good], [value for *_, value in good]

    def _doubled(self, lines: Sequence[bytes], numbers: Sequence[int], records: Sequence[Any]) -> None:
        for line, number, value in zip(lines, numbers, records, strict=True):
            if may_repeat((line,), count_keys(value)):
                for key, lost in duplicates(line):
                    _add(self.doubled, key, Place(self.file, number), example(lost))

    _SPECIAL: Mapping[type, Callable[..., None]] = {
        int: _integers,
        str: _texts,
        list: _arrays,
        dict: _nested,
    }


Waiting = deque[tuple[Node, Sequence[Any], Sequence[int]]]


def _parsed(data: bytes, lines: Sequence[bytes]) -> list[dict[str, Any]] | None:
    """All lines at once, if they are all objects and no number in them needs care."""
    try:
        if _LONG in data.translate(_DIGITS):
            records = [record(line) if _is_long(line) else orjson.loads(line) for line in lines]
        else:
            records = list(map(orjson.loads, lines))
    except (orjson.JSONDecodeError, BadLine):
        return None
    return records if not records or set(map(type, records)) == {dict} else None


def _is_long(line: bytes) -> bool:
    return _LONG in line.translate(_DIGITS) and _BIG.search(line) is not None


def _add(into: dict[str, Seen], what: str, place: Place, text: str) -> None:
    seen = into.setdefault(what, Seen(0, place, text))
    seen.count += 1

"""How the records of a table look: which keys there are, how Arrow is to read each, where its values go.

A layout is made from what the exact way has met, so raw keys are known only after some records were walked. A
key has one kind of value here, the one that was met most; values of the other kinds are told by patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from trellis.engine.columnar.misfits import ANY, PRESENT, beginnings, element_beginning, misfit_pattern
from trellis.engine.exact.slots import Slot, TableWalk
from trellis.schema.model import DataType

_NOTHING: Final = pa.null()

_READ_AS: Final[Mapping[DataType, pa.DataType]] = {
    "text": pa.string(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "timestamp": pa.string(),
    "date": pa.string(),
}
CLASSES: Final[Mapping[pa.DataType, frozenset[type]]] = {
    pa.string(): frozenset({str}),
    pa.int64(): frozenset({int}),
    pa.float64(): frozenset({float, int}),
    pa.bool_(): frozenset({bool}),
}
"""What Arrow reads as each type."""


@dataclass(frozen=True)
class Node:
    """One raw key: where its values go and how Arrow is to read them. `misfits` are how others begin.

    A record that has a key whose node has no type does not go by columns.
    """

    key: str
    slot: Slot
    type: pa.DataType | None
    misfits: tuple[str, ...] = ()
    inner: tuple[Node, ...] = ()
    element: Node | None = None

    def patterns(self, outer: str | None = None) -> Iterator[str]:
        """The patterns of lines with values that this key and those below it do not take."""
        for begins in self.misfits:
            yield misfit_pattern(self.key, outer, begins)
        if self.type is None:
            return
        inside = self.key if pa.types.is_struct(self.type) else None
        for node in self.inner:
            yield from node.patterns(inside)


@dataclass(frozen=True)
class Layout:
    """How every record must look that goes by columns."""

    root: TableWalk
    nodes: tuple[Node, ...]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(_fields(self.nodes))

    @property
    def misfits(self) -> tuple[str, ...]:
        return tuple(pattern for node in self.nodes for pattern in node.patterns())


def _fields(nodes: Iterable[Node]) -> list[pa.Field]:
    return [pa.field(node.key, node.type) for node in nodes if node.type is not None]


def layout_of(root: TableWalk) -> Layout | None:
    """The layout of the records met so far; None where the table asks for a look at every record."""
    if not root.known or root.verdict is not None or not root.coerces:
        return None
    nodes = _nodes(root.slots, root)
    return Layout(root, nodes) if nodes else None


def _nodes(slots: Mapping[str, Slot], walk: TableWalk) -> tuple[Node, ...] | None:
    if walk.gives or walk.inherited or walk.hidden:
        return None
    return tuple(_node(key, slot, walk) for key, slot in slots.items())


def _node(key: str, slot: Slot, walk: TableWalk) -> Node:
    if walk.by_name.get(slot.name, slot) is not slot:  # another key has the name, and the last one counts
        return Node(key, slot, None, (PRESENT,))
    if slot.reserved or slot.excluded or slot.name == walk.keys.row_id:
        return Node(key, slot, _NOTHING, (ANY,))
    met: dict[str, int] = {}
    scalar = _scalar(key, slot, walk)
    if scalar is not None:
        accepted = CLASSES[scalar.type]
        met["scalar"] = sum(count for each, count in slot.classes.items() if each in accepted)
    if slot.objects:
        met["objects"] = slot.objects
    if slot.lists:
        met["lists"] = slot.lists
    for kind in sorted(met, key=met.__getitem__, reverse=True):
        if kind == "scalar":
            node = scalar
        else:
            node = _object(key, slot, walk) if kind == "objects" else _list(key, slot)
        if node is not None:
            return node
    return Node(key, slot, _NOTHING, (ANY,) if slot.classes or slot.objects or slot.lists else ())


def _scalar(key: str, slot: Slot, walk: TableWalk) -> Node | None:
    """The node of a key whose values go into a column that Arrow can fill; None where there is none."""
    if slot.column is None or slot.column.data_type is None or slot.column.data_type not in _READ_AS:
        return None
    type_ = pa.int64() if _is_mostly_whole_numbers(slot, walk) else _READ_AS[slot.column.data_type]
    accepted = CLASSES[type_]
    others = [each for each in (*slot.classes, *_containers(slot)) if each not in accepted]
    return Node(key, slot, type_, tuple(beginnings(others, accepted)))


def _is_mostly_whole_numbers(slot: Slot, walk: TableWalk) -> bool:
    """Whether most values of a text column are integers, which it takes as they are written."""
    if 2 * slot.classes.get(int, 0) <= walk.walked or slot.loss is not None or slot.coerce is None:
        return False
    return slot.column is not None and slot.column.data_type == "text" and slot.coerce(-7) == "-7"


def _containers(slot: Slot) -> Iterator[type]:
    if slot.objects:
        yield dict
    if slot.lists:
        yield list


def _object(key: str, slot: Slot, walk: TableWalk) -> Node | None:
    inner = _nodes(slot.inner, walk)
    if inner is None:
        return None
    others = (*slot.classes, *(each for each in _containers(slot) if each is not dict))
    return Node(key, slot, pa.struct(_fields(inner)), _scalars(slot, others), inner)


def _scalars(slot: Slot, classes: tuple[type, ...]) -> tuple[str, ...]:
    """How values begin that stand where an object or a list is expected; a column takes single values."""
    single = (str, int, bool) if slot.column is not None and not slot.classes else ()
    return tuple(dict.fromkeys(beginnings((*classes, *single))))


def _list(key: str, slot: Slot) -> Node | None:
    child = slot.child
    assert child is not None
    if child.verdict is not None or child.hidden or child.gives:
        return None
    if child.keys.from_columns or child.keys.of_item:
        return None
    others = _scalars(slot, (*slot.classes, *(each for each in _containers(slot) if each is not list)))
    if not child.known or not child.shapes:
        return Node(key, slot, pa.list_(_NOTHING), others)
    shape = max(child.shapes, key=child.shapes.__getitem__)
    others += tuple(element_beginning(each) for each in child.shapes if each != shape)
    if shape == "row":
        inner = _nodes(child.slots, child)
        if inner is None:
            return None
        return Node(key, slot, pa.list_(pa.struct(_fields(inner))), others, inner)
    slots = child.wrapped if shape == "list" else child.slots
    if shape not in slots:
        return None
    element = _node(shape, slots[shape], child)
    if element.type is None or pa.types.is_null(element.type):
        return None
    return Node(key, slot, pa.list_(element.type), others, element=element)

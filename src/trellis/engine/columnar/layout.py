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
from trellis.engine.exact.slots import FieldBinding, TableBuilder
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
    binding: FieldBinding
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

    root: TableBuilder
    nodes: tuple[Node, ...]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(_fields(self.nodes))

    @property
    def misfits(self) -> tuple[str, ...]:
        return tuple(pattern for node in self.nodes for pattern in node.patterns())


def _fields(nodes: Iterable[Node]) -> list[pa.Field]:
    return [pa.field(node.key, node.type) for node in nodes if node.type is not None]


def layout_of(root: TableBuilder) -> Layout | None:
    """The layout of the records met so far; None where the table asks for a look at every record."""
    if not root.in_schema or root.verdict is not None or not root.coerces:
        return None
    nodes = _nodes(root.bindings, root)
    return Layout(root, nodes) if nodes else None


def _nodes(bindings: Mapping[str, FieldBinding], builder: TableBuilder) -> tuple[Node, ...] | None:
    if builder.inherited_columns or builder.inherited or builder.excludes_row_id:
        return None
    return tuple(_node(key, binding, builder) for key, binding in bindings.items())


def _node(key: str, binding: FieldBinding, builder: TableBuilder) -> Node:
    if (
        builder.by_name.get(binding.name, binding) is not binding
    ):  # another key has the name, and the last one counts
        return Node(key, binding, None, (PRESENT,))
    if binding.reserved or binding.excluded or binding.name == builder.keys.row_id:
        return Node(key, binding, _NOTHING, (ANY,))
    met: dict[str, int] = {}
    scalar = _scalar(key, binding, builder)
    if scalar is not None:
        accepted = CLASSES[scalar.type]
        met["scalar"] = sum(count for each, count in binding.classes.items() if each in accepted)
    if binding.objects:
        met["objects"] = binding.objects
    if binding.lists:
        met["lists"] = binding.lists
    for kind in sorted(met, key=met.__getitem__, reverse=True):
        if kind == "scalar":
            node = scalar
        else:
            node = _object(key, binding, builder) if kind == "objects" else _list(key, binding)
        if node is not None:
            return node
    return Node(key, binding, _NOTHING, (ANY,) if binding.classes or binding.objects or binding.lists else ())


def _scalar(key: str, binding: FieldBinding, builder: TableBuilder) -> Node | None:
    """The node of a key whose values go into a column that Arrow can fill; None where there is none."""
    if binding.column is None or binding.column.data_type is None or binding.column.data_type not in _READ_AS:
        return None
    type_ = pa.int64() if _is_mostly_whole_numbers(binding, builder) else _READ_AS[binding.column.data_type]
    accepted = CLASSES[type_]
    others = [each for each in (*binding.classes, *_containers(binding)) if each not in accepted]
    return Node(key, binding, type_, tuple(beginnings(others, accepted)))


def _is_mostly_whole_numbers(binding: FieldBinding, builder: TableBuilder) -> bool:
    """Whether most values of a text column are integers, which it takes as they are written."""
    if (
        2 * binding.classes.get(int, 0) <= builder.row_count
        or binding.loss is not None
        or binding.coerce is None
    ):
        return False
    return binding.column is not None and binding.column.data_type == "text" and binding.coerce(-7) == "-7"


def _containers(binding: FieldBinding) -> Iterator[type]:
    if binding.objects:
        yield dict
    if binding.lists:
        yield list


def _object(key: str, binding: FieldBinding, builder: TableBuilder) -> Node | None:
    inner = _nodes(binding.inner, builder)
    if inner is None:
        return None
    others = (*binding.classes, *(each for each in _containers(binding) if each is not dict))
    return Node(key, binding, pa.struct(_fields(inner)), _scalars(binding, others), inner)


def _scalars(binding: FieldBinding, classes: tuple[type, ...]) -> tuple[str, ...]:
    """How values begin that stand where an object or a list is expected; a column takes single values."""
    single = (str, int, bool) if binding.column is not None and not binding.classes else ()
    return tuple(dict.fromkeys(beginnings((*classes, *single))))


def _list(key: str, binding: FieldBinding) -> Node | None:
    child = binding.child
    assert child is not None
    if child.verdict is not None or child.excludes_row_id or child.inherited_columns:
        return None
    if child.keys.from_columns or child.keys.of_item:
        return None
    others = _scalars(
        binding, (*binding.classes, *(each for each in _containers(binding) if each is not list))
    )
    if not child.in_schema or not child.element_shapes:
        return Node(key, binding, pa.list_(_NOTHING), others)
    shape = max(child.element_shapes, key=child.element_shapes.__getitem__)
    others += tuple(element_beginning(each) for each in child.element_shapes if each != shape)
    if shape == "row":
        inner = _nodes(child.bindings, child)
        if inner is None:
            return None
        return Node(key, binding, pa.list_(pa.struct(_fields(inner))), others, inner)
    bindings = child.wrapped if shape == "list" else child.bindings
    if shape not in bindings:
        return None
    element = _node(shape, bindings[shape], child)
    if element.type is None or pa.types.is_null(element.type):
        return None
    return Node(key, binding, pa.list_(element.type), others, element=element)

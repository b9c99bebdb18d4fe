"""The layout of a table's records: its keys, how Arrow reads each, and the column of its values.

A layout is made from what the exact path has met, so raw keys are known only after some records were
flattened. A key has one kind of value here, the most frequent; patterns find lines with values of other
kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from trellis.engine.columnar.misfits import NOT_NULL, PRESENT, list_start, misfit_pattern, value_starts
from trellis.engine.exact.slots import FieldBinding, TableBuilder
from trellis.schema.model import DataType

_NOTHING: Final = pa.null()

READ_AS: Final[Mapping[DataType, pa.DataType]] = {
    "text": pa.string(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "timestamp": pa.string(),
    "date": pa.string(),
}
"""What Arrow reads the values of a column as."""
ACCEPTED_CLASSES: Final[Mapping[pa.DataType, frozenset[type]]] = {
    pa.string(): frozenset({str}),
    pa.int64(): frozenset({int}),
    pa.float64(): frozenset({float, int}),
    pa.bool_(): frozenset({bool}),
}
"""The Python classes of the values that Arrow reads as each type."""
_NEW_KEYS_AS: Final[Mapping[type, pa.DataType]] = {str: pa.string(), int: pa.int64(), bool: pa.bool_()}
"""What Arrow reads the values of keys without a column as; among fractions integers would be lost."""


@dataclass(frozen=True)
class Node:
    """One raw key: the binding of its values, the type Arrow reads, and how other values start (`misfits`).

    A record that has a key whose node has no type takes the exact path.
    """

    key: str
    binding: FieldBinding
    type: pa.DataType | None
    misfits: tuple[str, ...] = ()
    inner: tuple[Node, ...] = ()
    element: Node | None = None

    def patterns(self, outer: str | None = None) -> Iterator[str]:
        """The patterns of lines with values that this key or a key below it does not take."""
        for value_start in self.misfits:
            yield misfit_pattern(self.key, outer, value_start)
        if self.type is None:
            return
        inside = self.key if pa.types.is_struct(self.type) else None
        for node in self.inner:
            yield from node.patterns(inside)


@dataclass(frozen=True)
class Layout:
    """The shape of the records that take the columnar path."""

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


def layout_of(root: TableBuilder, with_new_keys: bool = False) -> Layout | None:
    """The layout of the records met so far; None where every record has to take the exact path.

    `with_new_keys`: keys of the root table that have no column yet have the type of their values, too.
    """
    if not root.in_schema or root.verdict is not None or not root.coerces:
        return None
    nodes = _nodes(root.bindings, root, with_new_keys)
    return Layout(root, nodes) if nodes else None


def _nodes(
    bindings: Mapping[str, FieldBinding], builder: TableBuilder, with_new_keys: bool = False
) -> tuple[Node, ...] | None:
    if builder.inherited_columns or builder.inherited or builder.excludes_row_id:
        return None
    return tuple(_node(key, binding, builder, with_new_keys) for key, binding in bindings.items())


def _node(key: str, binding: FieldBinding, builder: TableBuilder, with_new_keys: bool = False) -> Node:
    if (
        builder.by_name.get(binding.name, binding) is not binding
    ):  # two keys share the column: only the exact path knows which counts
        return Node(key, binding, None, (PRESENT,))
    if binding.reserved or binding.excluded or binding.name == builder.keys.row_id:
        return Node(key, binding, _NOTHING, (NOT_NULL,))
    counts: dict[str, int] = {}
    scalar = _scalar_node(key, binding, builder)
    if scalar is None and with_new_keys and binding.column is None:
        scalar = _new_scalar_node(key, binding)
    if scalar is not None:
        accepted = ACCEPTED_CLASSES[scalar.type]
        counts["scalar"] = sum(count for class_, count in binding.classes.items() if class_ in accepted)
    if binding.objects:
        counts["objects"] = binding.objects
    if binding.lists:
        counts["lists"] = binding.lists
    for kind in sorted(counts, key=counts.__getitem__, reverse=True):
        if kind == "scalar":
            node = scalar
        else:
            node = (
                _object_node(key, binding, builder, with_new_keys)
                if kind == "objects"
                else _list_node(key, binding)
            )
        if node is not None:
            return node
    return Node(
        key, binding, _NOTHING, (NOT_NULL,) if binding.classes or binding.objects or binding.lists else ()
    )


def _scalar_node(key: str, binding: FieldBinding, builder: TableBuilder) -> Node | None:
    """The node of a key whose values Arrow can put into their column; None where it has no such column."""
    if binding.column is None or binding.column.data_type is None or binding.column.data_type not in READ_AS:
        return None
    type_ = pa.int64() if _is_mostly_integers(binding, builder) else READ_AS[binding.column.data_type]
    accepted = ACCEPTED_CLASSES[type_]
    misfits = [class_ for class_ in (*binding.classes, *_containers(binding)) if class_ not in accepted]
    return Node(key, binding, type_, tuple(value_starts(misfits, accepted)))


def _new_scalar_node(key: str, binding: FieldBinding) -> Node | None:
    """The node of a key without a column, for the most frequent class of its values."""
    class_ = max(binding.classes, key=binding.classes.__getitem__, default=None)
    if class_ is None or class_ not in _NEW_KEYS_AS:
        return None
    misfits = [other for other in (*binding.classes, *_containers(binding)) if other is not class_]
    return Node(key, binding, _NEW_KEYS_AS[class_], tuple(value_starts(misfits)))


def _is_mostly_integers(binding: FieldBinding, builder: TableBuilder) -> bool:
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


def _object_node(key: str, binding: FieldBinding, builder: TableBuilder, with_new_keys: bool) -> Node | None:
    inner = _nodes(binding.inner, builder, with_new_keys)
    if inner is None:
        return None
    misfits = (*binding.classes, *(class_ for class_ in _containers(binding) if class_ is not dict))
    return Node(key, binding, pa.struct(_fields(inner)), _scalar_starts(binding, misfits), inner)


def _scalar_starts(binding: FieldBinding, classes: tuple[type, ...]) -> tuple[str, ...]:
    """How values start that stand in place of an object or a list; a column may take single values."""
    column_classes = (str, int, bool) if binding.column is not None and not binding.classes else ()
    return tuple(dict.fromkeys(value_starts((*classes, *column_classes))))


def _list_node(key: str, binding: FieldBinding) -> Node | None:
    child = binding.child
    assert child is not None
    if child.verdict is not None or child.excludes_row_id or child.inherited_columns:
        return None
    if child.keys.from_columns or child.keys.of_item:
        return None
    misfits = _scalar_starts(
        binding, (*binding.classes, *(other for other in _containers(binding) if other is not list))
    )
    if not child.in_schema or not child.element_shapes:
        with_elements = tuple(map(list_start, child.element_shapes))
        return Node(key, binding, pa.list_(_NOTHING), misfits + with_elements)
    shape = max(child.element_shapes, key=child.element_shapes.__getitem__)
    misfits += tuple(list_start(other) for other in child.element_shapes if other != shape)
    if shape == "row":
        inner = _nodes(child.bindings, child)
        if inner is None:
            return None
        return Node(key, binding, pa.list_(pa.struct(_fields(inner))), misfits, inner)
    bindings = child.wrapped if shape == "list" else child.bindings
    if shape not in bindings:
        return None
    element = _node(shape, bindings[shape], child)
    if element.type is None or pa.types.is_null(element.type):
        return None
    return Node(key, binding, pa.list_(element.type), misfits, element=element)

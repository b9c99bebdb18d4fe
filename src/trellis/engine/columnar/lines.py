"""Records -> rows of every table, a whole block at a time: the fast path.

Arrow's JSON reader, given an explicit schema, is strict: a key that is not in the schema, a key given
twice, a value of another kind, an integer beyond 64 bits or a malformed line is an error. So a block
that it reads holds nothing that the schema has no place for, and its columns can be spread over the
tables without looking at a single value. Anything else is left to the exact path.

A layout is made from what the exact path has met, so raw keys are known only after a block was walked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from trellis.engine.arrow.types import arrow_type
from trellis.engine.exact.slots import Slot, TableWalk
from trellis.engine.staging.batches import Keyring, TableBatch, array_of
from trellis.schema.model import DataType

_NOTHING = pa.null()
_NEWLINE, _OPEN, _CLOSE = b"\n{}"


class NotClean(Exception):
    """The block holds something that only the exact path can place."""


@dataclass(frozen=True)
class Node:
    """One raw key: where its values go and how Arrow is to read them."""

    key: str
    slot: Slot
    type: pa.DataType
    inner: tuple[Node, ...] = ()
    element: Node | None = None


@dataclass(frozen=True)
class Layout:
    """How every record of a block must look."""

    root: TableWalk
    nodes: tuple[Node, ...]

    def read(self, data: bytes) -> pa.Table:
        """The block's records as one Arrow table. Raises NotClean."""
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        if not data.endswith(b"\n"):
            data += b"\n"
        return read_strictly(data, pa.schema([pa.field(n.key, n.type) for n in self.nodes]))

    def spread(self, records: pa.Table, data: bytes, keyring: Keyring) -> list[TableBatch]:
        """The rows of every table; `data` are the lines that the records were read from. Raises NotClean."""
        columns = [_one(records.column(at)) for at in range(records.num_columns)]
        items = _items(data) if self.root.keys.of_item else []
        return _Spread(keyring).root(self.root, self.nodes, columns, records.num_rows, items)


def _items(data: bytes) -> list[Any]:
    try:
        return [orjson.loads(line) for line in data.splitlines() if line]
    except orjson.JSONDecodeError:
        raise NotClean from None


def read_strictly(data: bytes, schema: pa.Schema, others: str = "error") -> pa.Table:
    """Lines of objects that hold what the schema says; `others` tells what becomes of other keys.

    Raises NotClean.
    """
    lines = _objects(data)
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            raise NotClean from None
    try:
        made = pj.read_json(
            pa.BufferReader(data),
            pj.ReadOptions(use_threads=False, block_size=len(data) + 1),
            pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others),
        )
    except (pa.ArrowException, UnicodeDecodeError):
        raise NotClean from None
    if made.num_rows != lines:
        raise NotClean
    return made


def _objects(data: bytes) -> int:
    """How many lines there are. Raises NotClean where one does not begin and end like an object."""
    raw = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(raw == _NEWLINE)
    whole = raw[0] == _OPEN and (raw[ends - 1] == _CLOSE).all() and (raw[ends[:-1] + 1] == _OPEN).all()
    if not whole:
        raise NotClean
    return len(ends)


def layout_of(root: TableWalk) -> Layout | None:
    """The layout of the records met so far; None where no one layout fits them."""
    if not root.known or root.verdict is not None:
        return None
    if not root.coerces:
        return None
    nodes = _nodes(root.slots, root)
    return Layout(root, nodes) if nodes else None


def _nodes(slots: Mapping[str, Slot], walk: TableWalk) -> tuple[Node, ...] | None:
    if walk.gives or walk.inherited or walk.hidden:
        return None
    made = []
    for key, slot in slots.items():
        node = _node(key, slot, walk)
        if node is None:
            return None
        made.append(node)
    return tuple(made)


def _node(key: str, slot: Slot, walk: TableWalk) -> Node | None:
    classes = slot.classes
    if slot.reserved or slot.excluded or slot.shared or slot.name == walk.keys.row_id:
        return None
    if slot.saw_inner or slot.child is not None:
        if classes or (slot.saw_inner and slot.child is not None):
            return None
        return _struct(key, slot, walk) if slot.saw_inner else _list(key, slot)
    column = slot.column
    if column is None or column.data_type is None:
        return None if classes else Node(key, slot, _NOTHING)
    accepts = _ACCEPTS.get(column.data_type)
    if accepts is None or not classes <= accepts[1]:
        return None if classes else Node(key, slot, _NOTHING)
    return Node(key, slot, accepts[0])


_ACCEPTS: Mapping[DataType, tuple[pa.DataType, set[type]]] = {
    "text": (pa.string(), {str}),
    "bigint": (pa.int64(), {int}),
    "double": (pa.float64(), {float, int}),
    "bool": (pa.bool_(), {bool}),
    "timestamp": (pa.string(), {str}),
    "date": (pa.string(), {str}),
}


def _struct(key: str, slot: Slot, walk: TableWalk) -> Node | None:
    inner = _nodes(slot.inner, walk)
    if inner is None:
        return None
    return Node(key, slot, pa.struct([pa.field(n.key, n.type) for n in inner]), inner)


def _list(key: str, slot: Slot) -> Node | None:
    child = slot.child
    assert child is not None
    if child.verdict is not None or child.hidden or child.gives:
        return None
    if child.keys.from_columns or child.keys.of_item:
        return None
    if not child.known or not child.shapes:
        return Node(key, slot, pa.list_(_NOTHING))
    if len(child.shapes) > 1:
        return None
    (shape,) = child.shapes
    if shape == "row":
        inner = _nodes(child.slots, child)
        if inner is None:
            return None
        return Node(key, slot, pa.list_(pa.struct([pa.field(n.key, n.type) for n in inner])), inner)
    slots = child.wrapped if shape == "list" else child.slots
    if set(slots) - {shape}:
        return None
    element = _node(shape, slots[shape], child)
    return None if element is None else Node(key, slot, pa.list_(element.type), element=element)


class _Spread:
    def __init__(self, keyring: Keyring) -> None:
        self.keyring = keyring
        self.batches: list[TableBatch] = []

    def root(
        self,
        walk: TableWalk,
        nodes: tuple[Node, ...],
        arrays: list[pa.Array],
        rows: int,
        items: Sequence[Any],
    ) -> list[TableBatch]:
        batch = TableBatch(walk.name, rows)
        raw: dict[str, pa.Array] = {}
        lists: list[tuple[Node, pa.Array]] = []
        self._columns(walk, nodes, arrays, batch, lists, raw)
        hashed = items
        if walk.keys.from_columns:
            if set(raw) != set(walk.keys.from_columns) or any(a.null_count for a in raw.values()):
                raise NotClean
            hashed = list(zip(*(raw[name].to_pylist() for name in walk.keys.from_columns), strict=True))
        self._finish(walk, batch, self.keyring.root(walk.place, walk.keys, rows, hashed, None))
        for node, array in lists:
            self._nested(walk, node, array)
        return self.batches

    def _nested(self, outer: TableWalk, node: Node, array: pa.Array) -> None:
        walk = node.slot.child
        assert walk is not None
        values = pc.list_flatten(array)
        if pa.types.is_null(values.type):
            if len(values):
                raise NotClean
            return
        if not len(values):
            return
        parents = pc.list_parent_indices(array).to_numpy(zero_copy_only=False)
        starts = np.searchsorted(parents, parents, side="left")
        indexes = np.arange(len(parents)) - starts
        batch = TableBatch(walk.name, len(values))
        lists: list[tuple[Node, pa.Array]] = []
        if node.element is not None:
            self._columns(walk, (node.element,), [values], batch, lists, {})
        else:
            self._columns(walk, node.inner, values.flatten(), batch, lists, {})
        above, keyring = parents.tolist(), self.keyring
        if walk.linked:
            filled = keyring.nested(
                walk.place, outer.place, walk.keys, walk.name, above, indexes.tolist(), None
            )
        else:
            tops = keyring.tops(outer.place, above)
            filled = keyring.root(walk.place, walk.keys, len(above), (), None, tops)
        self._finish(walk, batch, filled)
        for inner, each in lists:
            self._nested(walk, inner, each)

    def _columns(
        self,
        walk: TableWalk,
        nodes: tuple[Node, ...],
        arrays: list[pa.Array],
        batch: TableBatch,
        lists: list[tuple[Node, pa.Array]],
        raw: dict[str, pa.Array],
    ) -> None:
        for node, array in zip(nodes, arrays, strict=True):
            if pa.types.is_null(node.type):
                continue
            if pa.types.is_struct(node.type):
                self._columns(walk, node.inner, array.flatten(), batch, lists, raw)
            elif pa.types.is_list(node.type):
                lists.append((node, array))
            else:
                slot = node.slot
                assert (
                    slot.column is not None and slot.column.data_type is not None and walk.table is not None
                )
                if slot.required and array.null_count:
                    raise NotClean
                if slot.name in walk.keys.from_columns:
                    raw[slot.name] = array
                try:
                    fitted = _FIT[slot.column.data_type](array)
                    batch.columns[slot.name] = fitted.cast(arrow_type(slot.column))
                except pa.ArrowException:
                    raise NotClean from None

    def _finish(self, walk: TableWalk, batch: TableBatch, filled: Mapping[str, Any]) -> None:
        table = walk.table
        assert table is not None
        if any(c.name in walk.required and c.name not in batch.columns for c in table.complete_columns):
            raise NotClean
        for name, values in filled.items():
            batch.columns[name] = array_of(table, table.columns[name], values)
        self.batches.append(batch)


def _as_is(array: pa.Array) -> pa.Array:
    return array


def _finite(array: pa.Array) -> pa.Array:
    if pc.all(pc.is_finite(array)).as_py() is False:
        raise NotClean
    return array


def _instants(array: pa.Array) -> pa.Array:
    """ISO date-times of one kind, all with an offset or all without; text without one is UTC."""
    shortest = pc.min(pc.utf8_length(array)).as_py()
    if shortest is None:
        return pa.nulls(len(array), pa.timestamp("us", "UTC"))
    if shortest < len("2024-01-01T00:00"):
        raise NotClean
    try:
        return array.cast(pa.timestamp("us", "UTC"))
    except pa.ArrowInvalid:
        return pc.assume_timezone(array.cast(pa.timestamp("us")), "UTC")


def _days(array: pa.Array) -> pa.Array:
    lengths = pc.min_max(pc.utf8_length(array)).as_py()
    if lengths["min"] not in (None, 10) or lengths["max"] not in (None, 10):
        raise NotClean
    return array.cast(pa.date32())


_FIT: Mapping[DataType, Callable[[pa.Array], pa.Array]] = {
    "text": _as_is,
    "bigint": _as_is,
    "double": _finite,
    "bool": _as_is,
    "timestamp": _instants,
    "date": _days,
}


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

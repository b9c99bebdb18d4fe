"""Lines that wait for a column as lines before them do.

A key that appears late, and then often, would send all of its lines down the exact path, only to learn what
the first of them told. Here such lines are read under the kinds that were met; those that are proven to hold
nothing else new wait without being flattened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.layout import Layout, Node, layout_of
from trellis.engine.columnar.parts import build_in_parts
from trellis.engine.columnar.rows import find_misses
from trellis.engine.columnar.strict import MIN_SPLIT, Indexes, StrictReader, single_chunk
from trellis.evolution.observe import CellKey
from trellis.evolution.scalars.kinds import Kind


class NewKeyReader:
    """Finds the lines whose only news are values under keys without a column.

    `detect` tells the kind of a value in a new column.
    """

    def __init__(self, layout: Layout, with_new_keys: Layout, detect: Callable[[Any], Kind]) -> None:
        self.layout = layout
        self.nodes = with_new_keys.nodes
        self.reader = StrictReader(with_new_keys.schema, with_new_keys.misfits)
        self.detect = detect

    @classmethod
    def of(cls, layout: Layout, detect: Callable[[Any], Kind]) -> NewKeyReader | None:
        """The reader beside a layout; None where no key without a column was met."""
        with_new_keys = layout_of(layout.root, with_new_keys=True)
        if with_new_keys is None or with_new_keys.schema == layout.schema:
            return None
        return cls(layout, with_new_keys, detect)

    def read(self, lines: pa.BinaryArray, chosen: Indexes) -> dict[CellKey, Indexes]:
        """The chosen lines that hold nothing new but such values, by what they would be observed as."""
        read = self.reader.read(lines, chosen)
        columns, known = [single_chunk(column) for column in read.records.columns], read.records
        for at, (column, field) in enumerate(zip(columns, self.layout.schema, strict=True)):
            if column.type != field.type:
                known = known.set_column(at, field, _narrowed(column, field.type))

        def find(records: pa.Table, indexes: Indexes) -> Indexes:
            return indexes[find_misses(self.layout, records)]

        fits = ~np.isin(read.lines, build_in_parts(find, known, read.lines, MIN_SPLIT))
        cells: dict[CellKey, Indexes] = {}
        for node, values in _new_values(self.nodes, columns):
            for kind, rows in self._rows_by_kind(values.filter(pa.array(fits))):
                cells[CellKey(self.layout.root.name, node.binding.name, kind)] = read.lines[fits][rows]
        return cells

    def _rows_by_kind(self, values: pa.Array) -> Iterator[tuple[Kind, Indexes]]:
        """The rows with a value, by its kind."""
        encoded = values.dictionary_encode()
        numbers = dict[Kind, int]()
        kind_numbers = [
            numbers.setdefault(self.detect(value), len(numbers)) for value in encoded.dictionary.to_pylist()
        ]
        of_rows = np.array([*kind_numbers, -1])[pc.fill_null(encoded.indices, -1).to_numpy()]
        for kind, number in numbers.items():
            yield kind, np.flatnonzero(of_rows == number)


def _new_values(nodes: Sequence[Node], arrays: Sequence[pa.Array]) -> Iterator[tuple[Node, pa.Array]]:
    """The values of the keys without a column."""
    present = [node for node in nodes if node.type is not None]
    for node, array in zip(present, arrays, strict=True):
        if pa.types.is_struct(node.type):
            yield from _new_values(node.inner, array.flatten())
        elif node.binding.column is None and not (pa.types.is_null(node.type) or pa.types.is_list(node.type)):
            yield node, array


def _narrowed(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """An array without the values of keys that have no column."""
    if array.type == type_:
        return array
    if not (pa.types.is_struct(type_) and pa.types.is_struct(array.type)):
        return pa.nulls(len(array), type_)
    members = [_narrowed(array.field(field.name), field.type) for field in type_]
    return pa.StructArray.from_arrays(members, fields=list(type_), mask=array.is_null())

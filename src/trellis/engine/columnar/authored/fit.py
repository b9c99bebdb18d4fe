"""Columns of an authored table by kernels: one value each or lists, and such as the column may hold."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.authored.casts import WayOf, inside, way_of
from trellis.engine.columnar.authored.chain import times_of
from trellis.engine.columnar.strict import FastPathMiss
from trellis.evolution.vector import Cell


def fitted(
    array: pa.Array, cell: Cell, wanted: pa.DataType, zone: str, find: WayOf = way_of
) -> pa.Array | None:
    """The values of a column that holds one value each."""
    if array.null_count == len(array):
        return pa.nulls(len(array), wanted)
    way = find(array.type, cell.target)
    made = None if way is None else way(array, cell, zone)
    if made is None:
        return None
    checked(made, cell)
    return made if made.type == wanted else made.cast(wanted)


def listed(
    array: pa.Array, cell: Cell, wanted: pa.DataType, zone: str, find: WayOf = way_of
) -> pa.Array | None:
    """The values of a column that holds lists: nulls in them are left out, and empty ones are NULL."""
    if array.null_count == len(array):
        return pa.nulls(len(array), wanted)
    if not pa.types.is_list(array.type):
        values = fitted(array, cell, wanted.value_type, zone, find)
        if values is None:
            return None
        offsets = pa.array(np.arange(len(array) + 1, dtype=np.int32))
        made = pa.ListArray.from_arrays(offsets, values, type=wanted)
        return pc.if_else(pc.is_null(values), pa.scalar(None, wanted), made) if values.null_count else made
    if pa.types.is_null(array.type.value_type):
        return pa.nulls(len(array), wanted)
    values = fitted(pc.list_flatten(array), cell, wanted.value_type, zone, find)
    if values is None:
        return None
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    if values.null_count:
        valid = values.is_valid().to_numpy(zero_copy_only=False)
        ends = np.concatenate(([0], np.cumsum(valid)))
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        lengths = ends[bounds[1:]] - ends[bounds[:-1]]
        values = values.drop_null()
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    empty = pa.array(lengths == 0)
    made = pa.ListArray.from_arrays(pa.array(offsets), values, type=wanted)
    return pc.if_else(empty, pa.scalar(None, wanted), made) if pc.any(empty).as_py() else made


def checked(made: pa.Array, cell: Cell) -> pa.Array:
    """The values, which are such as the column may hold. Raises FastPathMiss."""
    if cell.within is not None and cell.pattern is not None:
        times = times_of(made, cell.pattern)
        if times is None:
            raise FastPathMiss
        inside(times, cell.within)
    elif cell.within is not None:
        inside(made.cast(pa.int64()), cell.within)
    elif cell.check is not None and not all(map(cell.check, pc.unique(made).drop_null().to_pylist())):
        raise FastPathMiss
    return made

"""Columns of an authored table by kernels: one value each or lists, and such as the column may hold."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.authored.casts import KernelFinder, check_bounds, json_kernel
from trellis.engine.columnar.authored.chain import times_of
from trellis.engine.columnar.strict import FastPathMiss
from trellis.evolution.columnar_transform import Cell


def fit_values(
    array: pa.Array, cell: Cell, arrow: pa.DataType, zone: str, find_kernel: KernelFinder = json_kernel
) -> pa.Array | None:
    """The values of a column that holds one value each."""
    if array.null_count == len(array):
        return pa.nulls(len(array), arrow)
    convert = find_kernel(array.type, cell.target)
    converted = None if convert is None else convert(array, cell, zone)
    if converted is None:
        return None
    check_values(converted, cell)
    return converted if converted.type == arrow else converted.cast(arrow)


def fit_lists(
    array: pa.Array, cell: Cell, arrow: pa.DataType, zone: str, find_kernel: KernelFinder = json_kernel
) -> pa.Array | None:
    """The values of a column that holds lists: nulls in them are left out, and empty ones are NULL."""
    if array.null_count == len(array):
        return pa.nulls(len(array), arrow)
    if not pa.types.is_list(array.type):
        values = fit_values(array, cell, arrow.value_type, zone, find_kernel)
        if values is None:
            return None
        offsets = pa.array(np.arange(len(array) + 1, dtype=np.int32))
        lists = pa.ListArray.from_arrays(offsets, values, type=arrow)
        return pc.if_else(pc.is_null(values), pa.scalar(None, arrow), lists) if values.null_count else lists
    if pa.types.is_null(array.type.value_type):
        return pa.nulls(len(array), arrow)
    values = fit_values(pc.list_flatten(array), cell, arrow.value_type, zone, find_kernel)
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
    lists = pa.ListArray.from_arrays(pa.array(offsets), values, type=arrow)
    return pc.if_else(empty, pa.scalar(None, arrow), lists) if pc.any(empty).as_py() else lists


def check_values(values: pa.Array, cell: Cell) -> pa.Array:
    """The values, which are such as the column may hold. Raises FastPathMiss."""
    if cell.within is not None and cell.pattern is not None:
        times = times_of(values, cell.pattern)
        if times is None:
            raise FastPathMiss
        check_bounds(times, cell.within)
    elif cell.within is not None:
        numbers = values if pa.types.is_decimal(values.type) else values.cast(pa.int64())
        check_bounds(numbers, cell.within)
    elif cell.check is not None and not all(map(cell.check, pc.unique(values).drop_null().to_pylist())):
        raise FastPathMiss
    return values

"""Rows with types as columns: what the program would find in each row, as arrays or as Python values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.authored.lines import has_key
from trellis.engine.columnar.authored.typed_casts import typed_kernel
from trellis.engine.columnar.strict import Indexes
from trellis.engine.columnar.typed.kinds import Kinds, marked_rows
from trellis.evolution.columnar_transform import ColumnarTransform, at
from trellis.evolution.projection import Path


class BatchColumns:
    """The rows of a batch that is regular."""

    kernel_finder = staticmethod(typed_kernel)

    def __init__(self, batch: pa.RecordBatch, program: ColumnarTransform, kinds: Kinds) -> None:
        self.size = batch.num_rows
        self.program = program
        self.kinds = kinds
        self.arrays: dict[Path, pa.Array] = {}
        self.vague: set[Path] = set()
        """Where only Python knows which keys stand below, and which values are null."""
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            self._add((name,), column)

    def _add(self, path: Path, array: pa.Array) -> pa.Array:
        array = ordinary(array)
        if _is.is_struct(array.type) and array.type.num_fields and path[0] in self.program.used:
            names = [member.name for member in array.type]
            inner = [
                self._add((*path, name), member) for name, member in zip(names, array.flatten(), strict=True)
            ]
            array = pa.StructArray.from_arrays(inner, names, mask=array.is_null())
        elif _is_vague(array.type):
            self.vague.add(path)
        self.arrays[path] = array
        return array

    def is_known(self, path: Path) -> bool:
        return path in self.arrays or self._above(path) is None

    def array(self, path: Path) -> pa.Array | None:
        return self.arrays.get(path)

    def values(self, path: Path, start: int, stop: int) -> Sequence[Any]:
        above = self._above(path)
        if path in self.arrays:
            column = pa.record_batch([self.arrays[path].slice(start, stop - start)], [""])
            return [row[""] for row in marked_rows(column, self.kinds)]
        if above is not None:
            return [at(record, path[len(above) :]) for record in self.values(above, start, stop)]
        return [None] * (stop - start)

    def has_key_with(self, joint: str) -> bool:
        used = self.program.used
        if any(joint in path[-1] for path in self.arrays if path[0] in used):
            return True
        return any(
            has_key(value, joint)
            for path in self.vague
            if path[0] in used
            for value in self.values(path, 0, self.size)
        )

    def rows_with_unused_keys(self) -> Sequence[int]:
        has_unused = any(path[0] not in self.program.used for path in self.arrays)
        return range(self.size) if has_unused else ()

    def unused(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for path, array in self.arrays.items():
            if path[0] in self.program.used:
                continue
            if path in self.vague:
                count = self.size - self.values(path, 0, self.size).count(None)
            else:
                count = self.size - array.null_count
            if count:
                counts[self.program.unused(path[0])] = count
        return counts

    def unused_values(self) -> Sequence[Mapping[str, Any]]:
        names = [path[0] for path in self.arrays if path[0] not in self.program.used]
        if not names:
            return [{}] * self.size
        unused = pa.record_batch([self.arrays[(name,)] for name in names], names)
        return [
            {name: value for name, value in row.items() if value is not None}
            for row in marked_rows(unused, self.kinds)
        ]

    def rows_of_other_numbers(self, path: Path) -> Indexes:
        """Typed values are what their type says."""
        return np.arange(0)

    def _above(self, path: Path) -> Path | None:
        """The vague place above a path."""
        return next((path[:end] for end in range(1, len(path)) if path[:end] in self.vague), None)


def ordinary(array: pa.Array) -> pa.Array:
    """The same values in the most common of the types that Python does not tell apart.

    >>> ordinary(pa.array(["a", "a"], pa.large_string()).dictionary_encode()).type
    DataType(string)
    """
    try:
        if _is.is_dictionary(array.type):
            values = ordinary(array.dictionary)
            return ordinary(pa.DictionaryArray.from_arrays(array.indices, values).dictionary_decode())
        if _is.is_run_end_encoded(array.type):
            return ordinary(pc.run_end_decode(array))
        common_type = _ordinary_type(array.type)
        return array if common_type == array.type else array.cast(common_type)
    except pa.ArrowException:
        return array


def _is_vague(type_: pa.DataType) -> bool:
    return isinstance(type_, pa.BaseExtensionType) or any(is_one(type_) for is_one in _INDISTINCT)


def _ordinary_type(type_: pa.DataType) -> pa.DataType:
    if _is.is_dictionary(type_):
        return _ordinary_type(type_.value_type)
    if _is.is_large_string(type_) or _is.is_string_view(type_):
        return pa.string()
    if _is.is_large_binary(type_) or _is.is_binary_view(type_) or _is.is_fixed_size_binary(type_):
        return pa.binary()
    if _is.is_float16(type_):
        return pa.float32()
    if any(is_one(type_) for is_one in FLAT):
        return pa.list_(_ordinary_type(type_.value_type))
    return type_


_is = pa.types
FLAT: Final = (_is.is_list, _is.is_large_list, _is.is_fixed_size_list)
"""Lists that Arrow flattens and casts without fault; it does not so with list views."""
_INDISTINCT: Final = (_is.is_map, _is.is_union, _is.is_dictionary, _is.is_run_end_encoded)

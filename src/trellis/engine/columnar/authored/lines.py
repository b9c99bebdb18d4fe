"""Lines as columns: Arrow reads them under a schema made from the values that a sample showed.

It is strict, so what it reads holds nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.authored.casts import json_kernel
from trellis.engine.columnar.authored.shape import Shape
from trellis.engine.columnar.strict import FastPathMiss, Indexes, StrictRead, StrictReader, single_chunk
from trellis.engine.input.lines import BadLine, parse
from trellis.evolution.columnar_transform import ColumnarTransform, at
from trellis.evolution.projection import Path

SAMPLE: Final = 256
"""Lines whose values are looked at."""

TextsOf = Callable[[int, int], Sequence[bytes]]
"""The lines from one record up to another."""


class LineReader:
    """Reads lines for a transform, under the types that sample lines showed."""

    def __init__(self, program: ColumnarTransform) -> None:
        self.program = program
        self.shapes: dict[str, Shape] = {}
        self.python_only: frozenset[str] = frozenset()
        """Keys at the top that are read by Python only, as their objects are maps."""
        self.reader: StrictReader | None = None

    def learn(self, lines: Iterable[bytes]) -> bool:
        """Learn what stands under the used keys of sample lines; whether lines are read otherwise now."""
        for line in lines:
            try:
                record = parse(line)
            except BadLine:
                continue
            if isinstance(record, dict):
                for key in record.keys() & self.program.used:
                    self.shapes.setdefault(key, Shape()).add(record[key])
        self.python_only = frozenset(key for key, shape in self.shapes.items() if shape.has_map)
        known = {key: shape for key, shape in sorted(self.shapes.items()) if key not in self.python_only}
        schema = pa.schema([pa.field(key, shape.type) for key, shape in known.items()])
        misfits = tuple(pattern for key, shape in known.items() for pattern in shape.misfits(key))
        if not known and (self.program.used or self.program.remainder is None):
            return False
        before = self.reader
        if before is not None and before.schema.equals(schema) and before.misfits == misfits:
            return False
        self.reader = StrictReader(
            schema,
            misfits,
            ignores_unknown_keys=bool(self.python_only),
            is_free=lambda key: key not in self.program.used and not self.program.closed,
        )
        return True

    def read(self, lines: pa.BinaryArray, indexes: Indexes) -> StrictRead:
        assert self.reader is not None
        return self.reader.read(lines, indexes)


class LineColumns:
    """The columns of lines that Arrow has read; `texts` gives the lines."""

    kernel_finder = staticmethod(json_kernel)

    def __init__(self, reader: LineReader, read: pa.Table, texts: TextsOf) -> None:
        self.size = read.num_rows
        self.texts = texts
        self.program = reader.program
        self.python_only = reader.python_only
        self.arrays: dict[Path, pa.Array] = {}
        self.unused_keys: dict[str, pa.Array] = {}
        stack: list[tuple[Path, pa.Array]] = []
        for name, column in zip(read.column_names, map(single_chunk, read.columns), strict=True):
            if name in self.program.used:
                stack.append(((name,), column))
            else:
                self.unused_keys[name] = column
        while stack:
            path, array = stack.pop()
            self.arrays[path] = array
            if pa.types.is_struct(array.type):
                stack += [
                    ((*path, inner.name), member)
                    for inner, member in zip(array.type, array.flatten(), strict=True)
                ]

    def is_known(self, path: Path) -> bool:
        return path[0] not in self.python_only

    def array(self, path: Path) -> pa.Array | None:
        return self.arrays.get(path)

    def values(self, path: Path, start: int, stop: int) -> Sequence[Any]:
        """The values as Python has them from JSON; of objects only the line knows which keys are there."""
        array = self.arrays.get(path)
        if not self.is_known(path) or (array is not None and _needs_python(array.type)):
            return [at(item, path) for item in self._items(start, stop)]
        values: list[Any] = [None] * (stop - start) if array is None else array[start:stop].to_pylist()
        return values

    def rows_of_other_numbers(self, path: Path) -> Indexes:
        """Of whole numbers, and of those beyond a double, only the line says what they are."""
        array = self.arrays[path]
        if not pa.types.is_floating(array.type):
            return np.arange(0)
        is_whole = pc.fill_null(pc.equal(array, pc.trunc(array)), False)
        lines = self.texts(0, self.size)
        rows = np.flatnonzero(is_whole.to_numpy(zero_copy_only=False)).tolist()
        others = [row for row in rows if at(_parsed(lines[row]), path).__class__ is not float]
        return np.array(others, np.int64)

    def _items(self, start: int, stop: int) -> list[Any]:
        """Some of the records as Python has them. Raises FastPathMiss."""
        if stop - start < self.size // 2:
            return [_parsed(line) for line in self.texts(start, stop)]
        return self.items[start:stop]

    @cached_property
    def items(self) -> list[Any]:
        """The records as Python has them. Raises FastPathMiss."""
        return [_parsed(line) for line in self.texts(0, self.size)]

    def has_key_with(self, joint: str) -> bool:
        if any(joint in path[-1] for path in self.arrays) or any(joint in key for key in self.unused_keys):
            return True
        return bool(self.python_only) and any(has_key(item, joint) for item in self.items)

    def rows_with_unused_keys(self) -> Sequence[int]:
        """Where no key is read by Python only, the reader has set such lines aside."""
        used = self.program.used
        return [row for row, item in enumerate(self.items) if item.keys() - used] if self.python_only else ()

    def unused(self) -> Counter[str]:
        if self.python_only:
            counts = Counter(
                key
                for item in self.items
                for key, value in item.items()
                if key not in self.program.used and value is not None
            )
        else:
            counts = Counter({key: pc.sum(held).as_py() or 0 for key, held in self.unused_keys.items()})
        return Counter({self.program.unused(key): count for key, count in counts.items() if count})

    def unused_values(self) -> Sequence[Mapping[str, Any]]:
        """Of a line without such keys nothing is parsed."""
        rows: Iterable[int] = range(self.size)
        if not self.python_only:
            has_unused = np.zeros(self.size, np.bool_)
            for held in self.unused_keys.values():
                has_unused |= pc.fill_null(held, False).to_numpy(zero_copy_only=False)
            rows = np.flatnonzero(has_unused).tolist()
        values: list[Mapping[str, Any]] = [{}] * self.size
        lines = self.texts(0, self.size)
        for row in rows:
            record = _parsed(lines[row], verbatim=True)
            values[row] = {
                key: value
                for key, value in record.items()
                if key not in self.program.used and value is not None
            }
        return values


def _parsed(line: bytes, verbatim: bool = False) -> Any:
    try:
        return parse(line, verbatim=verbatim)
    except BadLine:
        raise FastPathMiss from None


def _needs_python(type_: pa.DataType) -> bool:
    """Whether the lines say more: which keys an object has, which of the numbers are integers."""
    if pa.types.is_list(type_):
        return _needs_python(type_.value_type)
    return bool(pa.types.is_struct(type_) or pa.types.is_floating(type_))


def has_key(value: Any, joint: str) -> bool:
    """Whether a key of objects, one in the other, holds a text."""
    return isinstance(value, dict) and any(
        joint in key or has_key(inner, joint) for key, inner in value.items()
    )

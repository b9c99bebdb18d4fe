"""Lines as columns: Arrow reads them under a schema made from the types that a first block showed.

It is strict, so what it reads holds nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import orjson
import pyarrow as pa

from trellis.engine.columnar.authored.casts import json_kernel
from trellis.engine.columnar.authored.columns import ColumnReader, ReadResult
from trellis.engine.columnar.sampled_types import types_in
from trellis.engine.columnar.strict import FastPathMiss, UnknownKeys, is_utf8, read_table, single_chunk
from trellis.engine.input.lines import BadLine, parse
from trellis.evolution.columnar_transform import at
from trellis.evolution.projection import Path

SAMPLE: Final = 256
"""Lines of a block whose types are read."""


class LineReader:
    """Reads lines for a column reader, under the types that sample lines showed."""

    def __init__(self, vectors: ColumnReader) -> None:
        self.vectors = vectors
        self.used = vectors.program.used
        self.types: dict[Path, pa.DataType] = {}
        self.python_only: set[str] = set()
        """Keys at the top that are read by Python only, as their values are objects, or of several kinds."""
        self.schema: pa.Schema | None = None
        self.paths: frozenset[Path] = frozenset()
        """The paths whose types are known."""

    def learn(self, lines: Sequence[bytes]) -> None:
        """Learn the types of values from a sample of lines."""
        sample = [line for line in lines[:: max(len(lines) // SAMPLE, 1)] if line and not line.isspace()]
        types = types_in(sample)
        for path, type_ in types.items():
            known = self.types.get(path)
            if known is None or pa.types.is_null(known):
                self.types[path] = type_
            elif known != type_ and not pa.types.is_null(type_):
                self.python_only.add(path[0])
        tops = {path[0] for path in types}
        for line in sample:
            try:
                keys = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if isinstance(keys, dict):
                self.python_only.update(key for key in keys if key in self.used and key not in tops)
        self.schema = self._schema()

    def read(self, lines: Sequence[bytes]) -> ReadResult:
        """The rows of some lines. Raises FastPathMiss."""
        if self.schema is None or not lines:
            raise FastPathMiss
        others: UnknownKeys = "ignore" if self.python_only else "infer"
        if not all(map(is_utf8, lines)):
            raise FastPathMiss
        read = read_table(pa.py_buffer(b"\n".join(lines) + b"\n"), self.schema, len(lines), others)
        return self.vectors.read(_LineColumns(self, read, lines))

    def _schema(self) -> pa.Schema | None:
        names = dict.fromkeys(path[0] for path in self.types if path[0] in self.used)
        fields = [
            pa.field(name, _type_at(self.types, (name,))) for name in names if name not in self.python_only
        ]
        self.paths = frozenset(_paths((), fields))
        return pa.schema(fields) if fields else None


class _LineColumns:
    """The columns of lines that Arrow has read."""

    kernel_finder = staticmethod(json_kernel)
    patient = False

    def __init__(self, reader: LineReader, read: pa.Table, lines: Sequence[bytes]) -> None:
        self.size = read.num_rows
        self.lines = lines
        self.program = reader.vectors.program
        self.python_only = reader.python_only
        self.arrays: dict[Path, pa.Array] = {}
        self._lists: dict[Path, list[Any]] = {}
        self.arrays_of = frozenset(read.schema.names)
        stack: list[tuple[Path, pa.Array]] = [
            ((name,), single_chunk(read.column(name))) for name in read.schema.names
        ]
        while stack:
            path, array = stack.pop()
            if array.null_count < len(array) and path[0] in reader.used and path not in reader.paths:
                raise FastPathMiss  # its type is one that Arrow guessed
            self.arrays[path] = array
            if pa.types.is_struct(array.type):
                stack += [
                    ((*path, inner.name), member)
                    for inner, member in zip(array.type, array.flatten(), strict=True)
                ]

    def is_known(self, path: Path) -> bool:
        if self.python_only and path[0] not in self.arrays_of:
            return path[0] not in self.keys
        return True

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys at the top of any record."""
        return frozenset().union(*self.items)

    def array(self, path: Path) -> pa.Array | None:
        return self.arrays.get(path)

    def values(self, path: Path) -> Sequence[Any]:
        """The values as Python has them from JSON; of objects only the line knows which keys are there."""
        if path not in self._lists:
            array = self.arrays.get(path)
            if not self.is_known(path) or (array is not None and _needs_python(array.type)):
                self._lists[path] = [at(item, path) for item in self.items]
            else:
                self._lists[path] = [None] * self.size if array is None else array.to_pylist()
        return self._lists[path]

    @cached_property
    def items(self) -> list[Any]:
        """The records as Python has them. Raises FastPathMiss."""
        try:
            return [parse(line) for line in self.lines]
        except BadLine:
            raise FastPathMiss from None

    def has_key_with(self, joint: str) -> bool:
        if any(joint in path[-1] for path in self.arrays):
            return True
        return bool(self.python_only) and any(has_key(item, joint) for item in self.items)

    def unused(self) -> Counter[str]:
        counts_by_message: Counter[str] = Counter()
        used, message_of = self.program.used, self.program.unused
        if self.python_only:
            counts = Counter(
                key
                for item in self.items
                for key, value in item.items()
                if key not in used and value is not None
            )
            counts_by_message.update({message_of(key): count for key, count in counts.items()})
            return counts_by_message
        for path, array in self.arrays.items():
            if len(path) == 1 and path[0] not in used and array.null_count < len(array):
                counts_by_message[message_of(path[0])] = len(array) - array.null_count
        return counts_by_message


def _type_at(types: Mapping[Path, pa.DataType], path: Path) -> pa.DataType:
    child_keys = [
        known_path[-1]
        for known_path in types
        if len(known_path) == len(path) + 1 and known_path[: len(path)] == path
    ]
    if child_keys:
        return pa.struct([pa.field(name, _type_at(types, (*path, name))) for name in child_keys])
    return types[path] if path in types else pa.null()


def _paths(parent_path: Path, fields: Iterable[pa.Field]) -> Iterator[Path]:
    for field in fields:
        path = (*parent_path, field.name)
        yield path
        if pa.types.is_struct(field.type):
            yield from _paths(path, field.type)


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

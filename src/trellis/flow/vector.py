"""Blocks of lines -> rows of an authored table, column by column.

Arrow reads the lines under a schema made from the types that a first block showed; it is strict, so what it
reads holds nothing else. A column goes through Arrow's kernels where `vector_casts.py` has one for it, else
its values go through the program's `each`, one column at a time. A value that is special sends its lines
back: they are halved until only few are left, and these go through the program record by record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from trellis.evolution.recipe import Path
from trellis.evolution.vector import Cell, Derived, Special, VectorProgram, at
from trellis.flow.arrow_types import arrow_type
from trellis.flow.batches import TableBatch
from trellis.flow.by_recipe import seen_in
from trellis.flow.columnar import NotClean, read_strictly
from trellis.flow.lines import BadLine, parse
from trellis.flow.text import nested_text
from trellis.flow.vector_casts import fitted, listed
from trellis.flow.vector_chain import chained
from trellis.schema.model import Column, Table

SAMPLE: Final = 256
"""Lines of a block that is not clean that are looked at for their types."""


@dataclass
class Read:
    """The rows of clean lines, and what is to be counted of them."""

    batch: TableBatch
    records: int
    dropped: int = 0
    oddities: Counter[str] = field(default_factory=Counter)


class Vectors:
    """Reads the lines of a table whose schema was authored."""

    def __init__(self, table: Table, program: VectorProgram) -> None:
        self.table = table
        self.program = program
        self.cells = [(cell, table.columns[cell.column]) for cell in program.cells]
        self.types: dict[Path, pa.DataType] = {}
        self.loose: set[str] = set()
        """Keys at the top that are read by Python only, as their values are objects, or of several kinds."""
        self.schema: pa.Schema | None = None
        self.paths: frozenset[Path] = frozenset()
        """Where the types of values are known."""

    def learn(self, lines: Sequence[bytes]) -> None:
        """See of which types the values are."""
        chosen = [line for line in lines[:: max(len(lines) // SAMPLE, 1)] if line and not line.isspace()]
        seen = seen_in(chosen)
        for path, type_ in seen.items():
            known = self.types.get(path)
            if known is None or pa.types.is_null(known):
                self.types[path] = type_
            elif known != type_ and not pa.types.is_null(type_):
                self.loose.add(path[0])
        tops = {path[0] for path in seen}
        for line in chosen:
            try:
                keys = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if isinstance(keys, dict):
                self.loose.update(key for key in keys if key in self.program.used and key not in tops)
        self.schema = self._schema()

    def read(self, lines: Sequence[bytes]) -> Read:
        """The rows of some lines. Raises NotClean."""
        if self.schema is None or not lines:
            raise NotClean
        read = read_strictly(b"\n".join(lines) + b"\n", self.schema, "ignore" if self.loose else "infer")
        self.program.taken()
        records = _Records(self, read, lines)
        if self.program.joint is not None and records.has_key_with(self.program.joint):
            raise NotClean
        made = Read(TableBatch(self.table.name, read.num_rows), read.num_rows, oddities=records.unused())
        columns = {cell.column: self._column(cell, column, records) for cell, column in self.cells}
        if self.program.drops is not None:
            try:
                found = records.computed(self.program.drops)
            except Special:
                raise NotClean from None
            dropped = pa.array([each is True for each in found], pa.bool_())
            made.dropped = int(pc.sum(dropped).as_py() or 0)
            if made.dropped:
                stays = pc.invert(dropped)
                columns = {name: array.filter(stays) for name, array in columns.items()}
                made.batch.rows -= made.dropped
        damaged = self.program.taken()
        if damaged and made.dropped:
            raise NotClean  # which of it was in rows that were dropped is not known
        made.oddities.update(damaged)
        made.batch.columns = {name: a for name, a in columns.items() if a.null_count < len(a)}
        return made

    def _schema(self) -> pa.Schema | None:
        names = dict.fromkeys(path[0] for path in self.types if path[0] in self.program.used)
        fields = [pa.field(name, _type_at(self.types, (name,))) for name in names if name not in self.loose]
        self.paths = frozenset(_paths((), fields))
        return pa.schema(fields) if fields else None

    def _column(self, cell: Cell, column: Column, records: _Records) -> pa.Array:
        wanted = arrow_type(column)
        as_text = column.data_type == "json" and not pa.types.is_nested(wanted)
        try:
            array = None
            if isinstance(cell.source, tuple) and records.is_read(cell.source) and not as_text:
                found = records.array(cell.source)
                if found is None:
                    array = pa.nulls(records.size, wanted)
                else:
                    array = (listed if cell.many else fitted)(found, cell, wanted, self.program.zone)
            elif isinstance(cell.source, Derived) and not as_text:
                array = self._chained(cell, cell.source, wanted, records)
            if array is None:
                array = _by_each(cell, records.values(cell.source), wanted, as_text)
        except (pa.ArrowException, Special, ValueError, TypeError, OverflowError):
            raise NotClean from None
        if cell.default is not None and array.null_count:
            array = _filled(array, nested_text(cell.default) if as_text else cell.default, wanted)
        return array

    def _chained(
        self, cell: Cell, source: Derived, wanted: pa.DataType, records: _Records
    ) -> pa.Array | None:
        """The column by the steps of its expression; None where they do not suffice."""
        if not source.steps or not all(map(records.is_read, (source.own, *source.arguments))):
            return None
        own, array = records.array(source.own), records.array(source.arguments[0])
        if array is None or (own is not None and own.null_count < len(own)):
            return None
        found = chained(array, source.steps)
        way = listed if cell.many else fitted
        return None if found is None else way(found, cell, wanted, self.program.zone)


class _Records:
    """What was read, as arrays and, where it has to be, as Python values."""

    def __init__(self, vectors: Vectors, read: pa.Table, lines: Sequence[bytes]) -> None:
        self.size = read.num_rows
        self.lines = lines
        self.program = vectors.program
        self.loose = vectors.loose
        self.arrays: dict[Path, pa.Array] = {}
        self._lists: dict[Path, list[Any]] = {}
        self.arrays_of = frozenset(read.schema.names)
        stack: list[tuple[Path, pa.Array]] = [
            ((name,), _one(read.column(name))) for name in read.schema.names
        ]
        while stack:
            path, array = stack.pop()
            if array.null_count < len(array) and path[0] in self.program.used and path not in vectors.paths:
                raise NotClean  # its type is one that Arrow guessed
            self.arrays[path] = array
            if pa.types.is_struct(array.type):
                stack += [
                    ((*path, inner.name), each)
                    for inner, each in zip(array.type, array.flatten(), strict=True)
                ]

    def is_read(self, path: Path) -> bool:
        """Whether Arrow has read what is there, or nothing is."""
        if self.loose and path[0] not in self.arrays_of:
            return path[0] not in self.keys
        return True

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys at the top of any record."""
        return frozenset().union(*self.items)

    def array(self, path: Path) -> pa.Array | None:
        return self.arrays.get(path)

    def values(self, source: Path | Derived) -> Sequence[Any]:
        """The values as Python has them from JSON; of objects only the line knows which keys are there."""
        if isinstance(source, Derived):
            return self.computed(source)
        if source not in self._lists:
            array = self.arrays.get(source)
            if not self.is_read(source) or (array is not None and _is_vague(array.type)):
                self._lists[source] = [at(item, source) for item in self.items]
            else:
                self._lists[source] = [None] * self.size if array is None else array.to_pylist()
        return self._lists[source]

    def computed(self, source: Derived) -> list[Any]:
        columns = [self.values(path) for path in source.arguments]
        rows: Any = zip(*columns, strict=True) if columns else [()] * self.size
        compute: Callable[..., Any] = source.compute
        if not source.own:
            return [compute(*row) for row in rows]
        own = self.values(source.own)
        if any(mine.__class__ in (list, dict) for mine in own):
            raise Special
        return [compute(*row) if mine is None else mine for mine, row in zip(own, rows, strict=True)]

    @cached_property
    def items(self) -> list[Any]:
        """The records as Python has them. Raises NotClean."""
        try:
            return [parse(line) for line in self.lines]
        except BadLine:
            raise NotClean from None

    def has_key_with(self, joint: str) -> bool:
        """Whether a key of the records, or of objects in them, holds this text."""
        if any(joint in path[-1] for path in self.arrays):
            return True
        return bool(self.loose) and any(_has_key(item, joint) for item in self.items)

    def unused(self) -> Counter[str]:
        """How often there is a value under keys that nothing is made of."""
        found: Counter[str] = Counter()
        used, tell = self.program.used, self.program.unused
        if self.loose:
            counts = Counter(
                key
                for item in self.items
                for key, value in item.items()
                if key not in used and value is not None
            )
            found.update({tell(key): count for key, count in counts.items()})
            return found
        for path, array in self.arrays.items():
            if len(path) == 1 and path[0] not in used and array.null_count < len(array):
                found[tell(path[0])] = len(array) - array.null_count
        return found


def _by_each(cell: Cell, values: Sequence[Any], wanted: pa.DataType, as_text: bool) -> pa.Array:
    """One value at a time; `as_text`: lists and maps are stored as JSON."""
    each = cell.each
    made = (None if value is None else each(value) for value in values)
    return pa.array(list(map(nested_text, made)) if as_text else list(made), wanted)


def _filled(array: pa.Array, default: Any, wanted: pa.DataType) -> pa.Array:
    if not pa.types.is_nested(wanted):
        return pc.fill_null(array, pa.scalar(default, wanted))
    return pc.if_else(pc.is_null(array), pa.scalar(default, wanted), array)


def _type_at(types: Mapping[Path, pa.DataType], path: Path) -> pa.DataType:
    inner = [each[-1] for each in types if len(each) == len(path) + 1 and each[: len(path)] == path]
    if inner:
        return pa.struct([pa.field(name, _type_at(types, (*path, name))) for name in inner])
    return types[path] if path in types else pa.null()


def _paths(above: Path, fields: Iterable[pa.Field]) -> Iterator[Path]:
    for each in fields:
        path = (*above, each.name)
        yield path
        if pa.types.is_struct(each.type):
            yield from _paths(path, each.type)


def _is_vague(type_: pa.DataType) -> bool:
    """Whether the lines say more: which keys an object has, which of the numbers are integers."""
    if pa.types.is_list(type_):
        return _is_vague(type_.value_type)
    return bool(pa.types.is_struct(type_) or pa.types.is_floating(type_))


def _has_key(value: Any, joint: str) -> bool:
    return isinstance(value, dict) and any(
        joint in key or _has_key(inner, joint) for key, inner in value.items()
    )


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

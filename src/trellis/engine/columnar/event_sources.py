"""The records of a block as the batcher of events reads them: from lines of JSON, or from typed rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from trellis.engine.columnar.event_values import JointProjection
from trellis.engine.columnar.misfits import quoted
from trellis.engine.columnar.paths import leaves
from trellis.engine.columnar.sampled_types import TypesByPath, types_below, types_in
from trellis.engine.columnar.strict import Indexes, Mask, StrictRead, StrictReader, single_chunk
from trellis.evolution.projection import Path

MIN_SPLIT = 16
"""Parts of at most so many records are not divided further to find a special one."""
MAX_MISSES = 100
"""After so many failed reads of one event type, its other lines take the exact path."""
KEY_LINES = 400
"""Lines that show whether patterns find the keys of event types."""
_LONG: Final = 10**15
"""Numbers from here on have sixteen digits: the exact path looks whether a double holds them."""


class Events(Protocol):
    """Records that tell their tables, by index."""

    def read_keys(self, keys: Sequence[str], indexes: Indexes) -> StrictRead:
        """The texts under some keys at the top; what it says of a record may be wrong."""
        ...

    def types(self, indexes: Indexes) -> TypesByPath:
        """The types of the values of some records."""
        ...

    def read(self, projection: JointProjection, indexes: Indexes) -> StrictRead:
        """Those of some records that fit the schema of a projection, in this order and under that schema."""
        ...

    def values(self, path: Path, indexes: Indexes) -> list[Any]:
        """The values at a path, where all of these records have one."""
        ...


class EventLines:
    """Lines of JSON; each ends with a newline."""

    def __init__(self, lines: pa.BinaryArray) -> None:
        self.lines = lines

    def read_keys(self, keys: Sequence[str], indexes: Indexes) -> StrictRead:
        """A pattern finds the first text under a key at any depth ten times as fast as a reader finds the one
        at the top. Where the two agree on the first lines the pattern is believed.
        """
        schema = pa.schema([pa.field(key, pa.string()) for key in keys])
        reader = StrictReader(schema, (), MIN_SPLIT, MAX_MISSES, ignores_unknown_keys=True)
        chosen = self.lines if len(indexes) == len(self.lines) else self.lines.take(pa.array(indexes))
        trial = chosen.slice(0, KEY_LINES)
        read = reader.read(trial, np.arange(len(trial)))
        texts = _first_texts(chosen, schema)
        if texts is None or not texts.take(pa.array(read.lines)).equals(read.records):
            return reader.read(self.lines, indexes)
        return StrictRead(texts, indexes, indexes[:0], indexes[:0])

    def types(self, indexes: Indexes) -> TypesByPath:
        return types_in(self._at(indexes))

    def read(self, projection: JointProjection, indexes: Indexes) -> StrictRead:
        return StrictReader(projection.schema, projection.misfits, MIN_SPLIT, MAX_MISSES).read(
            self.lines, indexes
        )

    def values(self, path: Path, indexes: Indexes) -> list[Any]:
        key = orjson.dumps(path[-1])
        return [
            _value_at(orjson.loads(line), path) if (text := _list_after(key, line)) is None else text
            for line in self._at(indexes)
        ]

    def _at(self, indexes: Indexes) -> list[bytes]:
        lines: list[bytes] = self.lines.take(pa.array(indexes)).to_pylist()
        return lines


class EventRows:
    """Typed rows. Their numbers, texts and times are read as if they had come as JSON."""

    def __init__(self, rows: pa.RecordBatch) -> None:
        self.rows = pa.Table.from_batches([rows])

    def read_keys(self, keys: Sequence[str], indexes: Indexes) -> StrictRead:
        rows = self.rows.take(pa.array(indexes))
        columns, are_unfit = [], np.zeros(len(rows), np.bool_)
        for key in keys:
            column = rows[key] if key in rows.column_names else pa.chunked_array([pa.nulls(len(rows))])
            if not _is_text(column.type) and not pa.types.is_null(column.type):
                are_unfit |= column.is_valid().to_numpy()
                column = pa.chunked_array([pa.nulls(len(rows))])
            columns.append(column.cast(pa.string()))
        return _without(pa.table(columns, list(keys)), indexes, are_unfit)

    def types(self, indexes: Indexes) -> TypesByPath:
        rows = self.rows.take(pa.array(indexes))
        return dict(types_below((), rows.schema, [single_chunk(column) for column in rows.columns]))

    def read(self, projection: JointProjection, indexes: Indexes) -> StrictRead:
        rows = self.rows.take(pa.array(indexes))
        types, schema = projection.types, projection.schema
        are_unfit = np.zeros(len(rows), np.bool_)
        arrays: dict[Path, pa.Array] = {}
        for path, array in leaves(rows.schema, [single_chunk(column) for column in rows.columns]):
            if array.null_count == len(array):
                continue
            fitted = _as_from_json(array, types[path], path in projection.times) if path in types else None
            if fitted is None:
                are_unfit |= array.is_valid().to_numpy(zero_copy_only=False)
            else:
                arrays[path] = fitted
                are_unfit |= _are_long(fitted)
        columns = [_nested((field.name,), field.type, arrays, len(rows)) for field in schema]
        return _without(pa.table(columns, schema), indexes, are_unfit)

    def values(self, path: Path, indexes: Indexes) -> list[Any]:
        values: list[Any] = self._leaves[path].take(pa.array(indexes)).to_pylist()
        return values

    @cached_property
    def _leaves(self) -> Mapping[Path, pa.Array]:
        return dict(leaves(self.rows.schema, [single_chunk(column) for column in self.rows.columns]))


def can_take(batch: pa.RecordBatch) -> bool:
    """Whether rows can be chosen from a batch: there are types that Arrow can only slice."""
    try:
        batch.slice(0, 1).take(pa.array([0] if batch.num_rows else [], pa.int64()))
    except pa.ArrowNotImplementedError:
        return False
    return bool(batch.num_columns)


def _first_texts(lines: pa.BinaryArray, schema: pa.Schema) -> pa.Table | None:
    """The first text under each key of a schema, at any depth; None where some are not UTF-8."""
    patterns = [rf'{quoted(key)}\s*:\s*"(?P<text>[^"\\]*)"' for key in schema.names]
    try:
        texts = [pc.extract_regex(lines, pattern).flatten()[0].cast(pa.string()) for pattern in patterns]
    except pa.ArrowInvalid:
        return None
    return pa.table(texts, schema)


def _list_after(key: bytes, line: bytes) -> list[Any] | None:
    r"""The list under a key in quotes that a line is known to have; None if the whole line has to be parsed.

    A key that stands in the line once, where nothing is escaped, is the right one; and what is a list up to
    some bracket ends there.

    >>> _list_after(b'"x"', b'{"a":{"x":[1,{"b":null}]}}'), _list_after(b'"x"', b'{"x":["]"]}')
    ([1, {'b': None}], None)
    """
    start = line.find(key) + len(key)
    if b"\\" in line or line[start : start + 2] != b":[" or line.find(key, start) >= 0:
        return None
    try:
        value: list[Any] = orjson.loads(line[start + 1 : line.find(b"]", start) + 1])
    except orjson.JSONDecodeError:
        return None
    return value


def _value_at(record: Any, path: Path) -> Any:
    for key in path:
        record = record[key]
    return record


def _without(records: pa.Table, indexes: Indexes, are_unfit: Mask) -> StrictRead:
    """Records as they were read; those that do not fit are left out."""
    if not are_unfit.any():
        return StrictRead(records, indexes, indexes[:0], indexes[:0])
    return StrictRead(
        records.filter(pa.array(~are_unfit)), indexes[~are_unfit], indexes[are_unfit], indexes[:0]
    )


def _nested(path: Path, type_: pa.DataType, arrays: Mapping[Path, pa.Array], size: int) -> pa.Array:
    """The values at a path, from those of the leaves below it; an object without any is null."""
    if not pa.types.is_struct(type_) or not type_.num_fields:
        return arrays[path] if path in arrays else pa.nulls(size, type_)
    members = [_nested((*path, field.name), field.type, arrays, size) for field in type_]
    are_null = np.logical_and.reduce([member.is_null().to_numpy(zero_copy_only=False) for member in members])
    return pa.StructArray.from_arrays(members, fields=list(type_), mask=pa.array(are_null))


def _as_from_json(array: pa.Array, type_: pa.DataType, is_time: bool) -> pa.Array | None:
    """The values as Arrow reads them from JSON under a type; None where it would read others."""
    if array.type == type_:
        return array
    is_text = _is_text(array.type) and pa.types.is_string(type_)
    try:
        if is_text or (pa.types.is_integer(array.type) and pa.types.is_int64(type_)):
            return array.cast(type_)
        if is_time and (pa.types.is_timestamp(array.type) or pa.types.is_date(array.type)):
            return array.cast(pa.timestamp("us")).cast(pa.timestamp("us", "UTC")).cast(type_)
    except pa.ArrowException:
        pass
    return None


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def _are_long(array: pa.Array) -> Mask:
    """Which values are, or hold, numbers of many digits."""
    if pa.types.is_list(array.type):
        inner = _are_long(pc.list_flatten(array))
        are_long: Mask = np.zeros(len(array), np.bool_)
        are_long[pc.list_parent_indices(array).to_numpy(zero_copy_only=False)[inner]] = True
        return are_long
    if pa.types.is_struct(array.type):
        members = [_are_long(member) for member in array.flatten()]
        return np.logical_or.reduce(members) if members else np.zeros(len(array), np.bool_)
    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        return np.zeros(len(array), np.bool_)
    is_long = pc.or_(pc.less_equal(array, -_LONG), pc.greater_equal(array, _LONG))
    return np.array(pc.fill_null(is_long, False).to_numpy(zero_copy_only=False), np.bool_)
